"""The first frame comes before anything slow: no SDK is imported until it is out (issue 2, architecture.md)."""

from __future__ import annotations

import re
from pathlib import Path

from cockpit.testing.terminal import terminal

IMPORTED = rb"import time:[ |\d]+\b%s\r?\n"


def test_no_sdk_is_imported_before_the_first_frame(tmp_path: Path) -> None:
    """`-X importtime` writes each import to the terminal as it ends, so the bytes up to the frame tell all of them."""
    arguments = ["--db", str(tmp_path / "demo.db")]
    with terminal(arguments, folder=str(tmp_path), interpreter=["-X", "importtime"]) as seen:
        seen.wrote(b"Channels")
        before = seen.raw[: seen.raw.find(b"Channels")]
        assert re.search(IMPORTED % rb"textual\.app", before)
        assert not re.search(IMPORTED % rb"mcp", before)
        assert not re.search(IMPORTED % rb"anthropic", before)
        seen.shows("mcp:tools", also=["online"])
