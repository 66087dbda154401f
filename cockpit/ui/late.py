"""A link that is not there yet: the screen is drawn over it before the engine is even imported, and whatever is asked
meanwhile waits for the real one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from cockpit.core.events import Answer, Event, Link, View


class LateLink:
    """A `Link` that stands for the one that `give` brings. It belongs to the loop that it is made in."""

    def __init__(self) -> None:
        self._given: asyncio.Future[Link] = asyncio.get_running_loop().create_future()
        self._asked: asyncio.Future[AsyncIterator[Event]] | None = None

    def give(self, link: Link) -> None:
        """The real link; called once. Whoever asked for events is subscribed now, before any snapshot is taken."""
        if self._asked is not None and not self._asked.done():
            self._asked.set_result(link.events())
        self._given.set_result(link)

    def events(self) -> AsyncIterator[Event]:
        if self._given.done():
            return self._given.result().events()
        self._asked = asyncio.get_running_loop().create_future()  # a screen that asks again has given up its first
        return _once_there(self._asked)

    async def snapshot(self) -> View:
        return await (await self._link()).snapshot()

    async def run(self, line: str) -> Answer:
        return await (await self._link()).run(line)

    async def ask(self, text: str, agent: str | None = None) -> Answer:
        return await (await self._link()).ask(text, agent)

    async def _link(self) -> Link:
        return await asyncio.shield(self._given)  # who gives up waiting takes it from nobody else


async def _once_there(waiting: asyncio.Future[AsyncIterator[Event]]) -> AsyncIterator[Event]:
    async for event in await waiting:
        yield event
