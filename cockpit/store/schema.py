"""The tables of a store and how an older store becomes a newer one: one upgrade for each schema version.

One table holds every record under one sequence; what is looked up is a column, the rest is JSON in `body`. The small
tables beside it hold what opening a store must not have to count (architecture.md, "Performance").
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import aiosqlite

from cockpit.errors import StoreError

APPLICATION_ID = int.from_bytes(b"ckpi", "big")
"""What SQLite keeps in the file's header to say whose it is, so that a foreign database is never written to."""

DURABLE = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA foreign_keys = ON;
PRAGMA cache_size = -16000;
PRAGMA journal_size_limit = 67108864;
"""
"""What every writing connection sets: a commit is on the disk when it returns (R-1)."""

VERSION_1 = """
CREATE TABLE record (
    sequence INTEGER PRIMARY KEY,
    branch TEXT NOT NULL DEFAULT 'main',
    kind TEXT NOT NULL,                    -- message, lifecycle, wake, report, turn, audit, snapshot
    slot TEXT,                             -- of messages only
    target TEXT,                           -- of messages, lifecycle and audit
    stamp TEXT,                            -- the epoch, else the span, that diverted it
    muted INTEGER NOT NULL DEFAULT 0,      -- whether the stamp holds a span
    key TEXT,                              -- what makes it a duplicate
    reference TEXT,                        -- SERVER/MESSAGE-ID
    edits INTEGER,                         -- the sequence of the diverted message that it changes
    body TEXT NOT NULL                     -- the whole record as JSON, without line breaks
);
-- A resident's view: what of a slot has no stamp.
CREATE INDEX record_heard ON record (slot, sequence) WHERE stamp IS NULL AND slot IS NOT NULL;
-- A backlog. The target at its end tells the channels of a muted server apart without a look at the rows.
CREATE INDEX record_diverted ON record (stamp, sequence, target) WHERE stamp IS NOT NULL;
-- What the subconscious reads beside that: diverted, by slot, so that a flood on a muted channel costs it nothing.
CREATE INDEX record_held ON record (slot, muted, sequence) WHERE stamp IS NOT NULL;
-- Duplicates (A-7).
CREATE UNIQUE INDEX record_key ON record (key) WHERE key IS NOT NULL;
-- History, lifecycle and audit of one channel.
CREATE INDEX record_target ON record (target, kind, sequence) WHERE target IS NOT NULL;
CREATE INDEX record_reference ON record (reference) WHERE reference IS NOT NULL;
CREATE INDEX record_edits ON record (edits, sequence) WHERE edits IS NOT NULL;
-- Reports and audit of all channels.
CREATE INDEX record_kind ON record (kind, sequence) WHERE slot IS NULL;

CREATE TABLE channel (target TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE pending (sequence INTEGER PRIMARY KEY REFERENCES record (sequence));
CREATE TABLE snapshot (
    name TEXT PRIMARY KEY,
    sequence INTEGER NOT NULL REFERENCES record (sequence)
) WITHOUT ROWID;
CREATE TABLE agent (
    name TEXT PRIMARY KEY,
    turns INTEGER NOT NULL,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    cache_write INTEGER NOT NULL
) WITHOUT ROWID;
"""

UPGRADES: Mapping[int, str] = {1: VERSION_1}
"""By the version that each leads to, from the one before it."""

LATEST = max(UPGRADES)


def script(version: int) -> str:
    """The upgrade to `version`, in one transaction with the mark that it was done."""
    return (
        f"BEGIN IMMEDIATE; {UPGRADES[version]} PRAGMA application_id = {APPLICATION_ID};"
        f" PRAGMA user_version = {version}; COMMIT;"
    )


async def version_of(connection: aiosqlite.Connection, path: Path) -> int:
    """The schema version of an open file, 0 where it is empty. Changes nothing.

    Raises StoreError where the file is another program's database, or of a newer cockpit.
    """
    rows = await connection.execute_fetchall(
        "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version),"
        " (SELECT count(*) FROM sqlite_schema)"
    )
    [(application, version, tables)] = rows
    if application != APPLICATION_ID and (application or version or tables):
        raise StoreError(f"{path} is not a cockpit's store, but another program's database")
    if version > LATEST:
        raise StoreError(f"the store {path} is of a newer cockpit (schema {version}; this one knows {LATEST})")
    return int(version)


async def upgrade(connection: aiosqlite.Connection, path: Path) -> None:
    """Make the file a durable store of the latest schema. Raises StoreError where it cannot be one."""
    version = await version_of(connection, path)
    await connection.executescript(DURABLE)
    [(mode,)] = await connection.execute_fetchall("PRAGMA journal_mode")
    if mode != "wal":
        raise StoreError(f"the store {path} cannot be used: its file system does not allow a write-ahead log")
    for following in range(version + 1, LATEST + 1):
        await connection.executescript(script(following))
