"""What waits for quiet, and what its end means under each attention (T-11, T-22, M-12)."""

from __future__ import annotations

from dataclasses import replace

from cockpit.core.channel import Quiet
from cockpit.core.gate import Debounce, Gate
from cockpit.core.message import agent_slot
from cockpit.core.policy import Policy
from cockpit.core.records import Notice, WakeRequest
from cockpit.core.step import Due
from cockpit.core.world import Acknowledge
from cockpit.testing.lane import Lane

POLICY = Policy(residents=("scout", "ranger"), subconscious="Subconscious", gate=Gate(default=Debounce(60.0)))
OVER = Due("quiet", "gate:default")


def waiting(lane: Lane) -> list[Quiet]:
    return list(lane.channel.quiet)


def test_a_timer_that_comes_just_after_the_mute_changes_nothing() -> None:
    """M-12: it was on its way when the mute was committed; what waits is judged at the unmute."""
    lane = Lane.chat(POLICY)
    lane.say()
    lane.mute()
    before = lane.channel
    lane.step(OVER, after=60.0)
    assert lane.channel == before
    lane.unmute()
    lane.step(OVER)
    assert [one.agent for one in lane.of(WakeRequest)] == ["scout", "ranger"]
    assert waiting(lane) == []


def test_what_comes_under_a_mute_waits_for_nothing() -> None:
    """M-12, M-4."""
    lane = Lane.chat(POLICY)
    lane.mute()
    lane.say(addressed=True)
    assert waiting(lane) == []


def test_the_notice_is_each_woken_residents_own() -> None:
    """N-8, N-7: in its slot alone, for those whom the channel may wake."""
    lane = Lane.chat(replace(POLICY, wakes={"mcp:disc": ("ranger",)}))
    lane.say()
    lane.step(OVER, after=60.0)
    notices = [(one.owner, one.kind, one.message.slot) for one in lane.of(Notice)]
    assert notices == [("ranger", "gate", agent_slot("ranger"))]
    assert [one.agent for one in lane.of(WakeRequest)] == ["ranger"]


def test_each_that_asked_counts_and_is_acknowledged_once() -> None:
    """T-11, T-7: in the epoch in which it came."""
    lane = Lane.chat(POLICY)
    lane.tune_out()
    ids = [lane.say(addressed=addressed).id for addressed in (True, False, True)]
    lane.step(OVER, after=60.0)
    assert lane.channel.epoch is not None
    assert (lane.channel.epoch.asked, lane.channel.epoch.window) == (2, lane.wall)
    assert lane.effects == [Acknowledge("disc", "noisy", ids[0] or ""), Acknowledge("disc", "noisy", ids[2] or "")]
    lane.step(OVER, after=60.0)
    assert len(lane.effects) == 2


def test_what_was_heard_keeps_no_ids() -> None:
    """T-7: only what is diverted is acknowledged, so that a channel that is never quiet keeps no list."""
    lane = Lane.chat(POLICY)
    lane.say(addressed=True)
    assert [one.acks for one in waiting(lane)] == [()]
