"""What opening a store gives back, from the small tables that each transaction keeps current: the channels, the turns
that are owed, the snapshots and the sums, never a count over the log.

A malformed one is left out and named; of a channel, the newest lifecycle record that holds its value stands in (K-81).
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import aclosing

import aiosqlite

from cockpit.core.channel import Channel
from cockpit.core.message import Json
from cockpit.core.records import Usage, WakeRequest
from cockpit.core.state import decode_channel
from cockpit.store import fields, sources
from cockpit.store.codec import decode_lifecycle, decode_snapshot, decode_usage, decode_wake
from cockpit.store.pages import pages
from cockpit.store.protocol import Opened

_STATE = """
SELECT 'head' AS what, '' AS name, max(sequence) AS number, '' AS body FROM record
UNION ALL SELECT 'channel', target, 0, body FROM channel
UNION ALL SELECT 'pending', '', sequence, body FROM pending JOIN record USING (sequence)
UNION ALL SELECT 'snapshot', name, sequence, body FROM snapshot JOIN record USING (sequence)
UNION ALL SELECT 'agent', name, turns, json_array(input, output, cache_read, cache_write) FROM agent
"""
"""One statement, so that it is one moment."""


async def read_state(connection: aiosqlite.Connection) -> Opened:
    """The state of a store. Its cost follows the channels and the agents, not the log."""
    rows: defaultdict[str, list[tuple[str, int, str]]] = defaultdict(list)
    for what, name, number, body in await connection.execute_fetchall(_STATE):
        rows[what].append((name, number, body))
    skipped: list[str] = []
    channels = [await _channel(connection, target, body, skipped) for target, _, body in rows["channel"]]
    head = rows["head"][0][1] or 0
    pending = _pending(rows["pending"], skipped)
    snapshots = _snapshots(rows["snapshot"], skipped)
    usage, turns = _agents(rows["agent"], skipped)
    return Opened(
        head=head,
        channels=tuple(channel for channel in channels if channel is not None),
        pending=pending,
        snapshots=snapshots,
        usage=usage,
        turns=turns,
        fresh=head == 0,
        skipped=tuple(skipped),
    )


async def _channel(connection: aiosqlite.Connection, target: str, body: str, skipped: list[str]) -> Channel | None:
    try:
        return _of(target, fields.read(body))
    except ValueError as error:
        before = await _recorded(connection, target)
        instead = "its last recorded state stands in" if before is not None else "it is left out"
        skipped.append(f"the state of {target} is malformed and {instead}: {error}")
        return before


async def _recorded(connection: aiosqlite.Connection, target: str) -> Channel | None:
    """The value in the newest valid lifecycle record that holds one."""
    async with aclosing(pages(connection, sources.records("lifecycle", target))) as found:
        async for page in found:
            for line in page:
                try:
                    return _of(target, decode_lifecycle(line.sequence, line.body).body.get("channel"))
                except ValueError:  # the next older one may be whole
                    continue
    return None


def _of(target: str, value: Json) -> Channel:
    channel = decode_channel(value)
    if str(channel.target) != target:
        raise ValueError(f"it speaks of {channel.target}")
    return channel


def _pending(rows: list[tuple[str, int, str]], skipped: list[str]) -> tuple[WakeRequest, ...]:
    read: list[WakeRequest] = []
    for _, sequence, body in sorted(rows, key=lambda row: row[1]):
        try:
            read.append(decode_wake(sequence, body))
        except ValueError as error:
            skipped.append(f"wake request {sequence} is malformed and is left out: {error}")
    return tuple(read)


def _snapshots(rows: list[tuple[str, int, str]], skipped: list[str]) -> dict[str, Json]:
    read: dict[str, Json] = {}
    for name, sequence, body in rows:
        try:
            read[name] = decode_snapshot(sequence, body).value
        except ValueError as error:
            skipped.append(f"snapshot {sequence} of {name!r} is malformed and is left out: {error}")
    return read


def _agents(rows: list[tuple[str, int, str]], skipped: list[str]) -> tuple[dict[str, Usage], dict[str, int]]:
    usage: dict[str, Usage] = {}
    turns: dict[str, int] = {}
    for name, number, body in rows:
        try:
            usage[name] = decode_usage(fields.items(fields.read(f'{{"usage":{body}}}'), "usage"))
            turns[name] = int(number)
        except ValueError as error:
            skipped.append(f"the sums of {name!r} are malformed and are left out: {error}")
    return usage, turns
