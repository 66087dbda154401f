"""A connector with everything around it that a test needs: the fixture server over real stdio, a host that records,
and a clock that the test moves."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from cockpit.connect.config import ServerConfig
from cockpit.connect.ports import Called
from cockpit.connect.supervisor import SupervisedServer, supervise
from cockpit.testing.clock import FakeClock
from cockpit.testing.host import RecordingHost
from cockpit.testing.mcpl_remote import Remote

FIXTURE = (sys.executable, "-m", "cockpit.testing.mcpl_server")

_PATIENCE = 20.0


class WatchedClock(FakeClock):
    """A FakeClock that tells what it was asked to wait for: `asked`, in seconds, None for no limit."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[float | None] = []
        self._arrived = asyncio.Event()

    async def wait(self, event: asyncio.Event, seconds: float | None) -> bool:
        self.asked.append(seconds)
        asyncio.get_running_loop().call_soon(self._arrived.set)
        return await super().wait(event, seconds)

    async def until_asked(self, count: int) -> float | None:
        """Wait until it was asked so often in all; gives what for at last. Whoever asked is waiting by then."""
        async with asyncio.timeout(_PATIENCE):
            while len(self.asked) < count:
                self._arrived.clear()
                await self._arrived.wait()
        return self.asked[count - 1]


@dataclass
class Served:
    """One supervised server. `options` are the fixture's own; `config` is what is said of it, its command apart."""

    remote: Remote
    logs: Path
    options: tuple[str, ...] = ()
    config: ServerConfig = field(default_factory=lambda: ServerConfig("fix", "mcpl", (), ping=0))
    host: RecordingHost = field(default_factory=RecordingHost)
    clock: WatchedClock = field(default_factory=WatchedClock)
    killed: bool = False
    chance: Callable[[], float] = field(default=lambda: 0.0)

    def __post_init__(self) -> None:
        command = self.config.command or (*FIXTURE, "--control", str(self.remote.path), *self.options)
        self.server: SupervisedServer = supervise(
            replace(self.config, command=command),
            self.host,
            logs=self.logs,
            clock=self.clock,
            killed=self.killed,
            chance=self.chance,
        )

    async def online(self, times: int = 1) -> None:
        """Wait until it is online for the n-th time, and its fixture can be told things."""
        await self.remote.connected()
        await self.host.until_presence("online", times)

    async def registered(self, *channels: str) -> None:
        """Have the fixture register channels, and wait until they were asked to be open."""
        await self.remote.do("register", channels=list(channels))
        await self.remote.do("expect", method="channels/open", count=len(channels))

    async def stuck(self) -> asyncio.Future[Called]:
        """Wait until the connector has stopped reading; gives the call that is not answered because of it."""
        async with asyncio.timeout(_PATIENCE):
            while True:
                calling = asyncio.ensure_future(self.server.call("echo", {}))
                done, _ = await asyncio.wait({calling}, timeout=0.2)
                if not done:
                    return calling


@asynccontextmanager
async def running(served: Served) -> AsyncIterator[Served]:
    """Supervise it for the length of a block, and see it end cleanly."""
    task = asyncio.create_task(served.server.run(), name="supervised")
    try:
        yield served
    finally:
        task.cancel()
        await asyncio.wait({task})
    if not task.cancelled() and (error := task.exception()) is not None:
        raise error


@asynccontextmanager
async def remote() -> AsyncIterator[Remote]:
    """A control socket in a directory of its own, whose name is short enough for one."""
    with TemporaryDirectory(prefix="ck") as directory:
        async with Remote(Path(directory) / "c") as listening:
            yield listening
