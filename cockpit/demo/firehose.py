"""A chat that says more than anybody can read: so many messages a second over so many channels, for load tests.

It counts what the host accepts, which is what the host has promised to have stored, and says the sum on stderr.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass

from cockpit.core.message import Json
from cockpit.demo.server import ChatServer
from cockpit.demo.wire import Object

PREFIX = "load:"
AUTHORS = ("ada", "ben", "cleo", "dov", "eva", "finn", "gil")
UNANSWERED = 500
"""Messages that may wait for the host's answer, as in the bench of mcpl.md 15."""
MOST_A_SECOND, MOST_CHANNELS = 100_000, 2_000
_TICK = 0.01  # seconds between bursts
_BETWEEN_SUMS = 10.0


@dataclass(frozen=True, slots=True)
class Load:
    """How much. rate: messages a second over all channels. messages: after which it falls silent, 0 for never.
    mention: every so many-th message is meant for the agent, 0 for none."""

    rate: float
    channels: int
    messages: int = 0
    mention: int = 0


class Firehose(ChatServer):
    """The whole server. `offered` is what it sent, `accepted` and `refused` what was answered; `answered` while
    nothing is open."""

    def __init__(self, nick: str, load: Load) -> None:
        width = len(str(load.channels))
        self.names = tuple(f"{number:0{width}}" for number in range(1, load.channels + 1))
        super().__init__(nick, dict.fromkeys(self.names, "load"), PREFIX, UNANSWERED)
        self.load = load
        self.offered = self.accepted = self.refused = 0
        self.answered = asyncio.Event()

    async def serve(self) -> None:
        try:
            await super().serve()
        finally:
            self._sum("ended")

    async def play(self) -> None:
        async with asyncio.TaskGroup() as group:
            sums = group.create_task(self._sums(), name="sums")
            await self._flood()
            sums.cancel()
        await self.answered.wait()
        self._sum("all said")

    async def _flood(self) -> None:
        await self.listening.wait()
        clock, load = asyncio.get_running_loop().time, self.load
        before, due, number = clock(), 0.0, 0
        while not load.messages or number < load.messages:
            now = clock()
            # What a slow host could not take is not made up for, so that it never gets more than it was to get.
            due = min(due + (now - before) * load.rate, max(1.0, load.rate / 10))
            before = now
            while due >= 1 and (not load.messages or number < load.messages):
                due -= 1
                number += 1
                await self._one(number)
            await asyncio.sleep(_TICK)

    async def _one(self, number: int) -> None:
        await self.listening.wait()
        channel, author = self.names[number % len(self.names)], AUTHORS[number % len(AUTHORS)]
        mentioned = self.load.mention > 0 and number % self.load.mention == 0
        text = f"{f'@{self.nick} ' if mentioned else ''}message {number}, of {self.load.rate:g} a second"
        tags = ["chat:addressed", "chat:mention"] if mentioned else ["chat:ambient"]
        content: Json = [{"type": "text", "text": text}]
        message = self.message(channel, self.new_id(), {"id": author, "name": author}, content, tags)
        asked = await self.say(channel, message)
        if asked is not None:
            self.offered += 1
            self.answered.clear()
            asked.add_done_callback(self._answered)

    def _answered(self, asked: asyncio.Future[Object]) -> None:
        results = {} if asked.cancelled() else asked.result()
        match results.get("results"):
            case [{"accepted": True}]:
                self.accepted += 1
            case _:
                self.refused += 1
        if self.accepted + self.refused == self.offered:
            self.answered.set()

    async def _sums(self) -> None:
        while True:
            await asyncio.sleep(_BETWEEN_SUMS)
            self._sum("so far")

    def _sum(self, when: str) -> None:
        counts = f"sent {self.offered}, accepted {self.accepted}, refused {self.refused}"
        sys.stderr.write(f"{when}: {counts}\n")
        sys.stderr.flush()
