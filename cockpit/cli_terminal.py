"""Whether this terminal can carry a screen; asked before anything is opened."""

from __future__ import annotations

import os
import sys

from cockpit.errors import UsageError


def fit_for_a_screen() -> None:
    """Raises UsageError where a screen cannot be drawn."""
    for stream, name in ((sys.stdin, "input"), (sys.stdout, "output")):
        if not stream.isatty():
            raise UsageError(f"standard {name} is no terminal: use `cockpit run --headless`")
    if os.environ.get("TERM", "dumb") in {"dumb", ""}:
        raise UsageError("TERM is dumb: the screen needs a terminal that can move its cursor")
