"""The main job on a real terminal: mute by key, unmute by verb, tune out, report, cancel, dump, quit (issue 2)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cockpit.testing.terminal import terminal

RESTORED = [b"\x1b[?1049l", b"\x1b[?1000l", b"\x1b[?1003l", b"\x1b[?25h"]


@pytest.mark.parametrize(("columns", "rows"), [(120, 40), (80, 24)])
def test_the_arc_by_keys_and_verbs(tmp_path: Path, columns: int, rows: int) -> None:
    """F-8, K-126: every step shows in its row, the dump arrives, and the terminal is as it was before."""
    with terminal(["--db", str(tmp_path / "demo.db")], columns=columns, rows=rows, folder=str(tmp_path)) as seen:
        seen.shows("mcp:tools", also=["online"])
        seen.shows("noisy", also=["tuned-out"])
        seen.shows("release", also=["online"])
        seen.press("m")
        seen.shows("mcp:tools", also=["muted"])
        seen.press(":unmute mcp:tools\r")
        seen.shows("mcp:tools", also=["online"])
        seen.shows("You missed")
        seen.press("\x1b")
        seen.press(":cancel channel:disc/disc:guild:noisy reason=enough\r")
        seen.shows("noisy", also=["online"])
        seen.press("\x1b")
        seen.press(":tune-out channel:disc/disc:guild:release cadence=30s\r")
        seen.shows("release", also=["tuned-out"])
        seen.press("\x1b")
        seen.press(":context agent=scout\r")
        seen.press("\x1b\x1b")
        seen.press(":quit\r")
        assert seen.ended() == 0
        for sequence in RESTORED:
            assert sequence in seen.raw
        assert b"Traceback" not in seen.raw


def test_the_dump_reaches_the_resident(tmp_path: Path) -> None:
    """T-18 on the screen: after `c` on the tuned-out row the resident says what was held back."""
    with terminal(["--db", str(tmp_path / "demo.db")], folder=str(tmp_path)) as seen:
        seen.shows("You missed")
        seen.press("jj")
        seen.press("c")
        seen.shows("noisy", also=["online"])
        seen.shows("cancelled — operator request")
        seen.press("q")
        assert seen.ended() == 0
        assert not re.search(rb"Traceback|Error", seen.raw)
