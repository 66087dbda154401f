"""The terminal belongs to the screen while it is up: nothing else writes on it, and losing it ends nothing badly.

What a library, a log or a stray print sends to standard output or error meanwhile is kept and comes out on standard
error once the terminal is its owner's again (cases.md F-11). A terminal that went away (a closed window) swallows what
is written to it, so that the end stays clean (F-10).
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from textual.app import App
from textual.drivers.linux_driver import LinuxDriver

REPLAYED = 8192
"""Bytes of what was kept that come out at the end: its last ones."""


_KEEP_TITLE = "\x1b[22;2t"
_GIVE_TITLE_BACK = "\x1b[23;2t"
"""XTWINOPS: the terminal's title is put on its stack while the screen has its own."""


class Surface:
    """The one way to the terminal, as text. Writing to it never raises."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, text: str) -> int:
        """All of `text`; lone surrogates become `?`."""
        data = memoryview(text.encode("utf-8", "replace"))
        with suppress(OSError):
            while data:
                data = data[os.write(self._descriptor, data) :]
        return len(text)

    def flush(self) -> None:
        """Nothing is held back."""

    def fileno(self) -> int:
        return self._descriptor


class TerminalDriver(LinuxDriver):
    """Textual's driver, on the surface that is the screen's alone."""

    surface: Surface

    def __init__(
        self, app: App[object], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._file = self.surface  # type: ignore[assignment]  # Textual writes, flushes and asks for the descriptor

    def _get_terminal_size(self) -> tuple[int, int]:
        """Of the surface: standard output may lead elsewhere meanwhile."""
        try:
            width, height = os.get_terminal_size(self.surface.fileno())
        except OSError:
            return 80, 24
        return width or 80, height or 24


@contextmanager
def own_terminal() -> Iterator[type[TerminalDriver]]:
    """Take the terminal over: the driver to draw with, while standard output and error are kept aside."""
    descriptor = os.dup(2 if os.isatty(2) else 1)

    class Driver(TerminalDriver):
        surface = Surface(descriptor)

    with tempfile.TemporaryFile() as kept:
        aside = {number: os.dup(number) for number in (1, 2) if os.isatty(number)}
        _flush()
        for number in aside:
            os.dup2(kept.fileno(), number)
        Driver.surface.write(_KEEP_TITLE)
        try:
            yield Driver
        finally:
            Driver.surface.write(_GIVE_TITLE_BACK)
            _flush()
            for number, original in aside.items():
                os.dup2(original, number)
                os.close(original)
            os.close(descriptor)
            _replay(kept)


def _flush() -> None:
    for stream in (sys.__stdout__, sys.__stderr__):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()  # type: ignore[union-attr]  # None where there is none


def _replay(kept: BinaryIO) -> None:
    """Let out the end of what was kept."""
    size = kept.seek(0, os.SEEK_END)
    if not size:
        return
    kept.seek(max(0, size - REPLAYED))
    with suppress(OSError):
        os.write(2, kept.read())
