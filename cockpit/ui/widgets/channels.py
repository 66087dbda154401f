"""The channel table: the one widget that everything runs through, so it paints by line and only what changed.

A `ScrollView` on Textual's line API (architecture.md, Libraries): a changed count writes the cells of that count.
Rows are keyed by target; keys act on the target under the cursor, never on a row number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from textual import events
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from cockpit.core.events import ChannelChanged
from cockpit.ui.board import Board, BoardLine, FoldLine, GroupState
from cockpit.ui.keys import bindings
from cockpit.ui.look import app_of
from cockpit.ui.paint import Part, strip
from cockpit.ui.text import Safe, own
from cockpit.ui.traffic import Traffic
from cockpit.ui.widgets.columns import Columns, Row, channel_row, fold_row, heading

HEADING = 1
"""Lines above the first row."""


class Channels(ScrollView, can_focus=True, inherit_bindings=False):
    """All channels, one line each. act: what a key means on the targets (the marked rows, or the one under the
    cursor), called at once, so that it acts on the row that is shown."""

    BINDINGS = bindings("move", "table")
    DEFAULT_CSS = """
    Channels {
        background: $background; color: $foreground;
        overflow-x: hidden; overflow-y: auto;
        scrollbar-size-vertical: 1; scrollbar-gutter: stable;
    }
    """

    class Moved(Message):
        """The cursor or the view stands elsewhere, or the cursor's row reads otherwise."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self.board = Board()
        self.cursor: str | None = None
        self.gone = ""
        self.progress: dict[str, str] = {}
        self.traffic = Traffic()
        self._sparks: dict[str, Safe] = {}
        self.act: Callable[[str, tuple[str, ...]], None] = lambda key, targets: None
        self._place = 0
        self._shown: tuple[BoardLine, ...] = ()
        self._cells: dict[str, Row] = {}
        self._columns = Columns.of(0)

    # what is shown

    def begin(self, rows: Iterable[ChannelChanged]) -> None:
        """Begin anew with a snapshot's rows; the cursor keeps its target where that still exists (K-129)."""
        self.board.begin(rows)
        self.progress.clear()
        self._restructure()
        if self.cursor is None and self._shown:
            self._to(0)

    def update_rows(self, rows: Iterable[ChannelChanged]) -> None:
        """Take in changes and repaint the cells that read otherwise now."""
        before = dict(self.board.rows)
        changed = self.board.update(rows)
        if not changed:
            return
        for target in changed & self.board.rows.keys():
            self.traffic.note(before.get(target), self.board.rows[target], app_of(self).now())
        for target in changed:
            self.progress.pop(target, None)
        if self.cursor in changed and self.cursor not in self.board.rows:
            self.gone, self.cursor = self.cursor or "", None
        lines = self.board.lines()
        if [line.target for line in lines] != [line.target for line in self._shown]:
            self._restructure()
        else:
            self._shown = lines
            self._repaint(changed)
        if self.cursor in changed:
            self.post_message(self.Moved())

    def tick(self) -> None:
        """A minute went by: time left and traffic may read otherwise."""
        self.traffic.turn(app_of(self).now())
        self._sparks = {
            target: self.traffic.bars(target, ascii_only=app_of(self).look.ascii) for target in self.board.rows
        }
        self._repaint(self.board.rows)

    def progressed(self, target: str, text: str) -> None:
        """What a server says of a running call, until its row changes (semantics.md M-2)."""
        self.progress[target] = text
        self._repaint({target})

    def set_filter(self, text: str) -> None:
        """Show only rows whose target or label holds `text`."""
        self.board.filter = text
        self._restructure()

    def restyle(self) -> None:
        """The theme changed."""
        self._cells.clear()
        self.refresh()

    @property
    def row(self) -> ChannelChanged | None:
        """The channel under the cursor."""
        return None if self.cursor is None else self.board.rows.get(self.cursor)

    @property
    def more(self) -> Safe:
        """How many lines are out of view, and where; empty where all are in it. A scroll alone changes the arrows."""
        room = max(0, self.size.height - HEADING)
        out = len(self._shown) - room
        if out <= 0:
            return own("")
        top = round(self.scroll_y)
        return own(f"{out} more {'↑' if top else ''}{'↓' if top < out else ''}")

    @property
    def targets(self) -> tuple[str, ...]:
        """What a key acts on: the marked rows in their order, else the one under the cursor."""
        marked = tuple(target for target in self.board.rows if target in self.board.marked)
        return marked or (() if self.row is None else (self.row.target,))

    def go_to(self, target: str) -> None:
        """Put the cursor on a channel, opening what hides it."""
        if target not in self.board.rows:
            return
        if all(line.target != target for line in self._shown):
            self.board.set_group(self.board.rows[target].server, "open")
            if self.board.filter:
                self.board.filter = ""
            self._restructure()
        self._to(next(place for place, line in enumerate(self._shown) if line.target == target))

    # keys

    def action_step(self, by: int) -> None:
        if self._shown:
            lost = self.cursor is None and by > 0
            self._to(self._place + by - lost)

    def action_page(self, by: int) -> None:
        self._to(self._place + by * max(1, self.size.height - HEADING - 1))

    def action_edge(self, end: int) -> None:
        self._to(0 if end < 0 else len(self._shown) - 1)

    def action_keyed(self, key: str) -> None:
        self.act(key, self.targets)

    def action_enter(self) -> None:
        line = self._line
        if isinstance(line, FoldLine):
            self.action_fold("open")
        else:
            self.action_keyed("p")

    def action_mark(self) -> None:
        """Mark or unmark the row and step on, as one does down a list."""
        if self.row is None:
            return
        self.board.marked ^= {self.row.target}
        self._repaint({self.row.target})
        self.post_message(self.Moved())
        self.action_step(1)

    def action_fold(self, state: GroupState) -> None:
        server = "" if self._line is None else self.board.group_of(self._line.target)
        if not server:
            return
        self.board.set_group(server, state)
        self._restructure()
        if state == "collapsed" and self._line is None:
            self._to(next((n for n, line in enumerate(self._shown) if line.target == f"+{server}"), 0))

    def unmark(self) -> bool:
        """Take all marks away; whether there were any."""
        marked = set(self.board.marked)
        self.board.marked.clear()
        self._repaint(marked)
        self.post_message(self.Moved())
        return bool(marked)

    def on_click(self, event: events.Click) -> None:
        place = round(self.scroll_y) + event.y - HEADING
        if event.y >= HEADING and place < len(self._shown):
            self._to(place)
            if event.chain > 1:
                self.action_enter()

    # painting

    def on_focus(self) -> None:
        self._refresh_row(self.cursor)

    def on_blur(self) -> None:
        self._refresh_row(self.cursor)

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        """Textual takes every layout anywhere for one of its own and paints its scrollbar anew, 2 kB a line that a
        report grows (cases.md F-44)."""
        return size != self._size and super()._size_updated(size, virtual_size, container_size, layout)

    def on_resize(self) -> None:
        self._columns = Columns.of(self.scrollable_content_region.width)
        self._cells.clear()
        self.refresh()
        self._into_view()
        self.post_message(self.Moved())

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self.post_message(self.Moved())

    def render_line(self, y: int) -> Strip:
        look = app_of(self).look
        width = self.size.width
        place = round(self.scroll_y) + y - HEADING
        if y < HEADING:
            return strip(heading(self._columns), width, look, self.rich_style)
        if not self._shown and y == HEADING:
            words = "no channel matches" if self.board.filter else "no channels yet"
            return strip([Part(own(f"   {words}"), "dim")], width, look, self.rich_style)
        if not 0 <= place < len(self._shown):
            return Strip.blank(width, self.rich_style)
        line = self._shown[place]
        base = self.rich_style
        if line.target == self.cursor:
            base += look.cursor(self.has_focus)
        return strip(self._row(line).parts, width, look, base)

    def _row(self, line: BoardLine) -> Row:
        found = self._cells.get(line.target)
        if found is None:
            found = self._cells[line.target] = self._compute(line)
        return found

    def _compute(self, line: BoardLine) -> Row:
        app = app_of(self)
        if isinstance(line, FoldLine):
            return fold_row(line, self._columns)
        row = self.board.rows[line.target]
        return channel_row(
            row, self._columns, app.look, app.now(),
            marked=row.target in self.board.marked, said=self.progress.get(row.target, ""),
            spark=self._sparks.get(row.target),
            lit=row.target == self.cursor and self.has_focus,
        )  # fmt: skip

    def _repaint(self, targets: Iterable[str]) -> None:
        """Compute those lines in view anew and refresh the cells that differ; the others are computed when seen."""
        wanted = set(targets)
        top = round(self.scroll_y)
        before = {target: self._cells.pop(target, None) for target in wanted}
        for y, line in enumerate(self._shown[top : top + self.size.height - HEADING], HEADING):
            if line.target not in wanted and not isinstance(line, FoldLine):
                continue
            after = self._compute(line)
            was = before.get(line.target) or self._cells.get(line.target)
            self._cells[line.target] = after
            regions = [Region(x, y, width, 1) for x, width in after.differs(was)]
            if regions:
                self.refresh(*regions)

    def _restructure(self) -> None:
        """Other lines, or another order: keep the cursor on its target and paint all."""
        self._shown = self.board.lines()
        self._cells.clear()
        self.virtual_size = Size(self.size.width, len(self._shown) + HEADING)
        places = {line.target: place for place, line in enumerate(self._shown)}
        if self.cursor in places:
            self._place = places[self.cursor]
        elif self.cursor is not None and self._shown:
            self._to(min(self._place, len(self._shown) - 1))
        self._place = max(0, min(self._place, len(self._shown) - 1))
        self.refresh()
        self.post_message(self.Moved())

    @property
    def _line(self) -> BoardLine | None:
        return next((line for line in self._shown if line.target == self.cursor), None)

    def _to(self, place: int) -> None:
        if not self._shown:
            return
        before = self.cursor
        self._place = max(0, min(place, len(self._shown) - 1))
        self.cursor, self.gone = self._shown[self._place].target, ""
        for target in {before, self.cursor} - {None}:
            self._refresh_row(target)
        self._into_view()
        y = self._place - round(self.scroll_y) + HEADING
        self.app.cursor_position = self.content_region.offset + Offset(0, y)  # for a screen reader (F-51)
        self.post_message(self.Moved())

    def _refresh_row(self, target: str | None) -> None:
        for place, line in enumerate(self._shown):
            if line.target == target:
                self._cells.pop(line.target, None)
                y = place - round(self.scroll_y) + HEADING
                if HEADING <= y < self.size.height:
                    self.refresh(Region(0, y, self.size.width, 1))

    def _into_view(self) -> None:
        room = self.size.height - HEADING
        top = round(self.scroll_y)
        if room <= 0:
            return
        if self._place < top:
            self.scroll_to(y=self._place, animate=False, force=True)
        elif self._place >= top + room:
            self.scroll_to(y=self._place - room + 1, animate=False, force=True)
