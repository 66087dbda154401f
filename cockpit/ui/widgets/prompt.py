"""The sign before the composer, and the sentence that stands alone where the terminal is too small."""

from __future__ import annotations

from collections.abc import Sequence

from cockpit.ui.look import Painted
from cockpit.ui.paint import Line, Part
from cockpit.ui.shape import SMALLEST
from cockpit.ui.text import own, wrap


class Prompt(Painted):
    """` > `, ` : ` before a verb that is written without one, ` / ` while searching."""

    DEFAULT_CSS = "Prompt { width: 3; height: 1; background: $background; }"

    def __init__(self) -> None:
        super().__init__()
        self._sign = ">"
        self._lit = False

    def show(self, sign: str, *, lit: bool) -> None:
        """Change the sign; lit while the line has the focus."""
        if (sign, lit) != (self._sign, self._lit):
            self._sign, self._lit = sign, lit
            self.refresh()

    def lines(self, width: int, height: int) -> Sequence[Line]:
        return ((Part(own(f" {self._sign} "), "title-focus" if self._lit else "dim"),),)


class Sentence(Painted):
    """What to do about a terminal below the smallest size."""

    DEFAULT_CSS = "Sentence { width: 1fr; height: 1fr; background: $background; display: none; }"

    def lines(self, width: int, height: int) -> Sequence[Line]:
        words = f"cockpit needs {SMALLEST[0]}×{SMALLEST[1]}; this is {width}×{height}."
        return tuple((Part(part, "text"),) for part in wrap(own(words), width, width))
