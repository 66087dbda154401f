"""The one gate that every incoming thing passes before any side effect (A-1).

`admit` is pure: the thing, the channel's state, the policy and the wake gate's verdict give deliver or divert with
a stamp, whom to wake, and whether to acknowledge. `arrive` turns that into the channel's next state and its record.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from cockpit.core import quiet
from cockpit.core.channel import Channel, Span, counted
from cockpit.core.gate import Verdict
from cockpit.core.inputs import Arrived
from cockpit.core.message import RESIDENTS, Block, Message, Stamp, Text
from cockpit.core.records import Record, TurnReason, WakeRequest
from cockpit.core.text import sanitise
from cockpit.core.value import value
from cockpit.core.world import Acknowledge, Effect, Now, Step, World


@value
class Admission:
    """stamp: None where it is delivered. wakes: residents, in order. asks: for a subconscious wake.
    rules: the names of what was asked, in order, for `go=why`."""

    stamp: Stamp | None
    wakes: tuple[str, ...]
    asks: bool
    acknowledge: bool
    rules: tuple[str, ...]


def admit(given: Arrived, channel: Channel, world: World, verdict: Verdict) -> Admission:
    """Decide. Mute before epoch before gate; closed is a wish to the server and filters nothing (A-1)."""
    span, epoch = muting(given, channel, world.server), channel.epoch
    if span is not None:
        return Admission(Stamp(epoch.id if epoch else None, span.id), (), False, False, _asked(world.server is None))
    rules = _asked(world.server is None, verdict.rule)
    if epoch is None:
        wakes: tuple[str, ...] = ()
        if verdict.passes:
            wakes = tuple(each for each in world.policy.may_wake(channel.target) if not given.to or each in given.to)
        return Admission(None, wakes, False, False, rules)
    addressed = verdict.passes and given.addressed
    asks = verdict.passes and (given.addressed or verdict.privileged)
    acknowledge = addressed and given.id is not None and "channels.acknowledge" in world.grant
    return Admission(Stamp(epoch=epoch.id), (), asks, acknowledge, rules)


@lru_cache(maxsize=256)
def _asked(alone: bool, *gate: str) -> tuple[str, ...]:
    """What was asked, in order: the server's mute where the channel has a server."""
    return (*(() if alone else ("server-mute",)), "mute", "epoch", *gate)


def muting(given: Arrived, channel: Channel, server: Channel | None) -> Span | None:
    """The span that holds it: its channel's, a soft one only where it came over the Intercom (M-7), else its server's.
    The gate is not asked about what is held, so that it takes nothing from a limit."""
    if channel.span is not None and (given.intercom or not channel.span.soft):
        return channel.span
    return None if server is None else server.span


def arrive(given: Arrived, channel: Channel, world: World, verdict: Verdict, now: Now) -> Step:
    """Admit, store, count, and ask for what the admission says. Duplicates were taken out before (A-7)."""
    decided = admit(given, channel, world, verdict)
    target = str(channel.target)
    amends = _amends(given, decided, world) if given.change else None
    # By position, in the order of the fields: by their names it takes three times as long.
    message = Message(
        RESIDENTS, given.kind, sanitise(given.author), _clean(given.blocks), now.wall,
        target, world.name, given.id, given.author_id, given.tags, decided.stamp, given.key,
        decided.rules, decided.wakes, decided.acknowledge, 0, 0, amends, given.change == "deleted", now.sequence,
    )  # fmt: skip
    records: tuple[Record, ...] = (message,)
    if decided.wakes:
        reason: TurnReason = "intercom" if given.intercom else "push" if given.push else "message"
        records += tuple(WakeRequest(each, reason, now.wall, target, hops=given.hops) for each in decided.wakes)
    effects: tuple[Effect, ...] = ()
    if decided.acknowledge and given.id is not None and channel.target.server is not None:
        effects = (Acknowledge(channel.target.server, channel.target.id, given.id),)
    one = 0 if amends is not None else 1
    after = _counted(channel, given, decided, one, now)
    told = _first_held(channel, given, decided, world)
    if told and after.span is not None:
        after = replace(after, span=replace(after.span, told=True))
    after = quiet.stirred(after, given, stamp=decided.stamp, verdict=verdict, world=world, now=now)
    return Step(after, records, effects, told)


def _first_held(channel: Channel, given: Arrived, decided: Admission, world: World) -> str:
    """What a muted participant is told, once a span, at the first message that is held (M-5)."""
    span = channel.span
    if channel.target.kind != "user" or span is None or span.told or not world.policy.notify_muted:
        return ""
    if decided.stamp is None or decided.stamp.span != span.id:
        return ""
    return f"{given.to[0] if given.to else world.policy.primary} muted you"


def _amends(given: Arrived, decided: Admission, world: World) -> int | None:
    """The sequence of the diverted message that this changes in its own backlog (A-8); None: a message of its own."""
    original = world.original
    if not given.change or original is None or original.stamp is None or decided.stamp is None:
        return None
    return original.sequence if original.stamp.key == decided.stamp.key else None


def _counted(channel: Channel, given: Arrived, decided: Admission, one: int, now: Now) -> Channel:
    """The three counts of A-11 and what the epoch owes; what amends a diverted message counts `one` = 0."""
    need = 1 if given.addressed else 0
    totals = channel.totals
    if decided.stamp is None:
        totals = counted(totals, delivered=totals.delivered + 1)
        seen = 0 if given.own else 1
        return counted(channel, wait=channel.wait + seen, wait_need=channel.wait_need + need * seen, totals=totals)
    totals = counted(totals, diverted=totals.diverted + one)
    epoch = channel.epoch
    if epoch is not None and decided.stamp.epoch is not None:
        heard = decided.stamp.span is None
        asked = epoch.asked + (1 if decided.asks else 0)
        window = now.wall if decided.asks and epoch.window is None else epoch.window
        epoch = counted(
            epoch,
            held=epoch.held + one,
            need=epoch.need + need * one,
            undigested=epoch.undigested + (1 if heard else 0),
            asked=asked,
            window=window,
        )
        return counted(channel, epoch=epoch, totals=totals)
    if channel.span is not None and decided.stamp.span == channel.span.id:
        return counted(channel, withheld=channel.withheld + one, totals=totals)
    return counted(channel, withheld_by_server=channel.withheld_by_server + one, totals=totals)


def _clean(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """Unpaired surrogates become U+FFFD at ingestion (D-7)."""
    for block in blocks:
        if not isinstance(block, Text) or not block.text.isascii():
            return tuple(Text(sanitise(each.text)) if isinstance(each, Text) else each for each in blocks)
    return blocks
