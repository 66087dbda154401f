"""The chronicle on SQLite: one writer whose batches are transactions, and a reader beside it.

A batch is a handful of statements of many rows, not one a row: each step of SQLite gives up Python's lock, and beside
a busy loop gets it back only after its turn (measured: 353 rows a second one by one, 29,000 as one statement).
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

from cockpit.core.message import Message
from cockpit.core.records import Batch, DumpOf, Record
from cockpit.errors import StoreError
from cockpit.store import schema
from cockpit.store.codec import Stored
from cockpit.store.connection import Connection, Presence, claim, connect, prepare, reported
from cockpit.store.dump import expand
from cockpit.store.lock import StoreLock
from cockpit.store.message_codec import decode_message
from cockpit.store.pages import Line
from cockpit.store.reader import Reader, Tell, log
from cockpit.store.rows import Rows, write


class SqliteChronicle(Reader):
    """A `Chronicle` in one file. Made by `open_chronicle`."""

    def __init__(self, path: Path, writing: Connection, reading: Connection, tell: Tell = log.warning) -> None:
        super().__init__(path, reading, tell)
        self._writing = writing
        self._turn = asyncio.Lock()
        self._presence = Presence(path)

    async def append(self, batch: Batch) -> tuple[Record, ...]:
        """As `Chronicle.append` says: all of it or nothing, and on the disk when it returns (R-1, T-16).

        Raises StoreError with nothing written where the disk is full or read-only, the file was lost, or a record
        repeats a sequence or a duplicate key; the next batch may succeed.
        """
        with reported(self._path, "written"):
            rows = self._rows(batch)
            async with self._turn:
                try:
                    return await self._transaction(batch, rows)
                except UnicodeEncodeError:
                    # A lone surrogate that got past ingestion (D-7) must not stop the log for everybody.
                    return await self._transaction(batch, rows.storable())

    def _rows(self, batch: Batch) -> Rows:
        try:
            return Rows.of([record for record in batch.records if not isinstance(record, DumpOf)], batch.channels)
        except (TypeError, ValueError, RecursionError) as error:
            raise StoreError(f"the store {self._path} cannot be written: a record is no JSON ({error})") from error

    async def _transaction(self, batch: Batch, rows: Rows) -> tuple[Record, ...]:
        if not any(isinstance(record, DumpOf) for record in batch.records):
            await self._writing.at_once(partial(self._all, rows))
            return batch.records
        try:
            await self._writing.execute("BEGIN IMMEDIATE")
            await self._writing.at_once(partial(write, rows))
            records = await self._expanded(batch.records)
            self._presence.check()
            await self._writing.commit()
        except BaseException:
            with suppress(sqlite3.Error):  # a full disk may have rolled back already
                await self._writing.rollback()
            raise
        return records

    def _all(self, rows: Rows, connection: sqlite3.Connection) -> None:
        """One whole transaction, in the connection's thread."""
        try:
            connection.execute("BEGIN IMMEDIATE")
            write(rows, connection)
            self._presence.check()
            connection.commit()
        except BaseException:
            with suppress(sqlite3.Error):
                connection.rollback()
            raise

    async def _expanded(self, records: Sequence[Record]) -> tuple[Record, ...]:
        """The records with each dump in full; what a dump holds stands before it, so all else is written first."""
        written: list[Record] = []
        dumped: list[Stored] = []
        for record in records:
            if isinstance(record, DumpOf):
                parts = await expand(self._writing, record, self._message)
                written += parts
                dumped += parts
            else:
                written.append(record)
        await self._writing.at_once(partial(write, Rows.of(dumped, ()).storable()))
        return tuple(written)

    def _message(self, line: Line) -> Message | None:
        return self._skipped.decoded(line, decode_message)


@asynccontextmanager
async def open_chronicle(path: Path, *, tell: Tell = log.warning) -> AsyncIterator[SqliteChronicle]:
    """Open the store at `path`, made where it is missing, and hold it against any other cockpit meanwhile.

    tell: hears one line for each malformed record that a read left out (R-4). Raises StoreInUse where another cockpit
    has it (R-2), StoreError where it cannot be opened, is no store, or is of a newer cockpit.
    """
    path = prepare(path)
    with StoreLock(path):
        async with connect(path, "rw") as writing:
            with reported(path, "opened"):
                await schema.upgrade(writing, path)
            claim(path)
            async with connect(path, "ro") as reading:
                yield SqliteChronicle(path, writing, reading, tell)
