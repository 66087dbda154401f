"""What the engine asks of a chronicle. SQLite satisfies it in `chronicle.py`; nothing else is asked of a store."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from cockpit.core.channel import Channel
from cockpit.core.message import Json, Message
from cockpit.core.records import Audit, Batch, Lifecycle, Record, Report, Usage, WakeRequest

Filter = Literal["heard", "unmuted", "all"]
"""heard: no stamp (a resident's view). unmuted: no mute stamp (the subconscious's, S-2). all: a direct read (A-6)."""


@dataclass(frozen=True, slots=True)
class Opened:
    """What a store holds when it is opened, at a cost that does not grow with its log.

    channels: every channel's last committed value. pending: wake requests of turns that have not ended.
    snapshots: the newest value of each snapshot slot. usage: the sum a agent. turns: ended turns a agent.
    fresh: the store was just made. skipped: one line for each malformed record that was left out (R-4).
    """

    head: int
    channels: tuple[Channel, ...]
    pending: tuple[WakeRequest, ...]
    snapshots: Mapping[str, Json]
    usage: Mapping[str, Usage]
    turns: Mapping[str, int]
    fresh: bool
    skipped: tuple[str, ...] = ()


class Reads(Protocol):
    """What a log answers. Every method raises StoreError when the file cannot be read."""

    async def opened(self) -> Opened: ...

    async def known(self, keys: Collection[str]) -> frozenset[str]:
        """Which of these duplicate keys are in the log already (A-7); asked once a batch."""
        ...

    async def messages(
        self,
        slots: Collection[str],
        *,
        view: Filter,
        after: int = 0,
        before: int | None = None,
        limit: int,
        newest: bool = True,
        target: str | None = None,
        stamp: str | None = None,
        edits: bool = True,
    ) -> Sequence[Message]:
        """Messages of these slots with after < sequence < before, in ascending order; of more than `limit` the
        newest are given, or the oldest where `newest` is false. `target` and `stamp` narrow it further."""
        ...

    async def message(self, reference: str) -> Message | None:
        """One message by its sequence (`"1234"`) or by `SERVER/MESSAGE-ID`."""
        ...

    async def reports(self, *, limit: int) -> Sequence[Report]: ...

    async def audit(self, *, target: str | None = None, limit: int) -> Sequence[Audit]: ...

    async def lifecycle(self, *, target: str, limit: int) -> Sequence[Lifecycle]: ...


class Chronicle(Reads, Protocol):
    """One append-only log, by its one writer."""

    async def append(self, batch: Batch) -> tuple[Record, ...]:
        """Write the batch in one transaction, all or nothing, durable when it returns.

        Returns the records as written, in order, a DumpOf replaced by what it became (Notice, and where there is a
        report turn Notice and WakeRequest), all with their sequences.
        """
        ...
