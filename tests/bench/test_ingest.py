"""Ingest through admission, in process and over a real stdio MCPL server, against floors of the same run
(architecture.md, "Performance"). Run by `pytest tests/bench`; ratios and rates are in the JSON as `extra_info`."""

from __future__ import annotations

import asyncio
import json
import resource
import sqlite3
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TypeVar

import pytest
from mcp.client.session import ClientSession, IncomingMessage
from mcp.client.stdio import StdioServerParameters, stdio_client
from pytest_benchmark.fixture import BenchmarkFixture

from cockpit.core.inputs import Arrived
from cockpit.core.message import Text
from cockpit.core.target import channel
from cockpit.engine.assemble import open_session
from cockpit.recipe import load
from cockpit.store import schema
from cockpit.store.message_codec import INSERT_RECORD
from cockpit.testing.mcpl_remote import Remote
from cockpit.testing.rig import Rig, rig
from cockpit.testing.served import FIXTURE

T = TypeVar("T")

WINDOW = 500
"""Messages that the server has in flight."""
FLOOD = 20_000
FLIGHT = 1_000
"""Appends in flight, in process."""
BURSTS = 60
LINE = "a line of ordinary chat, as long as people write them, with a name or two in it"
COLUMNS = "sequence, kind, slot, target, stamp, muted, key, reference, edits, body"
NOISY = channel("disc", "noisy")
RECIPE = """
name = "bench"
[model]
provider = "offline"
[[resident]]
name = "scout"
system_prompt = "You listen."
[subconscious]
system_prompt = "You watch."
[gate]
default = "defer"
[[mcpl]]
name = "disc"
command = {command}
"""


@pytest.mark.timeout(600)
@pytest.mark.parametrize("tuned_out", [False, True], ids=["heard", "diverted"])
def test_ingest_through_admission(benchmark: BenchmarkFixture, tmp_path: Path, tuned_out: bool) -> None:
    """At least a quarter of plain `executemany` of the very same rows; a third is the aim."""
    ours, floor = once(benchmark, lambda: asyncio.run(_in_process(tmp_path, tuned_out)))
    benchmark.extra_info |= {"of the floor": round(floor / ours, 2), "messages a second": round(FLIGHT / ours)}
    assert floor / ours >= 1 / 4


@pytest.mark.timeout(600)
def test_ingest_over_stdio(benchmark: BenchmarkFixture) -> None:
    """At least 1.5 times an SDK session that does nothing, at least a third of a plain reader that answers."""
    ours, session, plain = once(benchmark, lambda: asyncio.run(_over_stdio()))
    benchmark.extra_info |= {
        "messages a second": round(ours),
        "of an SDK session": round(ours / session, 2),
        "of a plain reader": round(ours / plain, 2),
    }
    assert ours / session >= 1.5
    assert ours / plain >= 1 / 3


@pytest.mark.timeout(900)
def test_memory_over_a_million_messages(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    """At most 64 MB more than after the first ten thousand, half of them diverted."""
    after_few, after_all = once(benchmark, lambda: asyncio.run(_a_million(tmp_path)))
    benchmark.extra_info["more megabytes"] = round((after_all - after_few) / 1e6, 1)
    assert after_all - after_few <= 64e6


async def _a_million(folder: Path) -> tuple[int, int]:
    """Resident memory of this process, in bytes, after 10,000 and after a million messages."""
    async with rig(folder, RECIPE.format(command='["fake"]'), channels={"disc": ["noisy"]}) as cockpit:
        await _send(cockpit, 10)
        before = _resident_bytes()
        await _send(cockpit, 490)
        await cockpit.run(f"go=tune-out target={NOISY}")
        await _send(cockpit, 500)
        return before, _resident_bytes()


def _resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * resource.getpagesize()


async def _in_process(folder: Path, tuned_out: bool) -> tuple[float, float]:
    """Seconds of a thousand messages by the engine, and of the rows that it wrote by `executemany`."""
    async with rig(folder, RECIPE.format(command='["fake"]'), channels={"disc": ["noisy"]}) as cockpit:
        if tuned_out:
            await cockpit.run(f"go=tune-out target={NOISY}")
        await _send(cockpit, 10)
        before = cockpit.session.engine.ledger.head
        began = time.perf_counter()
        await _send(cockpit, BURSTS)
        took = (time.perf_counter() - began) / BURSTS
        cockpit.events.clear()
    return took, _plain(folder, before)


async def _send(cockpit: Rig, thousands: int) -> None:
    """So many thousand messages, a thousand in flight: ten senders, each with a hundred, awaited when durable."""
    numbers = count(cockpit.session.engine.ledger.head)
    arrived = cockpit.servers["disc"].host.arrived

    async def sender() -> None:
        for _ in range(thousands):
            for receipt in [await arrived(_message(next(numbers))) for _ in range(FLIGHT // 10)]:
                await receipt

    async with asyncio.TaskGroup() as group:
        for number in range(10):
            group.create_task(sender(), name=f"sender {number}")


def _message(number: int) -> Arrived:
    return Arrived(
        NOISY,
        "chat",
        "hedgehog",
        (Text(f"{number} {LINE}"),),
        key=f"disc/noisy/m{number}",
        id=f"m{number}",
        author_id="u17",
        tags=("chat:message", "chat:ambient"),
    )


def _plain(folder: Path, after: int) -> float:
    """Median seconds of a thousand of the engine's own rows by plain sqlite3, under the same pragmas and indexes."""
    took: list[float] = []
    ours = sqlite3.connect(folder / "rig.db")
    rows = ours.execute(f"SELECT {COLUMNS} FROM record WHERE sequence > ? ORDER BY sequence", (after,)).fetchall()  # noqa: S608 - our own columns
    ours.close()
    floor = sqlite3.connect(folder / "plain.db", isolation_level=None)
    floor.executescript(schema.DURABLE)
    floor.executescript(schema.script(schema.LATEST))
    insert = INSERT_RECORD.format(f"({', '.join('?' * len(rows[0]))})")
    for start in range(0, FLIGHT * BURSTS, FLIGHT):
        began = time.perf_counter()
        floor.execute("BEGIN IMMEDIATE")
        floor.executemany(insert, rows[start : start + FLIGHT])
        floor.execute("COMMIT")
        took.append(time.perf_counter() - began)
    floor.close()
    return median(took)


async def _over_stdio() -> tuple[float, float, float]:
    """Messages a second: the whole engine, each answered when durable; an SDK session; a plain reader. The best of
    three each, turn by turn."""
    rates: list[tuple[float, float, float]] = []
    for _ in range(3):
        with TemporaryDirectory(prefix="ck") as folder:
            here = Path(folder)
            rates.append((await _engine(here), await _session(here), await _reader(here)))
    ours, session, plain = zip(*rates, strict=True)
    return max(ours), max(session), max(plain)


async def _flood(remote: Remote) -> float:
    seconds = await asyncio.wait_for(remote.tell("flood", channel="noisy", count=FLOOD, window=WINDOW), 120)
    assert isinstance(seconds, float)
    return FLOOD / seconds


async def _engine(folder: Path) -> float:
    async with _listening(folder / "e") as (remote, command):
        recipe = folder / "bench.toml"
        recipe.write_text(RECIPE.format(command=json.dumps([*command, "--channels", "noisy"])), "utf-8")
        store = folder / "bench.db"
        async with open_session(load(str(recipe), {}), store, environment={}, logs=folder) as session:
            starting = asyncio.Event()
            starting.set()
            running = asyncio.create_task(session.engine.run(starting))
            await remote.connected()
            await remote.do("expect", method="channels/open")
            rate = await _flood(remote)
            session.engine.quit()
            await running
    with sqlite3.connect(store) as stored:
        assert stored.execute("SELECT count(*) FROM record WHERE slot = 'residents'").fetchone() == (FLOOD,)
    return rate


async def _session(folder: Path) -> float:
    async with (
        _listening(folder / "s") as (remote, command),
        stdio_client(StdioServerParameters(command=command[0], args=command[1:])) as streams,
        ClientSession(*streams, message_handler=_nothing) as session,
    ):
        await session.initialize()
        await remote.connected()
        return await _flood(remote)


async def _nothing(message: IncomingMessage) -> None:
    """The handler that does nothing."""


async def _reader(folder: Path) -> float:
    """Reads lines, parses them, and answers each."""
    async with _listening(folder / "r") as (remote, command):
        process = await asyncio.create_subprocess_exec(*command, stdin=-1, stdout=-1, limit=1 << 20)
        assert process.stdin is not None
        assert process.stdout is not None

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while line := await reader.readline():
                asked = json.loads(line)
                results = [{"messageId": each["messageId"], "accepted": True} for each in asked["params"]["messages"]]
                answer = {"jsonrpc": "2.0", "id": asked["id"], "result": {"results": results}}
                writer.write(json.dumps(answer, separators=(",", ":")).encode() + b"\n")
                await writer.drain()

        answering = asyncio.create_task(answer(process.stdout, process.stdin))
        await remote.connected()
        rate = await _flood(remote)
        process.stdin.close()
        await process.wait()
        await answering
        return rate


@asynccontextmanager
async def _listening(path: Path) -> AsyncIterator[tuple[Remote, list[str]]]:
    """A control socket, and the command of the fixture that connects to it."""
    async with Remote(path) as remote:
        yield remote, [sys.executable, *FIXTURE[1:], "--control", str(path)]


def once(benchmark: BenchmarkFixture, run: Callable[[], T]) -> T:
    """Run it as one round of its own."""
    result: T = benchmark.pedantic(run, rounds=1, iterations=1)
    return result
