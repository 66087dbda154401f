"""What a request costs must follow the window, not the history: a full window at a thousand and at a million stored
messages, and the start that fills it (semantics.md V-9, architecture.md, "Performance").

Run by `pytest tests/bench`; the ratios and the memory are in the JSON as `extra_info`."""

from __future__ import annotations

import asyncio
import sqlite3
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TypeVar

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from cockpit.context.agent_context import AgentContext, Ceilings
from cockpit.core.message import RESIDENTS, Message, Stamp, Text
from cockpit.store.chronicle import open_chronicle
from cockpit.store.codec import encode_record
from cockpit.store.message_codec import INSERT_RECORD
from cockpit.testing.conversation import CHANNEL, NINE, PRELUDE, TARGET
from cockpit.testing.memory_chronicle import MemoryChronicle

MILLION = 1_000_000
ROUNDS = 200
CEILINGS = Ceilings(context_tokens=32_000, max_tokens=2_000)
"""A window of some nine hundred messages, so that a thousand stored ones fill it."""

T = TypeVar("T")


def message(sequence: int) -> Message:
    """Ordinary chat; every tenth was diverted."""
    return Message(
        slot=RESIDENTS,
        kind="chat",
        author=f"hedgehog{sequence % 20}",
        blocks=(Text(f"{sequence} a line of ordinary chat, as long as people write them"),),
        at=NINE + sequence,
        target=TARGET,
        channel=CHANNEL,
        stamp=None if sequence % 10 else Stamp("e1"),
        sequence=sequence,
    )


async def fill(path: Path, count: int) -> None:
    """A store that holds so many messages; its making is not measured."""
    async with open_chronicle(path):
        pass
    plain = sqlite3.connect(path, isolation_level=None)
    plain.executescript("PRAGMA synchronous = OFF; PRAGMA cache_size = -400000;")
    insert = INSERT_RECORD.format(f"({', '.join('?' * len(encode_record(message(1))))})")
    for start in range(1, count + 1, 50_000):
        rows = [encode_record(message(number)) for number in range(start, min(start + 50_000, count + 1))]
        plain.execute("BEGIN")
        plain.executemany(insert, rows)
        plain.execute("COMMIT")
    plain.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    plain.close()


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds of one compile and of one start (load and first compile), bytes that the context holds."""

    compile: float
    start: float
    held: int


async def full(path: Path, count: int) -> tuple[AgentContext, float, int]:
    """A context whose window is full, with what its start cost in seconds and bytes."""
    async with open_chronicle(path) as chronicle:
        took: list[float] = []
        for _ in range(15):
            began = time.perf_counter()
            context = AgentContext.resident("scout", CEILINGS, chronicle)
            await context.load(count)
            context.compile(PRELUDE)
            took.append(time.perf_counter() - began)
        tracemalloc.start()
        context = AgentContext.resident("scout", CEILINGS, chronicle)
        await context.load(count)
    context.compile(PRELUDE)
    sequence, room = count, 0.97 * context.preview(PRELUDE).statistics.budget
    while context.preview(PRELUDE).statistics.messages < room:
        sequence += 1
        context.observe(message(sequence))
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return context, median(took), held


async def both(small: Path, large: Path) -> tuple[Measured, Measured]:
    """The two, compiled turn by turn so that a busy machine is as busy for both."""
    made = [await full(path, count) for path, count in ((small, 1_000), (large, MILLION))]
    took: list[list[float]] = [[], []]
    for _ in range(ROUNDS):
        for at, (context, _, _) in enumerate(made):
            began = time.perf_counter()
            done = context.compile(PRELUDE)
            took[at].append(time.perf_counter() - began)
            assert not done.moved
    few, many = (Measured(median(took[at]), start, held) for at, (_, start, held) in enumerate(made))
    return few, many


@pytest.mark.timeout(600)
def test_v9_compiling_a_full_window_of_a_million(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    """At most 1.3 times what it costs with a thousand stored (V-9)."""
    small, large = tmp_path / "small.db", tmp_path / "large.db"
    asyncio.run(fill(small, 1_000))
    asyncio.run(fill(large, MILLION))

    few, many = once(benchmark, lambda: asyncio.run(both(small, large)))

    benchmark.extra_info["times a thousand"] = round(many.compile / few.compile, 2)
    benchmark.extra_info["milliseconds a compile"] = round(many.compile * 1_000, 2)
    benchmark.extra_info["start, times a thousand"] = round(many.start / few.start, 2)
    benchmark.extra_info["kilobytes held, of a thousand and a million"] = [few.held // 1_000, many.held // 1_000]
    assert many.compile / few.compile <= 1.3
    assert many.held / few.held <= 1.3


@pytest.mark.timeout(600)
def test_v9_a_million_messages_pass_by(benchmark: BenchmarkFixture) -> None:
    """A flood that no request interrupts: what a context adds to each committed message, and what it holds."""
    context = AgentContext.resident("scout", Ceilings(), MemoryChronicle())

    def flood(first: int, last: int) -> tuple[float, int]:
        took = 0.0
        for start in range(first, last, 1_000):
            given = [message(sequence) for sequence in range(start, start + 1_000)]
            began = time.perf_counter()
            for each in given:
                context.observe(each)
            took += time.perf_counter() - began
        return took, tracemalloc.get_traced_memory()[0]

    def run() -> tuple[float, int, int]:
        tracemalloc.start()
        _, early = flood(1, 10_001)
        tracemalloc.stop()
        took, _ = flood(10_001, MILLION - 50_000)
        tracemalloc.start()
        _, late = flood(MILLION - 50_000, MILLION)
        tracemalloc.stop()
        return took / (MILLION - 60_000), early, late

    each, early, late = once(benchmark, run)
    benchmark.extra_info["microseconds a message"] = round(each * 1e6, 2)
    benchmark.extra_info["kilobytes held, of ten thousand and a million"] = [early // 1_000, late // 1_000]
    assert late - early <= 16_000_000


def once(benchmark: BenchmarkFixture, run: Callable[[], T]) -> T:
    """Run it as one round of its own."""
    result: T = benchmark.pedantic(run, rounds=1, iterations=1)
    return result
