"""What the screen needs to know of this terminal and its operator before anything is opened."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click
import platformdirs

from cockpit import cli_words as words
from cockpit.errors import UsageError

if TYPE_CHECKING:
    from cockpit.core.events import Link

C = TypeVar("C", bound=Callable[..., object])

_OPTIONS = (
    click.option("--theme", default="dark", show_default=True, help="a theme by name", shell_complete=words.themes),
    click.option("--no-mouse", is_flag=True, help="leave the mouse to the terminal"),
    click.option("--bell", is_flag=True, help="ring where somebody needs the resident"),
    click.option("--notify", is_flag=True, help="a desktop notice (OSC 9) where somebody needs the resident"),
)


def screen_options(command: C) -> C:
    """What every command that opens a screen takes: `theme`, `no_mouse`, `bell`, `notify`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


async def show(
    link: Link,
    *,
    theme: str,
    no_mouse: bool,
    bell: bool,
    notify: bool,
    read_only: bool,
    on_first_frame: Callable[[], None] = lambda: None,
) -> int:
    """The screen over a link, as the operator's own files have it, until it ends; its exit code. What is wrong in them
    is told on it, and the rest of them holds (cases.md F-32)."""
    from cockpit.shipped import shipped_dir
    from cockpit.ui import run_screen_async
    from cockpit.ui.alert import asked

    alerts, told = asked(settings_file(), bell=bell, notify=notify)
    return await run_screen_async(
        link,
        theme=theme,
        themes=shipped_dir("themes"),
        mouse=not no_mouse,
        read_only=read_only,
        on_first_frame=on_first_frame,
        keys=keys_file(),
        alerts=alerts,
        told=told,
    )


def keys_file() -> Path | None:
    """The operator's own keys, `keys.toml` in the configuration folder; None where there is none."""
    return _own("keys.toml")


def settings_file() -> Path | None:
    """The operator's settings, `settings.toml` in the configuration folder; None where there is none."""
    return _own("settings.toml")


def _own(name: str) -> Path | None:
    path = Path(platformdirs.user_config_dir("cockpit")) / name
    return path if path.is_file() else None


def fit_for_a_screen() -> None:
    """Raises UsageError where a screen cannot be drawn."""
    for stream, name in ((sys.stdin, "input"), (sys.stdout, "output")):
        if not stream.isatty():
            raise UsageError(
                f"standard {name} is no terminal, and the screen needs one: `cockpit run --headless` does not"
            )
    if os.environ.get("TERM", "dumb") in {"dumb", ""}:
        raise UsageError(
            "TERM is dumb: the screen needs a terminal that can move its cursor: export TERM=xterm-256color, or"
            " `cockpit run --headless`"
        )
