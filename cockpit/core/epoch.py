"""A tune-out from enter to cancel: its parameters and floors, its wakes and ticks, its end (semantics.md section 3).

Everything here is one pure step of one channel; whoever calls it commits the records in one transaction (T-3, T-16).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from cockpit.core import notices
from cockpit.core.channel import Channel, Epoch
from cockpit.core.message import RESIDENTS, Json, Message, Text, subconscious_slot
from cockpit.core.policy import TuneOutDefaults
from cockpit.core.records import (
    DumpOf,
    Notice,
    Record,
    Report,
    ReportKind,
    ReportTurn,
    TurnReason,
    WakeRequest,
)
from cockpit.core.state import lifecycle
from cockpit.core.text import sanitise
from cockpit.core.verbs import floored
from cockpit.core.world import Actor, Now, Step, World, clear
from cockpit.errors import VerbError

WINDOW = 2.0
"""Seconds in which the wakes that are asked for become one (T-8)."""

FLOORS: Mapping[str, float] = {"cadence_seconds": 30, "backlog_cap": 0, "max_wakes": 1, "duration_seconds": 60}
LAST_MOMENT = 253_402_300_799.0
"""The end of the year 9999: a deadline past it is kept there, so that it can still be written as a date."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """cadence and duration in seconds, cap in messages. raised: one sentence for each value below its floor."""

    cadence: float
    cap: int
    max_wakes: int
    duration: float | None
    raised: tuple[str, ...] = ()


def parameters(given: Mapping[str, Json], defaults: TuneOutDefaults) -> Parameters:
    """Read a tune-out's parameters by their tool names (T-1).

    Fractions are floored, what is below a floor is raised and said; NaN, infinities, booleans, negative numbers and
    strings are refused by VerbError (`bad_value`) that names the parameter.
    """
    raised: list[str] = []

    def read(name: str, default: float | None) -> float | None:
        value = given.get(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise VerbError("bad_value", f"{name}={value!r} is not a whole number", "give a number, 0 or more")
        whole = floored(value)
        floor = FLOORS[name]
        if whole < floor:
            raised.append(f"{name} {whole} is below its floor and was raised to {floor:g}")
            return floor
        return whole

    cadence = read("cadence_seconds", defaults.cadence)
    cap = read("backlog_cap", defaults.cap)
    wakes = read("max_wakes", defaults.wakes)
    duration = read("duration_seconds", defaults.duration)
    return Parameters(float(cadence or 0), int(cap or 0), int(wakes or 0), duration, tuple(raised))


def enter(channel: Channel, given: Mapping[str, Json], actor: Actor, world: World, now: Now) -> Step:
    """Tune out (T-1 to T-3); under a mute the epoch is held (M-12)."""
    if channel.target.kind not in {"channel", "feed"}:
        raise VerbError("wrong_kind", f"{channel.target} is no chat channel and no feed", "tune out channel: or feed:")
    if world.policy.subconscious is None:
        raise VerbError("refused", "no subconscious is configured, so nobody would watch it", "mute it instead")
    if channel.epoch is not None:
        raise VerbError("already", f"{channel.target} is tuned out already", f"go=cancel target={channel.target} first")
    asked = parameters(given, world.policy.tune_out)
    deadline = None if asked.duration is None else min(now.wall + asked.duration, LAST_MOMENT)
    epoch = Epoch(
        id=f"epoch-{now.sequence}",
        cadence=asked.cadence,
        cap=asked.cap,
        max_wakes=asked.max_wakes,
        deadline=deadline,
        since=now.wall,
        began=now.sequence,
    )
    after = replace(channel, epoch=epoch)
    said = "; ".join([f"{channel.target} is tuned out", *asked.raised])
    return Step(after, (lifecycle(after, "tuned-out", now, actor),), answer=said)


def wake(channel: Channel, world: World, now: Now) -> Step:
    """The two-second window has passed: count the wake, then run the subconscious or end the epoch (T-8 to T-10)."""
    epoch = channel.epoch
    if epoch is None or epoch.window is None or not clear(world, channel):
        return Step(channel)
    charged = replace(epoch, wakes=epoch.wakes + 1, asked=0, window=None)
    if charged.wakes > epoch.max_wakes:
        reason = f"wake budget exhausted ({epoch.max_wakes})"
        return cancel(replace(channel, epoch=charged), reason, world, now)
    after = replace(channel, epoch=charged)
    text = notices.woken(world.name, epoch.asked)
    return Step(after, (lifecycle(after, "woken", now, None), *_turn(after, text, "wake", world, now)))


def tick(channel: Channel, world: World, now: Now) -> Step:
    """One cadence has passed: a turn if there is something it has not looked at; else nothing, at no cost (T-12)."""
    epoch = channel.epoch
    if epoch is None or not epoch.undigested or not clear(world, channel) or world.looking:
        return Step(channel)
    return Step(channel, _turn(channel, notices.due(world.name, epoch.undigested), "cadence", world, now))


def looked(channel: Channel, digested: int) -> Step:
    """The subconscious's turn ended well: what its last request held is digested (T-12)."""
    epoch = channel.epoch
    if epoch is None:
        return Step(channel)
    return Step(replace(channel, epoch=replace(epoch, undigested=max(0, epoch.undigested - digested), retry=0)))


def missed(channel: Channel) -> Step:
    """Its turn failed: the messages stay undigested, and the tick that tries again comes later each time (T-14)."""
    epoch = channel.epoch
    return Step(channel if epoch is None else replace(channel, epoch=replace(epoch, retry=epoch.retry + 1)))


def cancel(
    channel: Channel,
    reason: str,
    world: World,
    now: Now,
    *,
    note: str | None = None,
    own: bool = False,
) -> Step:
    """End the epoch: one transaction with the dump, the notices and the wakes (T-15 to T-20).

    own: the subconscious ends it by its own judgement. note: its words, delivered verbatim under its name (T-19).
    """
    epoch = channel.epoch
    if epoch is None:
        raise VerbError("already", f"{channel.target} is not tuned out", f"its state is shown by peek {channel.target}")
    totals = replace(
        channel.totals,
        seconds_tuned_out=channel.totals.seconds_tuned_out + max(0.0, now.wall - epoch.since),
        dumped=channel.totals.dumped + epoch.held,
    )
    after = replace(channel, epoch=None, totals=totals)
    policy = world.policy
    subconscious = policy.subconscious
    report = None
    if subconscious is not None and note is None:
        slot = subconscious_slot(policy.primary)
        report = ReportTurn(subconscious, slot, epoch.id, reason, only_if_truncated=own)
    dump = DumpOf(
        slot=RESIDENTS,
        owner="residents",
        kind="tune-out-cancel",
        target=str(channel.target),
        channel=world.name,
        notice=notices.cancelled(world.name, reason, epoch.wakes),
        tag="tuned-out-backlog",
        stamp=epoch.id,
        messages=epoch.held,
        cap=epoch.cap,
        bound=policy.bound,
        at=now.wall,
        report=report,
    )
    records: list[Record] = [lifecycle(after, "cancelled", now, None, reason=reason, epoch=epoch.id), dump]
    if note is not None and subconscious is not None:
        text = sanitise(note)
        records.append(Message(RESIDENTS, "agent", subconscious, (Text(text),), now.wall, target=str(channel.target)))
        records.append(Report(subconscious, "note", text, now.wall, str(channel.target)))
    records.append(WakeRequest(policy.primary, "cancel", now.wall, None, epoch.id))
    return Step(after, tuple(records), answer=f"the tune-out of {channel.target} is cancelled")


def _turn(channel: Channel, text: str, reason: TurnReason, world: World, now: Now) -> tuple[Record, ...]:
    """The records that owe the subconscious one turn: its trigger in its own slot only (T-13), and the request."""
    policy = world.policy
    if policy.subconscious is None or channel.epoch is None:
        return ()
    target = str(channel.target)
    slot = subconscious_slot(policy.primary)
    message = Message(slot, "system", "system", (Text(text),), now.wall, target=target, channel=world.name)
    kind: ReportKind = "wake" if reason == "wake" else "cadence"
    return (
        Notice(message, "tune-out-wake" if kind == "wake" else "tune-out-cadence", policy.subconscious),
        Report(policy.subconscious, kind, text, now.wall, target),
        WakeRequest(policy.subconscious, reason, now.wall, target, channel.epoch.id),
    )
