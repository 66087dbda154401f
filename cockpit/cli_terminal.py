"""What the screen needs to know of this terminal and its operator before anything is opened."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import platformdirs

from cockpit.errors import UsageError


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
