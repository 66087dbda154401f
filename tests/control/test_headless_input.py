"""What headless reads, and how it ends: each kind of standard input, through the real program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from cockpit.testing.shell import runtime

RECIPE = """
name = "typed"
[model]
provider = "offline"
[[resident]]
name = "scout"
system_prompt = "You are scout."
"""


def headless(folder: Path, stdin: bytes | None) -> subprocess.CompletedProcess[bytes]:
    """Run it until it is idle, on these bytes in a file, or on the null device."""
    recipe, typed = folder / "typed.toml", folder / "verbs"
    recipe.write_text(RECIPE, encoding="utf-8")
    typed.write_bytes(stdin or b"")
    with runtime() as environment, (typed if stdin is not None else Path(os.devnull)).open("rb") as given:
        return subprocess.run(
            [sys.executable, "-m", "cockpit", "run", "--headless", str(recipe), "--db", str(folder / "t.db"),
             "--until-idle"],
            stdin=given, capture_output=True, timeout=50, check=False, env={**os.environ, **environment},
        )  # fmt: skip


def test_on_the_null_device_it_ends_once_idle(tmp_path: Path) -> None:
    done = headless(tmp_path, None)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout.splitlines()[-1])["reason"] == "idle"


def test_lines_of_any_length_and_any_bytes_are_answered_in_order(tmp_path: Path) -> None:
    """R-5: three megabytes in one line, what is no UTF-8, and a last line without its end."""
    given = b"go=ask text=" + b"x" * 3_000_000 + b"\n# nothing\n\n\xff\xfe\n  go=stats  \r\ngo=audit"
    done = headless(tmp_path, given)
    assert (done.returncode, done.stderr) == (0, b"")
    verbs = [line for line in map(json.loads, done.stdout.splitlines()) if line["event"] == "verb"]
    assert [(line["verb"], line["ok"]) for line in verbs] == [
        ("ask", False), ("\ufffd\ufffd", False), ("stats", True), ("audit", True)
    ]  # fmt: skip
    assert verbs[2]["line"] == "  go=stats  "
