"""R-1: whatever append returned for is there after `kill -9`, whole batches only, and the store opens."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cockpit.core.message import RESIDENTS
from cockpit.store.chronicle import open_chronicle

BATCH = 50

INGEST = f"""
import asyncio, sys
from itertools import count
from pathlib import Path
from cockpit.core.channel import Channel
from cockpit.core.message import Message, Text
from cockpit.core.records import Batch
from cockpit.core.target import Target
from cockpit.store.chronicle import open_chronicle
async def main():
    async with open_chronicle(Path(sys.argv[1])) as chronicle:
        first = (await chronicle.opened()).head + 1
        for start in count(first, {BATCH}):
            messages = tuple(
                Message("residents", "chat", "hedgehog", (Text("x" * 200),), 1.0, key=f"k{{number}}", sequence=number)
                for number in range(start, start + {BATCH})
            )
            await chronicle.append(Batch(messages, (Channel(Target("mcp", "git"), wait=start + {BATCH} - 1),)))
            print(start + {BATCH} - 1, flush=True)
asyncio.run(main())
"""


def killed_after(path: Path, batches: int) -> int:
    """Let a process ingest, kill it in the middle of a later batch; returns the last sequence that it was given."""
    process = subprocess.Popen([sys.executable, "-c", INGEST, path], stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(batches)]
        process.send_signal(signal.SIGKILL)
        said += process.stdout.readlines()
    assert process.returncode == -signal.SIGKILL
    return int([line for line in said if line.endswith("\n")][-1])


@pytest.mark.parametrize("batches", [1, 7, 40])
async def test_what_was_durable_is_there_after_a_kill(path: Path, batches: int) -> None:
    for _ in range(2):  # the second time on a store that was killed once
        durable = killed_after(path, batches)
        async with open_chronicle(path) as chronicle:
            opened = await chronicle.opened()
            stored = await chronicle.messages([RESIDENTS], view="all", limit=1_000_000)
        assert opened.head >= durable
        assert [message.sequence for message in stored] == list(range(1, opened.head + 1))
        assert opened.head % BATCH == 0  # no batch by halves
        assert [channel.wait for channel in opened.channels] == [opened.head]  # and the counts are of the same moment
