"""A server's stderr goes to a file of its own and never to our terminal (F-11): bounded, without its secrets, and
with the last lines at hand for whoever has to say why the server died."""

from __future__ import annotations

import os
import re
from collections import deque
from pathlib import Path

from cockpit.connect.faults import Secrets, one_line

_KEPT_LINES = 20
_LONGEST_LINE = 64 * 1024  # a longer one is written in pieces
# A log is read in a terminal: control characters become question marks, C1's two bytes too.
_INERT = bytes(c if c in b"\t\n" or 0x20 <= c != 0x7F else 0x3F for c in range(256))
_C1 = re.compile(b"\xc2[\x80-\x9f]")


class StderrLog:
    """`path` and one older file beside it, each of at most `limit` bytes, mode 0600. `lines` counts all that came."""

    def __init__(self, path: Path, secrets: Secrets, limit: int) -> None:
        self.path = path
        self.lines = 0
        self._secrets = secrets
        self._limit = limit
        self._tail: deque[str] = deque(maxlen=_KEPT_LINES)
        self._partial = b""
        self._file: int | None = None
        self._size = 0

    def begin(self) -> None:
        """A new run of the server: the last words of an earlier one are not its."""
        self._tail.clear()

    @property
    def last_words(self) -> str:
        """The last line that says anything, clipped; empty where there was none."""
        return next((line for line in reversed(self._tail) if line), "")

    @property
    def tail(self) -> tuple[str, ...]:
        """The newest lines, the newest last."""
        return tuple(self._tail)

    def feed(self, data: bytes) -> None:
        """Take what the server wrote. Never raises: a full disk loses the log, not the server."""
        whole, newline, self._partial = (self._partial + data).rpartition(b"\n")
        if newline:
            self._take(whole + newline)
        if len(self._partial) > _LONGEST_LINE:
            self._take(self._partial + b"\n")
            self._partial = b""

    def end_line(self) -> None:
        """Take an unfinished line as it is: nothing more comes."""
        if self._partial:
            self._take(self._partial + b"\n")
            self._partial = b""

    def close(self) -> None:
        """Let go of the file; `feed` opens it again."""
        self.end_line()
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _take(self, lines: bytes) -> None:
        clean = _C1.sub(b"?", self._secrets.hide_bytes(lines).translate(_INERT, b"\r"))
        self.lines += clean.count(b"\n")
        newest = clean[-_KEPT_LINES * 1024 :].splitlines()[-_KEPT_LINES:]
        self._tail.extend(one_line(line.decode("utf-8", "replace")) for line in newest)
        try:
            self._write(clean[-self._limit :])
        except OSError:
            self._file = None

    def _write(self, lines: bytes) -> None:
        if self._file is not None and self._size + len(lines) > self._limit:
            os.close(self._file)
            self._file = None
        if self._file is None:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self.path.exists() and self.path.stat().st_size + len(lines) > self._limit:
                self.path.replace(self.path.with_name(self.path.name + ".1"))
            self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            self._size = os.fstat(self._file).st_size
        self._size += os.write(self._file, lines)
