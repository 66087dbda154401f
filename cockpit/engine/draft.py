"""A transaction in the making: the work that is queued for it, and the draft on which that steps channels and writes.

Nothing here commits or waits; see `ledger`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, TypeVar

from cockpit.core.admission import muting
from cockpit.core.channel import Channel
from cockpit.core.gate import GateState, Verdict, judge, limited
from cockpit.core.inputs import Arrived
from cockpit.core.message import Message
from cockpit.core.policy import Policy
from cockpit.core.records import Notice, Record, width
from cockpit.core.step import Admit, Input, step
from cockpit.core.target import Target
from cockpit.core.world import Effect, Now, Step, World
from cockpit.errors import StoreError

T = TypeVar("T")


@dataclass(slots=True)
class Work(Generic[T]):
    """One queued draft. key: its duplicate key (A-7). amends: the reference of the message it edits or deletes.
    probe: it only asks whether the key is stored, and stores nothing under it. ahead: it looks at nothing that changes
    but its draft, so it may be drafted on top of a transaction that is still being written."""

    apply: Callable[[Draft], T]
    future: asyncio.Future[T]
    key: str | None = None
    amends: str | None = None
    repeated: T | None = None
    probe: bool = False
    ahead: bool = False


@dataclass(slots=True)
class Transaction:
    """What is drafted to be written together. size: of the batch that it was made of. last and gate: the end of the
    log, and what the limits remember, after it. lost: why it was not written."""

    size: int
    twins: list[Work[Any]]
    keys: set[str]
    last: int
    gate: GateState
    records: list[Record] = field(default_factory=list)
    channels: dict[Target, Channel] = field(default_factory=dict)
    effects: list[Effect] = field(default_factory=list)
    results: list[tuple[Work[Any], object]] = field(default_factory=list)
    lost: StoreError | None = None

    def original(self, reference: str) -> Message | None:
        """The message in it that an edit speaks of, by `SERVER/CHANNEL-ID/MESSAGE-ID`."""
        said = (each for each in reversed(self.records) if isinstance(each, Message) and each.edits is None)
        return next((each for each in said if f"{(each.target or '').partition(':')[2]}/{each.id}" == reference), None)


class Rules(Protocol):
    """What a step is surrounded by."""

    @property
    def policy(self) -> Policy:
        """What the recipe decides, as it is now."""
        ...

    def world(self, draft: Draft, channel: Channel) -> World:
        """A step's surroundings."""
        ...


MUTED = Verdict(False, "mute")
"""Of what a mute holds."""


class Draft:
    """One piece of work in the making: its steps see each other, and all earlier drafts of the same transaction. Those
    follow each other on one object, since every message is one."""

    __slots__ = ("_effects", "_known", "_own", "_records", "_rules", "_seen", "gate", "original", "sequence", "wall")

    def __init__(
        self,
        rules: Rules,
        wall: float,
        made: Transaction,
        known: Mapping[Target, Channel],
        below: Mapping[Target, Channel],
    ) -> None:
        """known: the channels as they were committed. below: as a transaction leaves them that is being written."""
        self._rules = rules
        self._known = known
        self._seen = dict(below)
        self._own: dict[Target, Channel] = {}
        self._records = made.records
        self._effects = made.effects
        self.original: Message | None = None
        self.sequence = made.last + 1
        self.gate = made.gate
        self.wall = wall

    def channel(self, target: Target) -> Channel | None:
        """Its value as of now, or None where it is not known."""
        if self._own and (own := self._own.get(target)) is not None:
            return own
        seen = self._seen.get(target)
        if seen is None and (seen := self._known.get(target)) is not None:
            self._seen[target] = seen
        return seen

    def put(self, channel: Channel) -> None:
        """Make a channel known, or replace its value without a step."""
        self._own[channel.target] = channel

    def step(self, target: Target, given: Input) -> Step:
        """Step one channel; raises VerbError where it is refused, and then nothing of the draft holds."""
        current = self.channel(target) or Channel(target)
        return self._taken(current, self._world(current), given)

    def admit(self, target: Target, given: Arrived) -> Step:
        """Step one channel for what has arrived there, under the gate's verdict; of what a mute holds the gate is not
        asked (A-1)."""
        current = self.channel(target) or Channel(target)
        world = self._world(current)
        verdict = MUTED if muting(given, current, world.server) is not None else self.judge(given)
        return self._taken(current, world, Admit(given, verdict))

    def judge(self, given: Arrived) -> Verdict:
        """The gate's verdict; what its limits remember of it holds only if the transaction does."""
        policy = self._rules.policy
        verdict, state = judge(given, policy.gate, self.gate, self.wall)
        most = policy.wakes_per_hour.get(given.target.server or "") if policy.wakes_per_hour else None
        verdict, self.gate = limited(verdict, given, most, state, self.wall)
        return verdict

    def write(self, record: Record) -> int:
        """Append one record; returns its sequence."""
        sequence = self.sequence
        self._records.append(numbered(record, sequence))
        self.sequence += width(record)
        return sequence

    def held(self, into: dict[Target, Channel]) -> None:
        """The work is done: the next one sees its values, and `into` gets them."""
        self._seen.update(self._own)
        into.update(self._own)
        self._own.clear()

    def undo(self, records: int, effects: int, sequence: int, gate: GateState) -> None:
        """The work was refused: nothing of it holds. How much there was before it."""
        self._own.clear()
        del self._records[records:], self._effects[effects:]
        self.sequence, self.gate = sequence, gate

    def _world(self, channel: Channel) -> World:
        world = self._rules.world(self, channel)
        return world if self.original is None else replace(world, original=self.original)

    def _taken(self, current: Channel, world: World, given: Input) -> Step:
        done = step(current, world, given, Now(self.wall, self.sequence))
        if done.channel is not current:
            self._own[current.target] = done.channel
        for record in done.records:
            self.write(record)
        self._effects.extend(done.effects)
        return done


def numbered(record: Record, sequence: int) -> Record:
    """The record with its place in the log."""
    if isinstance(record, Message) and record.sequence == sequence:
        return record
    if isinstance(record, Notice):
        return replace(record, message=replace(record.message, sequence=sequence))
    return replace(record, sequence=sequence)
