"""The main job on a real terminal: mute by key, unmute by verb, tune out, report, cancel, dump, quit (issue 2)."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from cockpit.core.message import RESIDENTS
from cockpit.store.reader import open_reader
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
        seen.press(":cancel channel:disc/disc:guild:noisy reason=enough\r")
        seen.shows("noisy", also=["online"])
        seen.shows("cancelled:")  # a narrow pane breaks the line before or after it
        seen.press("go=tune-out target=channel:disc/disc:guild:release cadence=30s\r")
        seen.shows("release", also=["tuned-out"])
        seen.press(":quit\r")
        assert seen.ended() == 0
        for sequence in RESTORED:
            assert sequence in seen.raw
        assert b"Traceback" not in seen.raw


def test_the_dump_reaches_the_resident(tmp_path: Path) -> None:
    """T-16, T-18 by key: after `c` on the tuned-out row the resident has the dump once, and says so."""
    with terminal(["--db", str(tmp_path / "demo.db")], folder=str(tmp_path)) as seen:
        seen.shows("You missed")
        seen.press("jj")
        seen.press("c")
        seen.shows("noisy", also=["online"])
        seen.shows("Tune-out cancelled")
        seen.shows("scout: idle", also=["Subconscious: idle"])
        seen.press("q")
        seen.press("y")  # where the resident is in a turn again, it asks
        assert seen.ended() == 0
        assert not re.search(rb"Traceback|Error", seen.raw)
    said = asyncio.run(everything(tmp_path / "demo.db"))
    assert said.count("<tuned-out-backlog ") == 1
    assert "held back" in said


async def everything(store: Path) -> str:
    """All that the store holds of the residents' slot, as text."""
    async with open_reader(store) as reader:
        return "\n".join(message.text for message in await reader.messages((RESIDENTS,), view="heard", limit=100_000))
