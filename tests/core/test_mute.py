"""Mute and unmute in two layers: a filter in the host that stops nothing and loses nothing (semantics.md section 7)."""

from __future__ import annotations

import pytest

from cockpit.core.channel import Channel, attention, held, label, muted_by, presence
from cockpit.core.message import RESIDENTS
from cockpit.core.policy import Policy
from cockpit.core.records import Audit, DumpOf, Lifecycle, Notice, WakeRequest
from cockpit.core.step import Cancel, Keep, Observe, Release, Withheld
from cockpit.core.target import Target
from cockpit.core.world import Process
from cockpit.errors import VerbError
from cockpit.testing.lane import NINE, OPERATOR, RESIDENT, Lane


def notice(lane: Lane) -> str:
    return lane.last(Notice).message.text


def test_a_mute_stops_nothing() -> None:
    """M-1: presence, crashes and kills stay as they were; no process is told anything."""
    lane = Lane.mcp()
    before = lane.channel
    lane.mute()
    after = lane.channel
    assert (after.presence, after.totals, after.killed) == (before.presence, before.totals, before.killed)
    assert lane.effects == []
    assert [record.what for record in lane.of(Lifecycle)] == ["muted"]


def test_a_span_runs_from_the_first_layer_on_to_the_last_off() -> None:
    """M-9, K-120: each layer mutes and unmutes its own; it is heard when neither mutes it."""
    lane = Lane.chat()
    lane.mute(OPERATOR)
    span = lane.channel.span
    assert span is not None
    lane.wall += 10
    lane.mute(RESIDENT)
    assert muted_by(lane.channel) == ("operator", "resident")
    assert lane.channel.span is not None
    assert (lane.channel.span.id, lane.channel.span.since) == (span.id, NINE)
    assert "still muted by the resident" in lane.unmute(OPERATOR).answer
    assert attention(lane.channel) == "muted"
    assert not lane.of(Notice)
    lane.unmute(RESIDENT, after=30)
    assert attention(lane.channel) == "open"
    assert notice(lane) == "[Mute: channel:disc/noisy unmuted after 40 s — 0 messages withheld]"


@pytest.mark.parametrize(("muter", "other"), [(OPERATOR, RESIDENT), (RESIDENT, OPERATOR)])
def test_nobody_takes_off_the_other_layer(muter: object, other: object) -> None:
    """M-9, K-120."""
    lane = Lane.chat()
    lane.mute(muter)  # type: ignore[arg-type]  # both are actors
    with pytest.raises(VerbError, match="is muted by the"):
        lane.unmute(other)  # type: ignore[arg-type]
    assert attention(lane.channel) == "muted"


def test_all_residents_share_one_layer() -> None:
    """M-9."""
    lane = Lane.chat()
    lane.mute(RESIDENT)
    lane.unmute(type(RESIDENT)("ranger", "resident", "tool"))
    assert attention(lane.channel) == "open"


def test_muting_twice_in_one_layer_is_refused() -> None:
    lane = Lane.chat()
    lane.mute()
    with pytest.raises(VerbError) as refused:
        lane.mute()
    assert refused.value.code == "already"


def test_unmuting_what_is_not_muted_is_refused() -> None:
    lane = Lane.chat()
    with pytest.raises(VerbError) as refused:
        lane.unmute()
    assert refused.value.code == "already"


def test_unmute_tells_how_long_and_how_many() -> None:
    """M-11: one system-framed notice, and nobody is woken for it."""
    lane = Lane.chat()
    lane.mute()
    lane.say()
    lane.say(addressed=True)
    lane.unmute(after=303)
    assert notice(lane) == "[Mute: channel:disc/noisy unmuted after 5 min 3 s — 2 messages withheld]"
    told = lane.last(Notice)
    assert (told.kind, told.owner, told.message.slot, told.message.author) == (
        "unmute",
        "residents",
        RESIDENTS,
        "system",
    )
    assert not lane.of(WakeRequest)
    assert not lane.of(DumpOf)


def test_unmute_with_the_backlog_dumps_it_under_its_own_tag() -> None:
    """M-11: `<muted-backlog …>`, by the rules of section 4."""
    lane = Lane.chat()
    lane.limit(bound=680)
    lane.mute()
    span = lane.channel.span
    assert span is not None
    lane.say()
    lane.unmute(deliver=True, after=42)
    dump = lane.last(DumpOf)
    assert (dump.tag, dump.stamp, dump.messages, dump.cap, dump.bound) == ("muted-backlog", span.id, 1, 200, 680)
    assert dump.notice == "[Mute: channel:disc/noisy unmuted after 42 s — 1 message withheld]"
    assert (dump.kind, dump.report) == ("unmute", None)
    assert lane.channel.totals.dumped == 1


def test_without_anything_withheld_the_dump_says_so() -> None:
    """M-11, D-11: the same rules hold, so it is the notice line and the sentence of an empty backlog."""
    lane = Lane.chat()
    lane.mute()
    lane.unmute(deliver=True)
    [dump] = lane.of(DumpOf)
    assert (dump.messages, dump.notice.endswith("0 messages withheld]")) == (0, True)


def test_a_mute_under_its_servers_mute_goes_on_with_what_that_holds() -> None:
    """M-9, M-4: from the first layer on to the last off; the server's unmute hands out nothing of it."""
    lane = Lane.chat()
    lane.mute_server()
    lane.say("one")
    lane.mute()
    lane.say("two")
    above = lane.server.span if lane.server is not None else None
    assert above is not None
    lane.mute_server(off=True)
    lane.step(Release(above, deliver=True))
    assert not lane.of(DumpOf)
    assert (held(lane.channel), attention(lane.channel, lane.server)) == (2, "muted")
    lane.unmute(deliver=True)
    dump = lane.last(DumpOf)
    assert (dump.messages, dump.stamp) == (2, above.id)
    assert held(lane.channel) == 0


def test_messages_of_an_epoch_are_not_in_the_unmutes_count() -> None:
    """M-12: the cancel dumps them, once."""
    lane = Lane.chat()
    lane.mute()
    lane.say("before the epoch")
    lane.tune_out()
    lane.say("both")
    lane.unmute(deliver=True)
    assert lane.last(DumpOf).messages == 1
    lane.cancel()
    assert lane.last(DumpOf).messages == 1
    assert len(lane.of(DumpOf)) == 2


def test_a_mute_holds_the_epoch_and_a_tune_out_of_a_muted_channel_starts_a_held_one() -> None:
    """M-12, K-101: in either order one displayed state, and neither ends the other."""
    one, other = Lane.chat(), Lane.chat()
    one.tune_out()
    one.mute()
    other.mute()
    other.tune_out()
    for lane in (one, other):
        assert attention(lane.channel) == "muted"
        lane.unmute()
        assert attention(lane.channel) == "tuned-out"


def test_the_deadline_of_a_held_epoch_still_ends_it_when_it_is_asked() -> None:
    """M-12: a cancel under a mute is one like any other; the mute stays."""
    lane = Lane.chat()
    lane.tune_out()
    lane.mute()
    lane.say()
    lane.step(Cancel(OPERATOR, "operator request"))
    assert lane.last(DumpOf).messages == 1
    assert attention(lane.channel) == "muted"


def test_a_muted_servers_channel_is_not_unmuted_alone() -> None:
    """M-11: refused, naming the server, even where it is muted itself."""
    lane = Lane.chat()
    lane.mute()
    lane.mute_server()
    with pytest.raises(VerbError, match="mcp:disc") as refused:
        lane.unmute()
    assert refused.value.hint == "go=unmute target=mcp:disc"


def test_a_muted_servers_channels_keep_their_counts_and_are_dumped_one_by_one() -> None:
    """M-11: with the server's span as their stamp, each fitted."""
    lane = Lane.chat()
    lane.limit(bound=500)
    lane.mute_server()
    lane.say()
    lane.say()
    assert (lane.channel.withheld_by_server, lane.channel.withheld) == (2, 0)
    span = lane.server.span if lane.server else None
    assert span is not None
    lane.mute_server(off=True)
    lane.step(Release(span, deliver=True), after=60)
    dump = lane.last(DumpOf)
    assert (dump.messages, dump.stamp, dump.tag, dump.bound) == (2, span.id, "muted-backlog", 500)
    assert lane.channel.withheld_by_server == 0
    assert lane.channel.totals.dumped == 2


def test_release_without_the_backlog_tells_nothing_of_its_own() -> None:
    """M-11: unmuting the server gives one notice with the total."""
    lane = Lane.chat()
    lane.mute_server()
    lane.say()
    span = lane.server.span if lane.server else None
    assert span is not None
    lane.mute_server(off=True)
    assert lane.step(Release(span, deliver=False)).records == ()
    assert lane.channel.withheld_by_server == 0


@pytest.mark.parametrize(
    ("override", "actor"), [(None, OPERATOR), ("", OPERATOR), (None, RESIDENT), ("mine", RESIDENT)]
)
def test_an_integrity_server_is_not_muted_without_the_operators_override(override: str | None, actor: object) -> None:
    """M-8, K-115: the resident can never override."""
    lane = Lane.mcp("audit", Policy(("scout",), integrity=frozenset({"audit"})))
    with pytest.raises(VerbError, match="integrity") as refused:
        lane.mute(actor, override=override)  # type: ignore[arg-type]  # both are actors
    assert refused.value.code == "refused"
    assert lane.channel.span is None
    assert not lane.of(Audit)


def test_the_operators_override_mutes_an_integrity_server() -> None:
    """M-8, K-115."""
    lane = Lane.mcp("audit", Policy(("scout",), integrity=frozenset({"audit"})))
    lane.mute(override="it floods")
    assert attention(lane.channel) == "muted"


def test_the_only_operator_is_muted_softly_or_not_at_all() -> None:
    """M-7, K-116."""
    policy = Policy(("scout",), operators=frozenset({"you"}))
    lane = Lane(Channel(Target("user", "you")), policy=policy)
    with pytest.raises(VerbError, match="only operator") as refused:
        lane.mute()
    assert "soft=yes" in refused.value.hint
    lane.mute(soft=True)
    assert lane.channel.span is not None
    assert lane.channel.span.soft


def test_one_of_two_operators_and_any_other_user_are_muted_like_anybody() -> None:
    """M-7: refused only where that is the only operator."""
    for name, operators in (("you", {"you", "me"}), ("hedgehog", {"you"})):
        lane = Lane(Channel(Target("user", name)), policy=Policy(("scout",), operators=frozenset(operators)))
        lane.mute()
        assert attention(lane.channel) == "muted"


@pytest.mark.parametrize(
    ("observed", "crashed", "under", "after"),
    [
        (Observe("offline", "it crashed", crashed=True), 1, "muted · offline", "offline"),
        (Observe("connecting", "starting"), 0, "muted · connecting", "connecting"),
        (Observe("online", "again"), 0, "muted", "online"),
    ],
)
def test_after_unmute_it_is_online_only_if_it_is_up(observed: Observe, crashed: int, under: str, after: str) -> None:
    """M-10, K-106: what it died of is kept, the mute is remembered, and unmute starts nothing."""
    lane = Lane.mcp()
    lane.mute()
    lane.step(observed)
    assert label(presence(lane.channel), attention(lane.channel)) == under
    assert lane.channel.reason == observed.reason
    lane.unmute()
    assert label(presence(lane.channel), attention(lane.channel)) == after
    assert lane.channel.totals.crashes == crashed
    assert lane.effects == []


def test_a_killed_server_stays_killed_after_unmute() -> None:
    """M-10, K-107."""
    lane = Lane.mcp()
    lane.mute()
    lane.step(Keep(OPERATOR, alive=False))
    lane.step(Observe("killed"))
    lane.unmute()
    assert lane.channel.killed
    assert label(presence(lane.channel), attention(lane.channel)) == "killed"
    assert lane.effects == [Process("git", False)]


def test_a_withheld_result_counts_as_diverted() -> None:
    """M-3, M-11, M-14."""
    lane = Lane.mcp()
    lane.mute()
    lane.step(Withheld())
    assert lane.channel.totals.diverted == 1
    lane.unmute()
    assert notice(lane).endswith("1 message withheld]")


def test_a_second_that_is_muted_twice_counts_once() -> None:
    """M-14: by itself and by its server, in either order."""
    for own_first in (True, False):
        lane = Lane.chat()
        for first in (own_first, not own_first):
            if first:
                lane.mute()
            else:
                lane.mute_server()
            lane.wall += 10
        span = lane.server.span if lane.server else None
        assert span is not None
        lane.mute_server(off=True)
        lane.step(Release(span, deliver=False))
        lane.unmute(after=10)
        assert lane.channel.totals.seconds_muted == 30.0


def test_muted_seconds_are_no_downtime_and_a_crash_counts_once() -> None:
    """M-14, K-122: seconds muted and seconds offline are kept apart."""
    lane = Lane.mcp()
    lane.mute()
    lane.step(Observe("offline", "it crashed", crashed=True), after=10)
    lane.step(Observe("offline", "it crashed"), after=5)
    lane.step(Observe("connecting"), after=5)
    lane.step(Observe("online"), after=5)
    lane.unmute(after=5)
    totals = lane.channel.totals
    assert (totals.seconds_muted, totals.seconds_offline) == (30.0, 10.0)
    assert (totals.crashes, totals.kills, totals.seconds_tuned_out) == (1, 0, 0.0)
