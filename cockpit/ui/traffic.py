"""How much came over each channel in the last minutes, as a row of bars: traffic at a glance.

Taken from what a row's counts grow by, so it needs nothing but the rows. Bars are made once a minute, never in
between: what moves while nothing happens writes bytes for nothing (architecture.md, Performance).
"""

from __future__ import annotations

from collections import deque

from cockpit.core.events import ChannelChanged
from cockpit.ui.text import Safe, own

MINUTES = 10
"""Minutes that the bars tell of, the last one at their right."""

BARS = "▁▂▃▄▅▆▇█"
ASCII_BARS = "_,:;=%#@"
"""The same in a C locale: none of the signs that a state or a mark has there."""


class Traffic:
    """Told of every change of a row; asked for bars when a minute is over."""

    def __init__(self) -> None:
        self._counts: dict[str, deque[int]] = {}
        self._minute = 0

    def note(self, before: ChannelChanged | None, after: ChannelChanged, now: float) -> None:
        """A row changed. now: seconds since 1970. What the first row of a channel holds came before us."""
        self.turn(now)
        if before is None:
            return
        grown = max(0, after.wait - before.wait) + max(0, after.held - before.held)
        if grown:
            self._counts.setdefault(after.target, deque([0] * MINUTES, MINUTES))[-1] += grown

    def turn(self, now: float) -> None:
        """Begin new minutes up to `now`; channels that were silent in all of them are forgotten."""
        minute = int(now // 60)
        if minute <= self._minute:
            return
        passed = minute - self._minute if self._minute else 0
        self._minute = minute
        for target, counts in list(self._counts.items()):
            counts.extend([0] * min(passed, MINUTES))
            if not any(counts):
                del self._counts[target]

    def bars(self, target: str, *, ascii_only: bool = False) -> Safe:
        """One cell a minute; a minute without traffic is blank, the loudest of this channel is full."""
        counts = self._counts.get(target)
        if counts is None:
            return own(" " * MINUTES)
        most = max(counts)
        signs = ASCII_BARS if ascii_only else BARS
        return own("".join(" " if not n else signs[-(-n * len(signs) // most) - 1] for n in counts))
