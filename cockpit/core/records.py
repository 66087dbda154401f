"""What one transaction writes: the kinds of record that share the chronicle's one sequence.

A step names records; the engine numbers them (`sequence`) before the commit, since one writer owns the sequence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from cockpit.core.backlog import Tag
from cockpit.core.channel import Channel
from cockpit.core.message import Json, Message
from cockpit.core.value import value

TurnReason = Literal["prompt", "message", "push", "intercom", "cancel", "wake", "cadence", "report", "summary"]
ReportKind = Literal["summary", "note", "disposition", "wake", "cadence", "cancel", "prose", "failure"]
NoticeKind = Literal[
    "tune-out-cancel", "tune-out-cancel-report", "tune-out-wake", "tune-out-cadence", "mute", "unmute", "gate"
]  # fmt: skip
TurnState = Literal["started", "ended", "failed", "stopped"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request or of their sum."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
        )


@dataclass(frozen=True, slots=True)
class Notice:
    """A system-framed message with what an event says of it. `target` is None where it speaks of several."""

    message: Message
    kind: NoticeKind
    owner: str


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """A decided or observed change of one channel. `what` is past tense (`muted`, `tuned-out`, `cancelled`, …)."""

    target: str
    what: str
    at: float
    body: Mapping[str, Json] = field(default_factory=dict)
    sequence: int = 0


@value
class WakeRequest:
    """A turn that an agent owes, durable until that turn ended (T-16). target and epoch say what asked for it,
    hops how many agents' turns in a row led to it (K-37)."""

    agent: str
    reason: TurnReason
    at: float
    target: str | None = None
    epoch: str | None = None
    sequence: int = 0
    hops: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """What the operator reads in the side pane. `channel` is a target, or empty where it speaks of none."""

    agent: str
    kind: ReportKind
    text: str
    at: float
    channel: str = ""
    sequence: int = 0


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """One turn's end, with its usage and the wake requests it has served."""

    agent: str
    state: TurnState
    reason: TurnReason
    at: float
    usage: Usage | None = None
    served: tuple[int, ...] = ()
    sequence: int = 0


@dataclass(frozen=True, slots=True)
class Audit:
    """Who asked for what, and what came of it; refusals too."""

    at: float
    actor: str
    origin: str
    verb: str
    target: str
    before: str
    after: str
    reason: str
    epoch: str | None
    ok: bool
    sequence: int = 0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One value of a snapshot slot; the newest holds, the older ones are its history."""

    name: str
    value: Json
    at: float
    sequence: int = 0


@dataclass(frozen=True, slots=True)
class DumpOf:
    """The end of an epoch or of a span with `deliver=backlog`, expanded inside the transaction (T-16).

    The chronicle reads what carries `stamp`, newest first, and offers it to a `Fit` until that wants no more; then
    appends the dump to `slot` and, where `report` is given, the subconscious's notice, whose words depend on how
    much the dump left out (T-19). kind and owner are those of the dump's notice event.
    """

    slot: str
    owner: str
    kind: NoticeKind
    target: str
    channel: str
    notice: str
    tag: Tag
    stamp: str
    messages: int
    cap: int
    bound: int | None
    at: float
    report: ReportTurn | None = None
    sequence: int = 0


@dataclass(frozen=True, slots=True)
class ReportTurn:
    """The subconscious's turn after a cancel. only_if_truncated: a cancel of its own gets it only then (T-19)."""

    agent: str
    slot: str
    epoch: str
    reason: str
    only_if_truncated: bool = False


Record = Message | Notice | Lifecycle | WakeRequest | Report | TurnEnded | Audit | Snapshot | DumpOf

WIDTH_OF_DUMP = 4
"""Sequence numbers that a DumpOf takes: the dump, the report notice, its report line, its wake request."""


def width(record: Record) -> int:
    """How many sequence numbers to set aside for it; gaps are harmless."""
    return WIDTH_OF_DUMP if isinstance(record, DumpOf) else 1


@value
class Batch:
    """One transaction: numbered records, and the channels they changed, with their counters."""

    records: tuple[Record, ...]
    channels: tuple[Channel, ...] = ()
