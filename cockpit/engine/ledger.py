"""The one writer: takes what has come, steps each channel, commits once, then lets the effects go.

Whatever changes a channel or the log is a function of a `Draft`, queued by `submit`. Up to a thousand are drafted
into one transaction; a commit that fails drops all of its drafts and tells who waits (R-8).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, TypeVar

from cockpit.core.channel import Channel
from cockpit.core.gate import GateState, Verdict, judge, limited
from cockpit.core.inputs import Arrived
from cockpit.core.limits import SLOT, recalled, remembered
from cockpit.core.message import Message
from cockpit.core.policy import Policy
from cockpit.core.records import Batch, Notice, Record, Snapshot, width
from cockpit.core.step import Input, step
from cockpit.core.target import Target
from cockpit.core.world import Effect, Now, Step, World
from cockpit.errors import CockpitError, StoreError
from cockpit.store.protocol import Chronicle

T = TypeVar("T")

BATCH = 1_000
"""Drafts a transaction."""

STRETCH = 32
"""Drafts on end, some two milliseconds: then others have their turn on the loop, a key and its paint among them."""


class Draft:
    """One piece of work in the making: its steps see each other, and all earlier drafts of the same transaction."""

    def __init__(
        self, ledger: Ledger, sequence: int, wall: float, below: Mapping[Target, Channel], gate: GateState
    ) -> None:
        self._ledger = ledger
        self._below = below
        self.sequence = sequence
        self.wall = wall
        self.channels: dict[Target, Channel] = {}
        self.records: list[Record] = []
        self.effects: list[Effect] = []
        self.original: Message | None = None
        self.gate = gate

    def channel(self, target: Target) -> Channel | None:
        """Its value as of now, or None where it is not known."""
        return self.channels.get(target) or self._below.get(target) or self._ledger.channels.get(target)

    def put(self, channel: Channel) -> None:
        """Make a channel known, or replace its value without a step."""
        self.channels[channel.target] = channel

    def step(self, target: Target, given: Input) -> Step:
        """Step one channel; raises VerbError where it is refused, and then nothing of the draft holds."""
        current = self.channel(target) or Channel(target)
        world = self._ledger.owner.world(self, current)
        if self.original is not None:
            world = replace(world, original=self.original)
        done = step(current, world, given, Now(self.wall, self.sequence))
        if done.channel is not current:
            self.channels[target] = done.channel
        for record in done.records:
            self.write(record)
        self.effects.extend(done.effects)
        return done

    def judge(self, given: Arrived) -> Verdict:
        """The gate's verdict; what its limits remember of it holds only if the transaction does."""
        policy = self._ledger.owner.policy
        verdict, state = judge(given, policy.gate, self.gate, self.wall)
        most = policy.wakes_per_hour.get(given.target.server or "")
        verdict, self.gate = limited(verdict, given, most, state, self.wall)
        return verdict

    def write(self, record: Record) -> int:
        """Append one record; returns its sequence."""
        sequence = self.sequence
        self.records.append(numbered(record, sequence))
        self.sequence += width(record)
        return sequence


def numbered(record: Record, sequence: int) -> Record:
    """The record with its place in the log."""
    if isinstance(record, Message) and record.sequence == sequence:
        return record
    if isinstance(record, Notice):
        return replace(record, message=replace(record.message, sequence=sequence))
    return replace(record, sequence=sequence)


@dataclass(slots=True)
class Work(Generic[T]):
    """One queued draft. key: its duplicate key (A-7). amends: the reference of the message it edits or deletes.
    probe: it only asks whether the key is stored, and stores nothing under it."""

    apply: Callable[[Draft], T]
    future: asyncio.Future[T]
    key: str | None = None
    amends: str | None = None
    repeated: T | None = None
    probe: bool = False


@dataclass(frozen=True, slots=True)
class Committed:
    """What one transaction wrote, as the chronicle gave it back, with the channels it changed."""

    records: tuple[Record, ...]
    before: Mapping[Target, Channel | None]
    channels: tuple[Channel, ...]
    effects: tuple[Effect, ...]


class Owner(Protocol):
    """Whom the ledger works for."""

    @property
    def policy(self) -> Policy:
        """What the recipe decides, as it is now."""
        ...

    def world(self, draft: Draft, channel: Channel) -> World:
        """A step's surroundings."""
        ...

    def committed(self, done: Committed) -> None:
        """One transaction is durable; told of each, in order."""
        ...

    def broken(self, error: StoreError) -> None:
        """A transaction failed, and nothing of it was accepted."""
        ...


@dataclass(slots=True)
class Ledger:
    """The loop's state. Its owner makes itself known before `run`."""

    chronicle: Chronicle
    wall: Callable[[], float]
    head: int = 0
    channels: dict[Target, Channel] = field(default_factory=dict)
    bound: int = 10_000
    gate: GateState = field(default_factory=GateState)
    owner: Owner = field(init=False)
    _queue: asyncio.Queue[Work[Any]] = field(init=False)

    def __post_init__(self) -> None:
        self._queue = asyncio.Queue(self.bound)

    @property
    def waiting(self) -> int:
        """How many drafts are queued."""
        return self._queue.qsize()

    async def submit(
        self,
        apply: Callable[[Draft], T],
        *,
        key: str | None = None,
        amends: str | None = None,
        repeated: T | None = None,
        probe: bool = False,
    ) -> asyncio.Future[T]:
        """Queue a draft, waiting while the queue is full. The future is done when its transaction is durable.

        A draft whose `key` the log holds already is not applied: its future gives `repeated`.
        """
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        await self._queue.put(Work(apply, future, key, amends, repeated, probe))
        return future

    async def do(self, apply: Callable[[Draft], T]) -> T:
        """`submit`, and wait until it is durable. Raises what `apply` raises, or StoreError."""
        return await (await self.submit(apply))

    async def run(self) -> None:
        """The loop; cancelled by its owner, after `drain` where nothing may be lost."""
        await self._recall()
        while True:
            batch = [await self._queue.get()]
            while len(batch) < BATCH and not self._queue.empty():
                batch.append(self._queue.get_nowait())
            await self._commit(batch)

    async def drain(self) -> None:
        """Commit all that is queued."""
        await self.do(lambda _: None)

    async def _recall(self) -> None:
        """What the gate's limits remembered when the last process ended."""
        try:
            opened = await self.chronicle.opened()
        except StoreError as error:
            self.owner.broken(error)
            return
        self.gate = recalled(opened.snapshots.get(SLOT))

    async def _commit(self, batch: Sequence[Work[Any]]) -> None:
        try:
            fresh, twins = await self._fresh(batch)
            originals = {
                work.amends: await self.chronicle.message(work.amends) for work in fresh if work.amends is not None
            }
        except StoreError as error:
            self._refuse(batch, error)
            return
        merged: dict[Target, Channel] = {}
        records: list[Record] = []
        effects: list[Effect] = []
        results: list[tuple[Work[Any], object]] = []
        sequence, wall, gate = self.head + 1, self.wall(), self.gate
        for place, work in enumerate(fresh):
            if place % STRETCH == STRETCH - 1:
                await asyncio.sleep(0)
            draft = Draft(self, sequence, wall, merged, gate)
            if work.amends is not None:
                draft.original = _in_batch(records, work.amends) or originals[work.amends]
            try:
                result = work.apply(draft)
            except CockpitError as error:
                _fail(work.future, error)
                continue
            merged.update(draft.channels)
            records.extend(draft.records)
            effects.extend(draft.effects)
            sequence, gate = draft.sequence, draft.gate
            results.append((work, result))
        if gate is not self.gate:
            records.append(Snapshot(SLOT, remembered(gate), wall, sequence))
            sequence += 1
        written: tuple[Record, ...] = ()
        merged = {target: now for target, now in merged.items() if self.channels.get(target) != now}
        if records or merged:
            try:
                written = await self.chronicle.append(Batch(tuple(records), tuple(merged.values())))
            except StoreError as error:
                self._refuse([*(work for work, _ in results), *twins], error)
                return
        before = {target: self.channels.get(target) for target in merged}
        self.head, self.gate = sequence - 1, gate
        self.channels.update(merged)
        if records or merged:
            self.owner.committed(Committed(written, before, tuple(merged.values()), tuple(effects)))
        for work, result in [*results, *((twin, twin.repeated) for twin in twins)]:
            if not work.future.done():
                work.future.set_result(result)

    async def _fresh(self, batch: Sequence[Work[Any]]) -> tuple[list[Work[Any]], list[Work[Any]]]:
        """The batch without what the log holds already (A-7), and the twins in it, which are stored if it is."""
        keys = {work.key for work in batch if work.key is not None}
        known = set(await self.chronicle.known(keys)) if keys else set()
        fresh: list[Work[Any]] = []
        twins: list[Work[Any]] = []
        new: set[str] = set()
        for work in batch:
            if work.key is not None and work.key in new:
                twins.append(work)
                continue
            if work.key is not None and work.key in known:
                if not work.future.done():
                    work.future.set_result(work.repeated)
                continue
            if work.key is not None and not work.probe:
                new.add(work.key)
            fresh.append(work)
        return fresh, twins

    def _refuse(self, works: Iterable[Work[Any]], error: StoreError) -> None:
        for work in works:
            _fail(work.future, error)
        self.owner.broken(error)


def _fail(future: asyncio.Future[T], error: CockpitError) -> None:
    """Whoever only submits is told by the log and the operator; the loop need not complain as well."""
    if not future.done():
        future.set_exception(error)
        future.exception()


def _in_batch(records: Sequence[Record], reference: str) -> Message | None:
    """The message of this very transaction that an edit speaks of, by `SERVER/CHANNEL-ID/MESSAGE-ID`."""
    said = (record for record in reversed(records) if isinstance(record, Message) and record.edits is None)
    return next((each for each in said if f"{(each.target or '').partition(':')[2]}/{each.id}" == reference), None)
