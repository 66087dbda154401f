"""One server's process: started without a shell, in a session of its own, and ended with all its children.

Its stdout is read as fast as its reader takes it and no faster; its stderr is always drained, into a file.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from cockpit.connect.stderr import StderrLog
from cockpit.connect.transport import Crashed
from cockpit.errors import ConnectorError

_PASSED_ON = {
    *("PATH", "HOME", "LANG", "TZ", "TMPDIR", "USER", "LOGNAME", "SHELL", "TERM", "VIRTUAL_ENV"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
}
_PASSED_ON_PREFIXES = ("LC_", "XDG_")
_HIGH_WATER = 256 * 1024  # bytes of stdout that wait for their reader
_LAST_BREATH = 0.5  # seconds for what a dead process left in its pipe, where a child of its holds that open


def environment(extra: Mapping[str, str]) -> dict[str, str]:
    """What a server's process gets: the few variables that every program needs, and what its recipe names."""
    passed = {k: v for k, v in os.environ.items() if k in _PASSED_ON or k.startswith(_PASSED_ON_PREFIXES)}
    return passed | dict(extra)


def find(command: str, path: str | None) -> str:
    """The program's file: on `path`, else beside the running Python (a virtual environment that is not activated).

    Raises ConnectorError where there is none."""
    beside = Path(sys.executable).parent
    found = shutil.which(command, path=path) or (shutil.which(command, path=str(beside)) if command else None)
    if found is None:
        raise ConnectorError(f"no program {command!r}, neither on PATH nor beside {Path(sys.executable).name}")
    return found


class Process(asyncio.SubprocessProtocol):
    """A running server. `start` makes one; `end` must be called on every way out."""

    def __init__(self, log: StderrLog) -> None:
        self._log = log
        self._chunks: deque[bytes] = deque()
        self._waiting = 0
        self._at_end = False
        self._readable = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._exited = asyncio.Event()
        self._quiet = asyncio.Event()
        self._closed = asyncio.Event()
        self._discarding = False
        self._transport: asyncio.SubprocessTransport | None = None

    @classmethod
    async def start(cls, command: Sequence[str], env: Mapping[str, str], log: StderrLog) -> Process:
        """Start it. Raises ConnectorError in one line that names the program where that is impossible."""
        if not command:
            raise ConnectorError("has an empty command")
        process = cls(log)
        program = find(command[0], env.get("PATH"))
        arguments = (*await asyncio.to_thread(_dying_with_us), program, *command[1:])
        starting = asyncio.ensure_future(
            asyncio.get_running_loop().subprocess_exec(
                lambda: process, *arguments, env=dict(env), start_new_session=True
            )
        )
        try:
            await asyncio.shield(starting)
        except asyncio.CancelledError:
            # asyncio's own way out of a half-started process talks on stderr (F-42): start it whole, and end it.
            await asyncio.wait({starting})
            if not starting.cancelled() and starting.exception() is None:
                await process.end(0)
            raise
        except (OSError, ValueError) as error:
            raise ConnectorError(f"cannot start {command[0]!r}: {error}") from error
        return process

    @property
    def pid(self) -> int:
        return self._started.get_pid()

    @property
    def _started(self) -> asyncio.SubprocessTransport:
        if self._transport is None:
            raise ConnectorError("the process has not started")
        return self._transport

    async def read(self) -> bytes:
        """The next piece of stdout, empty at its end. What is not read makes the server wait."""
        while not self._chunks:
            if self._at_end:
                return b""
            self._readable.clear()
            await self._readable.wait()
        chunk = self._chunks.popleft()
        self._waiting -= len(chunk)
        if self._waiting < _HIGH_WATER // 2:
            self._flow(paused=False)
        return chunk

    def write(self, data: bytes) -> None:
        """Put `data` on its way to stdin. Nothing happens where the server no longer listens."""
        stdin = self._started.get_pipe_transport(0)
        if isinstance(stdin, asyncio.WriteTransport) and not stdin.is_closing():
            stdin.write(data)

    @property
    def congested(self) -> bool:
        """Whether the server is behind with reading what was written."""
        return not self._writable.is_set()

    async def drain(self) -> None:
        """Wait while the server is behind with reading."""
        await self._writable.wait()

    async def fate(self) -> Crashed:
        """How it ended, in words, once its stdout has ended."""
        if await _within(self._exited, 1.0):
            await _within(self._quiet, _LAST_BREATH)
        code = self._started.get_returncode()
        words = self._log.last_words
        if code is None:
            how = "closed its output"
        elif code < 0:
            how = f"was ended by {_signal_name(-code)}"
        else:
            how = f"exited with code {code}"
        return Crashed(f"{how}: {words}" if words else how)

    async def end(self, grace: float) -> None:
        """Close stdin, wait, SIGTERM, wait, SIGKILL, to the whole group. Returns when nothing of it is left; where
        it is cancelled it kills at once. `grace` in seconds, for each of the two waits."""
        self._discarding = True
        self._chunks.clear()
        self._flow(paused=False)
        try:
            stdin = self._started.get_pipe_transport(0)
            if stdin is not None:
                stdin.close()
            if not await _within(self._exited, grace):
                self._signal(signal.SIGTERM)
                await _within(self._exited, grace)
        finally:
            # Also after a clean exit: a child that stayed behind is in the same group.
            self._signal(signal.SIGKILL)
            # Closing polls the process, and whoever polls it before asyncio's watcher makes that one complain (F-42).
            await _within(self._exited, 5.0)
            self._started.close()
            await _within(self._closed, 1.0)
            self._log.close()

    def _signal(self, number: signal.Signals) -> None:
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):
            return  # nobody is left, or only what belongs to somebody else

    def _flow(self, *, paused: bool) -> None:
        stdout = self._started.get_pipe_transport(1)
        if not isinstance(stdout, asyncio.ReadTransport) or stdout.is_closing() or stdout.is_reading() is not paused:
            return
        if paused:
            stdout.pause_reading()
        else:
            stdout.resume_reading()

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.SubprocessTransport):
            self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self._log.feed(data)
            return
        if self._discarding:
            return
        self._chunks.append(data)
        self._waiting += len(data)
        self._readable.set()
        if self._waiting > _HIGH_WATER:
            self._flow(paused=True)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1:
            self._finish()
        elif fd == 2:
            self._log.end_line()
            self._quiet.set()
        else:
            self._writable.set()

    def process_exited(self) -> None:
        self._exited.set()
        asyncio.get_running_loop().call_later(_LAST_BREATH, self._finish)

    def connection_lost(self, exc: Exception | None) -> None:
        self._finish()
        self._closed.set()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def _finish(self) -> None:
        self._at_end = True
        self._readable.set()


async def _within(event: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True


@cache
def _dying_with_us() -> tuple[str, ...]:
    """A prefix that has the kernel end the server when we are killed, where there is a program for it; elsewhere a
    server ends because its stdin does. It must be tried: not every `setpriv` knows the option."""
    program = shutil.which("setpriv") if sys.platform == "linux" else None
    if program is None:
        return ()
    prefix = (program, "--pdeathsig", "KILL", "--")
    try:
        tried = subprocess.run((*prefix, "true"), check=False, capture_output=True, timeout=2)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return prefix if tried.returncode == 0 else ()


def _signal_name(number: int) -> str:
    return next((known.name for known in signal.Signals if known == number), f"signal {number}")
