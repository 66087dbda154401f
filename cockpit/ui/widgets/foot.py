"""The quiet lines at the bottom: what was told, how the last verb went, and the keys that work here."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from cockpit.ui.look import Painted
from cockpit.ui.paint import Line, Part, measure
from cockpit.ui.text import Safe, clip, own, wrap
from cockpit.ui.theme import Role

MOST = 3
"""Lines an answer may take; a long error with its hint is worth reading whole."""


KEPT = 50
"""Told texts that are kept until they are seen; the log keeps more."""


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
        needed = max(1, len(self._shown()))
        if self.styles.height is None or self.styles.height.value != needed:
            self.styles.height = needed
        self.refresh()

    def on_resize(self) -> None:
        self.styles.height = max(1, len(self._shown()))

    def lines(self, width: int, height: int) -> Sequence[Line]:
        mark = {"error": "! ", "ok": "✓ ", "need": "? ", "warn": "! "}.get(self._role, "  ") if self.said else ""
        first = (Part(own(f" {mark}"), self._role),)
        rest = (Part(own("   ")),)
        return tuple(
            (*(first if place == 0 else rest), Part(part, self._role)) for place, part in enumerate(self._shown())
        )

    @property
    def most(self) -> int:
        """Lines it may take."""
        return MOST

    def _shown(self) -> list[Safe]:
        """Its lines; what does not fit is cut with a sign, and the log has it whole."""
        width = max(8, (self.size.width or self.app.size.width) - 4)
        wrapped = wrap(self.said, width, width)
        if len(wrapped) <= self.most:
            return wrapped
        return [*wrapped[: self.most - 1], own(f"{clip(wrapped[self.most - 1], max(1, width - 4))} … l")]


class Told(AnswerLine):
    """What the cockpit tells unasked: it stands, above the answers, until the operator says that it was seen.

    A question (`asks`) is not covered by what comes after it; how many others there are is counted.
    """

    DEFAULT_CSS = "Told { height: 1; background: $background; display: none; }"

    def __init__(self) -> None:
        super().__init__()
        self._unseen: deque[tuple[Safe, bool]] = deque(maxlen=KEPT)
        self._count = 0

    def tell(self, news: Sequence[tuple[Safe, bool]], more: int = 0) -> None:
        """news: texts, oldest first, each with whether it asks something. more: how many came that are not in it."""
        self._unseen.extend(news)
        self._count += len(news) + more
        asking = [text for text, asks in self._unseen if asks]
        if not self._unseen:
            return
        shown = asking[-1] if asking else self._unseen[-1][0]
        others = f" — and {self._count - 1} more (l lists them)" if self._count > 1 else " (Esc: seen)"
        self.display = True
        self.say(own(f"{shown}{others}"), "warn" if asking else "error")

    def seen(self) -> bool:
        """Take it away; whether there was anything."""
        had = bool(self._unseen)
        self._unseen.clear()
        self._count = 0
        self.display = False
        self.say(own(""))
        return had

    @property
    def most(self) -> int:
        return max(1, min(5, self.app.size.height // 4))


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
