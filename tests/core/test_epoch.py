"""Entering a tune-out: parameters and floors, refusals, what is written (semantics.md T-1 to T-4)."""

from __future__ import annotations

import math

import pytest

from cockpit.core.channel import Channel, Epoch
from cockpit.core.epoch import FLOORS, parameters
from cockpit.core.message import Json
from cockpit.core.policy import TuneOutDefaults
from cockpit.core.records import DumpOf, Lifecycle
from cockpit.core.state import decode_channel
from cockpit.core.step import Unregister, Want
from cockpit.core.target import Target
from cockpit.core.world import Wish
from cockpit.errors import VerbError
from cockpit.testing.lane import NINE, OPERATOR, RESIDENT, Lane

DEFAULTS = TuneOutDefaults()
NAMES = ["cadence_seconds", "backlog_cap", "max_wakes", "duration_seconds"]


def entered(**values: Json) -> Epoch:
    lane = Lane.chat()
    lane.tune_out(**values)
    if lane.channel.epoch is None:
        raise AssertionError("no epoch began")
    return lane.channel.epoch


def test_the_defaults() -> None:
    """T-1: cadence 1800 s, cap 200, wakes 5, no duration."""
    epoch = entered()
    assert (epoch.cadence, epoch.cap, epoch.max_wakes, epoch.deadline) == (1800.0, 200, 5, None)


def test_the_recipes_defaults_stand_where_nothing_is_said() -> None:
    """cockpit.md, `[tune_out]`."""
    found = parameters({"max_wakes": 2}, TuneOutDefaults(60.0, 10, 3, 3600.0))
    assert (found.cadence, found.cap, found.max_wakes, found.duration) == (60.0, 10, 2, 3600.0)


def test_the_floors() -> None:
    """T-1."""
    assert FLOORS == {"cadence_seconds": 30, "backlog_cap": 0, "max_wakes": 1, "duration_seconds": 60}


@pytest.mark.parametrize(
    ("name", "given", "floor"),
    [("cadence_seconds", 29, 30), ("cadence_seconds", 0, 30), ("max_wakes", 0, 1), ("duration_seconds", 59.9, 60)],
)
def test_what_is_below_its_floor_is_raised_and_the_answer_says_so(name: str, given: float, floor: int) -> None:
    """T-1, K-80."""
    lane = Lane.chat()
    answer = lane.tune_out(**{name: given}).answer
    assert f"{name} {math.floor(given)} is below its floor and was raised to {floor}" in answer
    epoch = lane.channel.epoch
    assert epoch is not None
    reached = {
        "cadence_seconds": epoch.cadence,
        "max_wakes": epoch.max_wakes,
        "duration_seconds": (epoch.deadline or 0) - NINE,
    }
    assert reached[name] == floor


def test_what_stands_at_its_floor_is_not_spoken_of() -> None:
    lane = Lane.chat()
    answer = lane.tune_out(cadence_seconds=30, backlog_cap=0, max_wakes=1, duration_seconds=60).answer
    assert "raised" not in answer


@pytest.mark.parametrize(("given", "whole"), [(0.5, 0), (1.5, 1), (7.999, 7), (3.0, 3)])
def test_fractions_are_floored(given: float, whole: int) -> None:
    """T-1, K-48: 0.5 is 0."""
    assert entered(backlog_cap=given).cap == whole


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, True, False, -1, -0.5, "5", "200", [], {}])
def test_what_is_no_whole_number_is_refused_by_name(name: str, bad: Json) -> None:
    """T-1, K-48, K-80: NaN, infinities, booleans, negative numbers and strings."""
    lane = Lane.chat()
    with pytest.raises(VerbError, match=name) as refused:
        lane.tune_out(**{name: bad})
    assert refused.value.code == "bad_value"
    assert lane.channel.epoch is None
    assert not lane.records


@pytest.mark.parametrize("huge", [10**18, 1e300, 10**400])
def test_huge_values_are_taken(huge: float) -> None:
    """T-1, K-49: there is no ceiling on the cap, and a timer too long for the platform never fires early."""
    epoch = entered(cadence_seconds=huge, backlog_cap=huge, max_wakes=huge, duration_seconds=huge)
    assert min(epoch.cadence, epoch.cap, epoch.max_wakes) >= 2**53
    assert epoch.deadline == 253_402_300_799.0
    lane = Lane.chat()
    lane.tune_out(duration_seconds=huge)
    lane.due("deadline", after=1e9)
    assert lane.channel.epoch is not None


def test_cap_0_is_summary_only() -> None:
    """T-1, K-46."""
    assert entered(backlog_cap=0).cap == 0


@pytest.mark.parametrize("kind", ["mcp", "user"])
def test_what_is_neither_a_chat_channel_nor_a_feed_is_refused(kind: str) -> None:
    """T-2."""
    lane = Lane(Channel(Target(kind, "git")))  # type: ignore[arg-type]  # one of the kinds, as a parameter
    with pytest.raises(VerbError, match="no chat channel and no feed") as refused:
        lane.tune_out()
    assert refused.value.code == "wrong_kind"


def test_a_feed_is_tuned_out_like_a_channel() -> None:
    """T-2."""
    lane = Lane(Channel(Target("feed", "general")))
    lane.tune_out()
    assert lane.channel.epoch is not None


def test_without_a_subconscious_it_is_refused() -> None:
    """T-2, K-94."""
    lane = Lane.chat()
    lane.limit(subconscious=None)
    with pytest.raises(VerbError, match="no subconscious is configured") as refused:
        lane.tune_out()
    assert refused.value.code == "refused"
    assert lane.channel.epoch is None


def test_a_second_tune_out_is_refused_and_points_at_cancel() -> None:
    """T-2, K-88: it does not replace the epoch, whose backlog would be orphaned."""
    lane = Lane.chat()
    lane.tune_out()
    before = lane.channel
    with pytest.raises(VerbError, match="already") as refused:
        lane.tune_out(max_wakes=9)
    assert "cancel" in refused.value.hint
    assert lane.channel == before


def test_all_of_it_stands_in_one_lifecycle_record() -> None:
    """T-3: state, parameters, epoch id, the sequence at which it began, and the deadline by the wall clock."""
    lane = Lane.chat()
    lane.sequence = 40
    done = lane.tune_out(RESIDENT, cadence_seconds=60, backlog_cap=7, max_wakes=2, duration_seconds=600)
    (record,) = done.records
    assert isinstance(record, Lifecycle)
    assert (record.what, record.target, record.body["actor"]) == ("tuned-out", "channel:disc/noisy", "scout")
    stored = decode_channel(record.body["channel"])
    assert stored == lane.channel
    assert stored.epoch == Epoch("epoch-40", 60.0, 7, 2, NINE + 600, NINE, 40)
    assert lane.last(Lifecycle).sequence == 40


def test_an_epochs_id_never_comes_back() -> None:
    """Section 1: it is made of the sequence of its own record."""
    lane = Lane.chat()
    lane.tune_out()
    first = lane.channel.epoch
    lane.cancel()
    lane.tune_out()
    assert first is not None
    assert lane.channel.epoch is not None
    assert lane.channel.epoch.id != first.id


def test_the_transport_stays_open() -> None:
    """T-3: nothing is told to the server."""
    lane = Lane.chat()
    assert lane.tune_out().effects == ()
    assert lane.channel.wanted is True


def test_opening_a_tuned_out_channel_is_refused_and_points_at_cancel() -> None:
    """T-4, K-89."""
    lane = Lane.chat()
    lane.tune_out()
    with pytest.raises(VerbError, match="cancel that first") as refused:
        lane.step(Want(OPERATOR, True))
    assert refused.value.hint == "go=cancel target=channel:disc/noisy"
    assert lane.channel.epoch is not None


def test_an_explicit_close_goes_through_cancel() -> None:
    """T-4, K-89: its dump comes in the same step, then the wish."""
    lane = Lane.chat()
    lane.tune_out()
    lane.say("one")
    done = lane.step(Want(RESIDENT, False))
    dumps = [record for record in done.records if isinstance(record, DumpOf)]
    assert [dump.messages for dump in dumps] == [1]
    assert "agent request" in dumps[0].notice
    assert done.effects == (Wish("disc", "noisy", False),)
    assert (lane.channel.epoch, lane.channel.wanted) == (None, False)


def test_a_machine_made_close_leaves_the_epoch() -> None:
    """T-4: a server that drops the channel changes nothing that was decided."""
    lane = Lane.chat()
    lane.tune_out()
    epoch = lane.channel.epoch
    assert lane.step(Unregister()).records == ()
    assert lane.channel.epoch == epoch
