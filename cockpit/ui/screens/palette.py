"""The palette: every verb and key by name. Type to narrow; Enter does exactly what is highlighted and shown below."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.screen import ModalScreen
from textual.widgets import Input

from cockpit.ui.keys import bindings, of_scope
from cockpit.ui.look import Painted, app_of
from cockpit.ui.paint import Line, Part
from cockpit.ui.palette import Choice, matching, refusal
from cockpit.ui.text import clip, fit, line, own
from cockpit.ui.theme import Role
from cockpit.ui.widgets.bars import TitleBar
from cockpit.ui.widgets.foot import Legend
from cockpit.ui.widgets.line_input import EDITING, LineInput
from cockpit.ui.widgets.prompt import Prompt
from cockpit.ui.widgets.reader import Item, Reader
from cockpit.ui.words import named

NARROW = 60
"""Cells below which each choice is one line."""

_NAME = 14
_KEY = 10


class Wanted(LineInput, inherit_bindings=False):
    """The words that narrow the list, and the keys that work meanwhile."""

    BINDINGS = [*EDITING, *bindings("palette")]  # noqa: RUF012  Textual's own way


class Coming(Painted):
    """What Enter would do, before it does it."""

    DEFAULT_CSS = "Coming { height: 1; background: $background; }"

    def __init__(self) -> None:
        super().__init__()
        self._choice: Choice | None = None

    def show(self, choice: Choice | None) -> None:
        """Tell of this one."""
        if choice != self._choice:
            self._choice = choice
            self.refresh()

    def lines(self, width: int, height: int) -> Sequence[Line]:
        choice = self._choice
        if choice is None:
            return ((Part(own(" nothing matches"), "dim"),),)
        if choice.refused and choice.verb is not None:
            return ((Part(own(f" {refusal(choice.verb)}"), "warn"),),)
        if choice.ask:
            return ((Part(own(" to the composer: "), "dim"), Part(line(choice.ask, width), "accent")),)
        if choice.verb is None:
            return ((Part(own(f" as the key {choice.key}"), "dim"),),)
        more = f"  and {len(choice.run) - 1} more" if len(choice.run) > 1 else ""
        return ((Part(own(" runs: "), "dim"), Part(line(choice.run[0], width), "accent"), Part(own(more), "dim")),)


class Palette(ModalScreen[Choice | None], inherit_bindings=False):
    """Ends with what was chosen, or with nothing. targets: what the verbs are to act on, named in the title; they stay
    the ones it was opened on, whatever changes meanwhile (cases.md K-39)."""

    DEFAULT_CSS = """
    Palette { background: $background; layout: vertical; }
    Palette #wanted { height: 1; width: 1fr; background: $background; }
    """

    def __init__(self, offered: Sequence[Choice], targets: Sequence[str]) -> None:
        super().__init__()
        self._offered = tuple(offered)
        self._found = self._offered
        self._targets = tuple(targets)

    def compose(self) -> ComposeResult:
        yield TitleBar(own("palette"))
        with Horizontal(id="wanted"):
            yield Prompt()
            yield Wanted()
        yield Reader(lit=True)
        yield Coming()
        yield Legend()

    def on_mount(self) -> None:
        on = named(self._targets[0], 60) if len(self._targets) == 1 else own(f"{len(self._targets)} marked rows")
        self.query_one(TitleBar).show(focused=True, note=own(f"on {on}" if self._targets else "on no row"))
        self.query_one(Prompt).show("/", lit=True)
        keys = of_scope("palette", keys=app_of(self).keys)
        self.query_one(Legend).show([("type", "to narrow"), *((key.shown, key.foot) for key in keys if key.foot)])
        self.set_focus(self.query_one(Wanted))
        self.call_after_refresh(self._show)

    @property
    def highlighted(self) -> Choice | None:
        """What Enter would do."""
        current = self.query_one(Reader).current
        return None if current is None else next((each for each in self._found if each.id == current.key), None)

    def on_input_changed(self, message: Input.Changed) -> None:
        message.stop()
        self._found = matching(self._offered, message.value)
        self._show()
        self.query_one(Reader).action_edge(-1)

    def on_reader_moved(self, message: Reader.Moved) -> None:
        self.query_one(Coming).show(self.highlighted)

    def on_click(self, event: events.Click) -> None:
        if event.chain > 1 and isinstance(event.widget, Reader):
            self.action_run()

    def action_step(self, by: int) -> None:
        self.query_one(Reader).step_item(by)

    def action_page(self, by: int) -> None:
        self.query_one(Reader).action_page(by)

    def action_run(self) -> None:
        if self.highlighted is not None:
            self.dismiss(self.highlighted)

    def action_close(self) -> None:
        self.dismiss(None)

    def _show(self) -> None:
        narrow = self.size.width if self.size.width < NARROW else 0
        self.query_one(Reader).show([_item(each, narrow) for each in self._found])
        self.query_one(Coming).show(self.highlighted)


def _item(choice: Choice, narrow: int = 0) -> Item:
    """narrow: the width where that is small; then each choice is one line."""
    columns = (12, 8) if narrow else (_NAME, _KEY)
    role: Role = "dim" if choice.refused else "text"
    name = Part(fit(own(choice.name), columns[0]), "dim" if choice.refused else "strong")
    key = Part(fit(own(choice.key), columns[1]), "dim" if choice.refused else "accent")
    does = clip(own(choice.does), narrow - sum(columns) - 3) if narrow else own(choice.does)
    return Item(choice.id, (name, key), does, role, sum(columns))
