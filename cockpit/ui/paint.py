"""From words to what the terminal gets: every widget of ours paints lines of parts, and only this turns them to strips.

There is no markup on this way, and no text that did not pass the door (semantics.md R-6).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from cockpit.ui.text import Safe, cells, clip
from cockpit.ui.theme import Role, Theme

_ASCII = str.maketrans({
    "…": "~", "·": "-", "—": "-", "–": "-", "→": ">", "▸": ">", "✓": "*", "❯": ">", "↵": "_",
    "─": "-", "━": "=", "│": "|", "┬": "+", "┴": "+", "├": "+", "┤": "+", "┼": "+", "┃": "|", "↑": "^", "↓": "v",
})  # fmt: skip


class Part(NamedTuple):
    """A stretch of one line in one role."""

    text: Safe
    role: Role = "text"


Line = tuple[Part, ...]


def measure(line: Sequence[Part]) -> int:
    """The cells a line takes."""
    return sum(cells(part.text) for part in line)


def strip(line: Sequence[Part], width: int, theme: Theme, base: Style) -> Strip:
    """A line of exactly `width` cells; what does not fit is clipped, what is left over shows `base`."""
    runs: list[tuple[str, Style]] = []
    room = width
    for text, role in (*line, Part(Safe(" " * max(0, width)))):
        if room <= 0:
            break
        blank = text.isspace()
        shown = text if cells(text) <= room else Safe(text[:room]) if blank else clip(text, room)
        room -= cells(shown)
        style = base if blank else base + theme.styles[role]
        written = in_ascii(shown) if theme.ascii else shown
        if runs and (runs[-1][1] == style or (blank and not _shows_on_blanks(runs[-1][1], style))):
            runs[-1] = (runs[-1][0] + written, runs[-1][1])
        else:
            runs.append((written, style))
    return Strip([Segment(text, style) for text, style in runs], max(0, width))


def _shows_on_blanks(one: Style, other: Style) -> bool:
    """Whether a blank looks otherwise in the one style than in the other; if not, it need not be told apart."""
    return bool(one.bgcolor != other.bgcolor or one.underline or other.underline or one.reverse or other.reverse)


def in_ascii(text: Safe) -> Safe:
    """The same for a terminal in a C locale, cell for cell: the cockpit's own signs by name, all else `?`."""
    if text.isascii():
        return text
    return Safe("".join(
        letter if letter.isascii() else "?" * cells(Safe(letter)) for letter in text.translate(_ASCII)
    ))  # fmt: skip
