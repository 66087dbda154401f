"""The line the operator writes on: words to the resident, or a verb after `:` or `go=`.

Enter runs exactly what is written and never a suggestion (cases.md F-24); Tab completes. Several pasted lines run
nothing and lose nothing (F-34). The cursor does not blink: an idle screen writes no byte (F-43).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from textual import events
from textual.message import Message

from cockpit.core.resolve import complete
from cockpit.core.target import Target
from cockpit.ui.keys import bindings
from cockpit.ui.lines import is_verb
from cockpit.ui.text import Safe, line, own
from cockpit.ui.widgets.line_input import EDITING, LineInput

REMEMBERED = 200
"""Lines of history."""


class Composer(LineInput, inherit_bindings=False):
    """One line, its history, its completion."""

    BINDINGS = [*EDITING, *bindings("composer")]  # noqa: RUF012  Textual's own way

    class Pasted(Message):
        """Several lines came at once."""

        def __init__(self, text: str) -> None:
            self.text = text
            super().__init__()

    class Left(Message):
        """Back to the panes; `by` says to the next one (1) or the one before (-1)."""

        def __init__(self, by: int = 0) -> None:
            self.by = by
            super().__init__()

    class Interrupted(Message):
        """Ctrl-C on the line."""

    class Said(Message):
        """Enter: exactly what was written."""

        def __init__(self, text: str) -> None:
            self.text = text
            super().__init__()

    class Candidates(Message):
        """What Tab could complete the line to."""

        def __init__(self, words: tuple[Safe, ...]) -> None:
            self.words = words
            super().__init__()

    class Ended(Message):
        """Ctrl-D on an empty line."""

    def __init__(self, targets: Callable[[], Sequence[Target]], *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.dictionary = targets
        self._history: deque[str] = deque(maxlen=REMEMBERED)
        self._back = 0
        self._draft = ""
        self._offered: list[str] = []

    def remember(self, text: str) -> None:
        """Add a line to the history, once."""
        if text and (not self._history or self._history[-1] != text):
            self._history.append(text)
        self._back, self._draft = 0, ""

    def action_older(self) -> None:
        self._turn(1)

    def action_newer(self) -> None:
        self._turn(-1)

    async def action_submit(self) -> None:
        """Take the line, at once: what is typed right behind Enter is the next one."""
        text = self.value
        self.remember(text)
        self.put("")
        self.post_message(self.Said(text))

    def action_back(self) -> None:
        self.post_message(self.Left())

    def action_leave_back(self) -> None:
        self.post_message(self.Left(-1))

    def action_interrupt(self) -> None:
        self.post_message(self.Interrupted())

    def action_delete_or_quit(self) -> None:
        if self.value:
            self.action_delete_right()
        else:
            self.post_message(self.Ended())

    def action_complete(self) -> None:
        """The longest beginning that all candidates share; asked again, one candidate after the other."""
        if not is_verb(self.value):
            self.post_message(self.Left(1))
            return
        if self.value in self._offered:
            place = self._offered.index(self.value) + 1
            self.put(self._offered[place % len(self._offered)])
            return
        found = complete(self.value, self.dictionary())
        if not found:
            self.post_message(self.Candidates(()))
            return
        shared = _shared(found)
        if len(shared) > len(self.value) or len(found) == 1:
            self.put(shared)
            self._offered = []
        else:
            self._offered = found
            self.put(found[0])
        if len(found) > 1:
            self.post_message(self.Candidates(tuple(_tail(each) for each in found)))

    def on_key(self, event: events.Key) -> None:
        if event.key != "tab":
            self._offered = []

    def paste(self, text: str) -> None:
        """One line is written, several are asked about; none is run (F-34)."""
        if "\n" in text:
            self.post_message(self.Pasted(text))
        else:
            super().paste(text)

    def _turn(self, by: int) -> None:
        """Walk the history; the line that was begun waits at its newer end."""
        if self._back == 0 and by > 0:
            self._draft = self.value
        place = self._back + by
        if 0 <= place <= len(self._history):
            self._back = place
            self.put(self._draft if place == 0 else self._history[-place])


def _shared(words: Sequence[str]) -> str:
    """The longest beginning of all of them."""
    first, last = min(words), max(words)
    place = next((n for n, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    return first[:place]


def _tail(candidate: str) -> Safe:
    """The word that a candidate adds."""
    return line(candidate.rstrip().rpartition(" ")[2] or candidate, 60) or own("")
