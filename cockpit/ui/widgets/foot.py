"""The two quiet lines at the bottom: how the last verb went, and the keys that work here."""

from __future__ import annotations

from collections.abc import Sequence

from cockpit.ui.look import Painted
from cockpit.ui.paint import Line, Part, measure
from cockpit.ui.text import Safe, own, wrap
from cockpit.ui.theme import Role

MOST = 3
"""Lines an answer may take; a long error with its hint is worth reading whole."""


class AnswerLine(Painted):
    """One answer at a time: the next takes its place, nothing piles up (cases.md F-7)."""

    DEFAULT_CSS = "AnswerLine { height: 1; background: $background; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self.said: Safe = own("")
        self._role: Role = "dim"

    def say(self, text: Safe, role: Role = "dim") -> None:
        """Show `text` instead of what was said before."""
        if (text, role) == (self.said, self._role):
            return
        self.said, self._role = text, role
        needed = min(MOST, max(1, len(self._wrapped())))
        if self.styles.height is None or self.styles.height.value != needed:
            self.styles.height = needed
        self.refresh()

    def lines(self, width: int, height: int) -> Sequence[Line]:
        mark = {"error": "! ", "ok": "✓ ", "need": "? ", "warn": "! "}.get(self._role, "  ") if self.said else ""
        first = (Part(own(f" {mark}"), self._role),)
        rest = (Part(own("   ")),)
        return tuple(
            (*(first if place == 0 else rest), Part(part, self._role)) for place, part in enumerate(self._wrapped())
        )

    def _wrapped(self) -> list[Safe]:
        width = max(8, (self.size.width or self.app.size.width) - 4)
        return wrap(self.said, width, width)


class Legend(Painted):
    """`m mute  t tune out …`; what does not fit is left to `?`."""

    DEFAULT_CSS = "Legend { height: 1; background: $background; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._keys: tuple[tuple[str, str], ...] = ()

    def show(self, keys: Sequence[tuple[str, str]]) -> None:
        """(key, word) pairs, the most useful first."""
        if tuple(keys) != self._keys:
            self._keys = tuple(keys)
            self.refresh()

    def lines(self, width: int, height: int) -> Sequence[Line]:
        parts: list[Part] = []
        for key, word in self._keys:
            pair = (Part(own("  " if parts else " ")), Part(own(key), "accent"), Part(own(f" {word}"), "dim"))
            if measure(parts) + measure(pair) <= width:
                parts += pair
        return (tuple(parts),)
