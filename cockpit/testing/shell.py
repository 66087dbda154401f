"""The shell beside a cockpit that runs: commands as programs of their own, in a runtime folder that no other test sees.

with runtime() as environment:
    async with headless(recipe, store, environment=environment) as running:
        done = await cockpit("go", "go=mute target=mcp:git", environment=environment)
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

PATIENCE = 30.0
"""Seconds that one command may take before its test fails."""


class Done(NamedTuple):
    """How a command ended. err: its standard error; a clean command's holds nothing but talk."""

    code: int
    out: str
    err: str


@contextmanager
def runtime() -> Iterator[Mapping[str, str]]:
    """A runtime and state folder of the test's own, with a short name: a Unix socket's has about a hundred bytes."""
    with tempfile.TemporaryDirectory(prefix="ck") as folder:
        yield {"XDG_RUNTIME_DIR": folder, "TMPDIR": folder, "XDG_STATE_HOME": folder}


async def start(
    *arguments: str, environment: Mapping[str, str], stdin: int = asyncio.subprocess.DEVNULL
) -> asyncio.subprocess.Process:
    """Start `cockpit ARGUMENTS` with its output and errors piped, and nobody reading them."""
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "cockpit", *arguments,
        stdin=stdin, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, limit=64 << 20,
        env={**os.environ, **environment},
    )  # fmt: skip


async def cockpit(*arguments: str, environment: Mapping[str, str]) -> Done:
    """Run `cockpit ARGUMENTS` to its end."""
    return await ended(await start(*arguments, environment=environment))


async def run(command: Sequence[str], *, environment: Mapping[str, str], folder: str | None = None) -> Done:
    """Run any program to its end."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **environment}, cwd=folder,
    )  # fmt: skip
    return await ended(process)


async def ended(process: asyncio.subprocess.Process) -> Done:
    """Read all that it writes until it has ended; it is killed where that takes too long."""
    try:
        async with asyncio.timeout(PATIENCE):
            out, err = await process.communicate()
    except TimeoutError:
        process.kill()
        out, err = await process.communicate()
        raise AssertionError(f"it did not end: {out.decode()}{err.decode()}") from None
    return Done(process.returncode or 0, out.decode(), err.decode())
