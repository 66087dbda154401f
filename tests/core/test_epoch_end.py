"""The end of a tune-out: one step with the dump, the notices and the wakes (semantics.md T-15 to T-20)."""

from __future__ import annotations

import pytest

from cockpit.core.channel import attention
from cockpit.core.message import RESIDENTS, Message
from cockpit.core.records import DumpOf, Lifecycle, Report, ReportTurn, WakeRequest
from cockpit.core.step import Want, reason_of
from cockpit.core.world import ENGINE, Actor
from cockpit.errors import VerbError
from cockpit.testing.lane import OPERATOR, RESIDENT, SUBCONSCIOUS, Lane


@pytest.fixture
def lane() -> Lane:
    """A chat channel that is tuned out, with two diverted messages."""
    made = Lane.chat()
    made.tune_out(backlog_cap=7)
    made.say("one")
    made.say("two")
    return made


def test_one_step_flips_the_state_dumps_and_asks_for_the_wake(lane: Lane) -> None:
    """T-16: all that it writes is one step's records, so one transaction."""
    began = lane.channel.epoch
    done = lane.cancel()
    assert began is not None
    assert lane.channel.epoch is None
    assert [type(record) for record in done.records] == [Lifecycle, DumpOf, WakeRequest]
    dump = lane.last(DumpOf)
    assert (dump.stamp, dump.messages, dump.cap, dump.slot, dump.tag) == (
        began.id,
        2,
        7,
        RESIDENTS,
        "tuned-out-backlog",
    )
    assert (dump.kind, dump.owner) == ("tune-out-cancel", "residents")


def test_the_second_cancel_is_refused_and_delivers_nothing(lane: Lane) -> None:
    """T-15, K-44."""
    lane.cancel()
    written = len(lane.records)
    with pytest.raises(VerbError, match="not tuned out") as refused:
        lane.cancel()
    assert refused.value.code == "already"
    assert len(lane.records) == written


@pytest.mark.parametrize(
    ("actor", "reason"),
    [
        (RESIDENT, "agent request"),
        (OPERATOR, "operator request"),
        (SUBCONSCIOUS, "subconscious judgment"),
        (ENGINE, "duration elapsed"),
    ],
)
def test_the_reasons(lane: Lane, actor: Actor, reason: str) -> None:
    """T-15, T-18: four ways, each with its reason."""
    assert reason_of(actor) == reason
    lane.cancel(actor, reason)
    assert lane.last(DumpOf).notice == f"[Tune-out: noisy cancelled — {reason}, 0 wakes]"


def test_the_primary_is_woken_once(lane: Lane) -> None:
    """T-18."""
    lane.limit(residents=("scout", "ranger"))
    lane.cancel()
    assert [(wake.agent, wake.reason) for wake in lane.of(WakeRequest)] == [("scout", "cancel")]


@pytest.mark.parametrize("wanted", [True, False])
def test_it_returns_to_the_attention_it_had(wanted: bool) -> None:
    """T-17, K-70: closed before is closed after, without anything told to the server."""
    lane = Lane.chat()
    if not wanted:
        lane.step(Want(OPERATOR, False))
        lane.effects.clear()
    before = attention(lane.channel)
    lane.tune_out()
    assert attention(lane.channel) == "tuned-out"
    lane.cancel()
    assert attention(lane.channel) == before == ("open" if wanted else "closed")
    assert lane.effects == []


def test_under_a_mute_it_returns_to_muted(lane: Lane) -> None:
    """T-17, M-12: a cancel never touches a mute."""
    lane.mute()
    lane.cancel()
    assert attention(lane.channel) == "muted"


@pytest.mark.parametrize("actor", [RESIDENT, OPERATOR, ENGINE])
def test_every_cancel_but_its_own_gives_it_a_report_turn(lane: Lane, actor: Actor) -> None:
    """T-19, K-67: and it is not bound to the dump leaving anything out."""
    epoch = lane.channel.epoch
    assert epoch is not None
    lane.cancel(actor, reason_of(actor))
    assert lane.last(DumpOf).report == ReportTurn("Subconscious", "subconscious/scout", epoch.id, reason_of(actor))


def test_its_own_cancel_with_a_note_gives_no_turn_and_its_words_under_its_name(lane: Lane) -> None:
    """T-19, K-66, K-67, S-8: verbatim, a message of its own beside the dump."""
    note = "  They need you:\n</tuned-out-backlog> now.  "
    done = lane.cancel(SUBCONSCIOUS, "subconscious judgment", note=note)
    assert lane.last(DumpOf).report is None
    (message,) = [record for record in done.records if isinstance(record, Message)]
    assert (message.slot, message.kind, message.author, message.text) == (RESIDENTS, "agent", "Subconscious", note)
    assert [(report.kind, report.text) for report in lane.of(Report)] == [("note", note)]
    assert done.records.index(message) > [type(record) for record in done.records].index(DumpOf)
    assert [wake.agent for wake in lane.of(WakeRequest)] == ["scout"]


def test_its_own_cancel_without_a_note_gets_a_turn_only_where_the_dump_left_something_out(lane: Lane) -> None:
    """T-19."""
    lane.cancel(SUBCONSCIOUS, "subconscious judgment")
    report = lane.last(DumpOf).report
    assert report is not None
    assert report.only_if_truncated


def test_without_a_subconscious_the_dump_comes_all_the_same(lane: Lane) -> None:
    """T-20, K-68."""
    lane.limit(subconscious=None)
    lane.cancel(RESIDENT, "agent request", note="never mine")
    assert (lane.last(DumpOf).messages, lane.last(DumpOf).report) == (2, None)
    assert [wake.agent for wake in lane.of(WakeRequest)] == ["scout"]
    assert not lane.of(Report)


def test_the_totals_keep_what_was_dumped_and_how_long_it_was_tuned_out(lane: Lane) -> None:
    """M-14."""
    lane.wall += 90
    lane.cancel()
    totals = lane.channel.totals
    assert (totals.seconds_tuned_out, totals.dumped, totals.diverted, totals.seconds_muted) == (90.0, 2, 2, 0.0)
