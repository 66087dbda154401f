"""A screen over the panes that shows a list and goes away again: the base of peek, audit, stats, context, why, help."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.screen import ModalScreen

from cockpit.ui.keys import Key, bindings, of_scope
from cockpit.ui.look import app_of
from cockpit.ui.text import Safe, line, own
from cockpit.ui.widgets.bars import TitleBar
from cockpit.ui.widgets.foot import Legend
from cockpit.ui.widgets.reader import Item, Reader
from cockpit.ui.widgets.search import Search

_OUTSIDE = {key.action.partition("(")[0] for key in of_scope("sheet", "peek")}


class Sheet(ModalScreen[None], inherit_bindings=False):
    """A title, a list, the keys that work. It covers everything: nothing behind it is painted meanwhile."""

    BINDINGS = bindings("sheet")
    DEFAULT_CSS = """
    Sheet { background: $background; layout: vertical; }
    Sheet Search { display: none; padding: 0 1; }
    Sheet.-searching Search { display: block; }
    Sheet.-searching Legend { display: none; }
    """

    def __init__(self, title: Safe, items: Sequence[Item] = (), *, at_end: bool = False) -> None:
        """at_end: the newest stands last, and is what one sees first."""
        super().__init__()
        self._at_end = at_end
        self._title = title
        self._items = tuple(items)
        self._sought = ""

    def compose(self) -> ComposeResult:
        yield TitleBar(self._title)
        yield Reader()
        yield Search()
        yield Legend()

    def on_mount(self) -> None:
        self.query_one(TitleBar).show(focused=True)
        self.query_one(Legend).show([(key.shown.split(" ")[0], key.foot) for key in self.keys() if key.foot])
        self.set_focus(self.query_one(Reader))
        self.call_after_refresh(self.show_items, self._items)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While something is sought, only the line's own keys work."""
        if isinstance(self.focused, Search) and action in _OUTSIDE:
            return False
        return super().check_action(action, parameters)

    def keys(self) -> Sequence[Key]:
        """The keys of the legend, the most useful first."""
        return of_scope("sheet", keys=app_of(self).keys)

    def show_items(self, items: Sequence[Item]) -> None:
        """Show these; the cursor stays with its item."""
        self._items = tuple(items)
        self.query_one(Reader).show(self._items, at_end=self._at_end)

    def note(self, words: Safe) -> None:
        """Say something at the right of the title."""
        self.query_one(TitleBar).show(note=words)

    def action_close(self) -> None:
        self.dismiss()

    def action_search(self) -> None:
        self.add_class("-searching")
        search = self.query_one(Search)
        search.put("")
        self.set_focus(search)

    def action_again(self) -> None:
        self._seek(again=True)

    def action_copy(self) -> None:
        current = self.query_one(Reader).current
        if current is not None:
            self.app.copy_to_clipboard(current.raw or current.text)
            self.note(own("copied to the terminal's clipboard (OSC 52)"))

    def on_search_written(self, message: Search.Written) -> None:
        message.stop()
        if not self.has_class("-searching"):
            return
        self._sought = message.text
        if message.done:
            self.remove_class("-searching")
            self.set_focus(self.query_one(Reader))
        if not message.dropped:
            self._seek()

    def _seek(self, *, again: bool = False) -> None:
        found = self.query_one(Reader).find(self._sought, again=again)
        self.note(own("" if found or not self._sought else f"nothing holds {line(self._sought, 30)}"))
