"""A cockpit whose store was compacted between two runs goes on as if it had not been."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from cockpit.core.channel import Channel, Epoch
from cockpit.core.events import ContextShown, Peeked
from cockpit.core.message import Json
from cockpit.core.target import parse
from cockpit.recipe import Recipe, load
from cockpit.setup.retention import holding, retention
from cockpit.store.compact import Compacted, compact
from cockpit.store.protocol import Opened
from cockpit.testing.clock import FakeClock
from cockpit.testing.rig import Rig, rig

DAY = 86_400.0

RECIPE = """
name = "kept"
[model]
provider = "offline"
context_tokens = 6000
max_tokens = 500
max_message_tokens = 300
[[resident]]
name = "scout"
system_prompt = "You are scout."
[subconscious]
system_prompt = "You watch."
re_anchor_fraction = 0.2
[[mcpl]]
name = "disc"
command = ["fake"]
"""

CHANNELS = {"disc": ["noisy", "dull", "calm"]}
NOISY, DULL, CALM = ("channel:disc/noisy", "channel:disc/dull", "channel:disc/calm")


async def talked(cockpit: Rig, count: int) -> None:
    """A stretch of every kind of traffic: heard, tuned out and dumped, muted and unmuted, with turns between."""
    disc = cockpit.servers["disc"]
    for target in (NOISY, DULL):
        await cockpit.run(f"go={'tune-out' if target == NOISY else 'mute'} target={target}")
    for number in range(count):
        for name in ("noisy", "dull", "calm"):
            said = f"{name} {number} {'word ' * 30}"
            await disc.say(name, said, addressed=name == "calm" and number % 5 == 0, message_id=f"{name}-{number}")
    await cockpit.settle()
    await cockpit.run(f"go=cancel target={NOISY}")
    await cockpit.run(f"go=unmute target={DULL}")


async def shown(cockpit: Rig) -> Json:
    """All that the contract says survives: rows with their counts, peeks, and every agent's context byte for byte."""
    rows = (await cockpit.link.snapshot()).rows
    peeks = [(await cockpit.run(f"go=peek target={target} last=50")).shown[0] for target in (NOISY, DULL, CALM)]
    contexts = [(await cockpit.run(f"go=context agent={name}")).shown[0] for name in ("scout", "Subconscious")]
    said = [(row.target, row.label, row.wait, row.need, row.held, row.epoch) for row in rows]
    held = [[(each.id, each.text) for each in peek.messages] for peek in peeks if isinstance(peek, Peeked)]
    requests = [each.request for each in contexts if isinstance(each, ContextShown)]
    assert (len(held), len(requests)) == (3, 2)
    return [repr(said), repr(held), repr(requests)]


async def kept(folder: Path, clock: FakeClock, keep: float, *, known: bool = True) -> tuple[Compacted, Recipe]:
    recipe = load(str(folder / "recipe.toml"), {})
    given = recipe if known else None
    return (
        await compact(folder / "rig.db", lambda opened: retention(opened, given, keep=keep, now=clock.wall())),
        recipe,
    )


async def test_a_restart_on_a_compacted_store_is_the_same_restart(tmp_path: Path) -> None:
    """A-6, A-7, A-11, R-1, V-3, T-3: rows, counts, peeks and every agent's context are as before, byte for byte; what
    a server sends again is known; numbers go on; the live epoch's dump is whole."""
    clock = FakeClock()
    async with rig(tmp_path, RECIPE, channels=CHANNELS, clock=clock) as cockpit:
        await talked(cockpit, 40)
        await cockpit.run("ask where are we?")
        await cockpit.run(f"go=tune-out target={NOISY} cadence=1d wakes=50")
        await cockpit.run(f"go=mute target={DULL}")
        for name in ("noisy", "dull", "calm"):
            await cockpit.servers["disc"].say(name, f"{name} is waiting", message_id=f"{name}-waiting")
        await cockpit.settle()
        clock.advance(200 * DAY, wall=200 * DAY)
        await cockpit.settle()
    async with rig(tmp_path, RECIPE, channels=CHANNELS, clock=clock) as cockpit:
        before, head = await shown(cockpit), cockpit.session.engine.ledger.head
    done, _ = await kept(tmp_path, clock, 90 * DAY)
    assert done.records["messages"] > 60
    async with rig(tmp_path, RECIPE, channels=CHANNELS, clock=clock) as cockpit:
        assert await shown(cockpit) == before
        assert cockpit.session.engine.ledger.head > head
        disc = cockpit.servers["disc"]
        asked, diverted = len(cockpit.model.requests), cockpit.channel(DULL).totals.diverted
        for name in ("noisy", "dull", "calm"):
            await disc.say(name, "again", addressed=True, message_id=f"{name}-0")
        await cockpit.settle()
        assert len(cockpit.model.requests) == asked
        assert cockpit.channel(DULL).totals.diverted == diverted
        assert await shown(cockpit) == before
        await cockpit.run(f"go=cancel target={NOISY}")
        dump = [each.text for each in await cockpit.stored("residents") if "<tuned-out-backlog" in each.text][-1]
        assert "noisy is waiting" in dump


async def test_without_the_recipe_less_goes(tmp_path: Path) -> None:
    """A-3: an agent of an unknown role may be one that sees what was tuned out."""
    clock = FakeClock()
    async with rig(tmp_path, RECIPE, channels=CHANNELS, clock=clock) as cockpit:
        await talked(cockpit, 3)
        await cockpit.run("ask hello")
    clock.advance(200 * DAY)
    muted, _ = await kept(tmp_path, clock, 90 * DAY, known=False)
    rest, recipe = await kept(tmp_path, clock, 90 * DAY)
    assert (muted.records["messages"], rest.records.get("messages", 0)) == (3, 0)
    with sqlite3.connect(tmp_path / "rig.db") as file:
        slots = {slot for (slot,) in file.execute("SELECT slot FROM record WHERE reference LIKE 'disc/dull-%'")}
    assert slots == {"compacted"}
    assert recipe.primary.name == "scout"


@pytest.mark.parametrize(
    ("anchors", "heard", "tuned_out"),
    [
        ({}, 0, 0),
        ({"scout": 70}, 0, 0),
        ({"Subconscious": 50}, 0, 50),
        ({"scout": 70, "Subconscious": 50}, 50, 50),
        ({"scout": 40, "Subconscious": 50}, 40, 50),
        ({"scout": 70, "Subconscious": 50, "left": 10}, 10, 10),
    ],
)
def test_the_oldest_window_says_how_far(
    tmp_path: Path, anchors: dict[str, int], heard: int, tuned_out: int
) -> None:  # V-3, S-2
    (tmp_path / "recipe.toml").write_text(RECIPE, encoding="utf-8")
    recipe = load(str(tmp_path / "recipe.toml"), {})
    values: dict[str, Json] = {
        f"anchor/{name}": {"sequence": at, "pinned": [at - 5], "images": 0} for name, at in anchors.items()
    }
    opened = Opened(100, (), (), values, {}, {}, fresh=False)
    found = retention(opened, recipe, keep=DAY, now=10 * DAY)
    assert (found.before, found.heard, found.tuned_out) == (9 * DAY, heard, tuned_out)
    assert found.pinned == {at - 5 for at in anchors.values()}
    assert set(holding(opened, recipe)) == {"scout", "Subconscious"} - set(anchors)


def test_a_live_epoch_keeps_all_since_it_began(tmp_path: Path) -> None:
    """V-4: an enter moves the subconscious's window back to the start of the oldest epoch."""
    (tmp_path / "recipe.toml").write_text(RECIPE, encoding="utf-8")
    recipe = load(str(tmp_path / "recipe.toml"), {})
    epoch = Epoch("epoch-1", 1800, 200, 5, None, 0.0, began=30)
    channel = Channel(parse(NOISY), epoch=epoch, wait=4)
    anchor: Json = {"sequence": 70, "pinned": [], "images": 0}
    opened = Opened(100, (channel,), (), {"anchor/scout": anchor, "anchor/Subconscious": anchor}, {}, {}, fresh=False)
    found = retention(opened, recipe, keep=DAY, now=10 * DAY)
    assert (found.heard, found.tuned_out, found.live) == (30, 30, frozenset({"epoch-1"}))
    assert found.unread == {NOISY: 4}
