"""What opening a store gives back is kept current by each transaction, never counted over the log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from cockpit.core.channel import Channel, Epoch, Span, Totals
from cockpit.core.message import Message
from cockpit.core.records import Batch, DumpOf, Snapshot, TurnEnded, Usage, WakeRequest
from cockpit.core.target import Target
from cockpit.store.chronicle import SqliteChronicle, open_chronicle

NOISY = Channel(
    Target("channel", "disc/disc:guild:noisy"),
    wanted=False,
    presence="online",
    reason="why: \N{ELECTRIC LIGHT BULB}",
    registered=True,
    span=Span("span-3", 1_796_000_000.25, ("operator", "resident"), soft=True, told=True),
    epoch=Epoch("epoch-2", 1800.0, 200, 5, 1_796_003_600.0, 1_796_000_000.0, 2, 1, 7, 3, 4, 2, 1_796_000_001.5, 1),
    wait=3,
    wait_need=1,
    withheld=2,
    withheld_by_server=4,
    totals=Totals(1.5, 2.5, 3.5, 1, 2, 3, 4, 5),
)
GIT = Channel(Target("mcp", "git"))


async def test_a_store_is_fresh_until_something_is_written(path: Path, said: Callable[..., Message]) -> None:
    for _ in range(2):
        async with open_chronicle(path) as chronicle:
            opened = await chronicle.opened()
            assert (opened.fresh, opened.head, opened.channels, opened.pending) == (True, 0, (), ())
    async with open_chronicle(path) as chronicle:
        await chronicle.append(Batch((said(7),)))
        opened = await chronicle.opened()
        assert (opened.fresh, opened.head) == (False, 7)


async def test_every_channel_comes_back_as_it_was_last_committed(path: Path) -> None:  # M-13, T-9, R-1
    async with open_chronicle(path) as chronicle:
        await chronicle.append(Batch((), (NOISY, GIT)))
        await chronicle.append(Batch((), (replace(GIT, killed=True, presence="killed"),)))
    async with open_chronicle(path) as chronicle:
        opened = await chronicle.opened()
    assert {channel.target: channel for channel in opened.channels} == {
        NOISY.target: NOISY,
        GIT.target: replace(GIT, killed=True, presence="killed"),
    }


class TestWakeRequests:
    async def test_a_wake_is_owed_until_its_turn_has_ended(self, chronicle: SqliteChronicle) -> None:  # T-16, T-8
        first = WakeRequest("scout", "message", 1.0, "channel:a/b", None, 1)
        second = WakeRequest("watcher", "wake", 1.0, "channel:a/b", "epoch-1", 2)
        await chronicle.append(Batch((first, second)))
        assert (await chronicle.opened()).pending == (first, second)
        await chronicle.append(Batch((TurnEnded("scout", "ended", "message", 2.0, served=(1,), sequence=3),)))
        assert (await chronicle.opened()).pending == (second,)
        await chronicle.append(Batch((TurnEnded("watcher", "failed", "wake", 2.0, sequence=4),)))
        assert (await chronicle.opened()).pending == (second,)  # T-14: nothing is lost by a turn that failed

    async def test_a_wake_that_is_asked_for_and_served_at_once_is_not_owed(self, chronicle: SqliteChronicle) -> None:
        asked = WakeRequest("scout", "message", 1.0, sequence=1)
        await chronicle.append(Batch((asked, TurnEnded("scout", "ended", "message", 2.0, served=(1, 99), sequence=2))))
        assert (await chronicle.opened()).pending == ()

    async def test_the_report_turn_of_a_cancel_is_owed(
        self, chronicle: SqliteChronicle, ends: Callable[..., DumpOf]
    ) -> None:  # T-19
        await chronicle.append(Batch((ends(1, 0),)))
        assert [(wake.agent, wake.reason) for wake in (await chronicle.opened()).pending] == [("watcher", "report")]


async def test_the_newest_snapshot_of_each_name_holds(chronicle: SqliteChronicle) -> None:
    await chronicle.append(Batch((Snapshot("anchor", 7, 1.0, 1), Snapshot("notes", {"a": ["b", None]}, 1.0, 2))))
    await chronicle.append(Batch((Snapshot("anchor", 8, 2.0, 3), Snapshot("anchor", None, 2.0, 4))))
    assert (await chronicle.opened()).snapshots == {"anchor": None, "notes": {"a": ["b", None]}}


async def test_turns_and_their_usage_are_summed_a_agent(chronicle: SqliteChronicle) -> None:
    """A turn without usage was owed and never began."""
    used = Usage(100, 20, 80, 5)
    records = (
        TurnEnded("scout", "started", "message", 1.0, sequence=1),
        TurnEnded("scout", "ended", "message", 1.0, used, sequence=2),
        TurnEnded("watcher", "failed", "wake", 1.0, Usage(), sequence=3),
        TurnEnded("watcher", "ended", "wake", 1.0, None, sequence=5),
    )
    await chronicle.append(Batch(records))
    await chronicle.append(Batch((TurnEnded("scout", "stopped", "prompt", 1.0, used, sequence=4),)))
    opened = await chronicle.opened()
    assert opened.usage == {"scout": Usage(200, 40, 160, 10), "watcher": Usage()}
    assert opened.turns == {"scout": 2, "watcher": 1}
