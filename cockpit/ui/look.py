"""What every widget of ours leans on: an app with a theme and a clock, and a widget that paints lines of parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from textual.app import App
from textual.strip import Strip
from textual.widget import Widget

from cockpit.core.events import ChannelChanged
from cockpit.ui.keys import Key
from cockpit.ui.paint import Line, strip
from cockpit.ui.theme import Theme


class LookApp(App[int], inherit_bindings=False):
    """An app that widgets can ask how things look and what time it is.

    keys: every key, as the operator has them. now: seconds since 1970. elapsed: seconds on a clock that only goes
    forward.
    """

    look: Theme
    keys: tuple[Key, ...]
    now: Callable[[], float]
    elapsed: Callable[[], float]

    def next_theme(self) -> str:
        """Wear the next theme; returns what to say of it."""
        return ""

    def called(self, need: int) -> None:
        """So many messages need someone; whoever owns the terminal may tell."""

    def needed(self, before: Mapping[str, ChannelChanged], rows: Iterable[ChannelChanged], total: int) -> None:
        """Rows changed from `before`; whoever owns the terminal may ring."""


def app_of(widget: Widget) -> LookApp:
    """The app around a widget of ours; there is no other kind."""
    app = widget.app
    if not isinstance(app, LookApp):
        raise TypeError(f"{type(widget).__name__} lives in a LookApp")
    return app


class Painted(Widget):
    """A widget of a few lines that says what they are; it never sees a raw string (style.md 7)."""

    def lines(self, width: int, height: int) -> Sequence[Line]:
        """What to paint on `width` × `height` cells, top to bottom; missing lines are blank."""
        return ()

    def line(self, y: int, width: int, height: int) -> Line:
        """The one of them at `y`."""
        shown = self.lines(width, height)
        return shown[y] if y < len(shown) else ()

    def render_line(self, y: int) -> Strip:
        width, height = self.size
        return strip(self.line(y, width, height), width, app_of(self).look, self.rich_style)
