"""How one row of the channel table lies on its line: which columns there are at a width, and what stands in each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cockpit.core.events import ChannelChanged
from cockpit.core.notices import count
from cockpit.ui import words
from cockpit.ui.board import FoldLine
from cockpit.ui.paint import Line, Part, measure
from cockpit.ui.text import Safe, cells, clip, fit, line, own
from cockpit.ui.theme import Role, Theme
from cockpit.ui.traffic import MINUTES

_GUTTER = 4
"""Mark, two glyphs, a space."""

_NAME = 28
"""Cells that a target keeps before a remark takes any."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Widths in cells, by the room alone: a column never moves because of what stands in it."""

    width: int
    target: int
    state: int
    remark: int
    spark: int
    count: int

    @classmethod
    def of(cls, width: int) -> Columns:
        """The columns of a table `width` cells wide."""
        count = 5 if width >= 54 else 4
        room = max(0, width - _GUTTER - 3 * count - 1)
        state = 13 if room < 36 else 16 if room < 42 else 18 if room < 62 else 21
        state = min(state, room // 2)
        spark = MINUTES if room >= 62 else 0
        left = room - state - spark - 3 - _NAME
        remark = min(48, left) if left >= 20 else 0
        beside = sum(extra + 1 for extra in (remark, spark) if extra)
        return cls(width, max(0, room - state - 1 - beside), state, remark, spark, count)

    @property
    def before_counts(self) -> int:
        """The cells of all that stands before the counts."""
        return _GUTTER + self.target + 1 + self.state + sum(extra + 1 for extra in (self.remark, self.spark) if extra)


@dataclass(frozen=True, slots=True)
class Row:
    """A line in parts, each a column; `differs` finds the stretch to repaint."""

    parts: Line

    def differs(self, other: Row | None) -> list[tuple[int, int]]:
        """The (start, width) in cells of the columns that are not as in `other`."""
        if other is None or len(other.parts) != len(self.parts):
            return [(0, measure(self.parts))]
        found: list[tuple[int, int]] = []
        x = 0
        for mine, theirs in zip(self.parts, other.parts, strict=True):
            width = measure([mine])
            if mine != theirs:
                found.append((x, width))
            x += width
        return found


def heading(columns: Columns) -> Line:
    """The names of the columns; counts shrink to their first letters where the room is small."""
    names = ("wait", "need", "held") if columns.count > 4 else ("wt", "nd", "hd")
    parts = [Part(fit(own("    target"), _GUTTER + columns.target), "dim"), _gap(),
             Part(fit(own("state"), columns.state), "dim")]  # fmt: skip
    if columns.remark:
        parts += [_gap(), Part(fit(own(""), columns.remark), "dim")]
    if columns.spark:
        parts += [_gap(), Part(fit(own(f"{MINUTES} min"), columns.spark), "dim")]
    parts += [Part(fit(own(name), columns.count, "right"), "dim") for name in names]
    return tuple(parts)


def fold_row(fold: FoldLine, columns: Columns) -> Row:
    """The line of what a group does not show, with the sums of its counts."""
    return Row(tuple(_fold(fold, columns)))


def channel_row(
    row: ChannelChanged, columns: Columns, look: Theme, now: float, *,
    marked: bool = False, said: str = "", spark: Safe | None = None, lit: bool = False,
) -> Row:  # fmt: skip
    """One channel's line. said: what stands in the place of the remark. spark: its traffic.

    lit: the cursor is on it and has the focus.
    now: seconds since 1970, for the time left.
    """
    dead = row.presence in {"offline", "killed"}
    parts = [Part(own("▸" if marked else " "), "accent" if marked else "text"), *_glyphs(row, look)]
    name = words.named(row.target, columns.target)
    parts.append(Part(fit(name, columns.target), "strong" if lit else "dim" if dead else "text"))
    parts += [_gap(), *_filled(words.state(row, columns.state), columns.state, _role(row))]
    if columns.remark:
        remark = line(said, 80) if said else words.remark(row, now)
        parts += [_gap(), Part(fit(remark, columns.remark), "dim")]
    if columns.spark:
        parts += [_gap(), Part(fit(spark or own(""), columns.spark), "accent")]
    return Row((*parts, *_counts(row.wait, row.need, row.held, columns.count)))


def _glyphs(row: ChannelChanged, look: Theme) -> Iterator[Part]:
    """Two cells and a space; each glyph in the colour of its own state. Always three parts, so that rows compare."""
    marks = [*look.marks(row.presence, row.attention)]
    yield Part(own(marks[0][0]), marks[0][1])
    yield Part(own(marks[1][0]), marks[1][1]) if len(marks) > 1 else _gap()
    yield _gap()


def _filled(text: Safe, width: int, role: Role) -> Iterator[Part]:
    """Text and the blanks after it apart: an underlined state must not underline its column."""
    shown = clip(text, width)
    yield Part(shown, role)
    yield Part(own(" " * (width - cells(shown))))


def _fold(fold: FoldLine, columns: Columns) -> Iterator[Part]:
    words_ = f"    +{fold.channels} quiet" if fold.quiet else f"    +{count(fold.channels, 'channel')}"
    name = f"{words_} of {line(fold.server, 40)}"
    room = columns.before_counts
    yield Part(fit(own(name), room), "dim")
    yield from _counts(fold.wait, fold.need, fold.held, columns.count)


def _counts(wait: int, need: int, held: int, width: int) -> Iterator[Part]:
    yield Part(_count(wait, width), "text" if wait else "dim")
    yield Part(_count(need, width), "need" if need else "dim")
    yield Part(_count(held, width), "text" if held else "dim")


def _count(number: int, width: int) -> Safe:
    """A count right-aligned; what is wider than its column is shortened, never run together with its neighbour."""
    text = str(number) if len(str(number)) < width else words.amount(number)
    short = text if len(text) < width else f"{number // 1000}k" if number < 100_000 else "99k+"
    return fit(own(short), width, "right")


def _role(row: ChannelChanged) -> Role:
    """The colour of the state: attention's where it is not open, else presence's."""
    return row.presence if row.attention == "open" else row.attention


def _gap() -> Part:
    return Part(own(" "))
