"""A question before what cannot be taken back, and several lines that came at once: only `y` is a yes (K-125)."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult
from textual.screen import ModalScreen

from cockpit.ui.look import Painted
from cockpit.ui.paint import Line, Part
from cockpit.ui.text import Safe, line, own, wrap
from cockpit.ui.widgets.bars import TitleBar

SHOWN = 8
"""Pasted lines that are shown; the rest is counted."""


class Confirm(ModalScreen[bool], inherit_bindings=False):
    """Ends with True for `y` and with False for every other key, Esc and Ctrl-C among them."""

    DEFAULT_CSS = """
    Confirm { background: transparent; align: center bottom; }
    Confirm > TitleBar { dock: bottom; offset: 0 0; }
    """

    def __init__(self, title: Safe, question: Safe, lines: Sequence[str] = ()) -> None:
        super().__init__()
        self._title = title
        self._question = question
        self._lines = tuple(lines)

    def compose(self) -> ComposeResult:
        yield Asked(self._title, self._question, self._lines)

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        self.dismiss(event.key == "y")

    def on_paste(self, event: events.Paste) -> None:
        """A paste is no key, and so no answer: it must not hold a `y` (K-125)."""
        event.stop()


class Asked(Painted):
    """The question, over the bottom of the panes."""

    DEFAULT_CSS = "Asked { width: 1fr; background: $raised; }"

    def __init__(self, title: Safe, question: Safe, pasted: Sequence[str]) -> None:
        super().__init__()
        self._bar = TitleBar(title)
        self._bar.show(focused=True)
        self._question = question
        self._pasted = pasted

    def on_mount(self) -> None:
        self.styles.height = len(self.lines(self.app.size.width, 0))

    def on_resize(self) -> None:
        self.styles.height = len(self.lines(self.size.width, 0))

    def lines(self, width: int, height: int) -> Sequence[Line]:
        shown: list[Line] = [*self._bar.lines(width, 1)]
        for place, pasted in enumerate(self._pasted[:SHOWN], 1):
            shown.append((Part(own(f" {place:>2} "), "dim"), Part(line(pasted, max(1, width - 5)))))
        if len(self._pasted) > SHOWN:
            shown.append((Part(own(f"    and {len(self._pasted) - SHOWN} more"), "dim"),))
        room = max(8, width - 2)
        shown += [(Part(own(" ")), Part(part, "strong")) for part in wrap(self._question, room, room)]
        shown.append((Part(own(" y"), "accent"), Part(own(" yes   any other key: no"), "dim")))
        return tuple(shown)
