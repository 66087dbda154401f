"""Admission: one pure decision before any side effect (semantics.md section 2)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cockpit.core.admission import admit
from cockpit.core.channel import Channel, Epoch, Span, held, need
from cockpit.core.gate import Verdict
from cockpit.core.inputs import Arrived
from cockpit.core.message import RESIDENTS, Stamp, Text
from cockpit.core.policy import Policy
from cockpit.core.records import WakeRequest
from cockpit.core.step import Read, Register, Want
from cockpit.core.target import Target, channel
from cockpit.core.world import Acknowledge, World
from cockpit.testing.lane import OPERATOR, POLICY, Lane

CHAT = channel("disc", "noisy")
HELLO = Arrived(CHAT, "chat", "kim", (Text("hello"),), id="m1", tags=("chat:addressed",))
PASSES = Verdict(True, "gate:addressed")
EPOCH = Epoch("epoch-1", 1800.0, 200, 5, None, 0.0, 1)
SPAN = Span("span-2", 0.0, ("operator",))
WORLD = World(POLICY, "noisy", Channel(Target("mcp", "disc"), presence="online"), frozenset({"channels.acknowledge"}))


def test_admission_is_a_pure_function() -> None:
    """A-1: of the thing, the channel's state, the policy and the gate's verdict, and of nothing else."""
    one = Channel(CHAT, epoch=EPOCH)
    assert admit(HELLO, one, WORLD, PASSES) == admit(HELLO, one, WORLD, PASSES)
    assert one == Channel(CHAT, epoch=EPOCH)


def test_an_open_channel_delivers_and_wakes_whom_the_gate_lets() -> None:
    """A-1, N-6."""
    decided = admit(HELLO, Channel(CHAT), WORLD, PASSES)
    assert (decided.stamp, decided.wakes, decided.asks, decided.acknowledge) == (None, ("scout",), False, False)
    assert admit(HELLO, Channel(CHAT), WORLD, Verdict(False, "gate:default")).wakes == ()


def test_closed_filters_nothing() -> None:
    """A-1: closed is a wish to the server; what comes all the same is delivered by the gate."""
    decided = admit(HELLO, Channel(CHAT, wanted=False), WORLD, PASSES)
    assert (decided.stamp, decided.wakes) == (None, ("scout",))


def test_a_tuned_out_channel_diverts() -> None:
    """T-5, A-3: stamped, and no resident is woken."""
    decided = admit(HELLO, Channel(CHAT, epoch=EPOCH), WORLD, PASSES)
    assert decided.stamp == Stamp(epoch="epoch-1")
    assert decided.stamp.json() == {"tuneOut": {"epochId": "epoch-1"}}
    assert decided.wakes == ()


def test_a_muted_channel_diverts_in_silence() -> None:
    """M-4, K-32: wakes nobody, mention or not, privileged or not, and is not acknowledged."""
    decided = admit(HELLO, Channel(CHAT, span=SPAN), WORLD, replace(PASSES, privileged=True))
    assert decided.stamp == Stamp(span="span-2")
    assert decided.stamp.json() == {"mute": {"spanId": "span-2"}}
    assert (decided.wakes, decided.asks, decided.acknowledge) == ((), False, False)


def test_muted_over_tuned_out_takes_both_stamps() -> None:
    """M-12, K-101: and neither acknowledges nor asks for a wake."""
    decided = admit(HELLO, Channel(CHAT, epoch=EPOCH, span=SPAN), WORLD, PASSES)
    assert decided.stamp == Stamp(epoch="epoch-1", span="span-2")
    assert decided.stamp.key == "epoch-1"
    assert (decided.wakes, decided.asks, decided.acknowledge) == ((), False, False)


def test_a_servers_mute_is_asked_first() -> None:
    """A-1, M-11: a muted server's channels are diverted under its span."""
    world = replace(WORLD, server=Channel(Target("mcp", "disc"), presence="online", span=SPAN))
    decided = admit(HELLO, Channel(CHAT), world, PASSES)
    assert decided.stamp == Stamp(span="span-2")
    assert decided.rules == ("server-mute", "mute", "epoch")


def test_the_rules_are_told_in_the_order_asked() -> None:
    """A-1, A-10: mute before epoch before gate."""
    assert admit(HELLO, Channel(CHAT), WORLD, PASSES).rules == ("server-mute", "mute", "epoch", "gate:addressed")


def test_a_feeds_mute_is_asked_before_its_epoch() -> None:
    """A-10, M-6: of a feed's own two, the mute decides; its epoch counts the message."""
    feed = Target("feed", "general")
    said = Arrived(feed, "chat", "hedgehog", (Text("hi"),), intercom=True)
    decided = admit(said, Channel(feed, epoch=EPOCH, span=SPAN), World(POLICY, "feed:general"), PASSES)
    assert decided.stamp == Stamp(epoch="epoch-1", span="span-2")
    assert decided.rules == ("mute", "epoch")


def test_a_users_mute_diverts_their_direct_messages() -> None:
    """A-10, M-5: a direct message belongs to `user:HANDLE`."""
    user = Target("user", "hedgehog")
    said = Arrived(user, "chat", "hedgehog", (Text("hi"),), intercom=True)
    assert admit(said, Channel(user, span=SPAN), World(POLICY, "user:hedgehog"), PASSES).stamp == Stamp(span="span-2")


def test_a_soft_mute_holds_side_channel_messages_and_nothing_else() -> None:
    """M-7, K-117: the operator's Intercom messages are held; what else comes of that row passes."""
    user = Channel(Target("user", "you"), span=replace(SPAN, soft=True))
    said = Arrived(user.target, "chat", "you", (Text("hi"),), intercom=True)
    assert admit(said, user, World(POLICY, "user:you"), PASSES).stamp == Stamp(span="span-2")
    assert admit(replace(said, intercom=False), user, World(POLICY, "user:you"), PASSES).stamp is None


@pytest.mark.parametrize(
    ("addressed", "passes", "privileged", "asks", "acknowledged"),
    [
        (True, True, False, True, True),  # K-17
        (True, False, False, False, False),  # K-18: an acknowledgement would reveal the standing mute
        (False, True, True, True, False),  # K-19
        (False, False, True, False, False),  # K-20: privileged authors are no exception
        (True, False, True, False, False),  # K-20
        (False, True, False, False, False),  # K-30: a mention of somebody else is ambient
        (False, False, False, False, False),
    ],
)
def test_what_passes_the_gate_may_ask_and_be_acknowledged(
    addressed: bool, passes: bool, privileged: bool, asks: bool, acknowledged: bool
) -> None:
    """T-6, T-7: the gate is a precondition; addressed is acknowledged; addressed or privileged asks for a wake."""
    lane = Lane.chat()
    lane.tune_out()
    message = lane.say(addressed=addressed, passes=passes, privileged=privileged, tags=("chat:mention",))
    assert message.acknowledged is acknowledged
    assert lane.effects == ([Acknowledge("disc", "noisy", message.id or "")] if acknowledged else [])
    assert lane.channel.epoch is not None
    assert lane.channel.epoch.asked == int(asks)
    assert (lane.channel.epoch.window is not None) is asks
    assert message.woke == ()
    assert not lane.of(WakeRequest)


def test_an_acknowledgement_says_suppressed_tuned_out() -> None:
    """T-7: its intent, once a message."""
    lane = Lane.chat()
    lane.tune_out()
    lane.say(addressed=True)
    assert [effect.intent for effect in lane.effects if isinstance(effect, Acknowledge)] == ["suppressed-tuned-out"]


@pytest.mark.parametrize("grant", [frozenset[str](), frozenset({"channels.publish"})])
def test_without_the_grant_nothing_is_acknowledged_and_the_wake_still_comes(grant: frozenset[str]) -> None:
    """T-7, K-36."""
    lane = Lane.chat()
    lane.grant = grant
    lane.tune_out()
    assert not lane.say(addressed=True).acknowledged
    assert lane.effects == []
    assert lane.channel.epoch is not None
    assert lane.channel.epoch.asked == 1


def test_what_is_diverted_is_stored_in_the_residents_slot() -> None:
    """A-2, A-3: with its stamp, as one record of the same step."""
    lane = Lane.chat()
    lane.tune_out()
    message = lane.say("psst")
    assert (message.slot, message.kind, message.author, message.text) == (RESIDENTS, "chat", "kim", "psst")
    assert message.stamp == Stamp(epoch=lane.channel.epoch.id if lane.channel.epoch else "")
    assert message.target == "channel:disc/noisy"


def test_lone_surrogates_become_replacement_characters() -> None:
    """D-7: at ingestion."""
    message = Lane.chat().say("a\ud800b")
    assert message.text == "a\ufffdb"


def test_a_message_to_one_resident_wakes_that_one() -> None:
    """N-6, N-7: said to `scout`, it wakes scout alone; untargeted, every resident."""
    policy = Policy(residents=("scout", "ranger"))
    said = replace(HELLO, intercom=True, to=("ranger",))
    world = replace(WORLD, policy=policy)
    assert admit(said, Channel(CHAT), world, PASSES).wakes == ("ranger",)
    assert admit(HELLO, Channel(CHAT), world, PASSES).wakes == ("scout", "ranger")


def test_a_targeted_channel_wakes_exactly_those_named() -> None:
    """N-7: `wakes = ["ranger"]` of its server or feed; storage is the same either way."""
    policy = Policy(residents=("scout", "ranger"), wakes={"mcp:disc": ("ranger",), "feed:general": ("scout",)})
    world = replace(WORLD, policy=policy)
    assert admit(HELLO, Channel(CHAT), world, PASSES).wakes == ("ranger",)
    feed = Target("feed", "general")
    said = Arrived(feed, "chat", "kim", (Text("x"),), intercom=True)
    assert admit(said, Channel(feed), World(policy, "feed:general"), PASSES).wakes == ("scout",)


@pytest.mark.parametrize(
    ("given", "passes"),
    [
        ({"tags": ("chat:addressed",)}, True),
        ({"tags": ("chat:dm",)}, True),
        ({"push": True, "kind": "event"}, True),
        ({"intercom": True}, True),
        ({"tags": ("chat:ambient",)}, False),
        ({"tags": ("chat:mention",)}, False),  # K-30
        ({"tags": ("chat:addressed",), "own": True}, False),  # N-5
    ],
)
def test_without_a_gate_section_what_is_meant_for_it_wakes_it(given: dict[str, object], passes: bool) -> None:
    """N-6, K-31: addressed, direct, push events and Intercom messages; the rest is seen at the next turn."""
    lane = Lane.chat()
    fields = {"kind": "chat", "tags": (), **given}
    lane.say(given=Arrived(CHAT, author="kim", blocks=(Text("hi"),), **fields))  # type: ignore[arg-type]
    assert bool(lane.of(WakeRequest)) is passes


@pytest.mark.parametrize(
    ("given", "reason"),
    [({"tags": ("chat:addressed",)}, "message"), ({"push": True}, "push"), ({"intercom": True}, "intercom")],
)
def test_a_wake_says_what_asked_for_it(given: dict[str, object], reason: str) -> None:
    lane = Lane.chat()
    lane.say(given=Arrived(CHAT, "chat", "kim", (Text("hi"),), **given))  # type: ignore[arg-type]
    assert [(wake.agent, wake.reason, wake.target) for wake in lane.of(WakeRequest)] == [
        ("scout", reason, "channel:disc/noisy")
    ]


def test_own_words_echoed_back_wait_for_nobody() -> None:
    """N-5, A-11."""
    lane = Lane.chat()
    lane.say(given=replace(HELLO, own=True))
    assert (lane.channel.wait, lane.channel.wait_need) == (0, 0)
    assert lane.channel.totals.delivered == 1


def test_the_three_counts() -> None:
    """A-11: wait is delivered and unread; held is diverted; need the addressed ones of both."""
    lane = Lane.chat()
    lane.say()
    lane.say(addressed=True)
    assert (lane.channel.wait, need(lane.channel), held(lane.channel)) == (2, 1, 0)
    lane.tune_out()
    lane.say()
    lane.say(addressed=True)
    lane.say(addressed=True, passes=False)
    assert (lane.channel.wait, need(lane.channel), held(lane.channel)) == (2, 3, 3)
    lane.step(Read(2, 1))
    assert (lane.channel.wait, need(lane.channel), held(lane.channel)) == (0, 2, 3)
    lane.cancel()
    assert (lane.channel.wait, need(lane.channel), held(lane.channel)) == (0, 0, 0)


def test_held_under_a_mute_needs_nobody_and_ends_with_its_span() -> None:
    """A-11."""
    lane = Lane.chat()
    lane.mute()
    lane.say(addressed=True)
    assert (need(lane.channel), held(lane.channel)) == (0, 1)
    lane.unmute()
    assert (need(lane.channel), held(lane.channel)) == (0, 0)


def test_messages_of_an_epoch_count_in_it_though_muted() -> None:
    """M-12, A-11: in the epoch's backlog, not in the span's."""
    lane = Lane.chat()
    lane.tune_out()
    lane.mute()
    lane.say(addressed=True)
    assert lane.channel.epoch is not None
    assert (lane.channel.epoch.held, lane.channel.epoch.undigested, lane.channel.withheld) == (1, 0, 0)


def test_a_channel_that_registers_again_keeps_what_was_decided() -> None:
    """T-4, M-13: the recipe's first choice holds only for one that is new."""
    lane = Lane.chat()
    lane.step(Want(OPERATOR, False))
    lane.mute()
    lane.step(Register("Noisy", new=False, wanted=True))
    assert lane.channel.wanted is False
    assert lane.channel.span is not None
