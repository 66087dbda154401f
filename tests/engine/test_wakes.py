"""Wakes of the subconscious through a whole engine: acknowledged, coalesced, budgeted, durable (T-6 to T-14)."""

from __future__ import annotations

import pytest

from cockpit.core.channel import Epoch
from cockpit.core.events import Failed, Reported
from cockpit.core.message import subconscious_slot
from cockpit.testing.rig import Rig
from cockpit.testing.scripted_model import Answer, Call, Gate
from cockpit.testing.stage import NOISY, CuedModel, Start, audit, notices, recipe, reports, shown, turns, why


def epoch(cockpit: Rig) -> Epoch:
    found = cockpit.channel(NOISY).epoch
    if found is None:
        raise AssertionError("it is not tuned out")
    return found


async def mention(cockpit: Rig, text: str = "scout?", *, wait: float = 2.0) -> None:
    await cockpit.servers["disc"].say("noisy", text, addressed=True)
    await cockpit.advance(wait)


async def test_an_addressed_message_is_acknowledged_once_and_wakes_once(start: Start, model: CuedModel) -> None:
    """K-17, T-7, T-8."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        disc = cockpit.servers["disc"]
        await disc.say("noisy", "scout?", addressed=True, message_id="m1")
        await cockpit.settle()
        assert disc.acknowledged == [("noisy", "m1", "suppressed-tuned-out")]
        assert turns(cockpit) == []
        await cockpit.advance(1.9)
        assert turns(cockpit) == []
        await cockpit.advance(0.1)
        assert turns(cockpit) == ["wake"]
        assert (await why(cockpit, "disc/m1")).acknowledged
        assert reports(cockpit, "wake") == ["[Tune-out wake: noisy — 1 addressed message]"]


async def test_a_mention_storm_is_one_wake(start: Start, model: CuedModel) -> None:
    """K-21: one invocation, the budget less one; each is acknowledged."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        disc = cockpit.servers["disc"]
        for _ in range(8):
            await disc.say("noisy", "scout!", addressed=True)
            await cockpit.advance(0.2)
        await cockpit.advance(1.0)
        assert turns(cockpit) == ["wake"]
        assert epoch(cockpit).wakes == 1
        assert len(disc.acknowledged) == 8
        assert reports(cockpit, "wake") == ["[Tune-out wake: noisy — 8 addressed messages]"]


async def test_the_wake_beyond_the_budget_cancels(start: Start, model: CuedModel) -> None:
    """K-22, T-10: its messages are acknowledged all the same, and the notice counts it."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY} wakes=1")
        await mention(cockpit, "first")
        await mention(cockpit, "second")
        assert len(cockpit.servers["disc"].acknowledged) == 2
        (dump,) = notices(cockpit, "tune-out-cancel")
        assert dump.splitlines()[0] == "[Tune-out: noisy cancelled — wake budget exhausted (1), 2 wakes]"
        assert "kim: second" in dump
        assert turns(cockpit, "Subconscious") == ["wake", "report"]
        assert turns(cockpit, "scout") == ["cancel"]


async def test_the_budget_survives_a_restart_and_never_reaches_a_new_epoch(start: Start, model: CuedModel) -> None:
    """K-23, T-9."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY} wakes=2")
        await mention(cockpit)
        assert epoch(cockpit).wakes == 1
    async with start() as cockpit:
        assert epoch(cockpit).wakes == 1
        await mention(cockpit)
        assert epoch(cockpit).wakes == 2
        await cockpit.run(f"go=cancel target={NOISY}")
        await cockpit.run(f"go=tune-out target={NOISY} wakes=2")
        assert epoch(cockpit).wakes == 0
        await mention(cockpit)
        assert epoch(cockpit).wakes == 1


async def test_a_wake_is_counted_before_the_subconscious_runs(start: Start, model: CuedModel) -> None:
    """T-9: the count is stored when its first request is made; a restart in its turn charges nothing again."""
    gate = Gate()
    model.cue("Subconscious", Answer("Reading.", gate=gate))
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        await cockpit.servers["disc"].say("noisy", "scout?", addressed=True)
        await cockpit.advance(2.0, held={"Subconscious"})
        await gate.reached()
        assert epoch(cockpit).wakes == 1
    async with start() as cockpit:
        assert epoch(cockpit).wakes == 1
        assert turns(cockpit, "Subconscious") == ["wake"]
        assert "scout?" in shown(cockpit.requests("Subconscious")[-1])


async def test_a_wake_asked_for_survives_a_crash_inside_its_window(start: Start, model: CuedModel) -> None:
    """T-8."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        await cockpit.servers["disc"].say("noisy", "scout?", addressed=True)
        await cockpit.settle()
        assert turns(cockpit) == []
    async with start() as cockpit:
        await cockpit.advance(2.0)
        assert turns(cockpit) == ["wake"]
        assert epoch(cockpit).wakes == 1


async def test_a_window_that_is_open_when_its_epoch_ends_is_consumed(start: Start, model: CuedModel) -> None:
    """T-8, T-11: uncounted, and it debits no newer epoch."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        await mention(cockpit, wait=1.0)
        await cockpit.run(f"go=cancel target={NOISY}")
        assert "0 wakes]" in notices(cockpit, "tune-out-cancel")[0]
        await cockpit.run(f"go=tune-out target={NOISY}")
        await cockpit.advance(5.0)
        assert "wake" not in turns(cockpit)
        assert epoch(cockpit).wakes == 0


async def test_a_wake_that_is_owed_when_its_epoch_ends_is_dropped(start: Start, model: CuedModel) -> None:
    """T-11: the subconscious was busy; when it would run, the epoch is another one."""
    gate = Gate()
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        model.cue("Subconscious", Answer("Reading.", gate=gate))
        await cockpit.servers["disc"].say("noisy", "first", addressed=True)
        await cockpit.advance(2.0, held={"Subconscious"})
        await gate.reached()
        await cockpit.servers["disc"].say("noisy", "second", addressed=True)
        await cockpit.advance(2.0, held={"Subconscious"})
        await cockpit.run(f"go=cancel target={NOISY}", held={"Subconscious"})
        await cockpit.run(f"go=tune-out target={NOISY}", held={"Subconscious"})
        gate.open()
        await cockpit.settle()
        assert turns(cockpit, "Subconscious") == ["wake", "report"]
        assert epoch(cockpit).wakes == 0


async def test_a_wake_of_an_epoch_that_it_has_ended_itself_is_dropped(start: Start, model: CuedModel) -> None:
    """T-11, T-19: with a note it gets no extra turn, not even by a wake that was counted meanwhile."""
    gate = Gate()
    ending = Call("cancel_tuneout", {"channel": "noisy", "text": "They need you."})
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        model.cue("Subconscious", Answer("", calls=(ending,), gate=gate))
        await cockpit.servers["disc"].say("noisy", "first", addressed=True)
        await cockpit.advance(2.0, held={"Subconscious"})
        await gate.reached()
        await cockpit.servers["disc"].say("noisy", "second", addressed=True)
        await cockpit.advance(2.0, held={"Subconscious"})
        assert epoch(cockpit).wakes == 2
        gate.open()
        await cockpit.settle()
        assert turns(cockpit, "Subconscious") == ["wake"]
        assert turns(cockpit, "scout") == ["cancel"]


async def test_a_turn_that_is_owed_waits_while_its_channel_is_muted(start: Start, model: CuedModel) -> None:
    """M-12: counted and owed before the mute, run after it."""
    gate = Gate()
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        model.cue("Subconscious", Answer("Reading.", gate=gate))
        for text in ("first", "second"):
            await cockpit.servers["disc"].say("noisy", text, addressed=True)
            await cockpit.advance(2.0, held={"Subconscious"})
        await cockpit.run(f"go=mute target={NOISY}", held={"Subconscious"})
        gate.open()
        await cockpit.settle()
        assert turns(cockpit, "Subconscious") == ["wake"]
        await cockpit.run(f"go=unmute target={NOISY}")
        assert turns(cockpit, "Subconscious") == ["wake", "wake"]


async def test_wakes_that_come_during_its_turn_become_one_more_turn(start: Start, model: CuedModel) -> None:
    """N-1, T-8: each was counted, one turn serves them."""
    gate = Gate()
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        model.cue("Subconscious", Answer("Reading.", gate=gate))
        await cockpit.servers["disc"].say("noisy", "first", addressed=True)
        await cockpit.advance(2.0, held={"Subconscious"})
        await gate.reached()
        for text in ("second", "third"):
            await cockpit.servers["disc"].say("noisy", text, addressed=True)
            await cockpit.advance(2.0, held={"Subconscious"})
        gate.open()
        await cockpit.settle()
        assert turns(cockpit, "Subconscious") == ["wake", "wake"]
        assert epoch(cockpit).wakes == 3


@pytest.mark.parametrize("text", ["@ranger, are you there?", "kim: have you seen this?"])
async def test_a_mention_of_somebody_else_is_ambient(start: Start, model: CuedModel, text: str) -> None:
    """K-30, T-7: `chat:mention` without `chat:addressed`, tuned out or not."""
    async with start() as cockpit:
        await cockpit.servers["disc"].say("quiet", text, tags=("chat:mention",))
        await cockpit.run(f"go=tune-out target={NOISY}")
        await cockpit.servers["disc"].say("noisy", text, tags=("chat:mention",))
        await cockpit.advance(2.0)
        assert turns(cockpit) == []
        assert cockpit.servers["disc"].acknowledged == []


async def test_a_mention_in_a_muted_channel_does_nothing(start: Start, model: CuedModel) -> None:
    """K-32, M-4: no wake at all, nor an acknowledgement."""
    async with start() as cockpit:
        await cockpit.run(f"go=mute target={NOISY}")
        await mention(cockpit)
        await cockpit.advance(3600)
        assert turns(cockpit) == []
        assert cockpit.servers["disc"].acknowledged == []
        assert model.requests == []


async def test_an_acknowledgement_that_is_not_granted_is_not_sent(start: Start, model: CuedModel) -> None:
    """K-36, T-7: and the wake comes all the same."""
    async with start() as cockpit:
        cockpit.servers["disc"].granted = frozenset()
        await cockpit.run(f"go=tune-out target={NOISY}")
        await mention(cockpit)
        assert cockpit.servers["disc"].acknowledged == []
        assert turns(cockpit) == ["wake"]


async def test_a_failing_acknowledgement_is_recorded_and_changes_nothing_else(start: Start, model: CuedModel) -> None:
    """K-36, T-7."""
    async with start() as cockpit:
        cockpit.servers["disc"].refuses = "no such message"
        await cockpit.run(f"go=tune-out target={NOISY}")
        await mention(cockpit)
        assert turns(cockpit) == ["wake"]
        row = (await audit(cockpit))[-1]
        assert (row["verb"], row["target"], row["ok"], row["reason"]) == (
            "acknowledge",
            NOISY,
            False,
            "no such message",
        )


async def test_a_privileged_author_wakes_it_without_an_acknowledgement(start: Start, model: CuedModel) -> None:
    """K-19, T-7: privileged and ambient."""
    text = recipe(more='[gate]\nprivileged = ["111"]')
    async with start(text) as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        await cockpit.servers["disc"].say("noisy", "hear me", author="boss", author_id="111")
        await cockpit.advance(2.0)
        assert turns(cockpit) == ["wake"]
        assert cockpit.servers["disc"].acknowledged == []


async def test_the_trigger_is_told_as_a_report_and_a_notice_of_its_own(start: Start, model: CuedModel) -> None:
    """T-13, S-9: what set it off is on the operator's side too."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        await mention(cockpit)
        (report,) = [event for event in cockpit.of(Reported) if event.kind == "wake"]
        assert (report.agent, report.channel) == ("Subconscious", NOISY)
        assert notices(cockpit, "tune-out-wake") == [report.text]
        (stored,) = [one for one in await cockpit.stored(subconscious_slot("scout")) if one.kind == "system"]
        assert (stored.text, stored.author) == (report.text, "system")
        assert not cockpit.of(Failed)
