"""A channel's value survives the store, and a malformed one is named and never fatal (R-4)."""

from __future__ import annotations

import json

import pytest

from cockpit.core.channel import Channel, Epoch, Span, Totals
from cockpit.core.message import Json
from cockpit.core.state import decode_channel, encode_channel, lifecycle
from cockpit.core.target import Target, channel
from cockpit.core.world import Actor, Now

FULL = Channel(
    channel("disc", "disc:guild:noisy"),
    wanted=False,
    presence="offline",
    reason="it went away",
    since=5.5,
    registered=True,
    label_given="Noisy",
    span=Span("span-3", 1.5, ("resident", "operator"), soft=True, told=True),
    epoch=Epoch(
        "epoch-9", 30.0, 0, 1, 99.5, 1.0, 9, wakes=2, held=3, need=1, undigested=2, asked=1, window=7.25, retry=1
    ),
    wait=1,
    wait_need=1,
    withheld=2,
    withheld_by_server=3,
    totals=Totals(1.5, 2.5, 3.5, 1, 2, 3, 4, 5),
)


@pytest.mark.parametrize("one", [FULL, Channel(Target("mcp", "git")), Channel(Target("user", "hedgehog"))])
def test_a_channel_reads_back_as_it_was_written(one: Channel) -> None:
    """T-3, R-1: every field of it, through JSON text."""
    assert decode_channel(json.loads(json.dumps(encode_channel(one)))) == one


@pytest.mark.parametrize(
    "spoilt",
    [
        None,
        "tuned-out",
        {},
        {**encode_channel(FULL), "epoch": {"id": "epoch-9"}},
        {**encode_channel(FULL), "presence": "sleepy"},
        {**encode_channel(FULL), "wait": "many"},
    ],
)
def test_a_malformed_record_is_named_and_raises_nothing_else(spoilt: Json) -> None:
    """K-81: a tuned-out record without its parameters is no channel; replay drops it and says which field it was."""
    with pytest.raises(ValueError, match="not a channel"):
        decode_channel(spoilt)


def test_a_lifecycle_record_holds_the_whole_channel_and_who_asked() -> None:
    """T-3."""
    record = lifecycle(FULL, "tuned-out", Now(7.0, 12), Actor("scout", "resident", "tool"), reason="x")
    assert (record.target, record.what, record.at) == (str(FULL.target), "tuned-out", 7.0)
    assert decode_channel(record.body["channel"]) == FULL
    assert (record.body["actor"], record.body["origin"], record.body["reason"]) == ("scout", "tool", "x")
