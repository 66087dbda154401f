"""What a connector has to know of one server, as plain values: the engine makes them of the recipe."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal
from typing import Protocol as Interface
from urllib.parse import parse_qsl, urlsplit

MIB = 1 << 20

DEFAULT_GRANT = (
    "channels.register",
    "channels.lifecycle",
    "channels.publish",
    "channels.incoming",
    "channels.acknowledge",
    "channels.typing",
    "pushEvents",
    "tools",
)
"""What a server that a recipe names is offered, unless the recipe narrows it (mcpl.md 14)."""

SpokenProtocol = Literal["mcp", "mcpl"]


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of mcpl.md 14. Bytes: line, media (decoded), stderr (a file of the log). Code points: text, id.
    Messages: queue, held (before the server took the policy), batch. Seconds: handshake, receipt, request, call, open
    (close and acknowledge too); tools, for which going online waits for their list; grace, given twice to a process
    that is to end. messages_per_second: None for no limit."""

    line: int = 16 * MIB
    media: int = 8 * MIB
    text: int = MIB
    id: int = 512
    queue: int = 10_000
    held: int = 500
    batch: int = 10_000
    channels: int = 2_000
    stderr: int = MIB
    messages_per_second: float | None = None
    handshake: float = 30.0
    receipt: float = 15.0
    tools: float = 10.0
    request: float = 60.0
    call: float = 120.0
    open: float = 10.0
    grace: float = 1.0


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """One server. `command` is started without a shell. `env` is what its process gets beside the few variables
    that each gets; its values are secrets (R-7). Where there is a `url`, MCP is spoken over streamable HTTP instead,
    with `headers` on each request; they, and what the URL holds beside its address, are secrets too. `ping` in
    seconds, 0 for none. `grant`: paths and patterns of paths (mcpl.md 5.1). `legacy`: whether a server older than
    0.5 gets its grant (mcpl.md 5.4)."""

    name: str
    protocol: SpokenProtocol
    command: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    url: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    ping: float = 15.0
    restart: Literal["on-failure", "never"] = "on-failure"
    grant: tuple[str, ...] = DEFAULT_GRANT
    legacy: Literal["grant", "deny"] = "grant"
    limits: Limits = field(default_factory=Limits)

    def secrets(self) -> Iterator[tuple[str, str]]:
        """Each value that must not be shown, and the name that stands for it."""
        yield from self.env.items()
        for name, value in self.headers.items():
            # A server may quote the token alone: what follows the scheme, as in `Bearer TOKEN`.
            yield from ((name, part) for part in (value, value.partition(" ")[2]))
        parts = urlsplit(self.url or "")
        yield from (("url", each or "") for each in (parts.query, parts.username, parts.password))
        yield from (("url", value) for _, value in parse_qsl(parts.query))


class Clock(Interface):
    """The part of the engine's clock that a connector needs, so that tests own its time."""

    def elapsed(self) -> float:
        """Seconds since some fixed moment; never steps back."""
        ...

    async def wait(self, event: asyncio.Event, seconds: float | None) -> bool:
        """Until the event is set (True), or so many seconds have elapsed (False)."""
        ...
