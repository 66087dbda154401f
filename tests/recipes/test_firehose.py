"""`firehose` for real: every message that the cockpit accepted is stored, and stored once."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

from cockpit.shipped import shipped_recipes
from cockpit.testing.program import headless

CHANNELS, MESSAGES = 20, 2_000
EACH = MESSAGES // CHANNELS
QUIET = "channel:load/load:02"


def bounded(folder: Path) -> Path:
    """The recipe that ships, faster, and with an end: its comment says that these figures may be changed."""
    text = shipped_recipes()["firehose"].read_text(encoding="utf-8")
    given = '"--rate", "200", "--channels", "20", "--mention", "500"'
    assert text.count(given) == 1
    path = folder / "firehose.toml"
    path.write_text(text.replace(given, f'"--rate", "5000", "--messages", "{MESSAGES}"'), encoding="utf-8")
    return path


async def test_what_was_accepted_is_stored_once(tmp_path: Path) -> None:
    """R-1, A-7: 2,000 messages over 20 channels, in a folder that is no clone; the tuned-out channel holds its own."""
    store = tmp_path / "load.db"
    async with headless(bounded(tmp_path), store, folder=tmp_path) as cockpit:
        for number in range(1, CHANNELS + 1):
            target = f"channel:load/load:{number:02}"
            counts = {"held": EACH, "wait": 0} if target == QUIET else {"held": 0, "wait": EACH}
            await cockpit.line(event="channel", target=target, **counts)
        await cockpit.run("go=quit")
        assert await cockpit.ended() == 0
    with closing(sqlite3.connect(store)) as connection:
        rows = connection.execute(
            "SELECT target, key FROM record WHERE kind = 'message' AND target LIKE 'channel:load/%'"
        ).fetchall()
    assert Counter(target for target, _ in rows) == {f"channel:load/load:{n:02}": EACH for n in range(1, CHANNELS + 1)}
    assert len({key for _, key in rows}) == MESSAGES
    said = (tmp_path / "logs" / "load.log").read_text(encoding="utf-8").splitlines()
    assert said[-1] == f"ended: sent {MESSAGES}, accepted {MESSAGES}, refused 0"


async def test_the_recipe_itself_runs_and_its_mentions_wake_the_resident(tmp_path: Path) -> None:
    """As it ships, by its name: 200 a second; every 500th is a question, and the first takes 2.5 seconds to come."""
    async with headless("firehose", tmp_path / "load.db", folder=tmp_path) as cockpit:
        await cockpit.line(event="turn", agent="scout", state="started", reason="message")
        await cockpit.run("go=quit")
        assert await cockpit.ended() == 0
