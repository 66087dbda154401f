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
    "…": "~", "·": "-", "—": "-", "–": "-", "→": ">", "▸": ">", "✓": "+", "❯": ">", "↵": "_",
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
    segments: list[Segment] = []
    room = width
    for text, role in line:
        if room <= 0:
            break
        shown = text if cells(text) <= room else clip(text, room)
        room -= cells(shown)
        segments.append(Segment(in_ascii(shown) if theme.ascii else shown, base + theme.styles[role]))
    if room > 0:
        segments.append(Segment(" " * room, base))
    return Strip(segments, max(0, width))


def in_ascii(text: Safe) -> Safe:
    """The same for a terminal in a C locale, cell for cell: the cockpit's own signs by name, all else `?`."""
    if text.isascii():
        return text
    return Safe("".join(
        letter if letter.isascii() else "?" * cells(Safe(letter)) for letter in text.translate(_ASCII)
    ))  # fmt: skip
