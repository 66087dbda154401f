"""The one door of the commands' output: foreign text becomes inert, and columns line up (semantics.md R-6).

No control sequence, bidi override or unseen character of a message, a name or a report reaches the terminal that a
command was typed in.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from datetime import UTC, datetime

from wcwidth import wcswidth

_UNKNOWN = "\N{REPLACEMENT CHARACTER}"
_BREAKS = re.compile("\r\n|[\n\x0b\x0c\r\x85\u2028\u2029]")
_SEEN = dict.fromkeys(
    [*range(0x20), *range(0x7F, 0xA0), *range(0xD800, 0xE000), *range(0x202A, 0x202F), *range(0x2066, 0x206A)],
    _UNKNOWN,
)
_UNSEEN = dict.fromkeys(
    [0xAD, 0x34F, 0x61C, 0x180E, 0x200B, 0x200E, 0x200F, *range(0x2060, 0x2066), *range(0x206A, 0x2070), 0xFEFF,
     *range(0xFFF0, 0xFFFC), *range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000)]
)  # fmt: skip
_INERT: dict[int, str | None] = {**_SEEN, **_UNSEEN}


def flat(text: str) -> str:
    """Foreign text on one line: breaks and tabs become spaces, other controls U+FFFD, unseen characters nothing."""
    return _BREAKS.sub(" ", text).replace("\t", " ").translate(_INERT)


def block(text: str, indent: str = "") -> list[str]:
    """Foreign text of several lines, each made inert and indented, so that none can pose as a line of ours."""
    return [f"{indent}{line.replace(chr(9), '    ').translate(_INERT)}".rstrip() for line in _BREAKS.split(text)]


def clock(at: float) -> str:
    """`2026-11-30 09:00Z`, of seconds since 1970."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%MZ")


def table(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """Rows of cells, made inert, as aligned lines with two spaces between; the columns `right` stand to the right."""
    safe = [[flat(cell) for cell in row] for row in rows]
    widths = [max(map(_cells, column)) for column in zip(*safe, strict=True)]
    return ["  ".join(_put(cell, widths[n], n in right) for n, cell in enumerate(row)).rstrip() for row in safe]


def _put(cell: str, width: int, right: bool) -> str:
    space = " " * (width - _cells(cell))
    return f"{space}{cell}" if right else f"{cell}{space}"


def _cells(text: str) -> int:
    return len(text) if text.isascii() else max(0, wcswidth(text))
