"""Durable ingest into a store, against plain sqlite3 on the same schema in the same run (architecture.md,
"Performance"). Run by `pytest tests/bench`; the ratio is in the JSON as `extra_info`."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from cockpit.core.message import RESIDENTS, Message, Stamp, Text
from cockpit.core.records import Batch
from cockpit.store import schema
from cockpit.store.chronicle import SqliteChronicle, open_chronicle
from cockpit.store.codec import encode_record
from cockpit.store.message_codec import INSERT_RECORD, Row

ROWS = 1_000
BATCHES = 30
LINE = "a line of ordinary chat, as long as people write them, with a name or two in it"


def message(number: int, epoch: str | None = None) -> Message:
    """An ordinary message as admission makes it."""
    return Message(
        slot=RESIDENTS,
        kind="chat",
        author="hedgehog",
        blocks=(Text(f"{number} {LINE}"),),
        at=1_796_000_000.0 + number,
        target="channel:disc/disc:guild:noisy",
        channel="disc:guild:noisy",
        id=f"m{number}",
        author_id="u17",
        tags=("chat:message", "chat:ambient"),
        stamp=Stamp(epoch) if epoch else None,
        key=f"disc/disc:guild:noisy/m{number}",
        rules=("server-mute", "mute", "epoch", "default"),
        sequence=number,
    )


def batches(first: int, epoch: str | None = None) -> list[tuple[Message, ...]]:
    starts = range(first, first + ROWS * BATCHES, ROWS)
    return [tuple(message(number, epoch) for number in range(start, start + ROWS)) for start in starts]


def plain(path: Path, rows: Sequence[Sequence[Row]]) -> list[float]:
    """Seconds a transaction of the floor: rows that are encoded already, `executemany`, one thread."""
    path.touch()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(schema.DURABLE)
    connection.executescript(schema.script(schema.LATEST))
    insert = INSERT_RECORD.format(f"({', '.join('?' * len(rows[0][0]))})")
    took: list[float] = []
    for batch in rows:
        began = time.perf_counter()
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(insert, batch)
        connection.execute("COMMIT")
        took.append(time.perf_counter() - began)
    connection.close()
    return took


async def ours(chronicle: SqliteChronicle, given: Sequence[tuple[Message, ...]]) -> list[float]:
    """Seconds an append, encoding and thread hops included."""
    took: list[float] = []
    for messages in given:
        began = time.perf_counter()
        await chronicle.append(Batch(messages))
        took.append(time.perf_counter() - began)
    return took


@pytest.mark.parametrize("epoch", [None, "epoch-1"], ids=["heard", "diverted"])
def test_durable_ingest(benchmark: BenchmarkFixture, tmp_path: Path, epoch: str | None) -> None:
    """At least a quarter of the floor; a third is the aim."""
    given = batches(1, epoch)
    rows = [[encode_record(each) for each in messages] for messages in given]

    def both() -> tuple[float, float]:
        async def run() -> list[float]:
            async with open_chronicle(tmp_path / f"{time.perf_counter_ns()}.db") as chronicle:
                return await ours(chronicle, given)

        return median(plain(tmp_path / f"{time.perf_counter_ns()}.db", rows)), median(asyncio.run(run()))

    floor, measured = benchmark.pedantic(both, rounds=3, iterations=1)
    benchmark.extra_info["of the floor"] = round(floor / measured, 2)
    benchmark.extra_info["rows a second"] = round(ROWS / measured)
    assert floor / measured >= 1 / 4


def test_durable_ingest_beside_a_busy_loop(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    """What it is worth that a batch is a few statements: the loop has work of its own meanwhile."""
    given = batches(1)[:10]

    async def run() -> list[float]:
        async with open_chronicle(tmp_path / f"{time.perf_counter_ns()}.db") as chronicle:
            async with asyncio.TaskGroup() as group:
                busy = group.create_task(_busy(), name="busy")
                took = await ours(chronicle, given)
                busy.cancel()
            return took

    measured = median(benchmark.pedantic(lambda: asyncio.run(run()), rounds=1, iterations=1))
    benchmark.extra_info["rows a second"] = round(ROWS / measured)


async def _busy() -> None:
    while True:
        sum(range(20_000))
        await asyncio.sleep(0)
