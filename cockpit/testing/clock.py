"""A clock that stands still until a test moves it, wall and elapsed time apart."""

from __future__ import annotations

import asyncio


class FakeClock:
    """Starts at 2026-11-30 09:00 UTC. `advance` moves both faces and lets whoever waits for them run."""

    def __init__(self, wall: float = 1_796_029_200.0) -> None:
        self._wall = wall
        self._elapsed = 0.0
        self._waiting: dict[asyncio.Future[bool], float] = {}

    def wall(self) -> float:
        return self._wall

    def elapsed(self) -> float:
        return self._elapsed

    async def wait(self, event: asyncio.Event, seconds: float | None) -> bool:
        if event.is_set():
            return True
        due = asyncio.get_running_loop().create_future()
        if seconds is not None:
            self._waiting[due] = self._elapsed + seconds
            self._wake()
        watch = asyncio.ensure_future(event.wait())
        try:
            await asyncio.wait({watch, due}, return_when=asyncio.FIRST_COMPLETED)
            return event.is_set()
        finally:
            watch.cancel()
            due.cancel()
            self._waiting.pop(due, None)

    def advance(self, seconds: float, *, wall: float | None = None) -> None:
        """Let `seconds` elapse; the wall moves by as much, or by `wall` (a suspend, a step back)."""
        self._elapsed += seconds
        self._wall += seconds if wall is None else wall
        self._wake()

    def _wake(self) -> None:
        for due, at in list(self._waiting.items()):
            if at <= self._elapsed and not due.done():
                due.set_result(True)
