"""A list to read in: wrapped items with a cursor that belongs to an item, search, and an end that can be followed.

Peek, audit, stats, context, why and help are all this. Its content may change while it is read: the cursor stays with
its item, and the view with the cursor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from cockpit.ui.keys import bindings
from cockpit.ui.look import app_of
from cockpit.ui.paint import Line, Part, measure, strip
from cockpit.ui.text import Safe, own, wrap
from cockpit.ui.theme import Role


@dataclass(frozen=True, slots=True)
class Item:
    """One thing in the list. `key` names it across changes; `raw` is what copying gives."""

    key: str
    head: Line
    body: Safe
    role: Role = "text"
    indent: int = 6
    raw: str = ""

    @property
    def text(self) -> str:
        """What it shows, in one line."""
        return "".join(part.text for part in self.head) + self.body


class Reader(ScrollView, can_focus=True, inherit_bindings=False):
    """Items, one below the other."""

    BINDINGS = bindings("move")
    DEFAULT_CSS = """
    Reader {
        background: $background; color: $foreground; padding: 0 0 0 1; height: 1fr;
        overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; scrollbar-gutter: stable;
    }
    """

    class Moved(Message):
        """The cursor stands elsewhere."""

    def __init__(self, *, lit: bool = False, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        """lit: its cursor is the one that counts, wherever the focus is."""
        super().__init__(id=id)
        self.can_focus = not lit
        self._lit = lit
        self._items: tuple[Item, ...] = ()
        self._lines: list[tuple[int, Line]] = []
        self._cursor = 0

    def show(self, items: Sequence[Item], *, at_end: bool = False) -> None:
        """Show these items. A cursor at the end follows it; otherwise it keeps its item."""
        current, follows = self.current, self._at_end
        self._items = tuple(items)
        self._lay_out()
        if current is None:
            self._to(len(self._lines) - 1 if at_end else 0)
        elif follows and at_end:
            self._to(len(self._lines) - 1)
        else:
            kept = (n for n, (place, _) in enumerate(self._lines) if self._items[place].key == current.key)
            self._to(next(kept, min(self._cursor, len(self._lines) - 1)))

    @property
    def current(self) -> Item | None:
        """The item under the cursor."""
        return self._items[self._lines[self._cursor][0]] if self._cursor < len(self._lines) else None

    @property
    def held(self) -> bool:
        """Whether the cursor stands above the end, so that news must not move it."""
        return not self._at_end

    def find(self, words: str, *, again: bool = False) -> bool:
        """Go to the next item that holds `words` in any case; whether there was one."""
        if not words or not self._items:
            return False
        here = self._lines[self._cursor][0]
        order = [*range(here + again, len(self._items)), *range(here + again)]
        found = next((n for n in order if words.casefold() in self._items[n].text.casefold()), None)
        if found is None:
            return False
        self._to(next(n for n, (place, _) in enumerate(self._lines) if place == found))
        return True

    def action_step(self, by: int) -> None:
        self._to(self._cursor + by)

    def step_item(self, by: int) -> None:
        """To the first line of the next item, or of the one before."""
        if self._lines:
            place = max(0, min(self._lines[self._cursor][0] + by, len(self._items) - 1))
            self._to(next(n for n, (item, _) in enumerate(self._lines) if item == place))

    def action_page(self, by: int) -> None:
        self._to(self._cursor + by * max(1, self.size.height - 1))

    def action_edge(self, end: int) -> None:
        self._to(0 if end < 0 else len(self._lines) - 1)

    def on_click(self, event: events.Click) -> None:
        self._to(round(self.scroll_y) + event.y)

    def on_resize(self) -> None:
        current = self.current
        self._lay_out()
        if current is not None:
            self._to(next((n for n, (place, _) in enumerate(self._lines) if self._items[place] == current), 0))

    def render_line(self, y: int) -> Strip:
        place = round(self.scroll_y) + y
        width = self.size.width
        app = app_of(self)
        if not 0 <= place < len(self._lines):
            return Strip.blank(width, self.rich_style)
        item, line = self._lines[place]
        chosen = item == self._lines[self._cursor][0]
        base = self.rich_style + app.look.cursor(self.has_focus or self._lit) if chosen else self.rich_style
        return strip(line, width, app.look, base)

    @property
    def _at_end(self) -> bool:
        return self._cursor >= len(self._lines) - 1

    def _lay_out(self) -> None:
        width = max(1, self.scrollable_content_region.width)
        self._lines = [(place, line) for place, item in enumerate(self._items) for line in _laid_out(item, width)]
        self._cursor = max(0, min(self._cursor, len(self._lines) - 1))
        self.virtual_size = Size(width, len(self._lines))
        self.refresh()

    def _to(self, place: int) -> None:
        if not self._lines:
            return
        before, self._cursor = self._cursor, max(0, min(place, len(self._lines) - 1))
        touched = {self._lines[n][0] for n in (before, self._cursor) if n < len(self._lines)}
        for y in range(self.size.height):
            shown = y + round(self.scroll_y)
            if shown < len(self._lines) and self._lines[shown][0] in touched:
                self.refresh(Region(0, y, self.size.width, 1))
        top, room = round(self.scroll_y), self.size.height
        if self._cursor < top:
            self.scroll_to(y=self._cursor, animate=False, force=True)
        elif room and self._cursor >= top + room:
            self.scroll_to(y=self._cursor - room + 1, animate=False, force=True)
        self.post_message(self.Moved())


def _laid_out(item: Item, width: int) -> list[Line]:
    indent = min(item.indent, max(0, width - 8))
    wrapped = wrap(item.body, max(1, width - measure(item.head)), width - indent)
    space = Part(own(" " * indent))
    return [(*(item.head if place == 0 else (space,)), Part(part, item.role)) for place, part in enumerate(wrapped)]
