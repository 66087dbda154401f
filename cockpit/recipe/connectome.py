"""Reads a JSON recipe of connectome-host, as far as its fields have a meaning here; what has none is one warning.

Its `agent` becomes the resident, its `mcpServers` become MCPL servers (a plain MCP server serves as one, with tools
only), and its `subconscious`, where it has one, ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from pydantic import ConfigDict, Field, ValidationError

from cockpit.recipe.explain import problems
from cockpit.recipe.fields import Strings, expand
from cockpit.recipe.host import HostServer, unexpandable
from cockpit.recipe.source import Path, Problem, Source, shown, spell
from cockpit.recipe.values import Section

_OUTSIDE = re.compile(r"[^A-Za-z0-9_-]+")
_LOOSE = ConfigDict(extra="ignore", populate_by_name=True)


class _Agent(Section):
    model_config = _LOOSE

    system_prompt: str = Field(alias="systemPrompt")
    name: str = "agent"
    model: str | None = None
    max_tokens: int | None = Field(default=None, alias="maxTokens")


class _Subconscious(Section):
    model_config = _LOOSE

    enabled: bool = True
    system_prompt: str = Field(default="", alias="systemPrompt")
    name: str | None = None
    model: str | None = None
    allow_channel_speech: bool | None = Field(default=None, alias="allowChannelSpeech")
    re_anchor_fraction: float | None = Field(default=None, alias="reAnchorFraction")


class _Server(HostServer):
    channel_subscription: str | Strings | None = Field(default=None, alias="channelSubscription")


class _File(Section):
    model_config = _LOOSE

    agent: _Agent
    name: str = "connectome"
    subconscious: _Subconscious | None = None
    servers: Mapping[str, _Server] = Field(default_factory=dict, alias="mcpServers")


def is_connectome(data: object) -> bool:
    """Whether a JSON file is such a recipe: it says who the agent is, which no host's `.mcp.json` does."""
    return isinstance(data, Mapping) and isinstance(data.get("agent"), Mapping)


def connectome_document(
    data: object, source: Source, env: Mapping[str, str]
) -> tuple[dict[str, object], Source, tuple[str, ...]]:
    """The recipe's tables that `data` means, the source that finds their lines, and a warning of what was left out."""
    file = _read(data, source)
    aliases: dict[Path, Path] = {("resident",): ("agent",), ("resident", 0): ("agent",), ("model",): ("agent",)}
    aliases |= {("resident", 0, "system_prompt"): ("agent", "systemPrompt"), ("resident", 0, "name"): ("agent", "name")}
    model: dict[str, object] = {"provider": "anthropic"}
    if file.agent.model is not None:
        model["id"] = file.agent.model
    if file.agent.max_tokens is not None:
        model["max_tokens"] = file.agent.max_tokens
    document: dict[str, object] = {
        "name": _legal(file.name),
        "model": model,
        "resident": [{"name": _legal(file.agent.name), "system_prompt": file.agent.system_prompt}],
        "mcpl": [],
        "mcp": [],
    }
    if file.subconscious is not None:
        document["subconscious"] = _subconscious(file.subconscious)
    wrong: list[Problem] = []
    for name, server in file.servers.items():
        if server.disabled:
            continue
        kind = "mcp" if server.command is None else "mcpl"
        tables = document[kind]
        assert isinstance(tables, list)  # noqa: S101  made a few lines above
        aliases[kind, len(tables)] = ("mcpServers", name)
        used = server.model_copy(update={"headers": {}} if kind == "mcpl" else {"headers": {}, "env": {}})
        found = list(unexpandable(("mcpServers", name), used, env))
        wrong += found
        if not found:
            tables.append(_table(name, server, env))
    if wrong:
        raise source.error(wrong)
    return document, replace(source, aliases=aliases), tuple(_warnings(source))


def _read(data: object, source: Source) -> _File:
    try:
        return _File.model_validate(data)
    except ValidationError as error:
        found = list(problems(error.errors(include_url=False), _File))
    # Outside the handler, so that no traceback can carry what a secret field held.
    raise source.error(found)


def _subconscious(given: _Subconscious) -> dict[str, object]:
    table: dict[str, object] = {"enabled": given.enabled, "system_prompt": given.system_prompt}
    if given.model is not None:
        table["id"] = given.model
    if given.name is not None:
        table["name"] = _legal(given.name)
    for name in ("allow_channel_speech", "re_anchor_fraction"):
        if getattr(given, name) is not None:
            table[name] = getattr(given, name)
    return table


def _table(name: str, server: _Server, env: Mapping[str, str]) -> dict[str, object]:
    table: dict[str, object] = {"name": name.replace("/", "-")}
    if server.command is None:
        table["url"] = server.url or ""
        return table
    table["command"] = [expand(word, env) for word in (server.command, *server.args)]
    if server.env:
        table["env"] = dict(server.env)
    if server.channel_subscription is not None:
        wanted = server.channel_subscription
        table["subscribe"] = wanted if isinstance(wanted, str) else list(wanted)
    return table


def _legal(name: str) -> str:
    """A name as agents and files have them."""
    return _OUTSIDE.sub("-", name).strip("-")[:60] or "connectome"


def _warnings(source: Source) -> Iterator[str]:
    """One line for all that has no meaning here."""
    unknown = [spell(path) for path in source.lines if _is_foreign(path)]
    if unknown:
        yield f"{shown(source.file)}: without a meaning here: {', '.join(unknown)}"


def _is_foreign(path: Path) -> bool:
    """Whether `path` is a field of theirs that nothing here stands for."""
    match path:
        case (str(name),):
            return name not in _known(_File)
        case ("agent", str(name)):
            return name not in _known(_Agent)
        case ("subconscious", str(name)):
            return name not in _known(_Subconscious)
        case ("mcpServers", str(), str(name)):
            return name not in _known(_Server)
        case _:
            return False


def _known(section: type[Section]) -> set[str]:
    return {field.alias or name for name, field in section.model_fields.items()}
