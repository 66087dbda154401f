"""Reading a store: unfiltered or by a view, by channel, by backlog; and what opening it gives back.

It reads through its own connection, which sees what is committed and nothing else, whether the cockpit that writes is
this process or another (semantics.md A-6).
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import TypeVar

import aiosqlite

from cockpit.core.message import Message
from cockpit.core.records import Audit, Lifecycle, Report
from cockpit.errors import StoreError
from cockpit.store import schema, sources
from cockpit.store.codec import decode_audit, decode_lifecycle, decode_report
from cockpit.store.connection import connect, existing, reported
from cockpit.store.lookup import found_keys, found_reference
from cockpit.store.message_codec import decode_message
from cockpit.store.pages import Line, Source, pages
from cockpit.store.protocol import Filter, Opened
from cockpit.store.state import read_state

T = TypeVar("T")

Tell = Callable[[str], None]
"""Hears one line for each malformed record, once (R-4)."""

log = logging.getLogger(__name__)


class Skipped:
    """Which malformed records were told of already: a view is read again and again."""

    LIMIT = 10_000

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._told: set[int] = set()

    def decoded(self, line: Line, decode: Callable[[int, str], T]) -> T | None:
        """The record of a line, or None once it was told that it is malformed."""
        try:
            return decode(line.sequence, line.body)
        except ValueError as error:
            if line.sequence not in self._told and len(self._told) < self.LIMIT:
                self._told.add(line.sequence)
                self._tell(f"record {line.sequence or '?'} is malformed and is left out: {error}")
            return None


class Reader:
    """The reading half of a Chronicle. Every method raises StoreError where the file cannot be read."""

    def __init__(self, path: Path, reading: aiosqlite.Connection, tell: Tell) -> None:
        self._path = path
        self._reading = reading
        self._skipped = Skipped(tell)

    async def opened(self) -> Opened:
        """What the store holds, as one consistent moment, at a cost that does not grow with its log."""
        with reported(self._path, "read"):
            return await read_state(self._reading)

    async def known(self, keys: Collection[str]) -> frozenset[str]:
        """Which of these duplicate keys are in the log already (A-7)."""
        with reported(self._path, "read"):
            return await found_keys(self._reading, keys)

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
        """As `Chronicle.messages` says. Without `edits`, what edits or deletes a diverted message is left out."""
        if not slots:
            return []
        source = sources.messages(slots, view=view, newest=newest, target=target, stamp=stamp, edits=edits)
        return await self._read(source, decode_message, limit, after, before)

    async def message(self, reference: str) -> Message | None:
        """One message by its sequence (`"1234"`), by `SERVER/MESSAGE-ID`, or, where several channels of a server share
        the id, by `SERVER/CHANNEL-ID/MESSAGE-ID`; of several the newest, and never an edit of another."""
        with reported(self._path, "read"):
            line = await found_reference(self._reading, reference)
        return None if line is None else self._skipped.decoded(line, decode_message)

    async def reports(self, *, limit: int) -> Sequence[Report]:
        """The newest reports, oldest of them first."""
        return await self._read(sources.records("report", None), decode_report, limit)

    async def audit(self, *, target: str | None = None, limit: int) -> Sequence[Audit]:
        """The newest audit records, oldest of them first."""
        return await self._read(sources.records("audit", target), decode_audit, limit)

    async def lifecycle(self, *, target: str, limit: int) -> Sequence[Lifecycle]:
        """The newest lifecycle records of a channel, oldest of them first."""
        return await self._read(sources.records("lifecycle", target), decode_lifecycle, limit)

    async def _read(
        self,
        source: Source,
        decode: Callable[[int, str], T],
        limit: int,
        after: int = 0,
        before: int | None = None,
    ) -> list[T]:
        """Up to `limit` records, ascending; a malformed one does not take another's place."""
        read: list[T] = []
        if limit <= 0:
            return read
        with reported(self._path, "read"):
            async with aclosing(pages(self._reading, source, after=after, before=before, first=limit)) as found:
                async for page in found:
                    records = [self._skipped.decoded(line, decode) for line in page]
                    read.extend(record for record in records if record is not None)
                    if len(read) >= limit:
                        break
        del read[limit:]
        return read[::-1] if source.newest else read


@asynccontextmanager
async def open_reader(path: Path, *, tell: Tell = log.warning) -> AsyncIterator[Reader]:
    """A store to read beside whoever writes it. Raises StoreError where there is none at `path`."""
    path = existing(path)
    async with connect(path, "ro") as reading:
        with reported(path, "opened"):
            if await schema.version_of(reading, path) == 0:
                raise StoreError(f"{path} is not a cockpit's store: it is empty")
        yield Reader(path, reading, tell)
