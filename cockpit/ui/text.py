"""The one door for foreign text (semantics.md R-6): whatever comes from outside becomes inert here or nowhere.

Everything that `ui/` paints is `Safe`, and only this module makes it: control characters turn into something that
can be seen, bidi overrides into U+FFFD, invisible characters into nothing, and what terminals measure differently
(joined emoji, flags, skin tones, presentation selectors) into what they all measure alike, so that borders stay
straight. No markup is ever read. Lengths are terminal cells unless said otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NewType

from rich.cells import cell_len
from wcwidth import wcwidth

from cockpit.core.notices import count

Safe = NewType("Safe", str)
"""Text that came through this door. Joining or slicing gives a plain `str`: bring it back through `own`."""

LONGEST = 20_000
"""Code points of one text that are shown; the store keeps the whole."""

Side = Literal["left", "right"]

_UNKNOWN = "\N{REPLACEMENT CHARACTER}"
_JOINER = "\N{COMBINING GRAPHEME JOINER}"
_BREAKS = re.compile("\r\n|[\n\x0b\x0c\r\x85\u2028\u2029]")
_PICTURED = {code: chr(0x2400 + code) for code in range(0x20)} | {0x7F: "\u2421"}
_CONTROLS = _PICTURED | dict.fromkeys([*range(0x80, 0xA0), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF], _UNKNOWN)
_TURNING = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)], _UNKNOWN)
_HIDDEN = [0xAD, 0x34F, 0x61C, 0x180E, 0x200B, 0x200E, 0x200F, *range(0x2060, 0x2066), *range(0x206A, 0x2070),
           0xFEFF, *range(0xFFF0, 0xFFFC), *range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000)]  # fmt: skip
_SELECTORS = [*range(0xFE00, 0xFE10), *range(0x180B, 0x180E)]
_TONES = list(range(0x1F3FB, 0x1F400))
_FLAGS = {0x1F1E6 + place: chr(ord("A") + place) for place in range(26)}
_INERT: dict[int, str | None] = {
    **_CONTROLS, **_TURNING, **_FLAGS, **dict.fromkeys([*_HIDDEN, *_SELECTORS, *_TONES]),
}  # fmt: skip
_ONE_FOR_ONE = {**_CONTROLS, **_TURNING, **_FLAGS, **dict.fromkeys([*_HIDDEN, *_SELECTORS, 0x200C, 0x200D], _JOINER),
                **dict.fromkeys(_TONES, _UNKNOWN)}  # fmt: skip
# A joiner before a symbol builds one picture out of several; only its first part is measured alike everywhere.
_JOINED = re.compile("\u200d(?:[\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff])?")
_COMBINING = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u064b-\u065f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)
_PILED = re.compile(f"([{_COMBINING}]{{4}})[{_COMBINING}]+")


def line(raw: str, most: int | None = None) -> Safe:
    """One line of foreign text: line breaks and tabs become spaces, clipped to `most` cells where given."""
    if most is not None:
        raw = raw[: most * 8 + 64]  # a cell takes more code points only where marks pile up, and those are cut
    flat = _BREAKS.sub(" ", raw).replace("\t", " ")
    safe = _inert(flat)
    return safe if most is None else clip(safe, most)


def block(raw: str, most: int = LONGEST) -> Safe:
    """Foreign text of several lines: every kind of line break is a newline, a tab four spaces.

    What is longer than `most` code points ends in how much is left out.
    """
    rest = len(raw) - most
    shown = _BREAKS.sub("\n", raw[:most]).replace("\t", "    ")
    safe = "\n".join(_inert(part) for part in shown.split("\n"))
    return Safe(f"{safe}\n[{count(rest, 'more character')}, in the store]" if rest > 0 else safe)


def typed(raw: str) -> Safe:
    """A line that is being edited: each code point becomes exactly one, so that the cursor's place still holds."""
    return Safe(raw if raw.isascii() and raw.isprintable() else raw.translate(_ONE_FOR_ONE))


def own(text: str) -> Safe:
    """The cockpit's own words, or a piece of Safe text. Goes through the door all the same: it costs nothing."""
    return _inert(text)


def cells(text: Safe) -> int:
    """How many terminal cells it takes."""
    return len(text) if text.isascii() else cell_len(text)


def clip(text: Safe, most: int) -> Safe:
    """At most `most` cells; what is cut ends in `…`."""
    if most <= 0:
        return Safe("")
    if cells(text) <= most:
        return text
    return Safe(f"{_head(text, most - 1)}…")


def clip_middle(text: Safe, most: int) -> Safe:
    """At most `most` cells, the end kept rather than the beginning: names of one family differ in their ends."""
    if cells(text) <= most or most < 8:
        return clip(text, most)
    head = _head(text, (most - 1) // 4)
    tail = _head(Safe(text[::-1]), most - 1 - cells(Safe(head)))[::-1]
    return Safe(f"{head}…{tail}")


def fit(text: Safe, width: int, side: Side = "left") -> Safe:
    """Exactly `width` cells: clipped, or filled with spaces on the other side."""
    clipped = clip(text, width)
    space = " " * (max(0, width) - cells(clipped))
    return Safe(f"{clipped}{space}" if side == "left" else f"{space}{clipped}")


def wrap(text: Safe, first: int, width: int) -> list[Safe]:
    """Lines of at most `width` cells (the first of at most `first`), broken at spaces where there are any."""
    width = max(1, width)
    lines: list[Safe] = []
    room = max(1, first)
    for paragraph in text.split("\n"):
        for broken in _broken(paragraph, room, width):
            lines.append(Safe(broken))
            room = width
        room = width
    return lines


def _broken(paragraph: str, first: int, width: int) -> Iterator[str]:
    room, current, used = first, "", 0
    for word in re.findall(r"\s*\S+|\s+$", paragraph):
        size = cells(Safe(word))
        if used + size <= room:
            current, used = current + word, used + size
            continue
        if used:
            yield current
            room, current, used = width, "", 0
            word = word.lstrip()  # noqa: PLW2901  a line does not begin with the space it was broken at
        while cells(Safe(word)) > room:
            head = _head(Safe(word), room) or word[0]
            yield head
            room, word = width, word[len(head) :]  # noqa: PLW2901  the rest of a word longer than a line
        current, used = word, cells(Safe(word))
    yield current


def _head(text: Safe, most: int) -> str:
    """The longest beginning of at most `most` cells, marks staying with their letter."""
    if text.isascii():
        return text[: max(0, most)]
    used = 0
    for place, letter in enumerate(text):
        used += cell_len(letter)
        if used > most:
            return text[:place]
    return text


def _inert(text: str) -> Safe:
    if text.isascii() and text.isprintable():
        return Safe(text)
    plain = _PILED.sub(r"\1", _JOINED.sub("", text).translate(_INERT))
    unsteady = {ord(letter): _UNKNOWN for letter in set(plain) if not _measured_alike(letter)}
    return Safe(plain.translate(unsteady) if unsteady else plain)


@lru_cache(maxsize=8192)
def _measured_alike(letter: str) -> bool:
    """Whether Textual and the terminals' own table agree on it; they differ on letters newer than either."""
    return cell_len(letter) == wcwidth(letter)
