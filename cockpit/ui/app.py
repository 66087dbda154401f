"""The Textual app: theme, clock, terminal title, and the main screen over a link. Wiring only."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from textual import events
from textual.app import App
from textual.driver import Driver
from textual.reactive import Reactive

from cockpit.core.events import ChannelChanged, Link
from cockpit.ui.alert import SILENT, Alerts, Ringer
from cockpit.ui.keymap import changes
from cockpit.ui.keys import KEYS, Key
from cockpit.ui.look import LookApp
from cockpit.ui.screens.main import MainScreen
from cockpit.ui.theme import ascii_wanted, load, names

MONO = "mono"
"""The theme that NO_COLOR takes, whatever was asked for."""

OUT = 0.02
"""Seconds that the driver's thread has to write the first frame before anything slow begins beside it."""


class CockpitApp(LookApp, inherit_bindings=False):
    """The screen of one cockpit. now: seconds since 1970; elapsed: seconds on a clock that only goes forward.

    first_frame is called once the first frame is out. keys: as `keymap.remapped` gives them. alerts: when to ring.
    told: what to tell at the start.
    driver: what draws, Textual's own unless given. `return_value` is the exit code.
    """

    TITLE = "cockpit"
    ENABLE_COMMAND_PALETTE = False
    app_focus: Reactive[bool] = Reactive(True, compute=False, repaint=False)

    def __init__(
        self,
        link: Link,
        *,
        theme: str,
        themes: Path,
        read_only: bool = False,
        first_frame: Callable[[], None] = lambda: None,
        now: Callable[[], float] = time.time,
        elapsed: Callable[[], float] = time.monotonic,
        driver: type[Driver] | None = None,
        keys: tuple[Key, ...] = KEYS,
        alerts: Alerts = SILENT,
        told: Sequence[str] = (),
    ) -> None:
        self._plain = "NO_COLOR" in os.environ
        self.look = load(MONO if self._plain else theme, themes, ascii_only=ascii_wanted())
        super().__init__(driver_class=driver, ansi_color=True if self.look.plain else None)
        self.keys = keys
        self.now = now
        self.elapsed = elapsed
        self._themes = themes
        self._called = -1
        self._ringer = Ringer(alerts, elapsed)
        self._reports_focus = False
        self._drawn = False
        self._main = MainScreen(link, read_only=read_only, first_frame=first_frame, told=told)
        self.register_theme(self.look.textual())
        self.theme = self.look.name

    def get_default_screen(self) -> MainScreen:
        return self._main

    def on_mount(self) -> None:
        self.set_keymap(changes(self.keys))
        self.app_resume_signal.subscribe(self, self._back)

    def _back(self, app: App[int]) -> None:
        """After fg the terminal is blank, though nothing changed (cases.md F-9)."""
        self.screen.refresh()

    def post_display_hook(self) -> None:
        """Textual drew something: the first time that it was the main screen, slow work may begin."""
        if not self._drawn and self._running and self.screen is self._main and self._main.size:
            self._drawn = True
            self._main.set_timer(OUT, self._main.drawn, name="drawn")

    @property
    def main(self) -> MainScreen:
        """The main screen."""
        return self._main

    def called(self, need: int) -> None:
        """Put the count of those who need someone into the terminal's title, where it changed."""
        if need == self._called or self._driver is None or self.is_headless:
            return
        self._called = need
        self._driver.write(f"\x1b]2;cockpit{f' ({need})' if need else ''}\x07")

    def needed(self, before: Mapping[str, ChannelChanged], rows: Iterable[ChannelChanged], total: int) -> None:
        """Ring where that was asked for, somebody is needed, and nobody is known to look."""
        looking = self._reports_focus and self.app_focus
        sequence = self._ringer.ring(before, rows, total=total, looking=looking)
        if sequence and self._driver is not None and not self.is_headless:
            self._driver.write(sequence)

    def on_app_focus(self, event: events.AppFocus) -> None:
        self._reports_focus = True

    def on_app_blur(self, event: events.AppBlur) -> None:
        self._reports_focus = True

    def _watch_app_focus(self, focus: bool) -> None:
        """Textual would take the focus from its widget while the window is not in front, and paint that twice; here a
        key that comes back acts where it would have acted, and nothing is written (cases.md F-44)."""

    def next_theme(self) -> str:
        """Wear the next theme of the folder. Under NO_COLOR there is only the one without."""
        if self._plain:
            return "NO_COLOR is set: the theme stays mono"
        known = names(self._themes)
        place = known.index(self.look.name) + 1 if self.look.name in known else 0
        self.retheme(known[place % len(known)])
        return f"theme: {self.look.title}"

    def retheme(self, name: str) -> None:
        """Change the theme while running. Raises UsageError."""
        self.look = load(name, self._themes, ascii_only=self.look.ascii)
        self.register_theme(self.look.textual())
        self.theme = self.look.name
        self._main.panes.channels.restyle()
