"""Finding messages by their name: which duplicate keys are in the log (A-7), and which message a reference means.

Each question is one value of one row, as `pages` explains; the answer names keys by their place in the question, since
a key of a foreign server may hold anything.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import islice

import aiosqlite

from cockpit.core.text import sanitise
from cockpit.store.pages import LAST, Line

_SIZES = (16, 128, 1024)
_SPLITS = 8  # slashes of a reference that are tried as the end of its channel's id


async def found_keys(connection: aiosqlite.Connection, keys: Collection[str]) -> frozenset[str]:
    """Those of `keys` that the log holds, in one question a thousand."""
    found: set[str] = set()
    rest = iter(keys)
    while asked := list(islice(rest, _SIZES[-1])):
        size = next(size for size in _SIZES if size >= len(asked))
        padded = [*map(sanitise, asked), *[None] * (size - len(asked))]
        [(places,)] = await connection.execute_fetchall(_keys(size), padded)
        found.update(asked[int(place)] for place in str(places or "").split(",") if place)
    return frozenset(found)


@lru_cache(maxsize=len(_SIZES))
def _keys(size: int) -> str:
    places = ", ".join(f"({place}, ?)" for place in range(size))
    return (
        f"WITH asked (place, name) AS (VALUES {places}) SELECT group_concat(place, ',') FROM asked"  # noqa: S608  # numbers
        " CROSS JOIN record INDEXED BY record_key ON record.key = asked.name"
    )


async def found_reference(connection: aiosqlite.Connection, reference: str) -> Line | None:
    """The newest message that a reference means: a sequence, `SERVER/MESSAGE-ID` or `SERVER/CHANNEL-ID/MESSAGE-ID`."""
    if reference.isascii() and reference.isdecimal():
        return await _by_sequence(connection, int(reference)) if len(reference) < len(str(LAST)) else None
    for name, target in _readings(sanitise(reference)):
        narrowed = "" if target is None else "AND target = :target"
        rows = await connection.execute_fetchall(
            "SELECT sequence, body FROM record INDEXED BY record_reference"  # noqa: S608  # constants
            f" WHERE reference = :name {narrowed} ORDER BY sequence DESC LIMIT 1",
            {"name": name, "target": target},
        )
        for sequence, body in rows:
            return Line(sequence, body)
    return None


async def _by_sequence(connection: aiosqlite.Connection, sequence: int) -> Line | None:
    rows = await connection.execute_fetchall(
        "SELECT body FROM record WHERE sequence = ? AND kind = 'message'", (sequence,)
    )
    return next((Line(sequence, body) for (body,) in rows), None)


def _readings(reference: str) -> Sequence[tuple[str, str | None]]:
    """What it may mean, the most exact first: message and channel ids may hold slashes, a server's name holds none."""
    server, _, rest = reference.partition("/")
    readings: list[tuple[str, str | None]] = []
    at = -1
    for _ in range(_SPLITS):
        at = rest.find("/", at + 1)
        if at < 0:
            break
        readings.append((f"{server}/{rest[at + 1 :]}", f"channel:{server}/{rest[:at]}"))
    return [*readings, (reference, None)]
