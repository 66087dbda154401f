"""What must not grow with the log: opening a store, the cancel of a large backlog, and the newest page of a view
(architecture.md, "Performance"). Run by `pytest tests/bench`; the ratios are in the JSON as `extra_info`."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Coroutine, Iterator
from itertools import islice
from pathlib import Path
from statistics import median
from typing import TypeVar

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from cockpit.core.channel import Channel, Epoch
from cockpit.core.message import RESIDENTS, Message, Stamp, Text
from cockpit.core.records import Batch, DumpOf, ReportTurn
from cockpit.core.target import Target
from cockpit.store.chronicle import SqliteChronicle, open_chronicle
from cockpit.store.codec import encode_record
from cockpit.store.message_codec import INSERT_RECORD

NOISY = Channel(
    Target("channel", "disc/disc:guild:noisy"),
    epoch=Epoch("epoch-1", 1800.0, 200, 5, None, 1_796_000_000.0, 1),
)
MILLION = 1_000_000

T = TypeVar("T")


def messages(count: int, epoch: str | None = None) -> Iterator[Message]:
    for number in range(1, count + 1):
        yield Message(
            slot=RESIDENTS,
            kind="chat",
            author="hedgehog",
            blocks=(Text(f"{number} a line of ordinary chat, as long as people write them"),),
            at=1_796_000_000.0 + number,
            target=str(NOISY.target),
            channel="disc:guild:noisy",
            id=f"m{number}",
            stamp=Stamp(epoch) if epoch else None,
            key=f"disc/disc:guild:noisy/m{number}",
            sequence=number,
        )


async def fill(path: Path, count: int, epoch: str | None = None) -> None:
    """A store that holds so many messages; written as fast as it can be, its making is not measured."""
    async with open_chronicle(path) as chronicle:
        await chronicle.append(Batch((), (NOISY,)))
    plain = sqlite3.connect(path, isolation_level=None)
    plain.executescript("PRAGMA synchronous = OFF; PRAGMA cache_size = -400000;")
    given = messages(count, epoch)
    insert = INSERT_RECORD.format(f"({', '.join('?' * 10)})")
    while part := list(islice(given, 50_000)):
        plain.execute("BEGIN")
        plain.executemany(insert, [encode_record(message) for message in part])
        plain.execute("COMMIT")
    plain.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    plain.close()


def once(benchmark: BenchmarkFixture, run: Callable[[], T]) -> T:
    """Run it as one round of its own."""
    result: T = benchmark.pedantic(run, rounds=1, iterations=1)
    return result


def seconds(repeat: int, run: Callable[[], Coroutine[None, None, object]]) -> float:
    """The median of some runs, each in a loop of its own."""
    took: list[float] = []
    for _ in range(repeat):
        began = time.perf_counter()
        asyncio.run(run())
        took.append(time.perf_counter() - began)
    return median(took)


@pytest.mark.timeout(600)
def test_opening_a_million_messages(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    """At most 1.5 times an empty store."""
    small, large = tmp_path / "small.db", tmp_path / "large.db"
    asyncio.run(fill(small, 0))
    asyncio.run(fill(large, MILLION))

    def opening(path: Path) -> Callable[[], Coroutine[None, None, None]]:
        async def run() -> None:
            async with open_chronicle(path) as chronicle:
                assert len((await chronicle.opened()).channels) == 1

        return run

    def both() -> tuple[float, float]:
        return seconds(25, opening(small)), seconds(25, opening(large))

    empty, full = once(benchmark, both)
    benchmark.extra_info["times an empty store"] = round(full / empty, 2)
    assert full / empty <= 1.5


@pytest.mark.timeout(600)
def test_cancelling_a_hundred_thousand(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    """With a cap of 200, at most twice what a thousand cost."""
    few, many = tmp_path / "few.db", tmp_path / "many.db"
    asyncio.run(fill(few, 1_000, "epoch-1"))
    asyncio.run(fill(many, 100_000, "epoch-1"))

    async def cancel(path: Path, count: int) -> float:
        async with open_chronicle(path) as chronicle:
            took: list[float] = []
            for _ in range(15):
                head = (await chronicle.opened()).head
                began = time.perf_counter()
                await chronicle.append(Batch((_end(head + 1, count),), (NOISY,)))
                took.append(time.perf_counter() - began)
            return median(took)

    def both() -> tuple[float, float]:
        return asyncio.run(cancel(few, 1_000)), asyncio.run(cancel(many, 100_000))

    small, large = once(benchmark, both)
    benchmark.extra_info["times a thousand"] = round(large / small, 2)
    assert large / small <= 2


@pytest.mark.timeout(600)
def test_reading_the_newest_of_a_million(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    """A page of a view costs the page; reported, without a bound of its own."""
    small, large = tmp_path / "small.db", tmp_path / "large.db"
    asyncio.run(fill(small, 1_000))
    asyncio.run(fill(large, MILLION))

    async def read(path: Path) -> float:
        async with open_chronicle(path) as chronicle:
            return median([await _page(chronicle) for _ in range(25)])

    def both() -> tuple[float, float]:
        return asyncio.run(read(small)), asyncio.run(read(large))

    few, many = once(benchmark, both)
    benchmark.extra_info["times a thousand"] = round(many / few, 2)
    benchmark.extra_info["messages a second"] = round(500 / many)


async def _page(chronicle: SqliteChronicle) -> float:
    began = time.perf_counter()
    assert len(await chronicle.messages([RESIDENTS, "agent/scout"], view="unmuted", limit=500)) == 500
    return time.perf_counter() - began


def _end(sequence: int, messages: int) -> DumpOf:
    return DumpOf(
        slot=RESIDENTS,
        owner="residents",
        kind="tune-out-cancel",
        target=str(NOISY.target),
        channel="disc:guild:noisy",
        notice="[Tune-out: disc:guild:noisy cancelled — agent request, 0 wakes]",
        tag="tuned-out-backlog",
        stamp="epoch-1",
        messages=messages,
        cap=200,
        bound=40_000,
        at=1_796_000_000.0,
        report=ReportTurn("watcher", "subconscious/scout", "epoch-1", "agent request"),
        sequence=sequence,
    )
