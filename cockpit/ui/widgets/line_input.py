"""A one-line input that shows what is written safely, and whose cursor stands still.

Textual's own would hand pasted control characters to the terminal, and blink (cases.md F-4, F-43).
"""

from __future__ import annotations

from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.reactive import Reactive
from textual.widgets import Input

from cockpit.ui.look import app_of
from cockpit.ui.paint import in_ascii
from cockpit.ui.text import typed

EDITING: list[BindingType] = [
    Binding("left", "cursor_left", show=False),
    Binding("right", "cursor_right", show=False),
    Binding("ctrl+left", "cursor_left_word", show=False),
    Binding("ctrl+right", "cursor_right_word", show=False),
    Binding("home,ctrl+a", "home", show=False),
    Binding("end,ctrl+e", "end", show=False),
    Binding("backspace", "delete_left", show=False),
    Binding("delete", "delete_right", show=False),
    Binding("ctrl+w", "delete_left_word", show=False),
    Binding("ctrl+u", "delete_left_all", show=False),
    Binding("ctrl+k", "delete_right_all", show=False),
]
"""What every line editor does; none of it is a verb."""


class LineInput(Input, inherit_bindings=False):
    """An input without frame, blink or suggestion."""

    BINDINGS = EDITING
    DEFAULT_CSS = """
    LineInput, LineInput:focus {
        border: none; height: 1; padding: 0; width: 1fr;
        background: $background; background-tint: $background 0%; color: $foreground;
    }
    LineInput > .input--placeholder { color: $quiet; }
    """

    virtual_size: Reactive[Size] = Reactive(Size(0, 0))
    """Textual's own lays the whole screen out anew at each letter; the line's room does not depend on what it holds."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id, select_on_focus=False)
        self.cursor_blink = False

    @property
    def _value(self) -> Text:
        """What is written, shown code point for code point, so that the cursor's place holds (R-6)."""
        shown = typed(self.value)
        return Text(in_ascii(shown) if app_of(self).look.ascii else shown, no_wrap=True, overflow="ignore", end="")

    async def _on_key(self, event: events.Key) -> None:
        """The line's own keys act here, in the order in which they were typed.

        Textual lets a key that is bound travel up to the app first, while letters are written at once: an Enter would
        run the letters typed behind it too (F-24).
        """
        for binding in self._bindings.key_to_bindings.get(event.key, ()):
            event.stop()
            event.prevent_default()
            await self.run_action(binding.action)

    def on_resize(self) -> None:
        self._show_cursor()

    def paste(self, text: str) -> None:
        """Take in what was pasted, line breaks as spaces."""
        self.replace(text.replace("\n", " "), *sorted(self.selection))

    def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()  # Textual's own keeps the first line and forgets the rest (F-34)
        event.stop()
        text = event.text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
        if text:
            self.paste(text)

    def put(self, text: str) -> None:
        """Write `text` on the line, the cursor at its end."""
        self.value = text
        self.cursor_position = len(text)
        self._show_cursor()

    def _show_cursor(self) -> None:
        """Scroll to the cursor: Textual does not where a first text is longer than the line, nor at a resize."""
        self.scroll_to_region(Region(self._cursor_offset, 0, 1, 1), force=True, animate=False)
