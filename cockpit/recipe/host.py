"""Reads the file in which an MCP host keeps its servers (`.mcp.json`): its servers become a recipe's, with the
offline model, so that a look at them needs no key."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches

from pydantic import ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from cockpit.recipe.explain import problems, unset
from cockpit.recipe.fields import Strings, expand
from cockpit.recipe.source import Path, Problem, Source, shown, spell
from cockpit.recipe.values import Section, nearest, quote

RESIDENT = {
    "name": "scout",
    "system_prompt": "You are scout. You answer the operator, with the tools of the servers that are connected.",
}


class HostServer(Section):
    """One entry, as hosts agree on it. Whatever else an entry holds is another host's business."""

    model_config = ConfigDict(extra="ignore")

    type: str | None = None
    command: str | None = None
    args: Strings = ()
    env: Mapping[str, str] = Field(default_factory=dict)
    url: str | None = None
    headers: Mapping[str, str] = Field(default_factory=dict)
    disabled: bool = False


class HostFile(Section):
    model_config = ConfigDict(extra="ignore")

    servers: Mapping[str, HostServer] = Field(alias="mcpServers")


def host_document(
    data: object, source: Source, env: Mapping[str, str]
) -> tuple[dict[str, object], Source, tuple[str, ...]]:
    """The recipe's tables that `data` means, the source that finds their lines, and warnings about what was left out.

    A server that its host has switched off stays off: it is not in the recipe at all (F-14).
    """
    servers = _servers(data, source)
    tables: list[dict[str, object]] = []
    aliases: dict[Path, Path] = {}
    wrong: list[Problem] = []
    for name, server in servers.items():
        if server.disabled:
            continue
        table: Path = ("mcp", len(tables))
        place: Path = ("mcpServers", name)
        aliases |= {table: place, (*table, "name"): place, (*table, "command", 0): (*place, "command")}
        aliases |= {(*table, "command", n + 1): (*place, "args", n) for n in range(len(server.args))}
        found = [*_nothing(place, server, source), *unexpandable(place, server, env)]
        wrong += found
        if not found:
            tables.append(_table(name, server, env))
    if wrong:
        raise source.error(wrong)
    document: dict[str, object] = {
        "name": _name(source),
        "model": {"provider": "offline"},
        "resident": [RESIDENT],
        "mcp": tables,
    }
    return document, replace(source, aliases=aliases), tuple(_warnings(data, servers, source))


def _servers(data: object, source: Source) -> Mapping[str, HostServer]:
    if not isinstance(data, Mapping) or "mcpServers" not in data:
        raise source.error([Problem((), 'no "mcpServers": a JSON recipe is the .mcp.json of an MCP host')])
    try:
        return HostFile.model_validate(data).servers
    except ValidationError as error:
        found = list(problems(error.errors(include_url=False), HostFile))
    raise source.error(found)


def unexpandable(place: Path, server: HostServer, env: Mapping[str, str]) -> Iterator[Problem]:
    """What of a server cannot be expanded: its command, which is expanded here, and what the recipe's reader expands,
    so that one line names every variable that is not set."""
    given: list[tuple[Path, str]] = [(("command",), server.command or ""), (("url",), server.url or "")]
    given += [(("args", n), word) for n, word in enumerate(server.args)]
    given += [(("env", key), value) for key, value in server.env.items()]
    given += [(("headers", key), value) for key, value in server.headers.items()]
    for field, text in given:
        try:
            expand(text, env)
        except PydanticCustomError as error:
            yield Problem((*place, *field), error.message(), unset(error.context or {}))


def _nothing(place: Path, server: HostServer, source: Source) -> Iterator[Problem]:
    """A server that says neither how it starts nor where it is, with the field that was meant to."""
    if server.command is None and server.url is None:
        others = [str(path[-1]) for path in source.lines if path[:-1] == place]
        meant = next((each for each in others if get_close_matches(each.casefold(), ("command", "url"), 1)), None)
        near = (
            "" if meant is None else f", and {quote(meant)} is neither; nearest: {nearest(meant, ('command', 'url'))}"
        )
        yield Problem(place, f"needs a command or a url{near}")


def _table(name: str, server: HostServer, env: Mapping[str, str]) -> dict[str, object]:
    """One `[[mcp]]` table. A host expands variables in the command too; in a recipe they are the shell's."""
    table: dict[str, object] = {"name": _without_slash(name)}
    if server.command is not None:
        table["command"] = [expand(word, env) for word in (server.command, *server.args)]
    if server.url is not None:
        table["url"] = server.url
    if server.env:
        table["env"] = dict(server.env)
    if server.headers:
        table["headers"] = dict(server.headers)
    return table


def _without_slash(name: str) -> str:
    return name.replace("/", "-")


def _name(source: Source) -> str:
    """The store's name: two projects with folders of the same name must not share one."""
    disk = source.disk.resolve()
    given = disk.parent.name if disk.stem in {".mcp", "mcp"} else disk.stem
    readable = re.sub(r"[^\w-]+", "-", given).strip("-")[:40] or "host"
    return f"{readable}-{hashlib.sha256(str(disk).encode(errors='surrogateescape')).hexdigest()[:6]}"


def _warnings(data: object, servers: Mapping[str, HostServer], source: Source) -> Iterator[str]:
    file = shown(source.file)
    off = [name for name, server in servers.items() if server.disabled]
    if off:
        yield f"{file}: switched off, and left out: {', '.join(map(shown, off))}"
    renamed = [name for name, server in servers.items() if "/" in name and not server.disabled]
    if renamed:
        named = ", ".join(f"{shown(name)} as {shown(_without_slash(name))}" for name in renamed)
        yield f"{file}: a server's name here has no slash: {named}"
    unknown = [spell(path) for path in source.lines if _is_foreign(path)]
    if unknown:
        yield f"{file}: without a meaning here: {', '.join(unknown)}"


def _is_foreign(path: Path) -> bool:
    """Whether `path` is a field that only its own host understands."""
    known = HostServer.model_fields
    return (len(path) == 1 and path[0] != "mcpServers") or (
        len(path) == 3 and path[0] == "mcpServers" and path[2] not in known
    )
