"""The subconscious's ticks and failed turns through a whole engine: what it has not looked at yet (T-12, T-14)."""

from __future__ import annotations

from cockpit.core.channel import Epoch
from cockpit.core.events import TurnChanged
from cockpit.core.message import RESIDENTS
from cockpit.errors import ModelError
from cockpit.testing.rig import Rig
from cockpit.testing.scripted_model import Answer, Gate
from cockpit.testing.stage import NOISY, CuedModel, Start, reports, shown, turns


def epoch(cockpit: Rig) -> Epoch:
    found = cockpit.channel(NOISY).epoch
    if found is None:
        raise AssertionError("it is not tuned out")
    return found


async def mention(cockpit: Rig, text: str = "scout?", *, wait: float = 2.0) -> None:
    await cockpit.servers["disc"].say("noisy", text, addressed=True)
    await cockpit.advance(wait)


async def test_an_empty_period_costs_nothing(start: Start, model: CuedModel) -> None:
    """K-35, T-12."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY} cadence=60")
        await cockpit.advance(60)
        await cockpit.advance(600)
        assert model.requests == []
        await cockpit.servers["disc"].say("noisy", "something")
        await cockpit.advance(60)
        assert turns(cockpit) == ["cadence"]
        await cockpit.advance(60)
        await cockpit.advance(600)
        assert turns(cockpit) == ["cadence"]


async def test_a_tick_gives_one_turn_on_all_that_is_new(start: Start, model: CuedModel) -> None:
    """T-12, T-13."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY} cadence=60")
        for number in range(3):
            await cockpit.servers["disc"].say("noisy", f"line {number}")
        await cockpit.advance(60)
        assert reports(cockpit, "cadence") == ["[Tune-out cadence: noisy — 3 diverted messages since your last look]"]
        assert all(f"line {number}" in shown(cockpit.requests("Subconscious")[0]) for number in range(3))


async def test_what_it_has_not_looked_at_counts_after_a_restart(start: Start, model: CuedModel) -> None:
    """T-12: durable; and the first tick comes one cadence later."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY} cadence=60")
        await cockpit.servers["disc"].say("noisy", "undigested")
        await cockpit.advance(59)
    async with start() as cockpit:
        await cockpit.advance(59)
        assert turns(cockpit) == []
        await cockpit.advance(1)
        assert turns(cockpit) == ["cadence"]
        assert reports(cockpit, "cadence") == ["[Tune-out cadence: noisy — 1 diverted message since your last look]"]


async def test_what_comes_during_its_look_is_still_new_at_the_next_tick(start: Start, model: CuedModel) -> None:
    """T-12."""
    gate = Gate()
    model.cue("Subconscious", Answer("Reading.", gate=gate))
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY} cadence=60")
        await cockpit.servers["disc"].say("noisy", "one")
        await cockpit.advance(60, held={"Subconscious"})
        await gate.reached()
        await cockpit.servers["disc"].say("noisy", "two")
        gate.open()
        await cockpit.settle()
        assert epoch(cockpit).undigested == 1
        await cockpit.advance(60)
        assert turns(cockpit) == ["cadence", "cadence"]


async def test_a_tick_during_its_turn_pays_for_nothing_that_the_turn_has_shown(start: Start, model: CuedModel) -> None:
    """T-12, K-35: since it last looked; what came after its request is worth one more turn."""
    gate, again = Gate(), Gate()
    model.cue("Subconscious", Answer("Reading.", gate=gate), Answer("Again.", gate=again))
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY} cadence=30")
        await cockpit.servers["disc"].say("noisy", "one")
        await cockpit.advance(30, held={"Subconscious"})
        await gate.reached()
        await cockpit.advance(30, held={"Subconscious"})
        gate.open()
        await cockpit.settle()
        assert turns(cockpit) == ["cadence"]
        await cockpit.servers["disc"].say("noisy", "two")
        await cockpit.advance(30, held={"Subconscious"})
        await again.reached()
        await cockpit.servers["disc"].say("noisy", "three")
        await cockpit.advance(30, held={"Subconscious"})
        again.open()
        await cockpit.settle()
        assert turns(cockpit) == ["cadence", "cadence", "cadence"]


async def test_a_look_at_an_old_epoch_digests_nothing_of_a_new_one(start: Start, model: CuedModel) -> None:
    """T-9, T-12: what it has not looked at belongs to its epoch."""
    gate, reporting = Gate(), Gate()
    model.cue("Subconscious", Answer("Reading.", gate=gate), Answer("Reporting.", gate=reporting))
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY} cadence=60")
        await cockpit.servers["disc"].say("noisy", "old")
        await cockpit.advance(60, held={"Subconscious"})
        await gate.reached()
        await cockpit.run(f"go=cancel target={NOISY}", held={"Subconscious"})
        await cockpit.run(f"go=tune-out target={NOISY} cadence=60", held={"Subconscious"})
        await cockpit.servers["disc"].say("noisy", "new")
        gate.open()
        await reporting.reached()
        assert epoch(cockpit).undigested == 1
        reporting.open()
        await cockpit.settle()


async def test_a_failed_turn_leaves_its_messages_undigested(start: Start, model: CuedModel) -> None:
    """K-38, T-14: the operator sees it, the next tick tries again, later each time, and the budget is charged once."""
    model.cue("Subconscious", ModelError("the provider is down"), ModelError("still down"), ModelError("still"))
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY} cadence=60")
        await mention(cockpit, "important")
        assert reports(cockpit, "failure") == ["the provider is down"]
        assert [event.state for event in cockpit.of(TurnChanged)] == ["started", "failed"]
        assert (epoch(cockpit).undigested, epoch(cockpit).wakes, epoch(cockpit).retry) == (1, 1, 1)
        await cockpit.advance(60)
        assert epoch(cockpit).retry == 2
        await cockpit.advance(60)
        assert len(cockpit.requests("Subconscious")) == 2
        await cockpit.advance(60)
        assert len(cockpit.requests("Subconscious")) == 3
        await cockpit.advance(60 * 8)
        assert "important" in shown(cockpit.requests("Subconscious")[-1])
        assert (epoch(cockpit).undigested, epoch(cockpit).wakes, epoch(cockpit).retry) == (0, 1, 0)
        assert [one.text for one in await cockpit.stored(RESIDENTS) if one.stamp] == ["important"]


async def test_a_refusal_is_a_failed_turn(start: Start, model: CuedModel) -> None:
    """T-14: (model down, refusal) the messages stay undigested and the operator is told."""
    model.cue("Subconscious", Answer("", stop="refusal"))
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY} cadence=60")
        await mention(cockpit)
        assert epoch(cockpit).undigested == 1
        assert len(reports(cockpit, "failure")) == 1
        await cockpit.advance(60)
        assert turns(cockpit) == ["wake", "cadence"]
