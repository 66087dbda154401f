"""What a server sent and nobody has looked at yet, in line order and bounded: at the bound its reading stops."""

from __future__ import annotations

import asyncio
from collections import deque

from cockpit.connect.outbox import Wire

_AT_A_STRETCH = 32  # messages, about a millisecond: then others have their turn on the loop


class Inbox:
    """One writer, one reader. `stops` counts how often reading had to stop; `stopped` says whether it stands still."""

    def __init__(self, bound: int) -> None:
        self.stops = 0
        self.stopped = False
        self._bound = bound
        self._taken = 0
        self._messages: deque[Wire] = deque()
        self._filled = asyncio.Event()
        self._room = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()

    def put(self, message: Wire) -> None:
        """Add one. `settle` is due after the last of a batch."""
        self._messages.append(message)

    async def settle(self) -> None:
        """Tell the reader that something is there, and wait while there is too much of it."""
        if not self._messages:
            return
        self._idle.clear()
        self._filled.set()
        if len(self._messages) < self._bound:
            return
        self.stops += 1
        self.stopped = True
        self._room.clear()
        try:
            await self._room.wait()
        finally:
            self.stopped = False

    async def take(self) -> Wire:
        """The next message; the one taken before is dealt with."""
        if not self._messages:
            self._idle.set()
            self._filled.clear()
            await self._filled.wait()
        self._taken += 1
        if self._taken % _AT_A_STRETCH == 0:
            await asyncio.sleep(0)
        if self.stopped and len(self._messages) <= self._bound // 2:
            self._room.set()
        return self._messages.popleft()

    async def dealt_with(self) -> None:
        """Until all that was put in has been dealt with."""
        await self._idle.wait()
