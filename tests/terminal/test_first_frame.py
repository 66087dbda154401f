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


def test_a_wrong_file_of_keys_is_told_and_the_rest_of_it_holds(tmp_path: Path) -> None:
    """F-32, R-5: it stops no start."""
    own = tmp_path / "cockpit"
    own.mkdir()
    (own / "keys.toml").write_text('verb.moot = "M"\nverb.quit = "Q"\n', "utf-8")
    there = {"XDG_CONFIG_HOME": str(tmp_path)}
    with terminal(["--db", str(tmp_path / "demo.db")], folder=str(tmp_path), environment=there) as seen:
        seen.shows("mcp:tools", also=["online"])
        seen.shows("'verb.moot'")
        seen.press("Q")
        seen.press("y")  # where a turn runs, it asks
        assert seen.ended() == 0
