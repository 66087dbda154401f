"""A host's `.mcp.json` as servers of a recipe of one's own, without any secret that stands in it (semantics.md R-7).

What a recipe cannot know to be harmless (values of env, headers, credentials among arguments or in a URL) becomes the
name of a variable, and the operator is told which ones to set.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Literal

from cockpit.errors import RecipeError
from cockpit.recipe import load
from cockpit.recipe.host import HostFile, HostServer


@dataclass(frozen=True, slots=True)
class Listed:
    """One server as a recipe lists it. variables: what must be set before it can start."""

    name: str
    kind: Literal["mcp", "mcpl"]
    command: tuple[str, ...] = ()
    url: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    variables: tuple[str, ...] = ()


class _Everything(dict[str, str]):
    """An environment in which every variable is set, so that a file can be checked before its variables are."""

    def get(self, key: str, default: object = None) -> str:
        return "x"


EVERYTHING: Mapping[str, str] = _Everything()

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}")
_SCHEME = re.compile(r"(Bearer |Basic |Token )(.*)", re.IGNORECASE | re.DOTALL)
_FLAG = re.compile(r"-{0,2}([A-Za-z][A-Za-z0-9_.-]*)=(.+)", re.DOTALL)
_SECRET = re.compile(r"token|secret|passw|pwd|api-?_?key|auth|credential|bearer|private", re.IGNORECASE)
_KEYLIKE = re.compile(
    r"(?:sk-|gh[pousr]_|github_pat_|xox[a-z]-|glpat-|AKIA|eyJ)\S+|(?=\S*\d)(?=\S*[A-Za-z])[A-Za-z0-9_+=-]{28,}"
)
_URL = re.compile(r"(\w+://)([^/?#]*@)?([^?#]*)((?:\?[^#]*)?)(?:#.*)?")
_CREDENTIALS = re.compile(r"\w+://[^/\s]*@|\w+://\S*\?\S*=")


def listed(file: str) -> tuple[tuple[Listed, ...], tuple[str, ...]]:
    """The servers of a host's file, and warnings about what was left out. Raises RecipeError where it is none."""
    recipe = load(file, EVERYTHING)
    data = json.loads(recipe.source.text) if recipe.source.file.lower().endswith(".json") else {}
    if "mcpServers" not in data:
        raise RecipeError(f"{file}: no .mcp.json of an MCP host; `cockpit {file}` opens it as it is")
    servers = {name: each for name, each in HostFile.model_validate(data).servers.items() if not each.disabled}
    shared = _shared(servers.values())
    claimed = {each[0]: f"${{{each[0]}}}" for each in _REFERENCE.findall(recipe.source.text)}
    found = tuple(_Server(name.replace("/", "-"), shared, claimed).listed(each) for name, each in servers.items())
    return found, recipe.warnings


def _shared(servers: Iterable[HostServer]) -> frozenset[str]:
    """Names that two servers give different values: each of them gets a variable of its own."""
    seen: dict[str, set[str]] = {}
    for each in servers:
        for name, value in each.env.items():
            seen.setdefault(name, set()).add(value)
    return frozenset(name for name, values in seen.items() if len(values) > 1)


class _Server:
    """One server while it is rewritten. Each variable that it comes to need is noted.

    claimed: what each variable of the file stands for, so that no two values share one."""

    def __init__(self, name: str, shared: frozenset[str], claimed: dict[str, str]) -> None:
        self._claimed = claimed
        self._name = name
        self._shared = shared
        self._variables: dict[str, None] = {}
        self._env: dict[str, str] = {}

    def listed(self, given: HostServer) -> Listed:
        self._env = {name: self._value(name, value) for name, value in given.env.items()}
        headers = {name: self._header(name, value) for name, value in given.headers.items()}
        command = self._command([given.command, *given.args]) if given.command is not None else ()
        url = self._url(given.url or "")
        return Listed(self._name, "mcp", command, url, self._env, headers, tuple(self._variables))

    def _value(self, name: str, value: str) -> str:
        """A reference stays one; anything else may be a secret, and becomes the variable of its name."""
        only = _REFERENCE.fullmatch(value)
        if only is not None:
            return self._reference(only)
        plain = name.isidentifier() and name.isascii() and name not in self._shared
        return self._need(self._claim(name, value) if plain else self._own(name, value))

    def _header(self, name: str, value: str) -> str:
        scheme = _SCHEME.fullmatch(value)
        before, rest = ("", value) if scheme is None else scheme.groups()
        only = _REFERENCE.fullmatch(rest)
        return before + (self._need(self._own(name, rest)) if only is None else self._reference(only))

    def _url(self, url: str) -> str:
        """What may hold a token, the user and the query, becomes a variable each."""
        found = _URL.fullmatch(url)
        if found is None:
            return url
        before, user, address, query = found.groups()
        user = (
            f"{self._need(self._own('USER', user))}@" if user and _REFERENCE.sub("", user) not in {"@", ":@"} else user
        )
        query = f"?{self._need(self._own('QUERY', query))}" if query else query
        return _REFERENCE.sub(self._reference, before) + (user or "") + _REFERENCE.sub(self._reference, address) + query

    def _command(self, words: Sequence[str]) -> tuple[str, ...]:
        """The command; where it needs a variable, by a shell, since a recipe's commands are never expanded."""
        written = [self._word(word, words[place - 1] if place else "") for place, word in enumerate(words)]
        if all(plain for _, plain in written):
            return tuple(words)
        return ("sh", "-c", f"exec {' '.join(text for text, _ in written)}")

    def _word(self, word: str, before: str) -> tuple[str, bool]:
        """The word as a shell reads it, and whether it needs no variable."""
        flag = _FLAG.fullmatch(word)
        name, value = ("", word) if flag is None else flag.groups()
        asked = before.startswith("-") and "=" not in before and not word.startswith("-")
        said = name or (before if asked else "")
        bare = _REFERENCE.sub("", value)
        if bare and (_SECRET.search(said) or _KEYLIKE.fullmatch(value) or _CREDENTIALS.search(bare)):
            variable = self._own(said.lstrip("-") or "ARGUMENT", value)
            self._env[variable] = self._need(variable)
            return shlex.quote(word[: len(word) - len(value)]) * (value != word) + f'"${{{variable}}}"', False
        if not _REFERENCE.search(word):
            return shlex.quote(word), True
        return self._spliced(word), False

    def _spliced(self, word: str) -> str:
        """A word with references, each handed to the shell in the server's own environment."""
        parts: list[str] = []
        end = 0
        for found in _REFERENCE.finditer(word):
            name = found.group(1)
            handed = name if self._env.get(name, f"${{{name}}}").startswith(f"${{{name}") else f"HOST_{name}"
            self._env[handed] = self._reference(found)
            parts += [shlex.quote(word[end : found.start()]) if end < found.start() else "", f'"${{{handed}}}"']
            end = found.end()
        return "".join([*parts, shlex.quote(word[end:]) if end < len(word) else ""])

    def _reference(self, found: re.Match[str]) -> str:
        """The reference, its default too unless that may be a secret."""
        name, other = found.groups()
        if other is not None and not _SECRET.search(name) and not _KEYLIKE.fullmatch(other):
            return found.group()
        return self._need(name)

    def _own(self, name: str, value: str) -> str:
        """A variable of this server's for one value."""
        word = re.sub(r"\W+", "_", f"{self._name}_{name}", flags=re.ASCII).strip("_").upper().lstrip("0123456789_")
        return self._claim(word or "SERVER", value)

    def _claim(self, name: str, value: str) -> str:
        """`name`, or with a number where it stands for another value already."""
        names = chain((name,), (f"{name}_{number}" for number in count(2)))
        return next(each for each in names if self._claimed.setdefault(each, value) == value)

    def _need(self, variable: str) -> str:
        self._variables[variable] = None
        return f"${{{variable}}}"
