"""A server that is up in this process: tests say what it sends, and read what it was sent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from cockpit.connect.config import DEFAULT_GRANT, ServerConfig
from cockpit.connect.ports import Called, Host, Published
from cockpit.core.inputs import Arrived, Descriptor, Receipt
from cockpit.core.message import Json, Text
from cockpit.core.request import Tool
from cockpit.core.target import channel, server
from cockpit.errors import ConnectorError

_IDS = count(1)  # over restarts too: a server gives no id twice
Answerer = Callable[[str, Mapping[str, Json]], Awaitable[Called]]


@dataclass
class FakeServer:
    """Satisfies `connect.ports.Server`. channels are registered when it comes up; answer is what a tool call gives."""

    config: ServerConfig
    host: Host
    killed: bool = False
    channels: Sequence[str] = ()
    offered: tuple[Tool, ...] = ()
    granted: frozenset[str] = frozenset(DEFAULT_GRANT)
    answer: Answerer | None = None
    refuses: str = ""
    online: bool = False
    calls: list[tuple[str, Mapping[str, Json]]] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    published: list[tuple[str, str]] = field(default_factory=list)
    acknowledged: list[tuple[str, str, str]] = field(default_factory=list)
    typed: list[tuple[str, bool]] = field(default_factory=list)
    came: asyncio.Event = field(default_factory=asyncio.Event)
    _asked: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def name(self) -> str:
        return self.config.name

    @property
    def grant(self) -> frozenset[str]:
        return self.granted if self.online else frozenset()

    async def run(self) -> None:
        try:
            while True:
                if self.killed:
                    self.online = False
                    await self.host.present(self.name, "killed")
                else:
                    await self.up()
                self.came.set()
                self._asked.clear()
                await self._asked.wait()
        finally:
            self.online = False

    async def up(self) -> None:
        """Come online and register the channels."""
        self.online = True
        await self.host.present(self.name, "online")
        if self.channels:
            self.opened += await self.host.registered(
                self.name, [Descriptor(each, "fake", each) for each in self.channels]
            )

    async def down(self, reason: str = "it went away", *, crashed: bool = True) -> None:
        """Go offline as a server does that dies by itself."""
        self.online = False
        await self.host.present(self.name, "offline", reason, crashed=crashed)

    async def say(
        self,
        channel_id: str,
        text: str,
        *,
        author: str = "kim",
        addressed: bool = False,
        message_id: str | None = None,
        author_id: str | None = None,
        tags: tuple[str, ...] = (),
    ) -> Receipt:
        """Send one chat message, and wait until it is durable."""
        return await (
            await self.host.arrived(
                self.message(
                    channel_id,
                    text,
                    author=author,
                    addressed=addressed,
                    message_id=message_id,
                    author_id=author_id,
                    tags=tags,
                )
            )
        )

    def message(
        self,
        channel_id: str,
        text: str,
        *,
        author: str = "kim",
        addressed: bool = False,
        message_id: str | None = None,
        author_id: str | None = None,
        tags: tuple[str, ...] = (),
    ) -> Arrived:
        """One chat message as a connector hands it on."""
        identity = message_id or f"m{next(_IDS)}"
        wanted = (*tags, "chat:addressed", "chat:mention") if addressed else (*tags, "chat:ambient")
        return Arrived(
            target=channel(self.name, channel_id),
            kind="chat",
            author=author,
            author_id=author_id or author,
            blocks=(Text(text),),
            key="\x1f".join((self.name, channel_id, identity)),
            id=identity,
            tags=wanted,
        )

    async def notify(self, text: str) -> Receipt:
        """Send one MCP notification that becomes a message."""
        arrived = Arrived(server(self.name), "event", self.name, (Text(text),))
        return await (await self.host.arrived(arrived))

    def tools(self) -> tuple[Tool, ...]:
        return self.offered if self.online else ()

    def instructions(self) -> str:
        return ""

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> Called:
        self._check()
        self.calls.append((tool, arguments))
        if self.answer is None:
            return Called((Text(f"{tool} done"),))
        return await self.answer(tool, arguments)

    async def open(self, channel_id: str) -> None:
        self._check()
        self.opened.append(channel_id)

    async def close(self, channel_id: str) -> None:
        self._check()
        self.closed.append(channel_id)

    async def publish(self, channel_id: str, text: str, conversation: str) -> Published:
        self._check()
        self.published.append((channel_id, text))
        return Published(True, f"p{len(self.published)}")

    async def acknowledge(self, channel_id: str, message_id: str, intent: str) -> None:
        self._check()
        self.acknowledged.append((channel_id, message_id, intent))
        if self.refuses:
            raise ConnectorError(self.refuses)

    def typing(self, channel_id: str, *, on: bool) -> None:
        self.typed.append((channel_id, on))

    async def kill(self) -> None:
        self.killed = True
        self._asked.set()

    async def start(self) -> None:
        self.killed = False
        self._asked.set()

    def _check(self) -> None:
        if not self.online:
            raise ConnectorError(f"{self.name} is not online")
