"""How the panes lie at a size, as plain numbers: side by side, stacked, one alone, or one sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Pane = Literal["channels", "reports", "talk"]
PANES: tuple[Pane, ...] = ("channels", "reports", "talk")
Kind = Literal["wide", "stacked", "single", "sentence"]

SMALLEST = (40, 12)
"""Below this there is one sentence (cockpit.md, Screen)."""

BARS = 4
"""Lines of the screen that no pane gets: headline, answer, composer, legend."""


@dataclass(frozen=True, slots=True)
class Shape:
    """left: the channels' width or height. upper: the reports' height where they stand above the resident."""

    kind: Kind
    left: int = 0
    upper: int = 0

    @classmethod
    def of(cls, width: int, height: int, *, zoomed: bool = False) -> Shape:
        """The shape at a terminal's size."""
        if width < SMALLEST[0] or height < SMALLEST[1]:
            return cls("sentence")
        body = height - BARS
        if zoomed or width < 72 or body < 14:
            return cls("single")
        if width < 100:
            return cls("stacked", left=max(6, body * 45 // 100))
        return cls("wide", left=max(58, width // 2 if width < 140 else width * 11 // 20), upper=body // 2)
