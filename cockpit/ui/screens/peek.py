"""Peek: what a channel holds, live, without ending anything (cockpit.md, Screen)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from textual.app import ComposeResult

from cockpit.core.events import ChannelChanged, Peeked
from cockpit.ui import words
from cockpit.ui.keys import Key, bindings, of_scope
from cockpit.ui.look import Painted, app_of
from cockpit.ui.paint import Line, Part
from cockpit.ui.screens.answers import held_alike, held_items, title_of
from cockpit.ui.screens.sheet import Sheet
from cockpit.ui.text import line, own
from cockpit.ui.widgets.bars import TitleBar
from cockpit.ui.widgets.foot import Legend
from cockpit.ui.widgets.reader import Reader
from cockpit.ui.widgets.search import Search

LAST = 200
"""Messages that a peek asks for."""

_AGAIN = 1.0
"""Seconds between two looks at a channel that keeps changing."""


class Facts(Painted):
    """State, epoch and totals of the channel, above its messages."""

    DEFAULT_CSS = "Facts { height: 3; background: $background; }"

    def __init__(self) -> None:
        super().__init__()
        self.row: ChannelChanged | None = None
        self.peeked: Peeked | None = None

    def lines(self, width: int, height: int) -> tuple[Line, ...]:
        now = app_of(self).now()
        first: list[Part] = [Part(own(" "))]
        row, peeked = self.row, self.peeked
        if row is not None:
            by = f" by {' and '.join(row.muted_by)}" if row.muted_by else ""
            first += [Part(own(f"{words.state(row, 99)}{by}"), "strong"), Part(own("   ")),
                      Part(own(f"wait {row.wait}  need {row.need}  held {row.held}"))]  # fmt: skip
            alike = held_alike(peeked.messages) if peeked is not None else own("")
            first += [Part(own(f"   all by {alike}"))] if alike else []
            if row.given:
                first += [Part(own("   ")), Part(own(f"its server says {line(row.given, 60)}"), "dim")]
        epoch = peeked.epoch if peeked is not None else None
        second = own(f" tuned out: {words.epoch(epoch, now)}") if epoch else own(" not tuned out")
        third = own(f" {words.totals(peeked.totals)}") if peeked is not None else own("")
        return (tuple(first), (Part(second, "text" if epoch else "dim"),), (Part(third, "dim"),))


class PeekSheet(Sheet, inherit_bindings=False):
    """The messages newest last; it looks again when the channel's row changes, at most once a second."""

    BINDINGS = [*bindings("sheet"), *bindings("peek")]  # noqa: RUF012  Textual's own way

    def __init__(
        self,
        peeked: Peeked,
        row: ChannelChanged | None,
        look: Callable[[], Awaitable[Peeked | None]],
        why: Callable[[str], None],
    ) -> None:
        """look: peek anew, None where that failed. why: tell why a message, by its id, was held."""
        super().__init__(title_of(peeked), held_items(peeked.messages), at_end=True)
        self.target = peeked.target
        self._peeked = peeked
        self._row = row
        self._look = look
        self._why = why
        self._waiting = False

    def compose(self) -> ComposeResult:
        yield TitleBar(self._title)
        yield Facts()
        yield Reader()
        yield Search()
        yield Legend()

    def on_mount(self) -> None:
        super().on_mount()
        self._facts()

    def keys(self) -> tuple[Key, ...]:
        return of_scope("peek", "sheet", keys=app_of(self).keys)

    def row_changed(self, row: ChannelChanged) -> None:
        """The channel's row reads otherwise: look again, unless a look is already due."""
        self._row = row
        self._facts()
        if not self._waiting:
            self._waiting = True
            self.set_timer(_AGAIN, self.look_again, name="peek again")

    def action_keyed(self, key: str) -> None:
        current = self.query_one(Reader).current
        if current is not None and any(message.id == current.key for message in self._peeked.messages):
            self._why(current.key)

    async def look_again(self) -> None:
        """Ask for the messages anew; the reader stays where it is."""
        self._waiting = False
        peeked = await self._look()
        if peeked is None or not self.is_attached:
            return
        known = {message.id for message in self._peeked.messages}
        new = sum(message.id not in known for message in peeked.messages)
        self._peeked = peeked
        if new and self.query_one(Reader).held:
            self.note(own(f"{new} new"))
        self.show_items(held_items(peeked.messages))
        self._facts()

    def _facts(self) -> None:
        facts = self.query_one(Facts)
        facts.row, facts.peeked = self._row, self._peeked
        facts.refresh()
