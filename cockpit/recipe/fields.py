"""The kinds of value that a recipe's fields hold, each with the sentence that refuses a wrong one."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue, PlainValidator, SecretStr
from pydantic import ValidationInfo as Info

from cockpit.core.duration import FORMS, finite, parse_duration
from cockpit.core.target import Target, parse
from cockpit.errors import VerbError
from cockpit.recipe.values import kind_of, quote, refusal

NO_RESIDENT = "missing: at least one [[resident]] is needed"

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}")
_AGENT = re.compile(r"[A-Za-z0-9_-]+")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OWN_HEADERS = {
    *("accept", "accept-encoding", "connection", "content-length", "content-type", "host", "transfer-encoding"),
    *("last-event-id", "mcp-protocol-version", "mcp-session-id"),
}
_TAKEN = ("system", "residents", "engine", "operator")
_OWN_PARAMETERS = ("model", "max_tokens", "messages", "system", "tools", "stream", "thinking", "cache_control")


def _duration(value: object) -> float:
    try:
        if isinstance(value, str):
            return parse_duration(value)
        if isinstance(value, int | float):
            return finite(value)
    except ValueError as error:
        raise refusal(f"{error}") from None
    raise refusal(f"a duration is written {FORMS}, not as {kind_of(value)}")


def _span(value: object) -> float:
    seconds = _duration(value)
    if seconds == 0:
        raise refusal("must be longer than no time at all")
    return seconds


def _cap(value: object) -> int | None:
    if value == "none":
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise refusal('must be a whole number of tokens, at least 1, or "none"')
    return value


def expand(text: str, env: Mapping[str, str]) -> str:
    """`text` with each `${NAME}` as `env` has it; `${NAME:-other}` where it may be unset.

    Raises what a validator raises: variables that are not set are named, the text is not (R-7).
    """
    rest = _VARIABLE.sub("", text)
    if "${" in rest:
        raise refusal("${…} must name one variable, made of letters, digits and _")
    needed = (found.group(1) for found in _VARIABLE.finditer(text) if found.group(2) is None)
    unset = [name for name in dict.fromkeys(needed) if env.get(name) is None]
    if unset:
        what = f"the variable {unset[0]} is" if len(unset) == 1 else f"the variables {' and '.join(unset)} are"
        raise refusal(f"{what} not set", unset)
    return _VARIABLE.sub(lambda found: env.get(found.group(1)) or found.group(2) or "", text)


def _expanded(value: object, info: Info) -> str:
    if not isinstance(value, str):
        raise refusal(f"must be a string, not {kind_of(value)}")
    context = info.context if isinstance(info.context, Mapping) else {}
    found = expand(value, context.get("env", {}))
    if not _fits_a_process(found):
        raise refusal("must not hold a NUL character or half a surrogate pair")
    return found


def _fits_a_process(text: str) -> bool:
    """Whether the operating system can hand it to a process."""
    try:
        return "\0" not in text and bool(os.fsencode(text) or not text)
    except UnicodeEncodeError:
        return False


def _secret(value: object, info: Info) -> SecretStr:
    return SecretStr(_expanded(value, info))


def _target(value: object) -> Target:
    if not isinstance(value, str):
        raise refusal(f"must be a target in a string, not {kind_of(value)}")
    try:
        found = parse(value)
    except VerbError as error:
        raise refusal(f"{error}") from None
    if found.kind == "channel" and not (found.server and found.id):
        raise refusal(f"{quote(value)} must name its server too: channel:SERVER/ID")
    return found


def _plain(value: str) -> str:
    if not value.strip():
        raise refusal("must not be empty")
    if value != value.strip():
        raise refusal("must not begin or end with a space")
    if not value.isprintable():
        raise refusal("must not hold control characters")
    return value


def _file_name(value: str) -> str:
    if "/" in value or value.startswith("."):
        raise refusal("names the store's file: it must not hold a slash or begin with a dot")
    if len(value.encode()) > 200:
        raise refusal("names the store's file: it must not be longer than 200 bytes")
    return value


def _server(value: str) -> str:
    if "/" in value:
        raise refusal(f"{quote(value)} must not hold a slash: targets read channel:SERVER/ID")
    return value


def _agent(value: str) -> str:
    if not _AGENT.fullmatch(value):
        raise refusal(f"{quote(value)} must be made of letters A-Z and a-z, digits, _ and -")
    if value.lower() in _TAKEN:
        raise refusal(f"{quote(value)} is a name that the host itself uses")
    return value


def _prompt(value: str) -> str:
    if not value.strip():
        raise refusal("must not be empty")
    return value


def _command(value: tuple[str, ...]) -> tuple[str, ...]:
    if not value or not value[0].strip():
        raise refusal('must name a program and its arguments, as ["mcp-server-git", "--repository", "."]')
    if not all(map(_fits_a_process, value)):
        raise refusal("must not hold a NUL character or half a surrogate pair")
    return value


def _url(value: object, info: Info) -> str:
    found = _expanded(value, info)
    try:
        parts = urlsplit(found)
        whole = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        whole = False
    if not whole or not found.isprintable() or " " in found:
        raise refusal("must be a URL that begins with http:// or https:// and names a host")
    if "#" in found:
        raise refusal("must have no fragment: what follows # is never sent")
    return found


def _one_or_more(value: object) -> object:
    return (value,) if isinstance(value, str) else value


def _names_of_variables(value: Mapping[str, SecretStr]) -> Mapping[str, SecretStr]:
    for name in value:
        if not name or "=" in name or not _fits_a_process(name):
            raise refusal(f"{quote(name)} cannot be the name of a variable")
    return value


def _headers(value: Mapping[str, SecretStr]) -> Mapping[str, SecretStr]:
    """What HTTP takes as headers, and the transport does not write itself. No value is shown (R-7)."""
    for name, secret in value.items():
        held = secret.get_secret_value()
        if not _HEADER.fullmatch(name):
            raise refusal(f"{quote(name)} cannot be the name of a header")
        if name.lower() in _OWN_HEADERS:
            raise refusal(f"must not hold {quote(name)}, which the cockpit sets itself")
        if not (held.isascii() and held.isprintable()) or held != held.strip():
            raise refusal(f"{quote(name)} must be printable ASCII, with no space around it")
    return value


def _table(value: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        raise refusal("must hold finite numbers only") from None
    return value


def _parameters(value: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """What the host itself writes into a request no recipe may replace: it could send what the API must refuse."""
    own = next((name for name in value if name in _OWN_PARAMETERS), None)
    if own is not None:
        raise refusal(f"must not hold {own}, which the cockpit sets itself")
    return value


def _subscribe(value: object) -> Literal["auto", "initial", "manual"] | tuple[str, ...]:
    match value:
        case "auto" | "initial" | "manual":
            return value
        case list() if all(isinstance(each, str) and each for each in value):
            return tuple(value)
        case _:
            raise refusal('must be "auto", "initial", "manual" or a list of channel ids')


Duration = Annotated[float, PlainValidator(_duration)]
"""Seconds; written `90`, `90s`, `30m`, `2h`, `1d` or as a number."""

Span = Annotated[float, PlainValidator(_span)]
"""A duration that is longer than nothing."""

Cap = Annotated[int | None, PlainValidator(_cap)]
"""Tokens, or None where the recipe says `"none"`."""

Secret = Annotated[SecretStr, PlainValidator(_secret)]
"""A string in which `${NAME}` is a variable of the environment; never shown (R-7)."""

Secrets = Annotated[Mapping[str, Secret], AfterValidator(_names_of_variables)]
"""What a server's process finds in its environment, by name."""

Headers = Annotated[Mapping[str, Secret], AfterValidator(_headers)]
"""What is sent along with each request to a URL, by name."""

Url = Annotated[str, PlainValidator(_url)]
"""An http or https URL; `${NAME}` in it is a variable of the environment."""

Plain = Annotated[str, AfterValidator(_plain)]
"""A name that can be typed: printable, not empty, no spaces around it."""

FileName = Annotated[Plain, AfterValidator(_file_name)]
ServerName = Annotated[Plain, AfterValidator(_server)]
AgentName = Annotated[str, AfterValidator(_agent)]
Prompt = Annotated[str, AfterValidator(_prompt)]
"""Text that is not blank."""

Count = Annotated[int, Field(ge=1)]
Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Strings = Annotated[tuple[str, ...], Field(strict=False)]
Globs = Annotated[Strings, BeforeValidator(_one_or_more)]
"""One string or several."""

Table = Annotated[Mapping[str, JsonValue], AfterValidator(_table)]
"""A table that is passed to a provider as the JSON that it says."""

Parameters = Annotated[Table, AfterValidator(_parameters)]
"""A provider's own parameters, as its documentation names them."""

Command = Annotated[Strings, AfterValidator(_command)]
ChannelTarget = Annotated[Target, PlainValidator(_target)]
Subscribe = Annotated[Literal["auto", "initial", "manual"] | tuple[str, ...], PlainValidator(_subscribe)]
