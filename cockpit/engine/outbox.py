"""What goes back to servers after a commit: acknowledgements and wishes; none of it can hold up the ledger.

Acknowledgements of one server go out one after the other through a bounded queue; what does not fit, or fails, is
recorded in the audit and changes nothing else (T-7).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field

from cockpit.connect.ports import Server
from cockpit.core.target import Target, channel
from cockpit.core.world import Acknowledge, Effect, Process, Wish
from cockpit.errors import CockpitError, ConnectorError, ToolError

BOUND = 1_000
"""Acknowledgements waiting for one server."""


@dataclass(slots=True)
class Outbox:
    """failed records what did not go out: verb, target, why."""

    servers: Mapping[str, Server]
    failed: Callable[[str, str, str], Awaitable[None]]
    _queues: dict[str, asyncio.Queue[Acknowledge]] = field(default_factory=dict)
    _overflow: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._queues = {name: asyncio.Queue(BOUND) for name in self.servers}

    @property
    def waiting(self) -> int:
        return sum(queue.qsize() for queue in self._queues.values())

    def release(self, effect: Effect, spawn: Callable[[Coroutine[None, None, None], str], None]) -> None:
        """Let one effect of a committed step go; what has to wait for the server is a task of its own."""
        match effect:
            case Acknowledge(server=name):
                queue = self._queues.get(name)
                if queue is None or queue.full():
                    self._overflow[name] = self._overflow.get(name, 0) + 1
                else:
                    queue.put_nowait(effect)
            case Wish(server=name):
                spawn(self._wish(effect), f"wish:{name}")
            case Process(server=name):
                spawn(self._process(effect), f"process:{name}")

    async def run(self, name: str) -> None:
        """Send one server's acknowledgements, in order, for ever."""
        queue = self._queues[name]
        while True:
            effect = await queue.get()
            lost = self._overflow.pop(name, 0)
            if lost:
                await self.failed(
                    "acknowledge", f"mcp:{name}", f"{lost} acknowledgements did not fit and were not sent"
                )
            try:
                await self.servers[name].acknowledge(effect.channel_id, effect.message_id, effect.intent)
            except (ConnectorError, ToolError) as error:
                await self.failed("acknowledge", str(channel(name, effect.channel_id)), str(error))

    async def publish(self, target: Target, text: str) -> str:
        """Say something in a chat channel. Raises ToolError where it did not go out, or nobody knows."""
        server = self.servers.get(target.server or "")
        if target.kind != "channel" or server is None:
            raise ToolError(f"{target} is no chat channel of a server that runs here")
        try:
            sent = await server.publish(target.id, text, str(target))
        except CockpitError as error:
            raise ToolError(str(error)) from error
        if not sent.delivered:
            raise ToolError(f"it was not delivered: {sent.reason or 'no reason given'}")
        return "Published."

    async def _wish(self, wish: Wish) -> None:
        server = self.servers.get(wish.server)
        if server is None:
            return
        try:
            await (server.open(wish.channel_id) if wish.wanted else server.close(wish.channel_id))
        except (ConnectorError, ToolError) as error:
            verb = "open" if wish.wanted else "close"
            await self.failed(verb, str(channel(wish.server, wish.channel_id)), str(error))

    async def _process(self, effect: Process) -> None:
        server = self.servers.get(effect.server)
        if server is not None:
            await (server.start() if effect.alive else server.kill())
