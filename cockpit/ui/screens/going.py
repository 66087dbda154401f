"""Going about the screen: focus, zoom, filter and search, back one step, hold, copy. It knows no link and no event."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.geometry import Size
from textual.message import Message
from textual.reactive import Reactive
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from cockpit.core.notices import count
from cockpit.core.target import Target
from cockpit.ui.keys import BY_ID, Scope, bindings, legend, of_scope
from cockpit.ui.lines import chosen, is_verb
from cockpit.ui.log import Log
from cockpit.ui.look import app_of
from cockpit.ui.screens.help import help_sheet
from cockpit.ui.screens.sheet import Sheet
from cockpit.ui.shape import PANES, Pane
from cockpit.ui.text import Safe, line, own
from cockpit.ui.theme import Role
from cockpit.ui.widgets.channels import Channels
from cockpit.ui.widgets.composer import Composer
from cockpit.ui.widgets.foot import AnswerLine, Legend, Told
from cockpit.ui.widgets.headline import Headline
from cockpit.ui.widgets.journal import Journal
from cockpit.ui.widgets.panes import Panes
from cockpit.ui.widgets.prompt import Prompt, Sentence
from cockpit.ui.widgets.search import Search

TWICE = 0.8
"""Seconds within which a second Esc interrupts the turn."""

QUITS = 2.0
"""Seconds within which a second Ctrl-C quits (cockpit.md, Screen)."""

_ELSEWHERE = {key.action.partition("(")[0] for key in of_scope("anywhere")}

_SCOPES: dict[Pane, Scope] = {"channels": "table", "reports": "reports", "talk": "resident"}


class Going(Screen[None], inherit_bindings=False):
    """Panes, composer and the lines around them, and every key that only moves between them."""

    BINDINGS = bindings("anywhere")
    AUTO_FOCUS = ""
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)
    """Textual's own paints the whole screen anew for a new focus, 27 kB; what it left and what it came to are enough
    (cases.md F-44)."""

    DEFAULT_CSS = """
    Going { background: $background; layout: vertical; }
    Going #line { height: 1; width: 1fr; background: $background; }
    Going Search { display: none; }
    Going.-searching Search { display: block; }
    Going.-searching Composer { display: none; }
    Going.-sentence > * { display: none; }
    Going.-sentence > Sentence { display: block; }
    """

    class Interrupted(Message):
        """Esc twice: the running turn is to stop."""

    def __init__(self) -> None:
        super().__init__()
        self.log_page = Log()
        self.zoomed = False
        self._escaped = self._stopped = float("-inf")
        self._lent = False
        """Whether the line on the composer was put there by a key of a pane, which gets the focus back with it."""

    def compose(self) -> ComposeResult:
        yield Headline()
        yield Panes()
        yield Told()
        yield AnswerLine(id="answer")
        with Horizontal(id="line"):
            yield Prompt()
            yield Composer(self.targets_known)
            yield Search()
        yield Legend()
        yield Sentence()

    def on_mount(self) -> None:
        self.panes.focus_pane("channels")

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        """Textual forgets at each layout what is in view, and its next scroll then paints the whole screen: a report
        that grows by a line, in a pane that follows its end, would write 24 kB instead of that pane (F-44)."""
        compositor = self._compositor
        if scroll and compositor._visible_map is None:
            compositor._visible_map = compositor._full_map
        super()._refresh_layout(size, scroll)

    # parts

    @property
    def panes(self) -> Panes:
        return self.query_one(Panes)

    @property
    def composer(self) -> Composer:
        return self.query_one(Composer)

    def targets_known(self) -> Sequence[Target]:
        """What completion may offer."""
        return ()

    def say(self, text: Safe, role: Role = "dim") -> None:
        """Show one answer, and keep it in the log."""
        if text:
            self.log_page.add(app_of(self).now(), text, role)
        self.query_one("#answer", AnswerLine).say(text, role)

    @property
    def said(self) -> Safe:
        """What the answer line shows."""
        return self.query_one("#answer", AnswerLine).said

    @property
    def told(self) -> Told:
        """What was told unasked and not yet seen."""
        return self.query_one(Told)

    # focus

    def on_resize(self, event: events.Resize) -> None:
        self._arrange()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self._lit()

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        self._lit()

    def action_pane(self, by: int) -> None:
        """Through the panes and the composer, round and round."""
        stops: list[Pane | None] = [*PANES, None]
        here = stops.index(self._focused_pane)
        target = stops[(here + by) % len(stops)]
        if target is None:
            self.set_focus(self.composer)
        else:
            self.panes.focus_pane(target)

    def action_zoom(self) -> None:
        self.zoomed = not self.zoomed
        self._arrange()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """On a line, only the line's own keys work."""
        if isinstance(self.focused, Input) and action in _ELSEWHERE:
            return False
        return super().check_action(action, parameters)

    def action_compose(self, text: str) -> None:
        self.composer.put(text or self.composer.value)
        self.set_focus(self.composer)

    def compose_line(self, text: str) -> None:
        """Go to the composer with `text` on it, and back to the pane once it is said."""
        self.composer.put(text)
        self.set_focus(self.composer)
        self._lent = True

    def give_back(self) -> None:
        """The line that a key put there was said: letters are keys again."""
        if self._lent:
            self.panes.focus_pane(self.panes.pane)
        self._lent = False

    def on_paste(self, event: events.Paste) -> None:
        """A paste where no line is: it goes to the composer, and its letters are no keys."""
        self.set_focus(self.composer)
        self.composer.post_message(events.Paste(event.text))

    def action_help(self) -> None:
        self.app.push_screen(help_sheet(app_of(self).keys, self.scope))

    def action_theme(self) -> None:
        self.say(own(app_of(self).next_theme()))

    def action_log(self) -> None:
        self.told.seen()
        self.app.push_screen(Sheet(own("log"), tuple(self.log_page.items()), at_end=True))

    def action_hold(self) -> None:
        """Hold both streams, or let them go to their ends."""
        journals = [self.panes.reports, self.panes.talk]
        holding = not any(journal.frozen for journal in journals)
        for journal in journals:
            if holding:
                journal.hold()
            else:
                journal.follow()
        self.holding(holding)

    def holding(self, holding: bool) -> None:
        """The streams were held, or let go."""

    @property
    def _pointed(self) -> str:
        """What the focus is on: the target of the row, or the text of the entry as it came."""
        pane = self._focused_pane
        journal = None if pane is None else self.panes.journal(pane)
        if journal is None:
            return self.panes.channels.cursor or ""
        return journal.current.raw if journal.current is not None else ""

    def action_copy(self) -> None:
        """Copy what the focus is on, by the terminal itself: that works over SSH, where the terminal allows it."""
        text = self._pointed.encode("utf-8", "replace").decode()
        if text:
            self.app.copy_to_clipboard(text)
            sent = count(len(text), "character")
            self.say(own(f"sent {sent} to the terminal's clipboard (OSC 52); Y writes a file"), "ok")

    def action_save(self) -> None:
        """Write what the focus is on to a new file that only its owner can read."""
        if not self._pointed:
            return
        try:
            with tempfile.NamedTemporaryFile("wb", prefix="cockpit-", suffix=".txt", delete=False) as file:
                file.write(self._pointed.encode("utf-8", "replace"))
        except OSError as error:
            self.say(own(f"not written: {line(str(error), 200)}"), "error")
        else:
            self.say(line(f"written to {file.name}"), "ok")

    def action_suspend(self) -> None:
        self.app.action_suspend_process()

    # back, and out

    @property
    def interruptible(self) -> bool:
        """Whether a turn runs, or was asked for and may run already."""
        return False

    def action_back(self) -> None:
        """Back one step; twice in a moment, the running turn is to stop. Out of the composer is a step and nothing more
        where nothing runs; where a turn does, no Esc is lost (F-35)."""
        elapsed = app_of(self).elapsed()
        leaves = self._focused_pane is None and not self.interruptible
        twice = not leaves and elapsed - self._escaped <= TWICE
        self._escaped = float("-inf") if leaves or twice else elapsed
        channels = self.panes.channels
        if twice:
            self.post_message(self.Interrupted())
        elif self._focused_pane is None:
            self.panes.focus_pane(self.panes.pane)
        elif self.told.seen():
            pass
        elif channels.board.filter:
            self._filter("")
        elif channels.unmark():
            pass
        elif self.zoomed:
            self.action_zoom()
        else:
            self.panes.focus_pane("channels")

    def on_composer_left(self, message: Composer.Left) -> None:
        self._lent = False
        if message.by:
            self.action_pane(message.by)
        else:
            self.action_back()

    def on_composer_interrupted(self, message: Composer.Interrupted) -> None:
        self.action_interrupt()

    def action_interrupt(self) -> None:
        """Clear the composer, and with nothing to clear quit at the second time within 2 s."""
        elapsed = app_of(self).elapsed()
        if self.composer.value:
            self.composer.remember(self.composer.value)
            self.composer.put("")
            self._stopped = float("-inf")
        elif elapsed - self._stopped <= QUITS:
            self.leave(130)
        else:
            self._stopped = elapsed
            self.say(own("Ctrl-C again within 2 s quits"), "warn")

    def leave(self, code: int) -> None:
        """End the screen with an exit code."""
        self.app.exit(code, return_code=code)

    # filter and search

    def action_search(self) -> None:
        search = self.query_one(Search)
        self.add_class("-searching")
        search.put(self.panes.channels.board.filter if self.panes.pane == "channels" else "")
        self.set_focus(search)

    def on_search_written(self, message: Search.Written) -> None:
        if not self.has_class("-searching"):
            return
        if self.panes.pane == "channels":
            self._filter(message.text)
        else:
            self._find(message.text)
        if message.done:
            self.remove_class("-searching")
            self.panes.focus_pane(self.panes.pane)

    def _filter(self, text: str) -> None:
        self.panes.channels.set_filter(text)
        self._noted()

    def _noted(self) -> None:
        """What the table does not show by itself: rows that a filter hides (K-132), marked ones, those out of view."""
        board, more = self.panes.channels.board, self.panes.channels.more
        words = [f"/{line(board.filter, 24)}", f"{board.hidden} hidden"] if board.filter else []
        words += [f"{len(board.marked)} marked"] if board.marked else []
        words += [more] if more else []
        self.panes.bar("channels").show(note=own(" · ".join(words)))

    def _find(self, text: str) -> None:
        journal = self.panes.journal(self.panes.pane)
        if journal is not None and text and not journal.find(text):
            self.say(own(f"nothing here holds {line(text, 40)}"), "warn")

    # what shows where one is

    @property
    def scope(self) -> Scope:
        """Where the keys that work belong to."""
        pane = self._focused_pane
        return "composer" if pane is None else _SCOPES[pane]

    @property
    def _focused_pane(self) -> Pane | None:
        """The pane with the focus; None for the composer."""
        focused = self.focused
        if focused is None or focused is self.composer:
            return None
        if isinstance(focused, Search):
            return self.panes.pane
        return next((pane for pane in PANES if self.panes.journal(pane) is focused), "channels")

    def _lit(self) -> None:
        if not self.is_attached:
            return
        pane = self._focused_pane
        if pane is not None:
            self.panes.pane = pane
        searching = isinstance(self.focused, Search)
        self.panes.lit(None if searching else pane)
        written = self.composer.value
        verb = is_verb(written) and not written.lstrip().startswith(":")  # a colon that is written needs no second one
        sign = "/" if searching else ":" if verb else ">"
        self.query_one(Prompt).show(sign, lit=searching or pane is None)
        self.legend()

    def legend(self) -> None:
        """The keys that work where the focus is."""
        pane = self._focused_pane
        if isinstance(self.focused, Search):
            keys = of_scope("search")
            pairs = [(key.shown, key.does) for key in keys]
        elif pane is None:
            pairs = [("Enter", "run"), ("Tab", "complete"), ("↑", "history"), ("Esc", "back"), (":", "verb")]
        else:
            row = self.panes.channels.row if pane == "channels" else None
            pairs = []
            for key in legend(app_of(self).keys, _SCOPES[pane], "anywhere"):
                verbs = BY_ID.get(key.id)
                word = chosen(verbs, row).name.replace("-", " ") if verbs and row is not None else key.foot
                pairs.append((key.shown, "search" if key.id == "go.search" and pane != "channels" else word))
        self.query_one(Legend).show(pairs)

    def on_channels_moved(self, message: Channels.Moved) -> None:
        self.legend()
        self._noted()

    def on_journal_shifted(self, message: Journal.Shifted) -> None:
        journal = message.journal
        pane: Pane = "reports" if journal is self.panes.reports else "talk"
        new = journal.new_below
        held = "held" if journal.frozen else ""
        note = f"{new} new" if new else held
        self.panes.bar(pane).show(note=own(note))
        for entry in journal.entries:
            entry.current = journal.has_focus and entry is journal.current

    def _arrange(self) -> None:
        shape = self.panes.lay_out(self.app.size, zoomed=self.zoomed)
        self.set_class(shape.kind == "sentence", "-sentence")
