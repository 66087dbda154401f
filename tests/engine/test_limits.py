"""What the gate's limits and samples count: what is new and heard, and over restarts (A-7, T-6)."""

from __future__ import annotations

import pytest

from cockpit.core.events import Explained
from cockpit.core.gate import WAKES_PER_HOUR, Bucket, GateState
from cockpit.core.limits import SLOT, recalled, remembered
from cockpit.core.message import Json
from cockpit.testing.rig import Rig
from cockpit.testing.stage import NOISY, Start, recipe, turns


def limited(behavior: str) -> str:
    return recipe(more=f"[gate]\ndefault = {{ {behavior} }}")


TWO_AN_HOUR = limited('rate_limit = { tokens = 2, refill = "1h" }')
TWO_FOR_ALL = limited('rate_limit = { tokens = 2, refill = "1h", by = "server" }')
THIRD = limited("sample = 3")


async def say(cockpit: Rig, *identities: str, channel: str = "quiet") -> list[str]:
    """Each on its own; gives the resident's turns so far."""
    for identity in identities:
        await cockpit.servers["disc"].say(channel, "hello", message_id=identity)
        await cockpit.settle()
    return turns(cockpit, "scout")


async def snapshots(cockpit: Rig) -> Json:
    return (await cockpit.session.engine.ledger.chronicle.opened()).snapshots.get(SLOT)


async def test_a_repeat_takes_nothing_from_a_rate_limit(start: Start) -> None:
    """A-7: the second of two wakes is still there after a message that came twice."""
    async with start(TWO_AN_HOUR) as cockpit:
        assert await say(cockpit, "1", "1", "2", "3") == ["message", "message"]


async def test_a_restart_does_not_refill_a_rate_limit(start: Start) -> None:
    """A-7, T-6: nor does a message that comes again after it take anything; the hour goes on counting meanwhile."""
    async with start(TWO_AN_HOUR) as cockpit:
        assert await say(cockpit, "1") == ["message"]
        clock = cockpit.clock
    async with start(TWO_AN_HOUR, clock=clock) as cockpit:
        assert await say(cockpit, "1", "2", "3") == ["message"]
    clock.advance(3600.0)
    async with start(TWO_AN_HOUR, clock=clock) as cockpit:
        assert await say(cockpit, "4", "5") == ["message"]


async def test_a_restart_does_not_begin_a_sample_anew(start: Start) -> None:
    """A-7, T-6: the third wakes, wherever the process ended."""
    async with start(THIRD) as cockpit:
        assert await say(cockpit, "1", "2") == []
    async with start(THIRD) as cockpit:
        assert await say(cockpit, "3", "4") == ["message"]


async def test_what_is_muted_takes_nothing_from_a_limit(start: Start) -> None:
    """M-4, A-1: the mute is asked before the gate, so others keep what they may wake."""
    async with start(TWO_FOR_ALL) as cockpit:
        await cockpit.run(f"go=mute target={NOISY}")
        assert await say(cockpit, "1", "2", "3", channel="noisy") == []
        assert await say(cockpit, "4", "5", "6") == ["message", "message"]


async def test_what_is_let_through_by_no_limit_writes_nothing(start: Start) -> None:
    """A flood that a limit stops, and a gate without limits, cost the log no record beside the messages."""
    async with start() as cockpit:
        await say(cockpit, "1")
        assert await snapshots(cockpit) is None
    async with start(TWO_AN_HOUR) as cockpit:
        await say(cockpit, "2", "3")
        kept, head = await snapshots(cockpit), cockpit.session.engine.ledger.head
        assert kept is not None
        await say(cockpit, "4", "5")
        assert await snapshots(cockpit) == kept
        assert cockpit.session.engine.ledger.head == head + 2


def test_what_is_remembered_reads_back_and_what_is_malformed_is_new() -> None:
    """R-4."""
    state = GateState({("gate:a", "channel:disc/x"): Bucket(0.5, 12.0)}, {"gate:b": 2})
    assert recalled(remembered(state)) == state
    assert recalled({"buckets": [["gate:a", "k", "none", 1], [1], "x", ["r", "k", 1, 2]], "seen": {"s": "x"}}) == (
        GateState({("r", "k"): Bucket(1.0, 2.0)}, {})
    )


@pytest.mark.parametrize("value", [None, 3, [], {}, {"buckets": {}, "seen": []}])
def test_what_is_no_memory_is_an_empty_one(value: Json) -> None:
    """R-4."""
    assert recalled(value) == GateState()


async def test_a_servers_own_limit_admits_and_wakes_nobody(start: Start) -> None:
    """mcpl.md 14: two wakes an hour for the whole server, over restarts; what is beyond them is delivered all the same,
    and `why` names the limit."""
    limit = '[[mcpl]]\nname = "disc"\ncommand = ["fake"]\nlimits = { wakes_per_hour = 2 }'
    async with start(recipe(limit)) as cockpit:
        clock = cockpit.clock
        assert await asked(cockpit, "1", channel="quiet") == ["message"]
        assert await asked(cockpit, "2", "3", channel="noisy") == ["message"] * 2
        assert cockpit.channel(NOISY).totals.delivered == 2
        found = await cockpit.run("go=why message=disc/3")
        [shown] = found.shown
        assert isinstance(shown, Explained)
        assert (shown.decision, shown.rules[-1], shown.woke) == ("delivered", WAKES_PER_HOUR, ())
    async with start(recipe(limit), clock=clock) as cockpit:
        assert await asked(cockpit, "4") == []
    clock.advance(1800.0)
    async with start(recipe(limit), clock=clock) as cockpit:
        assert await asked(cockpit, "5", "6") == ["message"]


async def test_a_limit_of_no_wakes_lets_none_through(start: Start) -> None:
    """mcpl.md 14: nought is a limit too, and ambient messages take nothing from any."""
    for most, expected in ((1, ["message"]), (0, [])):
        limit = f'[[mcpl]]\nname = "disc"\ncommand = ["fake"]\nlimits = {{ wakes_per_hour = {most} }}'
        async with start(recipe(limit)) as cockpit:
            await say(cockpit, f"{most}-1", f"{most}-2")
            assert await asked(cockpit, f"{most}-3", f"{most}-4") == expected


async def asked(cockpit: Rig, *identities: str, channel: str = "quiet") -> list[str]:
    """The same, each addressed to the resident."""
    for identity in identities:
        await cockpit.servers["disc"].say(channel, "are you there?", message_id=identity, addressed=True)
        await cockpit.settle()
    return turns(cockpit, "scout")
