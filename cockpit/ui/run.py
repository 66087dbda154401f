"""The way in: run the screen over a link until it ends, and leave the terminal as it was, whatever ends it.

Textual restores the terminal after Ctrl-C and after an exception, not after a signal (cases.md F-8); so SIGTERM and
SIGHUP end the app here, by the loop.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from cockpit.core.events import Link
from cockpit.ui.alert import SILENT, Alerts
from cockpit.ui.app import CockpitApp
from cockpit.ui.keymap import remapped
from cockpit.ui.keys import KEYS
from cockpit.ui.terminal import own_terminal

INTERRUPTED = 130
"""The exit code of a second Ctrl-C."""


def run_screen(link: Link, *, theme: str, themes: Path, mouse: bool, read_only: bool) -> int:
    """Show the cockpit in this terminal and wait for its end; returns the exit code (0, or 130 where interrupted).

    theme: a name in the folder `themes`, or a path that ends in `.toml`. Raises UsageError on a wrong theme.
    """
    return asyncio.run(run_screen_async(link, theme=theme, themes=themes, mouse=mouse, read_only=read_only))


async def run_screen_async(
    link: Link,
    *,
    theme: str,
    themes: Path,
    mouse: bool,
    read_only: bool,
    on_first_frame: Callable[[], None] = lambda: None,
    keys: Path | None = None,
    alerts: Alerts = SILENT,
    told: Sequence[str] = (),
) -> int:
    """The same within a running loop, so that an engine may run beside it. on_first_frame is called once the first
    frame is out: before that nothing slow should be imported. keys: a file of remapped keys, where there is one.
    alerts: bell and desktop notice, off unless asked for (`alert.settings` reads a file of them).
    told: what to tell once the screen is up; what is wrong with the keys is told with it.

    Raises UsageError on a wrong theme, before anything is drawn.
    """
    wanted, wrong = (KEYS, ()) if keys is None else remapped(keys)
    with own_terminal() as driver:
        app = CockpitApp(
            link,
            theme=theme,
            themes=themes,
            read_only=read_only,
            first_frame=on_first_frame,
            driver=driver,
            keys=wanted,
            alerts=alerts,
            told=(*told, *wrong),
        )
        with _ended_by_signals(app):
            code = await app.run_async(mouse=mouse)
    return app.return_code or 0 if code is None else code


@contextmanager
def _ended_by_signals(app: CockpitApp) -> Iterator[None]:
    """SIGTERM and SIGHUP end the app in its own way, which restores the terminal."""
    loop = asyncio.get_running_loop()
    ending = (signal.SIGTERM, signal.SIGHUP)
    for number in ending:
        loop.add_signal_handler(number, app.exit, 0)
    try:
        yield
    finally:
        for number in ending:
            loop.remove_signal_handler(number)
