"""Time with two faces, so that tests own it: deadlines follow the wall, cadence follows what has elapsed (T-21)."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    def wall(self) -> float:
        """Seconds since 1970."""
        ...

    def elapsed(self) -> float:
        """Seconds since some fixed moment; never steps back."""
        ...

    async def wait(self, event: asyncio.Event, seconds: float | None) -> bool:
        """Until the event is set (True), or so many seconds have elapsed (False). None waits for the event alone."""
        ...


class SystemClock:
    """The machine's own clock."""

    def wall(self) -> float:
        return time.time()

    def elapsed(self) -> float:
        return time.monotonic()

    async def wait(self, event: asyncio.Event, seconds: float | None) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            return False
        return True
