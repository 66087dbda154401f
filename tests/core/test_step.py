"""The reducer's other inputs: registration, presence, open and close, kill and start, reads, and its purity."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cockpit.core.channel import Channel, attention, presence
from cockpit.core.records import Audit, DumpOf, Lifecycle
from cockpit.core.state import decode_channel
from cockpit.core.step import Cancel, Keep, Observe, Read, Register, TuneOut, Unregister, Want, step
from cockpit.core.target import Target
from cockpit.core.world import Now, Process, Wish, World
from cockpit.errors import VerbError
from cockpit.testing.lane import NINE, OPERATOR, POLICY, Lane


def test_a_step_changes_no_value_it_was_given() -> None:
    """style.md 1: state is a value; the same inputs give the same step."""
    lane = Lane.chat()
    channel, world, now = lane.channel, World(POLICY, "noisy", lane.server), Now(NINE, 1)
    copy = replace(channel)
    first = step(channel, world, TuneOut(OPERATOR, {}), now)
    assert step(channel, world, TuneOut(OPERATOR, {}), now) == first
    assert channel == copy


def test_a_refusal_leaves_everything() -> None:
    """R-5."""
    lane = Lane.chat()
    before = lane.channel
    with pytest.raises(VerbError):
        lane.step(Cancel(OPERATOR, "operator request"))
    assert lane.channel == before
    assert (lane.records, lane.effects) == ([], [])


@pytest.mark.parametrize(("wanted", "word"), [(False, "closed"), (True, "opened")])
def test_open_and_close_are_wishes_to_the_server(wanted: bool, word: str) -> None:
    """A-1: written, then told to the server; nothing else changes."""
    lane = Lane.chat()
    lane.channel = replace(lane.channel, wanted=not wanted)
    done = lane.step(Want(OPERATOR, wanted))
    assert done.effects == (Wish("disc", "noisy", wanted),)
    assert [record.what for record in lane.of(Lifecycle)] == [word]
    assert attention(lane.channel) == ("open" if wanted else "closed")
    with pytest.raises(VerbError) as refused:
        lane.step(Want(OPERATOR, wanted))
    assert refused.value.code == "already"


def test_only_chat_channels_open_and_close() -> None:
    with pytest.raises(VerbError) as refused:
        Lane.mcp().step(Want(OPERATOR, False))
    assert refused.value.code == "wrong_kind"


def test_only_servers_are_killed_and_started() -> None:
    with pytest.raises(VerbError) as refused:
        Lane.chat().step(Keep(OPERATOR, alive=False))
    assert refused.value.code == "wrong_kind"


def test_a_kill_is_durable_and_no_crash() -> None:
    """M-13, M-14: it stays killed until it is started; each is said once."""
    lane = Lane.mcp()
    assert lane.step(Keep(OPERATOR, alive=False)).effects == (Process("git", False),)
    assert decode_channel(lane.last(Lifecycle).body["channel"]).killed
    assert (lane.channel.totals.kills, lane.channel.totals.crashes) == (1, 0)
    with pytest.raises(VerbError):
        lane.step(Keep(OPERATOR, alive=False))
    lane.step(Observe("killed"))
    assert lane.step(Keep(OPERATOR, alive=True)).effects == (Process("git", True),)
    assert not lane.channel.killed
    assert lane.channel.totals.kills == 1


def test_what_runs_is_not_started_again() -> None:
    with pytest.raises(VerbError) as refused:
        Lane.mcp().step(Keep(OPERATOR, alive=True))
    assert refused.value.code == "already"


def test_presence_never_touches_what_was_decided() -> None:
    """Section 1: presence and attention are two fields."""
    lane = Lane.mcp()
    lane.mute()
    span = lane.channel.span
    lane.step(Observe("offline", "gone", crashed=True))
    assert (lane.channel.span, lane.channel.wanted) == (span, True)


def test_the_same_presence_again_is_no_change() -> None:
    """K-122: and no second crash."""
    lane = Lane.mcp()
    lane.step(Observe("offline", "gone", crashed=True))
    written = len(lane.records)
    lane.step(Observe("offline", "gone", crashed=True))
    assert len(lane.records) == written
    assert lane.channel.totals.crashes == 1


def test_a_new_channel_takes_the_recipes_choice_and_an_old_one_keeps_its_own() -> None:
    """M-13: a reconnect resurrects nothing that was closed."""
    lane = Lane(Channel(Target("channel", "disc/new")))
    lane.step(Register("New", new=True, wanted=False))
    assert (lane.channel.wanted, lane.channel.registered, lane.channel.label_given) == (False, True, "New")
    lane.step(Unregister())
    assert presence(lane.channel, Channel(Target("mcp", "disc"), presence="online")) == "offline"
    lane.step(Register("Newer", new=False, wanted=True))
    assert (lane.channel.wanted, lane.channel.label_given) == (False, "Newer")


def test_a_read_takes_no_more_than_waited() -> None:
    """A-11: what came while the request ran still waits."""
    lane = Lane.chat()
    for _ in range(3):
        lane.say(addressed=True)
    lane.step(Read(2, 2))
    assert (lane.channel.wait, lane.channel.wait_need) == (1, 1)
    lane.step(Read(5, 5))
    assert (lane.channel.wait, lane.channel.wait_need) == (0, 0)


def test_the_reducer_writes_no_audit_row() -> None:
    """Whoever commits knows before and after; the row is written there, once."""
    lane = Lane.chat()
    lane.tune_out()
    lane.mute()
    lane.cancel()
    assert not lane.of(Audit)
    assert len(lane.of(DumpOf)) == 1
