"""The real program without a screen, in a process of its own: say verbs, wait for lines, kill it.

async with headless(recipe, store) as cockpit:
    await cockpit.line(event="channel", target="mcp:git", label="online")
    answer = await cockpit.run("go=mute target=mcp:git")
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from cockpit.core.message import Json

Line = Mapping[str, Json]

PATIENCE = 30.0
"""Seconds that a wait may take before its test fails."""


class Program:
    """One run. `lines` holds every line it wrote, in order; `errors` is its standard error once it has ended."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._more = asyncio.Condition()
        self._ended = False
        self.lines: list[Line] = []
        self.errors = ""

    @property
    def pid(self) -> int:
        return self._process.pid

    def say(self, line: str) -> None:
        """Write one line to its standard input."""
        if self._process.stdin is None:
            raise ValueError("its input is closed")
        self._process.stdin.write(f"{line}\n".encode())

    async def run(self, line: str) -> Line:
        """Say one verb, and wait for its `verb` line."""
        before = len(self.lines)
        self.say(line)
        return await self.line(after=before, event="verb", line=line)

    async def line(self, *, after: int = 0, **wanted: Json) -> Line:
        """The first line from number `after` on that has all these fields; waits for it."""

        def found() -> Line | None:
            for each in self.lines[after:]:
                if all(each.get(name) == value for name, value in wanted.items()):
                    return each
            return None

        async with asyncio.timeout(PATIENCE), self._more:
            while (hit := found()) is None:
                if self._ended:
                    raise EOFError(f"it ended without {wanted}: {self.errors}")
                await self._more.wait()
        return hit

    async def count(self, lines: int) -> None:
        """Wait until it has written so many lines in all, or has ended."""
        async with asyncio.timeout(PATIENCE), self._more:
            while len(self.lines) < lines and not self._ended:
                await self._more.wait()

    def all(self, **wanted: Json) -> list[Line]:
        """Every line so far that has all these fields."""
        return [each for each in self.lines if all(each.get(name) == value for name, value in wanted.items())]

    def close_input(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    async def ended(self) -> int:
        """Wait until it has ended; its exit code."""
        async with asyncio.timeout(PATIENCE):
            return await self._process.wait()

    async def kill(self) -> None:
        """`kill -9`, and wait until it is gone."""
        self._process.kill()
        await self.ended()

    async def listen(self) -> None:
        """Read what it writes until it has ended."""
        if self._process.stdout is None or self._process.stderr is None:
            raise ValueError("its output is not piped")
        errors = asyncio.ensure_future(self._process.stderr.read())
        async for raw in self._process.stdout:
            async with self._more:
                self.lines.append(json.loads(raw))
                self._more.notify_all()
        self.errors = (await errors).decode()
        async with self._more:
            self._ended = True
            self._more.notify_all()


def items(value: Json) -> list[Line]:
    """A list of objects, as a line holds it. Raises TypeError where it is none."""
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is no list")
    return [fields(each) for each in value]


def fields(value: Json) -> Line:
    """One object of a line. Raises TypeError where it is none."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{value!r} is no object")
    return value


@asynccontextmanager
async def headless(
    recipe: Path | str,
    store: Path,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> AsyncIterator[Program]:
    """Start `cockpit run --headless RECIPE --db STORE`; it is killed at the end where it has not ended."""
    command: Sequence[str] = (
        sys.executable, "-m", "cockpit", "run", "--headless", str(recipe), "--db", str(store), *arguments,
    )  # fmt: skip
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **(environment or {})},
        cwd=folder,
        limit=64 << 20,
    )
    program = Program(process)
    async with asyncio.TaskGroup() as group:
        group.create_task(program.listen(), name="lines")
        try:
            yield program
        finally:
            if process.returncode is None:
                process.send_signal(signal.SIGKILL)
            await process.wait()
