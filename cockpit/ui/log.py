"""What was answered and what went wrong, newest last, bounded: the page behind the one answer line."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from cockpit.ui import words
from cockpit.ui.paint import Part
from cockpit.ui.text import Safe, own
from cockpit.ui.theme import Role
from cockpit.ui.widgets.reader import Item

REMEMBERED = 200
"""Entries that are kept."""


class Log:
    """Told everything that the answer line says."""

    def __init__(self) -> None:
        self._entries: deque[tuple[int, float, Safe, Role]] = deque(maxlen=REMEMBERED)
        self._count = 0

    def add(self, at: float, text: Safe, role: Role) -> None:
        """Keep one entry. at: seconds since 1970."""
        self._count += 1
        self._entries.append((self._count, at, text, role))

    def items(self) -> Iterator[Item]:
        """As a sheet shows it."""
        for number, at, text, role in self._entries:
            yield Item(str(number), (Part(words.day_clock(at), "dim"), Part(own("  "))), text, role, 16)
        if not self._entries:
            yield Item("none", (), own("nothing was answered and nothing went wrong"), "dim", 0)
