"""What sets the subconscious off: coalesced wakes, their budget, and the cadence (semantics.md T-8 to T-14)."""

from __future__ import annotations

from cockpit.core.channel import Epoch
from cockpit.core.epoch import WINDOW
from cockpit.core.records import DumpOf, Lifecycle, Notice, Report, WakeRequest
from cockpit.core.state import decode_channel
from cockpit.core.step import Looked, Missed
from cockpit.testing.lane import NINE, Lane


def tuned_out(**values: int) -> Lane:
    lane = Lane.chat()
    lane.tune_out(**values)
    return lane


def epoch(lane: Lane) -> Epoch:
    if lane.channel.epoch is None:
        raise AssertionError("it is not tuned out")
    return lane.channel.epoch


def wakes(lane: Lane) -> list[tuple[str, str]]:
    return [(wake.agent, wake.reason) for wake in lane.of(WakeRequest)]


def test_the_window_is_two_seconds() -> None:
    """T-8."""
    assert WINDOW == 2.0


def test_the_first_starts_the_window_and_all_in_it_are_one_wake() -> None:
    """T-8, K-21: a storm of mentions debits one."""
    lane = tuned_out()
    lane.say(addressed=True)
    assert epoch(lane).window == NINE
    for _ in range(20):
        lane.say(addressed=True, after=0.05)
    assert epoch(lane).window == NINE
    lane.due("window", after=1.0)
    assert wakes(lane) == [("Subconscious", "wake")]
    assert (epoch(lane).wakes, epoch(lane).asked, epoch(lane).window) == (1, 0, None)


def test_the_notice_counts_those_that_asked() -> None:
    """T-13: not the ambient ones between them; into its own slot only (K-9)."""
    lane = tuned_out()
    lane.say(addressed=True)
    lane.say("ambient")
    lane.say(addressed=True)
    lane.due("window", after=2)
    notice = lane.last(Notice)
    assert notice.message.text == "[Tune-out wake: noisy — 2 addressed messages]"
    assert (notice.message.slot, notice.message.author, notice.message.kind) == (
        "subconscious/scout",
        "system",
        "system",
    )
    assert (notice.kind, notice.owner) == ("tune-out-wake", "Subconscious")
    assert [(report.kind, report.text) for report in lane.of(Report)] == [("wake", notice.message.text)]


def test_a_wake_is_counted_in_the_step_that_asks_for_the_turn() -> None:
    """T-9: durably, before the subconscious runs: the record that holds the count stands before the request."""
    lane = tuned_out()
    lane.say(addressed=True)
    done = lane.due("window", after=2)
    record = done.records[0]
    assert isinstance(record, Lifecycle)
    stored = decode_channel(record.body["channel"])
    assert stored.epoch is not None
    assert stored.epoch.wakes == 1
    assert isinstance(done.records[-1], WakeRequest)
    assert done.records[-1].epoch == epoch(lane).id


def test_a_new_epoch_begins_at_no_wakes() -> None:
    """T-9, K-23: an old epoch's count never touches a new one's."""
    lane = tuned_out(max_wakes=2)
    lane.say(addressed=True)
    lane.due("window", after=2)
    lane.cancel()
    lane.tune_out(max_wakes=2)
    assert epoch(lane).wakes == 0


def test_the_wake_beyond_the_budget_is_counted_and_cancels() -> None:
    """T-10, K-22: reason and count as they must read; no turn of the subconscious's runs for it."""
    lane = tuned_out(max_wakes=1)
    lane.say(addressed=True)
    lane.due("window", after=2)
    assert wakes(lane) == [("Subconscious", "wake")]
    second = lane.say(addressed=True)
    assert second.acknowledged
    lane.due("window", after=2)
    assert lane.channel.epoch is None
    assert lane.last(DumpOf).notice == "[Tune-out: noisy cancelled — wake budget exhausted (1), 2 wakes]"
    assert wakes(lane) == [("Subconscious", "wake"), ("scout", "cancel")]


def test_a_window_of_an_ended_epoch_is_consumed_uncounted() -> None:
    """T-8, T-11: it neither wakes anybody nor debits the epoch that came after."""
    lane = tuned_out()
    lane.say(addressed=True)
    lane.cancel()
    lane.tune_out()
    before = lane.channel
    assert lane.due("window", after=2).records == ()
    assert lane.channel == before


def test_a_tick_with_something_new_asks_for_one_turn() -> None:
    """T-12, T-13."""
    lane = tuned_out()
    lane.say("one")
    lane.say("two", passes=False)
    lane.due("cadence", after=1800)
    assert wakes(lane) == [("Subconscious", "cadence")]
    notice = lane.last(Notice)
    assert notice.message.text == "[Tune-out cadence: noisy — 2 diverted messages since your last look]"
    assert (notice.kind, notice.message.slot) == ("tune-out-cadence", "subconscious/scout")


def test_an_empty_period_costs_nothing() -> None:
    """T-12, K-35."""
    lane = tuned_out()
    assert lane.due("cadence", after=1800).records == ()
    lane.say()
    lane.due("cadence", after=1800)
    lane.step(Looked(1))
    assert lane.due("cadence", after=1800).records == ()
    assert len(wakes(lane)) == 1


def test_a_tick_while_it_owes_a_turn_already_asks_for_none() -> None:
    """T-12: one turn a tick, not one a tick that waits."""
    lane = tuned_out()
    lane.say()
    lane.looking = True
    assert lane.due("cadence", after=1800).records == ()


def test_what_came_while_it_looked_is_still_new() -> None:
    """T-12: a turn digests what its last request held."""
    lane = tuned_out()
    for _ in range(3):
        lane.say()
    lane.step(Looked(2))
    assert epoch(lane).undigested == 1
    lane.step(Looked(5))
    assert epoch(lane).undigested == 0


def test_a_failed_turn_digests_nothing_and_charges_nothing() -> None:
    """T-14, K-38: the messages stay undigested, the budget is not charged again for the one wake."""
    lane = tuned_out()
    lane.say(addressed=True)
    lane.due("window", after=2)
    lane.step(Missed())
    assert (epoch(lane).undigested, epoch(lane).wakes, epoch(lane).retry) == (1, 1, 1)
    lane.step(Missed())
    assert epoch(lane).retry == 2
    lane.due("cadence", after=1800)
    assert epoch(lane).wakes == 1
    assert wakes(lane)[-1] == ("Subconscious", "cadence")
    lane.step(Looked(1))
    assert epoch(lane).retry == 0


def test_nothing_is_due_while_it_is_muted() -> None:
    """M-12: no wake and no cadence turn for the channel until unmute; the wake that was asked for waits."""
    lane = tuned_out()
    lane.say(addressed=True)
    lane.mute()
    before = lane.channel
    assert lane.due("window", after=2).records == ()
    assert lane.due("cadence", after=1800).records == ()
    assert lane.channel == before
    lane.unmute()
    lane.due("window")
    assert wakes(lane) == [("Subconscious", "wake")]


def test_nothing_is_due_while_its_server_is_muted() -> None:
    """M-12, M-11."""
    lane = tuned_out()
    lane.say(addressed=True)
    lane.mute_server()
    assert lane.due("window", after=2).records == ()
    assert lane.due("cadence", after=1800).records == ()


def test_a_deadline_ends_it_when_it_has_come_and_not_before() -> None:
    """T-15, T-21: by the wall clock."""
    lane = tuned_out(duration_seconds=60)
    assert lane.due("deadline", after=59).records == ()
    lane.due("deadline", after=1)
    assert lane.channel.epoch is None
    assert lane.last(DumpOf).notice == "[Tune-out: noisy cancelled — duration elapsed, 0 wakes]"


def test_a_timer_of_no_epoch_does_nothing() -> None:
    """T-21."""
    lane = Lane.chat()
    assert lane.due("window").records == lane.due("cadence").records == lane.due("deadline").records == ()
