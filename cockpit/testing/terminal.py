"""The real program on a real pseudo-terminal: press keys, read the screen as a terminal would show it.

with terminal(["cockpit"], columns=120, rows=40) as seen:
    seen.shows("tuned-out")
    seen.press("m")
"""

from __future__ import annotations

import os
import re
import signal
import sys
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import pexpect
import pyte

PATIENCE = 30.0
"""Seconds that a wait may take before its test fails."""


class Terminal:
    """One run. `raw` holds every byte that the program wrote."""

    def __init__(self, child: pexpect.spawn[bytes], columns: int, rows: int) -> None:
        self._child = child
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self.before = termios.tcgetattr(child.child_fd)
        self.raw = b""

    @property
    def pid(self) -> int:
        pid: int = self._child.pid
        return pid

    @property
    def lines(self) -> list[str]:
        """The screen as it stands, a string a row."""
        return list(self._screen.display)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def press(self, keys: str) -> None:
        """Type these characters; `\\r` is Enter, `\\x1b` Escape."""
        self._child.send(keys.encode())

    def resize(self, columns: int, rows: int) -> None:
        self._screen.resize(rows, columns)
        self._child.setwinsize(rows, columns)

    def shows(self, wanted: str, *, also: Sequence[str] = ()) -> str:
        """Wait until one row shows `wanted` together with all of `also`; that row."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            for line in self.lines:
                if wanted in line and all(each in line for each in also):
                    return line
            if not self._read(0.2):
                break
        raise AssertionError(f"the screen never showed {wanted!r} {also or ''}:\n{self.text}")

    def wrote(self, pattern: bytes) -> None:
        """Wait until what it has written, byte for byte, holds `pattern`, a regular expression."""
        deadline = time.monotonic() + PATIENCE
        while re.search(pattern, self.raw) is None:
            if time.monotonic() > deadline or not self._read(0.2):
                raise AssertionError(f"it never wrote {pattern!r}:\n{self.text}")

    def lacks(self, wanted: str) -> None:
        """Wait until no row shows `wanted`."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and wanted in self.text:
            self._read(0.2)
        if wanted in self.text:
            raise AssertionError(f"the screen still shows {wanted!r}:\n{self.text}")

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def ended(self) -> int:
        """Wait until it has ended, reading to the last byte; its exit code, or 128 and the signal."""
        deadline = time.monotonic() + PATIENCE
        while self._read(0.2) and time.monotonic() < deadline:
            pass
        while self._child.isalive() and time.monotonic() < deadline:
            time.sleep(0.02)  # its terminal is closed already, its servers are still ending
        self._child.close(force=True)
        code: int | None = self._child.exitstatus
        return 128 + int(self._child.signalstatus or 0) if code is None else code

    def after(self) -> list[object]:
        """The terminal's modes now."""
        return termios.tcgetattr(self._child.child_fd)

    def _read(self, seconds: float) -> bool:
        """Take what has come; False once there is nothing more to come."""
        try:
            data = self._child.read_nonblocking(65536, timeout=seconds)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.raw += data
        self._stream.feed(data)
        return True


@contextmanager
def terminal(
    arguments: Sequence[str],
    *,
    columns: int = 120,
    rows: int = 40,
    environment: Mapping[str, str] | None = None,
    folder: str | None = None,
    interpreter: Sequence[str] = (),
) -> Iterator[Terminal]:
    """Start `python -m cockpit ARGUMENTS` on a terminal of that size; it is killed at the end if it still runs.

    interpreter: options of the interpreter itself.
    """
    child = pexpect.spawn(
        sys.executable,
        [*interpreter, "-m", "cockpit", *arguments],
        dimensions=(rows, columns),
        env={**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", **(environment or {})},
        cwd=folder,
        timeout=PATIENCE,
    )
    try:
        yield Terminal(child, columns, rows)
    finally:
        if not child.closed:
            child.close(force=True)
