"""Reading a log of any size a little at a time: pages bounded by rows and by characters, each one value of one row.

SQLite gives up Python's lock at every row that it steps to, and takes it back only when the busy loop lets go: measured
beside a busy loop, a thousand rows one by one take seconds, as one joined text a few milliseconds.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field

import aiosqlite

ROWS = 256
"""Rows a page at most."""

CHARACTERS = 4_000_000
"""Characters of bodies a page at most, but for a single longer one: a flood of huge messages is read one by one."""

LAST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Source:
    """A SELECT of `sequence` and `body` in order of the sequence, newest first or oldest first, that is bounded by
    :after, :before and :rows; and its other values. A body holds no line break of its own; a second line of it is
    read as another record: its sequence, a space, its body."""

    select: str
    newest: bool
    values: Mapping[str, str | int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Line:
    """One body with its sequence; 0 where the text is so malformed that it has none."""

    sequence: int
    body: str


def page_of(source: Source) -> str:
    """The statement that reads one page of a source: how many rows there are, how many of them are in the page, the
    lowest and highest sequence of these, and their lines."""
    order = "DESC" if source.newest else "ASC"
    return (
        "SELECT count(*), count(*) FILTER (WHERE taken), min(sequence) FILTER (WHERE taken),"  # noqa: S608  # constants
        " max(sequence) FILTER (WHERE taken), group_concat(sequence || ' ' || body, char(10)) FILTER (WHERE taken)"
        f" FROM (SELECT sequence, body, sum(length(body)) OVER (ORDER BY sequence {order}) - length(body) < :characters"
        f" AS taken FROM ({source.select}))"
    )


async def pages(
    connection: aiosqlite.Connection, source: Source, *, after: int = 0, before: int | None = None, first: int = ROWS
) -> AsyncGenerator[list[Line], None]:
    """The pages of what stands after < sequence < before, each in the source's order. first: rows of the first page."""
    statement = page_of(source)
    low, high = after, LAST if before is None else before
    rows = max(1, min(first, ROWS))
    while True:
        values = {**source.values, "after": low, "before": high, "rows": rows, "characters": CHARACTERS}
        [(found, taken, lowest, highest, joined)] = await connection.execute_fetchall(statement, values)
        if not taken:
            return
        yield sorted(
            (_line(text) for text in str(joined).split("\n")), key=lambda line: line.sequence, reverse=source.newest
        )
        if found == taken < rows:
            return
        low, high = (low, lowest) if source.newest else (highest, high)
        rows = ROWS


def _line(text: str) -> Line:
    number, _, body = text.partition(" ")
    written = number.isascii() and number.isdigit() and len(number) <= len(str(LAST))
    return Line(int(number), body) if written else Line(0, text)
