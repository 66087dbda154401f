"""Keeps one server up and tells its presence truly: online after proof, offline with the reason, killed when asked.

`run` is the one owner of the server's connections. What others ask of it (`kill`, `start`) are messages to it, and
whatever a server does ends at its boundary.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import random

from cockpit.connect.config import Clock, ServerConfig
from cockpit.connect.connection import Connection
from cockpit.connect.faults import Secrets
from cockpit.connect.own import Own
from cockpit.connect.ports import Called, Host, Published
from cockpit.connect.stderr import StderrLog
from cockpit.connect.transport import Crashed
from cockpit.core.message import Json
from cockpit.core.request import Tool
from cockpit.errors import ConnectorError

_SHORTEST_PAUSE, _LONGEST_PAUSE = 5.0, 300.0
_PROVEN = 60.0  # seconds online after which an end is a new trouble, not the old one


@dataclass(frozen=True, slots=True)
class _End:
    """How a connection ended. crashed: the server died by itself."""

    reason: str
    crashed: bool


def supervise(
    config: ServerConfig,
    host: Host,
    *,
    logs: Path,
    clock: Clock,
    killed: bool = False,
    chance: Callable[[], float] = random,
) -> SupervisedServer:
    """A server that is up once `run` runs, and satisfies `ports.Server`.

    logs: the directory of its stderr log, NAME.log. killed: it starts as the operator left it (M-13).
    chance: numbers in [0, 1), for the jitter."""
    return SupervisedServer(config, host, logs=logs, clock=clock, killed=killed, chance=chance)


class SupervisedServer:
    """One server over all its connections. Calls while it is not online raise ConnectorError."""

    def __init__(
        self,
        config: ServerConfig,
        host: Host,
        *,
        logs: Path,
        clock: Clock,
        killed: bool,
        chance: Callable[[], float],
    ) -> None:
        self.name = config.name
        self._config = config
        self._host = host
        self._clock = clock
        self._chance = chance
        self._own = Own(clock.elapsed)
        self._secrets = Secrets(config.secrets())
        self._log = StderrLog(logs / f"{config.name}.log", self._secrets, config.limits.stderr)
        self._down = killed
        self._at_once = False
        self._running = False
        self._asked = asyncio.Event()
        self._is_down = asyncio.Event()
        self._connection: Connection | None = None
        self._online_since: float | None = None
        self._failures = 0

    # What it is now.

    @property
    def grant(self) -> frozenset[str]:
        return frozenset() if self._connection is None else self._connection.grant

    def tools(self) -> tuple[Tool, ...]:
        return () if self._connection is None else self._connection.mcp.tools()

    def instructions(self) -> str:
        return "" if self._connection is None else self._connection.instructions

    @property
    def stderr(self) -> StderrLog:
        """Its stderr: `path` of the file, `lines` so far over all its runs, `tail` of the present one (F-11)."""
        return self._log

    # What it is asked.

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> Called:
        return await self._online().mcp.call(tool, arguments)

    async def open(self, channel_id: str) -> None:
        await self._online().sender.open(channel_id)

    async def close(self, channel_id: str) -> None:
        await self._online().sender.close(channel_id)

    async def publish(self, channel_id: str, text: str, conversation: str) -> Published:
        return await self._online().sender.publish(channel_id, text, conversation)

    async def acknowledge(self, channel_id: str, message_id: str, intent: str) -> None:
        await self._online().sender.acknowledge(channel_id, message_id, intent)

    def typing(self, channel_id: str, *, on: bool) -> None:
        if self._connection is not None:
            self._connection.sender.typing(channel_id, on=on)

    async def regrant(self, patterns: Sequence[str]) -> None:
        """Offer this connection another policy (mcpl.md 5.3); the next one begins with the recipe's again."""
        await self._online().policy.change(patterns)

    async def kill(self) -> None:
        self._down = True
        self._asked.set()
        if self._running:
            await self._is_down.wait()

    async def start(self) -> None:
        self._down = False
        self._at_once = True
        self._failures = 0
        self._asked.set()

    def _online(self) -> Connection:
        if self._connection is None:
            raise ConnectorError(f"{self.name} is not online")
        return self._connection

    # Its life.

    async def run(self) -> None:
        self._running = True
        try:
            async with asyncio.TaskGroup() as tasks:
                while True:
                    await self._live(tasks)
        finally:
            self._running = False
            self._is_down.set()

    async def _live(self, tasks: asyncio.TaskGroup) -> None:
        """One stretch: killed until it is started again, or one connection and the pause after it."""
        if self._down:
            await self._host.present(self.name, "killed")
            self._is_down.set()
            await self._told(None, while_down=True)
            self._is_down.clear()
            return
        self._at_once = False
        await self._host.present(self.name, "connecting")
        end = await self._connect(tasks)
        if end is None:
            return
        await self._host.present(self.name, "offline", end.reason, crashed=end.crashed)
        await self._told(None if self._config.restart == "never" else self._pause(), while_down=False)

    async def _connect(self, tasks: asyncio.TaskGroup) -> _End | None:
        """Serve one connection until it ends by itself, or until it is killed (None)."""
        self._online_since = None
        connection = Connection(
            self._config,
            self._host,
            log=self._log,
            secrets=self._secrets,
            clock=self._clock,
            own=self._own,
            online=self._came_online,
        )
        self._next = connection
        serving = tasks.create_task(_ending(connection), name=f"{self.name}: connection")
        try:
            while not serving.done() and not self._down:
                self._asked.clear()
                asked = tasks.create_task(self._asked.wait(), name=f"{self.name}: asked")
                await asyncio.wait({serving, asked}, return_when=asyncio.FIRST_COMPLETED)
                asked.cancel()
        finally:
            self._connection = None
        if not serving.done():
            serving.cancel()
            await asyncio.wait({serving})
        return None if self._down or serving.cancelled() else serving.result()

    async def _came_online(self) -> None:
        self._online_since = self._clock.elapsed()
        self._connection = self._next
        await self._host.present(self.name, "online")
        if self.tools():
            await self._host.tools_changed(self.name)

    def _pause(self) -> float:
        """Seconds until the next try: between 5 and 10, doubling at each failure in a row, at most five minutes."""
        if self._online_since is not None and self._clock.elapsed() - self._online_since >= _PROVEN:
            self._failures = 0
        longest = min(_LONGEST_PAUSE, 2 * _SHORTEST_PAUSE * 2.0**self._failures)
        self._failures = min(self._failures + 1, 16)
        return longest / 2 + longest / 2 * self._chance()

    async def _told(self, seconds: float | None, *, while_down: bool) -> None:
        """Until it is killed or started, or so many seconds have passed; not at all where it was meanwhile."""
        self._asked.clear()
        if self._down is while_down and not self._at_once:
            await self._clock.wait(self._asked, seconds)


async def _ending(connection: Connection) -> _End:
    try:
        await connection.run()
    except Exception as error:  # noqa: BLE001 - the boundary: nothing a server does goes beyond its task
        cause = _cause(error)
        return _End(connection.faults.line(str(cause) or type(cause).__name__), isinstance(cause, Crashed))


def _cause(error: BaseException) -> BaseException:
    """The one failure that began it: what the connection said of itself before whatever followed."""
    leaves = _leaves(error)
    return next((leaf for leaf in leaves if isinstance(leaf, ConnectorError)), leaves[0])


def _leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for each in error.exceptions for leaf in _leaves(each)]
    return [error]
