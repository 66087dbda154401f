"""The line after `/`: filters the channels as it is written, or finds words in a pane."""

from __future__ import annotations

from textual.message import Message

from cockpit.ui.keys import bindings
from cockpit.ui.widgets.line_input import EDITING, LineInput


class Search(LineInput, inherit_bindings=False):
    """Stands in the composer's place while it is used."""

    BINDINGS = [*EDITING, *bindings("search")]  # noqa: RUF012  Textual's own way

    class Written(Message):
        """The words changed, or are done with. done: Enter keeps them. dropped: Esc forgets them."""

        def __init__(self, text: str, *, done: bool = False, dropped: bool = False) -> None:
            self.text = text
            self.done = done
            self.dropped = dropped
            super().__init__()

    def watch_value(self, value: str) -> None:
        self.post_message(self.Written(value))

    def action_keep(self) -> None:
        self.post_message(self.Written(self.value, done=True))

    def action_drop(self) -> None:
        self.post_message(self.Written("", done=True, dropped=True))
