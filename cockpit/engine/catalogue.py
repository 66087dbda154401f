"""The tools of all servers under the names that agents see: `<server>__<tool>`, each once, in a fixed order (N-4)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from cockpit.connect.ports import Server
from cockpit.core.policy import WhenMuted
from cockpit.core.request import Tool

LONGEST = 64
"""Characters of a tool's name; the API's own limit."""


@dataclass(frozen=True, slots=True)
class Offered:
    """One server's tool under its public name. `own` is its name on the server."""

    tool: Tool
    server: str
    own: str


@dataclass(slots=True)
class Catalogue:
    """Names stay with their tool once given, so that a call by a remembered name finds what it meant (M-2)."""

    servers: Mapping[str, Server]
    modes: Mapping[str, WhenMuted]
    _names: dict[tuple[str, str], str] = field(default_factory=dict)
    _owners: dict[str, tuple[str, str]] = field(default_factory=dict)
    _last: dict[str, tuple[Tool, ...]] = field(default_factory=dict)

    def offered(self, muted: Sequence[str]) -> tuple[Tool, ...]:
        """What an agent's next request lists: a muted server's tools are hidden, or stay byte for byte (`mark`)."""
        listed: list[Tool] = []
        for name, server in self.servers.items():
            tools = server.tools()
            if name in muted:
                if self.modes.get(name, "hide") == "hide":
                    continue
                tools = self._last.get(name) or tools  # a list that changes meanwhile is no news to anybody
            if tools:
                self._last[name] = tools
            listed.extend(replace(tool, name=self._name(name, tool.name)) for tool in _once(tools))
        return tuple(listed)

    def owner(self, name: str) -> tuple[str, str] | None:
        """Which server and which of its tools a public name means, whether it is listed now or was once.

        A name that was never listed is still told its server by its prefix, so that a guess at a muted server's
        tool is answered as a call that was not made.
        """
        known = self._owners.get(name)
        if known is not None:
            return known
        owning = [each for each in self.servers if name.startswith(f"{_legal(each)}__")]
        server = max(owning, key=len, default=None)
        return None if server is None else (server, name[len(f"{_legal(server)}__") :])

    def _name(self, server: str, tool: str) -> str:
        key = (server, tool)
        if key not in self._names:
            name = f"{_legal(server)}__{_legal(tool)}"
            if len(name) > LONGEST or self._owners.get(name, key) != key:
                digest = hashlib.sha256("\x1f".join(key).encode()).hexdigest()[:8]
                name = f"{name[: LONGEST - 9]}_{digest}"
            self._names[key] = name
            self._owners[name] = key
        return self._names[key]


def _legal(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", name) or "_"


def _once(tools: Sequence[Tool]) -> list[Tool]:
    return list({tool.name: tool for tool in tools}.values())
