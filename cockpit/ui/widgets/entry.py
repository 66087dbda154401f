"""One entry of a pane: a time, who or what it is of, and its text, wrapped under the time as in a chat.

Its first cell is a gutter for the mark of the entry that Enter means. While its text is still being written only the
lines that changed are painted.
"""

from __future__ import annotations

from collections.abc import Callable

from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from cockpit.ui.look import app_of
from cockpit.ui.paint import Line, Part, measure, strip
from cockpit.ui.text import Safe, clip, own, wrap
from cockpit.ui.theme import Role

USUAL = 58
"""Cells of a pane at 120×40, for an entry that is not laid out yet."""


Head = Line | Callable[[int], Line]
"""What stands before a text, or that for a width in cells: a name has as much room as the pane can spare."""


class Entry(Widget):
    """`12:04 #noisy  You were asked twice …`. `raw` is the text as it came, for copying; `channel` a target."""

    DEFAULT_CSS = "Entry { width: 1fr; height: auto; background: $background; }"

    def __init__(
        self,
        head: Head,
        body: Safe,
        role: Role = "text",
        *,
        raw: str = "",
        channel: str = "",
        indent: int = 6,
        one_line: bool = False,
    ) -> None:
        super().__init__()
        self.raw = raw or body
        self.channel = channel
        self._head = head
        self._body = body
        self._role: Role = role
        self._indent = indent
        self._one_line = one_line
        self._wrapped: tuple[int, list[Safe]] = (0, [])
        self._current = False

    def write(self, body: Safe, *, head: Head | None = None, role: Role | None = None, raw: str = "") -> None:
        """Say something else; lays out anew only where that takes more or fewer lines."""
        width = self.size.width
        before = list(self._lines(width)) if width else []
        changed_head = head is not None and head != self._head
        self._body, self.raw = body, raw or body
        self._head = self._head if head is None else head
        self._role = self._role if role is None else role
        self._wrapped = (0, [])
        if not width:
            return
        after = self._lines(width)
        if len(after) != len(before):
            self.refresh(layout=True)
            return
        for y, (old, new) in enumerate(zip(before, after, strict=True)):
            if old != new or (changed_head and y == 0) or role is not None:
                self.refresh(Region(0, y, width, 1))

    @property
    def current(self) -> bool:
        """Whether Enter acts on it."""
        return self._current

    @current.setter
    def current(self, current: bool) -> None:
        if current != self._current:
            self._current = current
            self.refresh(Region(0, 0, self.size.width, 1))

    @property
    def text(self) -> str:
        """What it shows, in one line."""
        return "".join(part.text for part in self._head_at(self.size.width or USUAL)) + self._body

    def height_at(self, width: int) -> int:
        """The lines it takes at a width."""
        return max(1, len(self._lines(width)))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self.height_at(width)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        lines = self._lines(width)
        gutter = Part(own("▸" if y == 0 and self._current else " "), "accent")
        head: Line = self._head_at(width) if y == 0 else (Part(own(" " * self._indent)),)
        body = Part(lines[y] if y < len(lines) else own(""), self._role)
        return strip((gutter, *head, body), width, app_of(self).look, self.rich_style)

    def _head_at(self, width: int) -> Line:
        return self._head(width) if callable(self._head) else self._head

    def _lines(self, width: int) -> list[Safe]:
        if self._wrapped[0] != width:
            room = width - 1
            first = room - measure(self._head_at(width))
            if self._one_line:
                self._wrapped = (width, [clip(self._body, first)])
                return self._wrapped[1]
            indent = min(self._indent, max(0, room - 8))
            self._wrapped = (width, wrap(self._body, first, room - indent))
        return self._wrapped[1]
