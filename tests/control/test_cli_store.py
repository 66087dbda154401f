"""The commands that read a store: beside a cockpit that runs on it, and after it has ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from cockpit.testing.program import headless

RECIPE = """
name = "kept"
[model]
provider = "offline"
[[resident]]
name = "scout"
system_prompt = "You are scout."
[intercom]
feeds = ["general"]
"""


def cockpit(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cockpit", *arguments],
        env={**os.environ, "XDG_STATE_HOME": str(folder), "TMPDIR": str(folder), "XDG_RUNTIME_DIR": ""},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )


async def test_a_store_is_read_while_it_is_used_and_afterwards(tmp_path: Path) -> None:
    """K-123: the audit says who, from where, before and after; `export` says the same on paper."""
    path, store = tmp_path / "kept.toml", tmp_path / "kept.db"
    path.write_text(RECIPE, encoding="utf-8")
    async with headless(path, store, environment={"TMPDIR": str(tmp_path), "XDG_RUNTIME_DIR": ""}) as running:
        await running.run("go=mute target=feed:general reason=loud")
        await running.run("go=say to=feed:general text='anybody there?'")
        beside = cockpit("audit", "--json", "--db", str(store), folder=tmp_path)
        rows = json.loads(beside.stdout)["rows"]
        assert [(row["actor"], row["origin"], row["verb"], row["after"]) for row in rows] == [
            ("operator", "headless", "mute", "muted")
        ]
        await running.run("ask hello")
        await running.line(event="turn", agent="scout", state="ended")
        await running.run("go=quit")
        assert await running.ended() == 0
    stats = cockpit("stats", "--json", "--db", str(store), folder=tmp_path)
    feed = next(row for row in json.loads(stats.stdout)["channels"] if row["target"] == "feed:general")
    assert (feed["diverted"], feed["delivered"]) == (1, 0)
    assert json.loads(stats.stdout)["agents"][0]["turns"] == 1
    context = cockpit("context", "scout", "--recipe", str(path), "--db", str(store), "--json", folder=tmp_path)
    assert "hello" in json.dumps(json.loads(context.stdout)["request"])
    assert "anybody there?" not in context.stdout
    exported = cockpit("export", "--db", str(store), folder=tmp_path)
    assert "| operator | headless | mute | feed:general |" in exported.stdout
    missing = cockpit("audit", "--db", str(tmp_path / "none.db"), folder=tmp_path)
    assert missing.returncode == 1
    assert len(missing.stderr.splitlines()) == 1
    nowhere = cockpit("stats", folder=tmp_path)
    assert nowhere.returncode == 2
    assert "--db" in nowhere.stderr
