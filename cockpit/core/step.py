"""The reducer: one channel, one input, the next channel, with what to write and what to do after the commit.

Pure. Most promises hold by construction here: an epoch and its dump end in one step, a mute never touches the
epoch, and presence never touches what was decided.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, assert_never

from cockpit.core import epoch, mute, quiet
from cockpit.core.admission import arrive
from cockpit.core.channel import Channel, Presence, Span
from cockpit.core.gate import Verdict
from cockpit.core.inputs import Arrived
from cockpit.core.message import Json
from cockpit.core.state import lifecycle
from cockpit.core.value import value
from cockpit.core.world import Actor, Now, Process, Step, Wish, World
from cockpit.errors import VerbError


@value
class Admit:
    """A thing that arrived, with the gate's verdict on it."""

    given: Arrived
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Register:
    """Its server named it. `wanted`, the recipe's first choice, and `place` hold only for a channel that is new."""

    label: str
    new: bool
    wanted: bool
    place: int = 0


@dataclass(frozen=True, slots=True)
class Unregister:
    """Its server dropped it, or the connection ended; nothing decided changes (T-4)."""


@dataclass(frozen=True, slots=True)
class Observe:
    """A server's presence was observed."""

    presence: Presence
    reason: str = ""
    crashed: bool = False


@dataclass(frozen=True, slots=True)
class Mute:
    actor: Actor
    override: str | None = None
    soft: bool = False


@dataclass(frozen=True, slots=True)
class Unmute:
    """`total` is set for a whole server: what it and its channels withheld."""

    actor: Actor
    deliver: bool = False
    total: int | None = None


@dataclass(frozen=True, slots=True)
class Release:
    """Its server's span has ended (M-11)."""

    span: Span
    deliver: bool


@dataclass(frozen=True, slots=True)
class TuneOut:
    """`values` by the tool's parameter names (T-1)."""

    actor: Actor
    values: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Cancel:
    actor: Actor
    reason: str
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Want:
    """Open or close it. A close of a tuned-out channel cancels first; an open of one is refused (T-4)."""

    actor: Actor
    wanted: bool


@dataclass(frozen=True, slots=True)
class Keep:
    """Let the server's process live, or end it and keep it down (M-13)."""

    actor: Actor
    alive: bool


@dataclass(frozen=True, slots=True)
class Due:
    """A timer has come: one of its epoch's, or the end of the quiet that a rule of the gate waited for."""

    what: Literal["window", "cadence", "deadline", "quiet"]
    rule: str = ""


@value
class Read:
    """The primary's request that held this much of it has ended (A-11)."""

    wait: int
    need: int


@dataclass(frozen=True, slots=True)
class Looked:
    """The subconscious's turn that held this much of it ended well (T-12)."""

    digested: int


@dataclass(frozen=True, slots=True)
class Missed:
    """The subconscious's turn failed: its next tick comes later (T-14)."""


@dataclass(frozen=True, slots=True)
class Withheld:
    """The result of a call in flight came while the server was muted (M-3): it counts as diverted."""


Input = (
    Admit
    | Register
    | Unregister
    | Observe
    | Mute
    | Unmute
    | Release
    | TuneOut
    | Cancel
    | Want
    | Keep
    | Due
    | Read
    | Looked
    | Missed
    | Withheld
)


def step(channel: Channel, world: World, given: Input, now: Now) -> Step:
    """The next state. Raises VerbError where a verb is refused; then nothing has changed."""
    match given:
        case Admit(arrived, verdict):
            return arrive(arrived, channel, world, verdict, now)
        case Register(label, new, wanted, place):
            known = replace(channel, registered=True, label_given=label)
            return Step(replace(known, wanted=wanted, place=place) if new else known)
        case Unregister():
            return Step(replace(channel, registered=False))
        case Observe():
            return _observe(channel, given, now)
        case Mute(actor, override, soft):
            return mute.mute(channel, actor, world, now, override=override, soft=soft)
        case Unmute(actor, deliver, total):
            return mute.unmute(channel, actor, world, now, deliver=deliver, total=total)
        case Release(span, deliver):
            return mute.release(channel, span, world, now, deliver=deliver)
        case TuneOut(actor, values):
            return epoch.enter(channel, values, actor, world, now)
        case Cancel(actor, reason, note):
            return epoch.cancel(channel, reason, world, now, note=note, own=actor.role == "subconscious")
        case Want(actor, wanted):
            return _want(channel, actor, wanted, world, now)
        case Keep(actor, alive):
            return _keep(channel, actor, alive, now)
        case Due(what, rule):
            return quiet.over(channel, rule, world, now) if what == "quiet" else _due(channel, what, world, now)
        case Read(wait, need):
            return Step(replace(channel, wait=max(0, channel.wait - wait), wait_need=max(0, channel.wait_need - need)))
        case Looked(digested):
            return epoch.looked(channel, digested)
        case Missed():
            return epoch.missed(channel)
        case Withheld():
            totals = replace(channel.totals, diverted=channel.totals.diverted + 1)
            return Step(replace(channel, withheld=channel.withheld + 1, totals=totals))
        case _ as never:
            assert_never(never)


def reason_of(actor: Actor) -> str:
    """The reason of a cancel by whom it is (T-18)."""
    match actor.role:
        case "resident":
            return "agent request"
        case "operator":
            return "operator request"
        case "subconscious":
            return "subconscious judgment"
        case "engine":
            return "duration elapsed"
        case _ as never:
            assert_never(never)


def _due(channel: Channel, what: Literal["window", "cadence", "deadline"], world: World, now: Now) -> Step:
    match what:
        case "window":
            return epoch.wake(channel, world, now)
        case "cadence":
            return epoch.tick(channel, world, now)
        case "deadline":
            live = channel.epoch
            if live is None or live.deadline is None or now.wall < live.deadline:
                return Step(channel)
            return epoch.cancel(channel, "duration elapsed", world, now)
        case _ as never:
            assert_never(never)


def _observe(channel: Channel, given: Observe, now: Now) -> Step:
    if channel.presence == given.presence and channel.reason == given.reason:
        return Step(channel)
    totals = channel.totals
    down = {"offline", "killed"}
    if channel.presence in down and given.presence not in down:
        totals = replace(totals, seconds_offline=totals.seconds_offline + max(0.0, now.wall - channel.since))
    if given.crashed:
        totals = replace(totals, crashes=totals.crashes + 1)
    stays = channel.presence == given.presence
    after = replace(
        channel,
        presence=given.presence,
        reason=given.reason,
        since=channel.since if stays else now.wall,
        totals=totals,
    )
    return Step(after, (lifecycle(after, given.presence, now, None),))


def _want(channel: Channel, actor: Actor, wanted: bool, world: World, now: Now) -> Step:
    target = channel.target
    if target.kind != "channel" or target.server is None:
        raise VerbError("wrong_kind", f"{target} is no chat channel", "open and close take channel:")
    if channel.epoch is not None and wanted:
        raise VerbError("refused", f"{target} is tuned out: cancel that first", f"go=cancel target={target}")
    if channel.epoch is None and channel.wanted == wanted:
        raise VerbError("already", f"{target} is {'open' if wanted else 'closed'} already", "")
    before = Step(channel)
    if channel.epoch is not None:
        before = epoch.cancel(channel, reason_of(actor), world, now)
    after = replace(before.channel, wanted=wanted)
    word = "opened" if wanted else "closed"
    return Step(
        after,
        (*before.records, lifecycle(after, word, now, actor)),
        (Wish(target.server, target.id, wanted),),
        f"{target} is {'open' if wanted else 'closed'}" + (", its tune-out cancelled" if before.records else ""),
    )


def _keep(channel: Channel, actor: Actor, alive: bool, now: Now) -> Step:
    target = channel.target
    if target.kind != "mcp":
        raise VerbError("wrong_kind", f"{target} is no server", "kill and start take mcp:")
    if not alive and channel.killed:
        raise VerbError("already", f"{target} is killed already", f"go=start target={target}")
    if alive and not channel.killed and channel.presence in {"online", "connecting"}:
        raise VerbError("already", f"{target} is {channel.presence} already", f"go=kill target={target}")
    totals = channel.totals if alive else replace(channel.totals, kills=channel.totals.kills + 1)
    after = replace(channel, killed=not alive, totals=totals)
    word = "started" if alive else "killed"
    said = f"{target} is being started" if alive else f"{target} is killed"
    return Step(after, (lifecycle(after, word, now, actor),), (Process(target.name, alive),), said)
