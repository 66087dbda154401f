"""Deadlines, cadences, clocks and restarts through a whole engine (T-12, T-21, T-22, R-1; cases D)."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from cockpit.core.channel import Epoch
from cockpit.core.events import ChannelChanged, Failed, Stopped
from cockpit.core.message import RESIDENTS
from cockpit.testing.clock import FakeClock
from cockpit.testing.rig import Rig
from cockpit.testing.scripted_model import Answer, Gate
from cockpit.testing.stage import NOISY, CuedModel, Start, audit, notices, recipe, resident, shown, turns, use

NINE = 1_796_029_200.0


def epoch(cockpit: Rig) -> Epoch:
    found = cockpit.channel(NOISY).epoch
    if found is None:
        raise AssertionError("it is not tuned out")
    return found


async def test_a_deadline_ends_the_tune_out(start: Start, model: CuedModel) -> None:
    """T-15, T-18: and the row says that the engine did it (K-123: automatic expiry)."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY} for=10m")
        await cockpit.servers["disc"].say("noisy", "one")
        await cockpit.advance(599)
        assert cockpit.channel(NOISY).epoch is not None
        await cockpit.advance(1)
        assert notices(cockpit, "tune-out-cancel")[0].startswith(
            "[Tune-out: noisy cancelled — duration elapsed, 0 wakes]"
        )
        assert turns(cockpit, "scout") == ["cancel"]
        row = (await audit(cockpit))[-1]
        assert (row["actor"], row["origin"], row["verb"], row["before"], row["after"], row["reason"], row["ok"]) == (
            "engine",
            "timer",
            "cancel",
            "tuned-out",
            "online",
            "duration elapsed",
            True,
        )
        assert row["epoch"] is not None


async def test_a_deadline_that_passed_while_it_was_down_cancels_at_startup(start: Start, model: CuedModel) -> None:
    """K-75, T-21, F-23: with the backlog, before and whether or not the server has come back."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY} for=10m")
        await cockpit.servers["disc"].say("noisy", "before the night")
    async with start(clock=FakeClock(NINE + 3600), down=("disc",)) as cockpit:
        assert cockpit.channel(NOISY).epoch is None
        (dump,) = [one.text for one in await cockpit.stored(RESIDENTS) if "<tuned-out-backlog" in one.text]
        assert dump.startswith("[Tune-out: noisy cancelled — duration elapsed, 0 wakes]")
        assert "kim: before the night" in dump
        assert turns(cockpit, "scout") == ["cancel"]
        first = next(event for event in cockpit.of(ChannelChanged) if event.target == NOISY)
        assert first.attention == "open"


async def test_timers_are_armed_though_the_server_never_comes(start: Start, model: CuedModel) -> None:
    """K-76, T-21: cadence and expiry come from durable state, not from a registration."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY} cadence=60 for=10m")
        await cockpit.servers["disc"].say("noisy", "one")
    async with start(clock=FakeClock(NINE + 1), down=("disc",)) as cockpit:
        await cockpit.advance(60)
        assert turns(cockpit) == ["cadence"]
        await cockpit.advance(540)
        assert cockpit.channel(NOISY).epoch is None
        assert "duration elapsed" in notices(cockpit, "tune-out-cancel")[0]


async def test_a_server_that_is_away_takes_nothing_of_the_epoch(start: Start, model: CuedModel) -> None:
    """K-77: cancel and listing work while it is disconnected."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        await cockpit.servers["disc"].say("noisy", "one")
    async with start(down=("disc",)) as cockpit:
        assert "noisy: tuned-out · connecting, 1 message held" in await use(cockpit, model, "channel_list")
        assert (await cockpit.run(f"go=peek target={NOISY}")).ran.ok
        assert (await cockpit.run(f"go=cancel target={NOISY}")).ran.ok
        assert "kim: one" in notices(cockpit, "tune-out-cancel")[0]


async def test_a_laptop_that_slept_cancels_on_waking(start: Start, model: CuedModel) -> None:
    """T-21, K-79: deadlines follow the wall clock, cadence what has elapsed."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY} cadence=1h for=2h")
        await cockpit.servers["disc"].say("noisy", "one")
        await cockpit.advance(31, wall=90 * 60)
        assert turns(cockpit) == []
        await cockpit.advance(31, wall=31 * 60)
        assert cockpit.channel(NOISY).epoch is None
        assert turns(cockpit, "scout") == ["cancel"]


async def test_a_clock_that_steps_back_repeats_nothing(start: Start, model: CuedModel) -> None:
    """T-21, K-79: no second tick, no early deadline, none that is swallowed."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY} cadence=60 for=10m")
        await cockpit.servers["disc"].say("noisy", "one")
        await cockpit.advance(60)
        assert turns(cockpit) == ["cadence"]
        await cockpit.servers["disc"].say("noisy", "two")
        await cockpit.advance(30, wall=-3600)
        assert turns(cockpit) == ["cadence"]
        await cockpit.advance(30)
        assert turns(cockpit) == ["cadence", "cadence"]
        await cockpit.advance(600)
        assert cockpit.channel(NOISY).epoch is not None
        await cockpit.advance(3600)
        assert cockpit.channel(NOISY).epoch is None


async def test_a_clock_that_steps_back_closes_no_window_early(start: Start, model: CuedModel) -> None:
    """T-8, T-21: the next window gets its two seconds though the wall shows the moment of the last one again."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        await cockpit.servers["disc"].say("noisy", "scout?", addressed=True)
        await cockpit.advance(2.0)
        assert epoch(cockpit).wakes == 1
        cockpit.clock.advance(0.0, wall=-2.0)
        await cockpit.servers["disc"].say("noisy", "scout!", addressed=True)
        await cockpit.settle()
        assert epoch(cockpit).wakes == 1
        await cockpit.advance(1.0)
        await cockpit.servers["disc"].say("noisy", "scout!!", addressed=True)
        await cockpit.advance(1.0)
        assert epoch(cockpit).wakes == 2
        assert epoch(cockpit).window is None


async def test_an_ordinary_wake_that_waited_is_dropped_if_its_channel_is_no_longer_open(
    start: Start, model: CuedModel
) -> None:
    """K-27, T-22: queued during a turn, then the tune-out was entered."""
    gate = Gate()
    async with start() as cockpit:
        model.cue("scout", Answer("Busy.", gate=gate))
        await cockpit.link.ask("Work.")
        await gate.reached()
        await cockpit.servers["disc"].say("noisy", "scout?", addressed=True)
        await cockpit.run(f"go=tune-out target={NOISY}", held={"scout"})
        gate.open()
        await cockpit.settle()
        assert turns(cockpit, "scout") == ["prompt"]


async def test_an_ordinary_wake_that_waited_runs_if_its_channel_is_open(start: Start, model: CuedModel) -> None:
    """T-22: closed or open it was delivered, so it is answered."""
    gate = Gate()
    async with start() as cockpit:
        model.cue("scout", Answer("Busy.", gate=gate))
        await cockpit.link.ask("Work.")
        await gate.reached()
        await cockpit.servers["disc"].say("noisy", "scout?", addressed=True)
        gate.open()
        await cockpit.settle()
        assert turns(cockpit, "scout") == ["prompt", "message"]


async def test_a_dropped_wake_never_comes_back(start: Start, model: CuedModel) -> None:
    """T-22: once it was dropped it is gone from the store too, so that no restart brings it when its channel is open
    again; the message itself waits for the next turn (A-11)."""
    gate = Gate()
    async with start() as cockpit:
        model.cue("scout", Answer("Busy.", gate=gate))
        await cockpit.link.ask("Work.")
        await gate.reached()
        await cockpit.servers["disc"].say("noisy", "scout?", addressed=True)
        await cockpit.run(f"go=mute target={NOISY}", held={"scout"})
        gate.open()
        await cockpit.settle()
        assert cockpit.channel(NOISY).wait == 1
        assert (await cockpit.session.engine.ledger.chronicle.opened()).pending == ()
        await cockpit.run(f"go=unmute target={NOISY}")
        assert turns(cockpit, "scout") == ["prompt"]
    async with start() as cockpit:
        assert turns(cockpit, "scout") == []
        assert cockpit.channel(NOISY).wait == 1
        await cockpit.link.ask("Well?")
        await cockpit.settle()
        assert "scout?" in shown(cockpit.requests("scout")[-1])
        assert cockpit.channel(NOISY).wait == 0


async def test_a_wake_of_another_resident_that_was_dropped_is_not_brought_by_a_cancel(
    start: Start, model: CuedModel
) -> None:
    """T-22, T-18: the cancel wakes the primary alone, and a restart after it nobody."""
    gate = Gate()
    text = recipe(residents=(resident(), resident("ranger")))
    async with start(text) as cockpit:
        model.cue("ranger", Answer("Busy.", gate=gate))
        await cockpit.link.ask("Work.", "ranger")
        await gate.reached()
        await cockpit.servers["disc"].say("noisy", "hello?", addressed=True)
        await cockpit.run(f"go=tune-out target={NOISY}", held={"ranger"})
        gate.open()
        await cockpit.settle()
        assert turns(cockpit, "ranger") == ["prompt"]
        await cockpit.run(f"go=cancel target={NOISY}")
        assert turns(cockpit, "ranger") == ["prompt"]
    async with start(text) as cockpit:
        assert turns(cockpit) == []


async def test_a_deadline_under_a_mute_waits_for_the_unmute(start: Start, model: CuedModel) -> None:
    """M-12: also over a restart, where an overdue one would end at once (T-21)."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY} for=10m")
        await cockpit.run(f"go=mute target={NOISY}")
        await cockpit.servers["disc"].say("noisy", "under both")
        await cockpit.advance(1200)
        assert cockpit.channel(NOISY).epoch is not None
    async with start(clock=FakeClock(NINE + 7200)) as cockpit:
        assert cockpit.channel(NOISY).epoch is not None
        await cockpit.run(f"go=unmute target={NOISY}")
        assert cockpit.channel(NOISY).epoch is None
        assert notices(cockpit, "unmute")[0].endswith("0 messages withheld]")
        assert "kim: under both" in notices(cockpit, "tune-out-cancel")[0]


async def test_a_malformed_channel_is_dropped_at_replay_and_named(
    start: Start, model: CuedModel, tmp_path: Path
) -> None:
    """K-81, R-4: a tuned-out record without its parameters; the cockpit starts, and nothing else is harmed."""
    async with start() as cockpit:
        await cockpit.run("go=mute target=channel:disc/quiet")
        await cockpit.run(f"go=tune-out target={NOISY}")
    with sqlite3.connect(tmp_path / "rig.db") as store:
        bad = '{"target": {"kind": "channel", "name": "disc/noisy"}, "epoch": {"id": "epoch-1"}}'
        store.execute("UPDATE channel SET body = ? WHERE target = ?", (bad, NOISY))
        assert store.total_changes == 1
    store.close()
    async with start() as cockpit:
        assert any(NOISY in event.message for event in cockpit.of(Failed))
        assert cockpit.channel("channel:disc/quiet").span is not None
        assert (await cockpit.run(f"go=peek target={NOISY}")).ran.ok


async def test_what_was_accepted_is_there_after_a_restart_and_comes_once(start: Start, model: CuedModel) -> None:
    """K-83, R-1: stored before it was acknowledged; sent again by its server, it is the same message."""
    async with start() as cockpit:
        receipt = await cockpit.servers["disc"].say("noisy", "accepted", message_id="m1")
        assert receipt.accepted
    async with start() as cockpit:
        again = await cockpit.servers["disc"].say("noisy", "accepted", message_id="m1")
        assert again.duplicate
        assert [one.text for one in await cockpit.stored(RESIDENTS)] == ["accepted"]
        assert cockpit.channel(NOISY).wait == 1


async def test_stopping_leaves_no_task_no_timer_and_nothing_unwritten(start: Start, model: CuedModel) -> None:
    """K-85."""
    before = asyncio.all_tasks()
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY} for=10m")
        disc = cockpit.servers["disc"]
        waiting = [
            await disc.host.arrived(disc.message("noisy", f"at the last moment {number}")) for number in range(50)
        ]
        await cockpit.link.run("go=quit")
    assert all(done.result().accepted for done in waiting)
    assert isinstance(cockpit.events[-1], Stopped)
    assert asyncio.all_tasks() == before
    async with start() as cockpit:
        assert epoch(cockpit).held == 50


async def test_two_epochs_have_the_older_ones_anchor(start: Start, model: CuedModel) -> None:
    """K-90, V-4: ending the older leaves it; the next enter or restart moves it."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        older = epoch(cockpit).began
        await cockpit.run("go=tune-out target=channel:disc/quiet")
        anchor = cockpit.session.engine.minds.minds["Subconscious"].context
        assert anchor.anchor.sequence == older
        newer = cockpit.channel("channel:disc/quiet").epoch
        assert newer is not None
        await cockpit.run(f"go=cancel target={NOISY}")
        assert anchor.anchor.sequence == older
    async with start() as cockpit:
        anchor = cockpit.session.engine.minds.minds["Subconscious"].context
        assert anchor.anchor.sequence == newer.began
        await cockpit.run("go=cancel target=channel:disc/quiet")
        assert anchor.anchor.sequence == newer.began
        await cockpit.run(f"go=tune-out target={NOISY}")
        assert anchor.anchor.sequence == epoch(cockpit).began


async def test_an_epoch_and_its_parameters_survive_a_restart(start: Start, model: CuedModel) -> None:
    """T-3, K-23: whole."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY} cadence=90 cap=7 wakes=2 for=2h")
        await cockpit.servers["disc"].say("noisy", "one", addressed=True)
        await cockpit.advance(2.0)
        before = epoch(cockpit)
    async with start(clock=FakeClock(NINE + 2)) as cockpit:
        assert epoch(cockpit) == before


async def test_what_the_recipe_tunes_out_is_applied_once(start: Start, model: CuedModel) -> None:
    """cockpit.md, `[[tuned_out]]`: when the store is new; cancelled, it stays cancelled."""
    text = recipe(more=f'[[tuned_out]]\ntarget = "{NOISY}"')
    async with start(text) as cockpit:
        assert cockpit.channel(NOISY).epoch is not None
        await cockpit.run(f"go=cancel target={NOISY}")
    async with start(text) as cockpit:
        assert cockpit.channel(NOISY).epoch is None


@pytest.mark.parametrize("seconds", [45, 3600])
async def test_a_long_wait_is_never_fired_early(start: Start, model: CuedModel, seconds: int) -> None:
    """T-1: the platform's longest timer is not the epoch's."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY} cadence={seconds}")
        await cockpit.servers["disc"].say("noisy", "one")
        passed = 0
        while passed < seconds - 15:
            await cockpit.advance(15)
            passed += 15
            assert shown_none(cockpit)
        await cockpit.advance(15)
        assert turns(cockpit) == ["cadence"]


def shown_none(cockpit: Rig) -> bool:
    return not any(shown(request) for request in cockpit.model.requests)
