"""Takes out of a store what a retention lets go, and makes its file smaller.

No sequence is used twice and no duplicate key forgotten (semantics.md A-7): of a message that a server named, an empty
row stays, in a slot that no view reads, with what `why` tells; everything else that goes is deleted. Audit, lifecycle
and channels are never touched.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import aiosqlite

from cockpit.core.records import Audit
from cockpit.errors import StoreError
from cockpit.store import schema
from cockpit.store.codec import encode_record
from cockpit.store.connection import claim, connect, existing, files_of, reported
from cockpit.store.lock import StoreLock
from cockpit.store.message_codec import INSERT_RECORD
from cockpit.store.protocol import Opened
from cockpit.store.rows import statement
from cockpit.store.state import read_state

SLOT = "compacted"
"""The slot of rows that are kept for their key and their admission alone. No view reads it."""

TEXT = "[compacted: the text is gone]"
"""What stands in such a row instead of what was said."""


@dataclass(frozen=True, slots=True)
class Retention:
    """What may go: only what was stored before `before` (seconds since 1970), and of that, messages without a stamp
    below the sequence `heard`, tuned-out ones below `tuned_out`, muted ones whatever their sequence.

    Never what carries a stamp in `live`, what is `pinned` (sequences), nor the newest unstamped messages of a channel
    in `unread` (how many, by target). audit: the row that tells of it, where anything went.
    """

    before: float
    heard: int
    tuned_out: int
    live: frozenset[str]
    pinned: frozenset[int]
    unread: Mapping[str, int]
    audit: Audit


@dataclass(frozen=True, slots=True)
class Compacted:
    """What went, or would go: records by kind (`messages`, `reports`, `turns`, `wakes`, `snapshots`), and their
    bodies' characters. Bytes of the store's files before and after. note: why the file is no smaller, where it could
    not be made so."""

    records: Mapping[str, int]
    characters: int
    before: int
    after: int
    note: str = ""


_HELD = """
CREATE TEMP TABLE live (stamp TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TEMP TABLE pinned (sequence INTEGER PRIMARY KEY);
CREATE TEMP TABLE unread (target TEXT PRIMARY KEY, first INTEGER NOT NULL) WITHOUT ROWID;
CREATE TEMP TABLE going (sequence INTEGER PRIMARY KEY, what TEXT NOT NULL, characters INTEGER NOT NULL);
"""

_UNREAD = """
INSERT INTO unread SELECT :target, min(sequence) FROM (
    SELECT sequence FROM record INDEXED BY record_target
    WHERE target = :target AND kind = 'message' AND stamp IS NULL AND slot <> :compacted
    ORDER BY sequence DESC LIMIT :count
) HAVING count(*) > 0
"""

_AGED = "CASE WHEN json_valid(body) THEN json_extract(body, '$.at') < :before ELSE 0 END AND sequence < :head"
"""Old enough, and no malformed row (R-4); the last sequence stays, so that none is given twice."""

_MESSAGES = f"""
INSERT INTO going SELECT sequence, 'messages', length(body) FROM record
WHERE kind = 'message' AND slot <> :compacted AND {_AGED}
  AND sequence < CASE WHEN stamp IS NULL THEN :heard WHEN muted = 0 THEN :tuned_out ELSE :head END
  AND coalesce(stamp, '') NOT IN (SELECT stamp FROM live)
  AND coalesce(json_extract(CASE WHEN json_valid(body) THEN body ELSE '{{}}' END, '$.stamp.mute.spanId'), '')
      NOT IN (SELECT stamp FROM live)
  AND sequence NOT IN (SELECT sequence FROM pinned)
  AND NOT EXISTS (SELECT 1 FROM unread WHERE record.stamp IS NULL AND unread.target = record.target
                  AND record.sequence >= unread.first)
  AND NOT EXISTS (SELECT 1 FROM record AS original JOIN live ON live.stamp = original.stamp
                  WHERE original.sequence = record.edits)
"""  # noqa: S608  # constants

_OTHERS = f"""
INSERT INTO going SELECT sequence, kind || 's', length(body) FROM record INDEXED BY record_kind
WHERE kind IN ('report', 'turn', 'wake') AND slot IS NULL AND {_AGED}
  AND sequence NOT IN (SELECT sequence FROM pending)
"""  # noqa: S608  # constants

_SNAPSHOTS = f"""
INSERT INTO going SELECT sequence, 'snapshots', characters FROM (
    SELECT sequence, length(body) AS characters, row_number() OVER (
        PARTITION BY branch, json_extract(body, '$.name') ORDER BY sequence DESC) AS age
    FROM record INDEXED BY record_kind WHERE kind = 'snapshot' AND slot IS NULL AND {_AGED}
) WHERE age > 1 AND sequence NOT IN (SELECT sequence FROM snapshot)
"""  # noqa: S608  # constants
"""The value that held when the retention begins stays, and all since then."""

_EMPTIED = """
UPDATE record SET slot = :compacted, body = json_set(
    json_remove(body, '$.tags', '$.author_id', '$.key'), '$.slot', :compacted, '$.blocks', json(:blocks))
WHERE sequence IN (SELECT sequence FROM going WHERE what = 'messages')
  AND (key IS NOT NULL OR reference IS NOT NULL)
"""

_DELETED = """
DELETE FROM record WHERE sequence IN (SELECT sequence FROM going) AND (kind <> 'message' OR slot <> :compacted)
"""


async def compact(path: Path, rule: Callable[[Opened], Retention], *, dry_run: bool = False) -> Compacted:
    """Apply the retention that `rule` makes of the store's state, in one transaction, then shrink the file.

    Raises StoreInUse where a cockpit has the store, StoreError where it is none or cannot be written; then nothing
    went. dry_run: only count.
    """
    path = existing(path)
    with StoreLock(path):
        async with connect(path, "rw") as connection:
            with reported(path, "opened"):
                if await schema.version_of(connection, path) == 0:
                    raise StoreError(f"{path} is not a cockpit's store: it is empty")
                await schema.upgrade(connection, path)
            claim(path)
            before = _size(path)
            with reported(path, "written"):
                records, characters = await _apply(connection, rule, dry_run=dry_run)
            note = "" if dry_run else await _shrink(connection, went=bool(records))
        return Compacted(records, characters, before, _size(path), note)


async def _apply(
    connection: aiosqlite.Connection, rule: Callable[[Opened], Retention], *, dry_run: bool
) -> tuple[Mapping[str, int], int]:
    opened = await read_state(connection)
    kept = rule(opened)
    await connection.executescript(_HELD)
    await connection.execute("BEGIN IMMEDIATE")
    try:
        await _hold(connection, kept)
        values = {
            "before": kept.before,
            "head": opened.head,
            "heard": kept.heard,
            "tuned_out": kept.tuned_out,
            "compacted": SLOT,
        }
        for found in (_MESSAGES, _OTHERS, _SNAPSHOTS):
            await connection.execute(found, values)
        rows = await connection.execute_fetchall("SELECT what, count(*), sum(characters) FROM going GROUP BY what")
        counted = {str(what): int(count) for what, count, _ in rows}
        if counted and not dry_run:
            await _take_out(connection, kept.audit, opened.head)
            await connection.commit()
        else:
            await connection.rollback()
    except BaseException:
        with suppress(sqlite3.Error):
            await connection.rollback()
        raise
    return counted, sum(int(size) for _, _, size in rows)


async def _hold(connection: aiosqlite.Connection, kept: Retention) -> None:
    await connection.executemany("INSERT INTO live VALUES (?)", [(stamp,) for stamp in kept.live if stamp])
    await connection.executemany("INSERT INTO pinned VALUES (?)", [(sequence,) for sequence in kept.pinned])
    for target, count in kept.unread.items():
        await connection.execute(_UNREAD, {"target": target, "count": count, "compacted": SLOT})


async def _take_out(connection: aiosqlite.Connection, audit: Audit, head: int) -> None:
    blocks = f'[{{"type":"text","text":"{TEXT}"}}]'
    await connection.execute(_EMPTIED, {"compacted": SLOT, "blocks": blocks})
    await connection.execute(_DELETED, {"compacted": SLOT})
    row = encode_record(replace(audit, sequence=head + 1))
    await connection.execute(statement(INSERT_RECORD, 1, len(row)), row)


async def _shrink(connection: aiosqlite.Connection, *, went: bool) -> str:
    """Give the room back to the disk; where that fails, what went is gone all the same, and why is told."""
    try:
        [(free,)] = await connection.execute_fetchall("PRAGMA freelist_count")
        if went or free:  # emptied rows leave their pages half full, which no free list tells
            await connection.execute("VACUUM")
        await connection.execute("PRAGMA busy_timeout = 200")  # a reader may stay for hours
        [(busy, *_)] = await connection.execute_fetchall("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as error:
        return f"the file could not be made smaller: {error}"
    return "the file becomes smaller once nobody reads it any more" if busy else ""


def _size(path: Path) -> int:
    return sum(file.stat().st_size for file in files_of(path)[:2] if file.exists())
