"""Presence is observed, attention is decided, and the label is derived from both (semantics.md section 1)."""

from __future__ import annotations

from typing import Literal

import pytest

from cockpit.core.channel import (
    Attention,
    Channel,
    Epoch,
    Layer,
    Presence,
    Span,
    attention,
    held,
    label,
    muted_by,
    need,
    presence,
)
from cockpit.core.target import Target, channel

SPAN = Span("span-1", 0.0, ("operator",))
EPOCH = Epoch("epoch-1", 1800.0, 200, 5, None, 0.0, 1)
CHAT = channel("disc", "noisy")
SERVER = Target("mcp", "disc")

TABLE: list[tuple[Presence, Attention, str]] = [
    ("online", "open", "online"),
    ("online", "muted", "muted"),
    ("online", "tuned-out", "tuned-out"),
    ("online", "closed", "closed"),
    ("offline", "open", "offline"),
    ("killed", "open", "killed"),
    ("connecting", "open", "connecting"),
    ("offline", "muted", "muted · offline"),
    ("killed", "muted", "muted · killed"),
    ("connecting", "muted", "muted · connecting"),
    ("offline", "tuned-out", "tuned-out · offline"),
    ("killed", "tuned-out", "tuned-out · killed"),
    ("connecting", "tuned-out", "tuned-out · connecting"),
    ("offline", "closed", "closed · offline"),
    ("killed", "closed", "closed · killed"),
    ("connecting", "closed", "closed · connecting"),
]


def decided(wanted: Attention) -> Channel:
    """A chat channel in each of the four attentions."""
    match wanted:
        case "open":
            return Channel(CHAT, registered=True)
        case "closed":
            return Channel(CHAT, registered=True, wanted=False)
        case "tuned-out":
            return Channel(CHAT, registered=True, epoch=EPOCH)
        case "muted":
            return Channel(CHAT, registered=True, span=SPAN)


@pytest.mark.parametrize(("seen", "wanted", "shown"), TABLE)
def test_every_row_of_the_label_table(seen: Presence, wanted: Attention, shown: str) -> None:
    """The table of section 1: a word for the decided part, and for a dead one both, attention first."""
    assert label(seen, wanted) == shown
    server = Channel(SERVER, presence=seen)
    one = decided(wanted)
    assert label(presence(one, server), attention(one, server)) == shown


@pytest.mark.parametrize(
    ("one", "word"),
    [
        (Channel(CHAT, wanted=False, epoch=EPOCH, span=SPAN), "muted"),
        (Channel(CHAT, wanted=False, epoch=EPOCH), "tuned-out"),
        (Channel(CHAT, wanted=False), "closed"),
        (Channel(CHAT), "open"),
    ],
)
def test_attention_is_the_first_that_holds(one: Channel, word: Attention) -> None:
    """Section 1: muted, tuned-out, closed, open, in this order; none overwrites another (K-101)."""
    assert attention(one) == word


def test_a_muted_server_mutes_its_channels() -> None:
    """M-11: they all show `muted`, whatever they are themselves."""
    server = Channel(SERVER, presence="online", span=SPAN)
    assert attention(Channel(CHAT, epoch=EPOCH), server) == "muted"
    assert attention(Channel(CHAT), server) == "muted"


@pytest.mark.parametrize(
    ("server", "registered", "seen"),
    [
        (Channel(SERVER, presence="online"), True, "online"),
        (Channel(SERVER, presence="online"), False, "offline"),
        (Channel(SERVER, presence="connecting"), False, "connecting"),
        (Channel(SERVER, presence="killed"), True, "killed"),
        (None, True, "offline"),
    ],
)
def test_a_chat_channel_is_as_its_server(server: Channel | None, registered: bool, seen: Presence) -> None:
    """Section 1: offline while its server is, or while it isn't registered."""
    assert presence(Channel(CHAT, registered=registered), server) == seen


@pytest.mark.parametrize("kind", ["user", "feed"])
def test_users_and_feeds_are_always_online(kind: Literal["user", "feed"]) -> None:
    """Section 1."""
    assert presence(Channel(Target(kind, "general"), presence="offline")) == "online"


def test_held_counts_what_the_epoch_or_the_span_diverted() -> None:
    """A-11: diverted in the current epoch or mute span, the server's included."""
    epoch = Epoch("e", 1800.0, 200, 5, None, 0.0, 1, held=3, need=2)
    assert held(Channel(CHAT, epoch=epoch)) == 3
    assert held(Channel(CHAT, withheld=2, withheld_by_server=5)) == 7


def test_need_is_the_addressed_of_wait_and_of_the_epoch_and_0_while_muted() -> None:
    """A-11."""
    epoch = Epoch("e", 1800.0, 200, 5, None, 0.0, 1, held=3, need=2)
    one = Channel(CHAT, epoch=epoch, wait=4, wait_need=1)
    assert need(one) == 3
    assert need(Channel(CHAT, epoch=epoch, wait=4, wait_need=1, span=SPAN)) == 0
    assert need(one, Channel(SERVER, span=SPAN)) == 0


@pytest.mark.parametrize(
    ("own", "servers", "by"),
    [
        (("resident", "operator"), (), ("operator", "resident")),
        ((), ("operator",), ("operator",)),
        (("resident",), ("operator",), ("operator", "resident")),
        ((), (), ()),
    ],
)
def test_muted_by_names_each_layer_once(
    own: tuple[Layer, ...], servers: tuple[Layer, ...], by: tuple[Layer, ...]
) -> None:
    """M-9: the label says `muted`, the detail says by whom."""
    one = Channel(CHAT, span=Span("s", 0.0, own) if own else None)
    server = Channel(SERVER, span=Span("t", 0.0, servers) if servers else None)
    assert muted_by(one, server) == by
