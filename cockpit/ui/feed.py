"""Reads the link's events into the intake and says when to paint: at once after a pause, else four times a second."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

from cockpit.core.events import Event, Link, View
from cockpit.ui.intake import Batch, Intake

EVERY = 0.25
"""Seconds between two paints (architecture.md, Libraries)."""

SOONEST = 0.01
"""Seconds in which the first events after a pause gather."""


class Feed:
    """later: run a function after so many seconds. elapsed: a clock that only goes forward, in seconds."""

    def __init__(
        self,
        link: Link,
        paint: Callable[[Batch], None],
        later: Callable[[float, Callable[[], None]], object],
        elapsed: Callable[[], float],
    ) -> None:
        self.intake = Intake()
        self._link = link
        self._paint = paint
        self._later = later
        self._elapsed = elapsed
        self._pending = False
        self._painted = float("-inf")
        self._events: AsyncIterator[Event] | None = None

    async def open(self) -> View:
        """Subscribe, then ask how things stand; nothing is missed between the two."""
        self.intake = Intake()
        self._events = self._link.events()
        return await self._link.snapshot()

    async def read(self) -> None:
        """Take in events until they end; raises what the link raises."""
        if self._events is None:
            return
        async for event in self._events:
            self.put(event)

    def put(self, event: Event) -> None:
        """Take in one event and see that it is painted."""
        self.intake.put(event)
        if self._pending:
            return
        self._pending = True
        self._later(max(SOONEST, self._painted + EVERY - self._elapsed()), self._due)

    def paint_now(self) -> None:
        """Paint what waits, as after a verb of the operator's own."""
        self._painted = self._elapsed()
        self._paint(self.intake.take())

    def _due(self) -> None:
        self._pending = False
        self.paint_now()
