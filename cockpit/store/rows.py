"""One transaction's rows: the records, and beside them what keeps the small tables current, so that opening a store
has nothing to count."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TypeAlias, TypeVar

from cockpit.core.channel import Channel
from cockpit.core.records import Snapshot, TurnEnded, Usage, WakeRequest
from cockpit.core.state import channel_line, encode_channel
from cockpit.core.text import sanitise
from cockpit.store import fields
from cockpit.store.codec import Stored, encode_record
from cockpit.store.message_codec import INSERT_RECORD, Row

Value: TypeAlias = str | int | None
Values = TypeVar("Values", bound=tuple[Value, ...])

CHUNK = 500
"""Records a statement: their values stay below the 32,766 that SQLite binds at once."""

_CHANNEL = (
    "INSERT INTO channel (target, body) VALUES {} ON CONFLICT (target) DO UPDATE SET body = excluded.body"
)  # fmt: skip
_OWED = "INSERT INTO pending (sequence) VALUES {}"
_SERVED = "DELETE FROM pending WHERE sequence IN (VALUES {})"
_SNAPSHOT = (
    "INSERT INTO snapshot (name, sequence) VALUES {} ON CONFLICT (name) DO UPDATE SET sequence = excluded.sequence"
)
_TURN = (
    "INSERT INTO agent (name, turns, input, output, cache_read, cache_write) VALUES {} ON CONFLICT (name) DO UPDATE SET"
    " turns = turns + excluded.turns, input = input + excluded.input, output = output + excluded.output,"
    " cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write"
)


@dataclass(frozen=True, slots=True)
class Rows:
    """What one transaction writes: the records, the channels' values, the wake requests that it makes and serves,
    the newest snapshots, and the turns that ended with their usage."""

    records: Sequence[Row]
    channels: Sequence[tuple[str, str]] = ()
    owed: Sequence[tuple[int]] = ()
    served: Sequence[tuple[int]] = ()
    snapshots: Sequence[tuple[str, int]] = ()
    turns: Sequence[tuple[str, int, int, int, int, int]] = ()

    @staticmethod
    def of(records: Sequence[Stored], channels: Iterable[Channel]) -> Rows:
        """The rows of numbered records and of the channels that they changed. Raises TypeError, ValueError or
        RecursionError where a record holds what is no JSON."""
        ended = [record for record in records if isinstance(record, TurnEnded)]
        return Rows(
            records=[encode_record(record) for record in records],
            channels=[(str(channel.target), _body(channel)) for channel in channels],
            owed=[(record.sequence,) for record in records if isinstance(record, WakeRequest)],
            served=[(sequence,) for record in ended for sequence in record.served],
            snapshots=[(record.name, record.sequence) for record in records if isinstance(record, Snapshot)],
            turns=[_turn(record) for record in ended if record.usage is not None],  # without: owed, and never begun
        )

    def storable(self) -> Rows:
        """The same with U+FFFD for every lone surrogate, which no file can hold (D-7)."""
        return Rows(
            [_clean(row) for row in self.records],
            [_clean(row) for row in self.channels],
            self.owed,
            self.served,
            [_clean(row) for row in self.snapshots],
            [_clean(row) for row in self.turns],
        )


def write(rows: Rows, connection: sqlite3.Connection) -> None:
    """Write them, inside a transaction that the caller began."""
    for template, values in (
        (INSERT_RECORD, rows.records),
        (_CHANNEL, rows.channels),
        (_OWED, rows.owed),
        (_SERVED, rows.served),
        (_SNAPSHOT, rows.snapshots),
        (_TURN, rows.turns),
    ):
        for start in range(0, len(values), CHUNK):
            part = values[start : start + CHUNK]
            connection.execute(statement(template, len(part), len(part[0])), list(chain.from_iterable(part)))


@lru_cache(maxsize=1024)
def statement(template: str, rows: int, columns: int) -> str:
    """`template` for so many rows of so many values."""
    row = f"({', '.join('?' * columns)})"
    return template.format(", ".join([row] * rows))


def _body(channel: Channel) -> str:
    return channel_line(channel) or fields.write(encode_channel(channel))


def _turn(record: TurnEnded) -> tuple[str, int, int, int, int, int]:
    used = record.usage or Usage()
    return (record.agent, 1, used.input, used.output, used.cache_read, used.cache_write)


def _clean(row: Values) -> Values:
    cleaned: Values = tuple(sanitise(value) if isinstance(value, str) else value for value in row)  # type: ignore[assignment]  # the same types in the same places
    return cleaned
