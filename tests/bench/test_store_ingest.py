"""Durable ingest into a store, against plain sqlite3 on the same schema in the same run (architecture.md,
"Performance"). Run by `pytest tests/bench`; the ratio is in the JSON as `extra_info`."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import TypeVar

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from cockpit.core.message import RESIDENTS, Message, Stamp, Text
from cockpit.core.records import Batch
from cockpit.store import schema
from cockpit.store.chronicle import open_chronicle
from cockpit.store.codec import encode_record
from cockpit.store.message_codec import INSERT_RECORD, Row

T = TypeVar("T")

ROWS = 1_000
BATCHES = 60
LINE = "a line of ordinary chat, as long as people write them, with a name or two in it"


def message(number: int, epoch: str | None) -> Message:
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


def batches(epoch: str | None) -> Iterator[tuple[Message, ...]]:
    for start in range(1, ROWS * BATCHES, ROWS):
        yield tuple(message(number, epoch) for number in range(start, start + ROWS))


class Plain:
    """The floor: rows that are encoded already, `executemany`, one thread, the same pragmas and indexes."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.executescript(schema.DURABLE)
        self._connection.executescript(schema.script(schema.LATEST))

    def append(self, rows: Sequence[Row]) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany(INSERT_RECORD.format(f"({', '.join('?' * len(rows[0]))})"), rows)
        self._connection.execute("COMMIT")

    def close(self) -> None:
        self._connection.close()


async def both(folder: Path, epoch: str | None) -> tuple[float, float]:
    """Median seconds of a thousand rows by the floor and by the chronicle, turn by turn on one disk."""
    floor: list[float] = []
    ours: list[float] = []
    plain = Plain(folder / "plain.db")
    async with open_chronicle(folder / "ours.db") as chronicle:
        for messages in batches(epoch):
            rows = [encode_record(each) for each in messages]
            began = time.perf_counter()
            plain.append(rows)
            between = time.perf_counter()
            await chronicle.append(Batch(messages))
            floor.append(between - began)
            ours.append(time.perf_counter() - between)
    plain.close()
    return median(floor), median(ours)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("epoch", [None, "epoch-1"], ids=["heard", "diverted"])
def test_durable_ingest(benchmark: BenchmarkFixture, tmp_path: Path, epoch: str | None) -> None:
    """At least a quarter of the floor; a third is the aim. Encoding and thread hops are in ours, not in the floor."""
    floor, ours = once(benchmark, lambda: asyncio.run(both(tmp_path, epoch)))
    benchmark.extra_info["of the floor"] = round(floor / ours, 2)
    benchmark.extra_info["rows a second"] = round(ROWS / ours)
    assert floor / ours >= 1 / 4


@pytest.mark.timeout(600)
def test_durable_ingest_beside_a_busy_loop(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    """What it is worth that a batch is a few statements: the loop has work of its own meanwhile."""

    async def run() -> float:
        took: list[float] = []
        async with open_chronicle(tmp_path / "ours.db") as chronicle, asyncio.TaskGroup() as group:
            busy = group.create_task(_busy(), name="busy")
            for messages in batches(None):
                began = time.perf_counter()
                await chronicle.append(Batch(messages))
                took.append(time.perf_counter() - began)
            busy.cancel()
        return median(took)

    benchmark.extra_info["rows a second"] = round(ROWS / once(benchmark, lambda: asyncio.run(run())))


async def _busy() -> None:
    while True:
        sum(range(20_000))
        await asyncio.sleep(0)


def once(benchmark: BenchmarkFixture, run: Callable[[], T]) -> T:
    """Run it as one round of its own."""
    result: T = benchmark.pedantic(run, rounds=1, iterations=1)
    return result
