"""`kill -9` of the real process at a hundred moments of ingest, coalescing, cancel and report (R-1, T-8, T-16, K-83).

Each kind goes on with one store over all its kills, so that every start but the first is a restart. After each kill the
store itself is asked: everything that was acknowledged on the wire is there, and every epoch that ended has exactly
one dump.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from cockpit.core.message import RESIDENTS, Json, Text
from cockpit.core.target import Target
from cockpit.store.reader import open_reader
from cockpit.testing.mcpl_remote import Remote
from cockpit.testing.program import Program, fields, headless, items

NOISY = "channel:disc/noisy"
DEPTHS = 25


@pytest.fixture
def control() -> Iterator[Path]:
    """A short name for the fixture's socket: a Unix socket's has about a hundred bytes."""
    with tempfile.TemporaryDirectory(prefix="ck") as folder:
        yield Path(folder) / "c"


def recipe(folder: Path, control: Path) -> Path:
    path = folder / "crash.toml"
    command = [
        sys.executable, "-m", "cockpit.testing.mcpl_server", "--control", str(control), "--channels", "noisy",
    ]  # fmt: skip
    path.write_text(
        f"""
name = "crash"
[model]
provider = "offline"
[[resident]]
name = "scout"
system_prompt = "You are scout."
[subconscious]
system_prompt = "You watch for scout."
[[mcpl]]
name = "disc"
command = {json.dumps(command)}
""",
        encoding="utf-8",
    )
    return path


class Wire:
    """What the server was told is accepted, and how much of it so far."""

    def __init__(self, remote: Remote) -> None:
        self._remote = remote
        self.accepted: set[str] = set()

    def say(self, identity: str, text: str, *, addressed: bool = False) -> asyncio.Future[Json]:
        tags = ["chat:mention"] if addressed else []
        future = self._remote.tell("say", channel="noisy", text=text, id=identity, tags=tags)
        future.add_done_callback(self._answered)
        return future

    def _answered(self, future: asyncio.Future[Json]) -> None:
        if future.cancelled() or future.exception() is not None:
            return
        for each in items(fields(fields(future.result())["result"])["results"]):
            if each["accepted"] is True:
                self.accepted.add(str(each["messageId"]))


async def until_killed(kind: str, depth: int, cockpit: Program, wire: Wire) -> None:
    """Bring it to the moment at which it is killed."""
    said = [wire.say(f"{kind}-{depth}-{number}", f"word {number} of {depth}") for number in range(30)]
    if kind == "ingest":
        await asyncio.wait(said[: depth + 1])
        return
    await asyncio.wait(said)
    before = len(cockpit.lines)
    asked = wire.say(f"{kind}-{depth}-q", "scout?", addressed=True)
    await asyncio.wait([asked])
    if kind == "coalescing":
        more = [wire.say(f"{kind}-{depth}-q{number}", "scout??", addressed=True) for number in range(depth + 1)]
        await asyncio.wait(more[-1:])
        return
    if kind == "report":
        await cockpit.line(after=before, event="report")  # the sixth wake of an epoch ends it (T-10)
        if depth % 3:
            state = "started" if depth % 3 == 1 else "ended"
            await cockpit.line(after=before, event="turn", agent="Subconscious", state=state)
        return
    before = len(cockpit.lines)
    cockpit.say(f"go=cancel target={NOISY}")
    await cockpit.count(before + depth % 8)


@pytest.mark.crash
@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", ["ingest", "coalescing", "cancel", "report"])
async def test_nothing_acknowledged_is_lost_and_no_dump_is_doubled(tmp_path: Path, control: Path, kind: str) -> None:
    """R-1, T-8, T-9, T-16, K-83, K-85."""
    store = tmp_path / "crash.db"
    accepted: set[str] = set()
    async with Remote(control) as remote:
        for depth in range(DEPTHS):
            async with headless(recipe(tmp_path, control), store) as cockpit:
                await remote.connected()
                row = await cockpit.line(event="channel", target=NOISY, presence="online")
                if row["attention"] == "open":
                    await cockpit.run(f"go=tune-out target={NOISY}")
                wire = Wire(remote)
                await until_killed(kind, depth, cockpit, wire)
                await cockpit.kill()
                accepted |= wire.accepted
            await check(store, accepted)


async def check(store: Path, accepted: set[str]) -> None:
    """Ask the store that the killed process left behind."""
    async with open_reader(store) as reader:
        messages = await reader.messages((RESIDENTS,), view="all", limit=1_000_000)
        history = await reader.lifecycle(target=NOISY, limit=1_000_000)
        channel = next(
            each for each in (await reader.opened()).channels if each.target == Target("channel", "disc/noisy")
        )
    stored = Counter(message.id for message in messages if message.kind == "chat")
    assert accepted <= stored.keys()
    assert max(stored.values()) == 1
    cancelled = [each.body["epoch"] for each in history if each.what == "cancelled"]
    assert len(cancelled) == len(set(cancelled))
    dumps = [
        block.text
        for message in messages
        if message.kind == "system"
        for block in message.blocks
        if isinstance(block, Text) and block.text.startswith("[Tune-out: noisy cancelled")
    ]
    assert len(dumps) == len(cancelled)
    held = Counter(message.stamp.epoch for message in messages if message.stamp is not None)
    if channel.epoch is not None:
        assert channel.epoch.held == held[channel.epoch.id]
        assert channel.epoch.id not in cancelled
    totals = [f"messages={held[epoch]}" for epoch in sorted(map(str, cancelled), key=lambda each: int(each[6:]))]
    assert [total for total, dump in zip(totals, dumps, strict=True) if total not in dump] == []
