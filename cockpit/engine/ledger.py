"""The one writer: takes what has come, steps each channel, commits once, then lets the effects go.

Whatever changes a channel or the log is a function of a `Draft`, queued by `submit`. Up to a thousand are drafted
into one transaction; a commit that fails drops all of its drafts and tells who waits (R-8). While one is on its way
to the disk, the next is drafted on top of it, if it holds nothing but what arrived, and falls with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from time import monotonic
from typing import Any, Protocol, TypeVar

from cockpit.core.channel import Channel
from cockpit.core.gate import GateState
from cockpit.core.limits import SLOT, recalled, remembered
from cockpit.core.records import Batch, Record, Snapshot
from cockpit.core.target import Target
from cockpit.core.world import Effect
from cockpit.engine.draft import Draft, Rules, Transaction, Work
from cockpit.errors import CockpitError, StoreError
from cockpit.store.protocol import Chronicle

__all__ = ["BATCH", "Committed", "Draft", "Ledger", "Owner"]  # whoever submits work writes it for a Draft

T = TypeVar("T")

BATCH = 500
"""Drafts a transaction."""

STRETCH = 0.001
"""Seconds of drafting on end: then others have their turn on the loop, a key and its paint among them."""


@dataclass(frozen=True, slots=True)
class Committed:
    """What one transaction wrote, as the chronicle gave it back, with the channels it changed."""

    records: tuple[Record, ...]
    before: Mapping[Target, Channel | None]
    channels: tuple[Channel, ...]
    effects: tuple[Effect, ...]


class Owner(Rules, Protocol):
    """Whom the ledger works for."""

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
    _taken: int = 0
    _writing: Transaction | None = None
    _landed: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._queue = asyncio.Queue(self.bound)

    @property
    def waiting(self) -> int:
        """How many drafts are not durable yet."""
        return self._queue.qsize() + self._taken

    async def submit(
        self,
        apply: Callable[[Draft], T],
        *,
        key: str | None = None,
        amends: str | None = None,
        repeated: T | None = None,
        probe: bool = False,
        ahead: bool = False,
    ) -> asyncio.Future[T]:
        """Queue a draft, waiting while the queue is full. The future is done when its transaction is durable.

        A draft whose `key` the log holds already is not applied: its future gives `repeated`.
        """
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        work = Work(apply, future, key, amends, repeated, probe, ahead)
        if self._queue.full():
            await self._queue.put(work)
        else:
            self._queue.put_nowait(work)
        return future

    async def do(self, apply: Callable[[Draft], T]) -> T:
        """`submit`, and wait until it is durable. Raises what `apply` raises, or StoreError."""
        return await (await self.submit(apply))

    async def run(self) -> None:
        """The loop; cancelled by its owner, after `drain` where nothing may be lost."""
        await self._recall()
        async with asyncio.TaskGroup() as group:
            while True:
                batch = [await self._queue.get()]
                while len(batch) < BATCH and not self._queue.empty():
                    batch.append(self._queue.get_nowait())
                self._taken += len(batch)
                if not all(work.ahead for work in batch):
                    await self._landing()
                below = self._writing
                drafted = await self._drafted(batch, below)
                await self._landing()
                if drafted is None:
                    self._taken -= len(batch)
                elif below is not None and below.lost is not None:
                    self._drop(drafted, below.lost)
                else:
                    self._writing = drafted
                    group.create_task(self._write(drafted), name="commit")

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

    async def _landing(self) -> None:
        """Until the transaction on its way to the disk is there, or lost."""
        if self._writing is not None:
            self._landed.clear()
            await self._landed.wait()

    async def _drafted(self, batch: Sequence[Work[Any]], below: Transaction | None) -> Transaction | None:
        """Step what the log does not hold yet, on top of `below`. None where the store could not be asked."""
        try:
            keys, fresh, twins = await self._fresh(batch, below)
            originals = {
                work.amends: await self.chronicle.message(work.amends) for work in fresh if work.amends is not None
            }
        except StoreError as error:
            for work in batch:
                _fail(work.future, error)
            self.owner.broken(error)
            return None
        head, gate = (self.head, self.gate) if below is None else (below.last, below.gate)
        made = Transaction(len(batch), twins, keys, head, gate)
        draft = Draft(self.owner, self.wall(), made, self.channels, {} if below is None else below.channels)
        until = monotonic() + STRETCH
        for work in fresh:
            if monotonic() > until:
                await asyncio.sleep(0)
                until = monotonic() + STRETCH
            draft.original = None
            if work.amends is not None:
                found = made.original(work.amends) or (below and below.original(work.amends))
                draft.original = found or originals[work.amends]
            before = len(made.records), len(made.effects), draft.sequence, draft.gate
            try:
                result = work.apply(draft)
            except CockpitError as error:
                draft.undo(*before)
                _fail(work.future, error)
                continue
            draft.held(made.channels)
            made.results.append((work, result))
        if draft.gate is not gate:
            draft.write(Snapshot(SLOT, remembered(draft.gate), draft.wall))
        made.last, made.gate = draft.sequence - 1, draft.gate
        return made

    async def _write(self, made: Transaction) -> None:
        """Commit it, take over its values, let its effects go, and tell who waits."""
        try:
            changed = {target: now for target, now in made.channels.items() if self.channels.get(target) != now}
            written: tuple[Record, ...] = ()
            if made.records or changed:
                written = await self.chronicle.append(Batch(tuple(made.records), tuple(changed.values())))
        except StoreError as error:
            made.lost = error
            self._drop(made, error)
            self.owner.broken(error)
        else:
            before = {target: self.channels.get(target) for target in changed}
            self.head, self.gate = made.last, made.gate
            self.channels.update(changed)
            if made.records or changed:
                self.owner.committed(Committed(written, before, tuple(changed.values()), tuple(made.effects)))
            self._taken -= made.size
            for work, result in chain(made.results, ((twin, twin.repeated) for twin in made.twins)):
                if not work.future.done():
                    work.future.set_result(result)
        finally:
            self._writing = None
            self._landed.set()

    async def _fresh(
        self, batch: Sequence[Work[Any]], below: Transaction | None
    ) -> tuple[set[str], list[Work[Any]], list[Work[Any]]]:
        """The batch without what the log holds already (A-7), and the twins of what it or `below` holds, which are
        stored if that is; before them the keys that the batch is the first to hold."""
        asked = {work.key for work in batch if work.key is not None}
        known = set(await self.chronicle.known(asked)) if asked else set()
        fresh: list[Work[Any]] = []
        twins: list[Work[Any]] = []
        new: set[str] = set()
        flying = frozenset[str]() if below is None else below.keys
        for work in batch:
            if work.key is not None and (work.key in new or work.key in flying):
                twins.append(work)
                continue
            if work.key is not None and work.key in known:
                if not work.future.done():
                    work.future.set_result(work.repeated)
                continue
            if work.key is not None and not work.probe:
                new.add(work.key)
            fresh.append(work)
        return new, fresh, twins

    def _drop(self, made: Transaction, error: StoreError) -> None:
        """Nothing of it was accepted."""
        self._taken -= made.size
        for work in chain((work for work, _ in made.results), made.twins):
            _fail(work.future, error)


def _fail(future: asyncio.Future[T], error: CockpitError) -> None:
    """Whoever only submits is told by the log and the operator; the loop need not complain as well."""
    if not future.done():
        future.set_exception(error)
        future.exception()
