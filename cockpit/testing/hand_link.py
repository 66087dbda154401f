"""The socket with a link by hand behind it: what a test of clients over a real Unix socket needs.

async with served(HandLink(), path), client(path) as link:
    await link.run("go=mute target=mcp:git")
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from cockpit.control import server
from cockpit.control.client import SocketLink, open_link
from cockpit.control.codec import loads
from cockpit.control.wire import About, Origin
from cockpit.core.events import Answer, Event, VerbRan, View
from cockpit.core.message import Json
from cockpit.errors import VerbError
from cockpit.testing.fake_link import view

PATIENCE = 20.0
"""Seconds that one test's whole talk may take."""


class Feed(AsyncIterator[Event]):
    """One subscription of the double; knows whether it was closed."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self.closed = asyncio.Event()

    async def __anext__(self) -> Event:
        event = await self.queue.get()
        if event is None:
            raise StopAsyncIteration
        return event

    def close(self) -> None:
        self.closed.set()


def letter(number: int) -> Mapping[str, Json]:
    """One message of an inbox."""
    said: dict[str, Json] = {"at": "2026-11-30T09:00:00.000Z", "author": "scout", "to": "hedgehog"}
    return {**said, "text": f"word {number}", "id": str(number)}


@dataclass
class HandLink:
    """A link that does nothing: who asked for what, in order. A line with `gate` in it waits until the gate is opened,
    the line `crash` fails. failures: what the server told of its clients."""

    asked: list[str] = field(default_factory=list)
    feeds: list[Feed] = field(default_factory=list)
    failures: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    shown: View = field(default_factory=view)
    tokens: Mapping[str, str] = field(default_factory=lambda: {"hedgehog": "right"})
    who: tuple[str, Origin] = ("", "socket")
    letters: list[Mapping[str, Json]] = field(default_factory=list)
    """What an inbox holds, numbered from 1; it is read up to the last `after` that was asked for."""
    read: int = 0
    refusals: list[str] = field(default_factory=list)
    """What the audit would keep of what no link has seen."""

    def link(self, actor: str, origin: Origin) -> HandLink:
        self.who = (actor, origin)
        return self

    def events(self) -> Feed:
        self.asked.append("events")
        self.feeds.append(Feed())
        return self.feeds[-1]

    async def snapshot(self) -> View:
        self.asked.append("snapshot")
        return self.shown

    async def run(self, line: str) -> Answer:
        who = self.who
        self.begun.set()
        if line == "crash":
            raise RuntimeError("a fault of its own")
        if "gate" in line:
            await self.gate.wait()
        self.asked.append(f"{who[0]} by {who[1]}: {line}")
        return Answer(VerbRan(1.0, line, "mute", True, "done"))

    async def ask(self, text: str, agent: str | None = None) -> Answer:
        self.asked.append(f"{self.who[0]} asks {agent}: {text}")
        return Answer(VerbRan(1.0, text, "ask", True, "asked"))

    async def say(self, handle: str, token: str, to: str | None, text: str) -> VerbRan:
        ok = self.tokens.get(handle) == token
        return VerbRan(1.0, text, "say", ok, f"{handle} to {to}", None if ok else "refused")

    async def inbox(self, handle: str, token: str, after: int | None) -> list[Mapping[str, Json]]:
        if self.tokens.get(handle) != token:
            raise VerbError("refused", f"no participant {handle!r} with that token", "")
        self.asked.append(f"{handle} reads after {after}")
        self.read = self.read if after is None else after
        return self.letters[self.read : self.read + 2]

    async def refuse(self, actor: str, origin: Origin, verb: str, why: str) -> None:
        self.refusals.append(f"{actor} by {origin}: {verb}: {why}")

    def tell(self, event: Event) -> None:
        for feed in self.feeds:
            feed.queue.put_nowait(event)


@asynccontextmanager
async def served(cockpit: HandLink, path: Path, *, as_operator: bool = False) -> AsyncIterator[asyncio.Task[None]]:
    """The socket at `path` over a link; the task that serves it."""
    about = About("demo", "demo.db", os.getpid(), "0.1.0", as_operator, ("scout",))
    async with asyncio.TaskGroup() as group, asyncio.timeout(PATIENCE):
        serving = group.create_task(
            server.serve(
                cockpit.link,
                path,
                about=about,
                intercom=cockpit.say,
                inboxes=cockpit.inbox,
                failed=cockpit.failures.put_nowait,
                refused=cockpit.refuse,
            )
        )
        await asyncio.sleep(0)
        yield serving
        serving.cancel()


@asynccontextmanager
async def client(path: Path, origin: Origin = "socket", actor: str = "") -> AsyncIterator[SocketLink]:
    """A client that is closed at the end."""
    link = await open_link(path, origin=origin, actor=actor)
    try:
        yield link
    finally:
        await link.aclose()


class Raw:
    """A client that speaks in bytes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def said(self) -> dict[str, Json]:
        return loads(await self.reader.readuntil(b"\n"))

    def say(self, raw: bytes) -> None:
        self.writer.write(raw)


@asynccontextmanager
async def raw(path: Path) -> AsyncIterator[Raw]:
    """A client in bytes, which dies at the end without a word."""
    reader, writer = await asyncio.open_unix_connection(path, limit=64 << 20)
    try:
        yield Raw(reader, writer)
    finally:
        writer.transport.abort()
