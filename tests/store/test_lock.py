"""One cockpit a store (R-2, K-86, F-41): a second is refused by the first one's process id, a dead one's lock is taken
over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cockpit.errors import StoreError, StoreInUse
from cockpit.store.chronicle import open_chronicle
from cockpit.store.lock import StoreLock

HOLDS = """
import asyncio, sys
from pathlib import Path
from cockpit.store.chronicle import open_chronicle
async def main():
    async with open_chronicle(Path(sys.argv[1])):
        print("held", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
asyncio.run(main())
"""


@contextmanager
def cockpit(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the store."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


async def test_a_second_cockpit_is_refused_and_told_the_first_ones_process_id(path: Path) -> None:
    with cockpit(path) as first:
        with pytest.raises(StoreInUse, match=f"is in use by the cockpit with process id {first.pid}$") as refused:
            async with open_chronicle(path):
                pass
        assert refused.value.pid == first.pid


async def test_a_second_one_by_another_name_of_the_same_file_is_refused(path: Path, tmp_path: Path) -> None:
    linked = tmp_path / "link.db"
    linked.symlink_to(path)
    async with open_chronicle(path):
        with pytest.raises(StoreInUse) as refused:
            async with open_chronicle(linked):
                pass
    assert refused.value.pid == os.getpid()


async def test_the_lock_of_a_process_that_was_killed_is_taken_over(path: Path) -> None:
    with cockpit(path) as first:
        first.send_signal(signal.SIGKILL)
        first.wait()
    async with open_chronicle(path):
        assert _holder(path) == os.getpid()


async def test_a_process_id_that_lives_again_does_not_keep_the_lock(path: Path) -> None:
    path.parent.mkdir()
    path.with_name("cockpit.db.lock").write_text("1\n")  # that of a process that lives for ever
    async with open_chronicle(path):
        assert _holder(path) == os.getpid()


async def test_a_cockpit_that_ended_leaves_the_store_free(path: Path) -> None:
    for _ in range(2):
        async with open_chronicle(path):
            pass


def test_a_process_that_the_cockpit_started_does_not_keep_the_lock(path: Path) -> None:
    path.parent.mkdir()
    with StoreLock(path):
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False)
    with child, StoreLock(path):
        assert _holder(path) == os.getpid()
        child.communicate(b"\n")


def test_a_lock_that_cannot_be_is_said(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be locked: No such file or directory"):
        StoreLock(tmp_path / "nowhere" / "cockpit.db").__enter__()


def _holder(path: Path) -> int:
    return int(path.with_name(f"{path.name}.lock").read_text())
