"""`cockpit compact` and the commands that read a store, beside the real program and after it."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from pathlib import Path

from cockpit.testing.command_line import Cockpit
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


def test_a_store_is_read_and_compacted_beside_a_cockpit_and_afterwards(home: Path, cockpit: Cockpit) -> None:
    """R-2, A-6, cockpit.md: each command says which store it reads; one that runs is not compacted (exit 3)."""
    store = home.parent / "state" / "cockpit" / "kept.db"
    (home / "kept.toml").write_text(RECIPE, encoding="utf-8")
    readers = (("audit",), ("stats",), ("context", "scout"), ("why", "2"))

    async def live() -> None:
        async with headless("kept.toml", store, environment=dict(os.environ), folder=home) as running:
            await running.run("go=mute target=feed:general reason=loud")
            await running.run("go=say to=feed:general text='nobody hears this'")
            await running.run("go=unmute target=feed:general")
            for command in readers:
                done = await asyncio.to_thread(cockpit, *command)
                assert done.errors[0] == f"reading {store} (the one that runs)", done
            quoted = await asyncio.to_thread(cockpit, "go", "mute", "feed:general", 'reason=too loud to hear "it\\all"')
            assert (quoted.code, quoted.output) == (0, "feed:general is muted\n")
            refused = await asyncio.to_thread(cockpit, "compact", "--dry-run")
            assert (refused.code, f"process id {running.pid}" in refused.errors[-1]) == (3, True)
            await running.run("go=unmute target=feed:general")
            await running.run("go=quit")
            assert await running.ended() == 0

    asyncio.run(live())
    for command in readers:
        done = cockpit(*command)
        assert done.errors[0] == f"reading {store} (the last one used)"
    audit = json.loads(cockpit("audit", "--json").output)["rows"]
    assert [row["reason"] for row in audit if row["verb"] == "mute"] == ["loud", 'too loud to hear "it\\all"']
    dry = cockpit("compact", "--keep", "0", "--dry-run")
    assert "1 message (about" in dry.output
    assert "would go" in dry.output
    told = json.loads(cockpit("compact", "--keep", "0", "--json").output)
    assert (told["records"]["messages"], told["dry_run"], told["whole"]) == (1, False, ["scout"])
    with sqlite3.connect(store) as file:
        assert file.execute("SELECT count(*) FROM record WHERE body LIKE '%nobody hears this%'").fetchall() == [(0,)]
    assert json.loads(cockpit("audit", "--json").output)["rows"][-1]["verb"] == "compact"
