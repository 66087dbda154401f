"""Standard input as lines, whatever it is: a pipe, a file, a terminal, or the null device, which no loop can watch.

A thread of its own reads it, and it holds nobody up at the end: a read that never returns ends with the process.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import CancelledError
from contextlib import suppress

CHUNK = 1 << 16
"""Bytes that are read at once, and no more before their lines were run."""


async def typed(fd: int) -> AsyncIterator[str]:
    """Each line of the file descriptor `fd`, of any length, without its newline, until its end. What is no UTF-8
    becomes U+FFFD; the last line may lack its newline."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[list[bytes] | None] = asyncio.Queue(1)

    def put(lines: list[bytes] | None) -> None:
        asyncio.run_coroutine_threadsafe(queue.put(lines), loop).result()

    def read() -> None:
        try:
            for lines in _lines(fd):
                put(lines)
            put(None)
        except (RuntimeError, CancelledError):
            pass  # the loop has ended, and nobody asks for the next line

    threading.Thread(target=read, name="standard input", daemon=True).start()
    while (lines := await queue.get()) is not None:
        for line in lines:
            yield line.decode("utf-8", "replace").rstrip("\r")


def _lines(fd: int) -> Iterator[list[bytes]]:
    """The lines that each read completes. A terminal that was hung up has no more."""
    rest: list[bytes] = []
    with suppress(OSError):
        os.set_blocking(fd, True)  # whoever had the pipe before may have left it otherwise
        while chunk := os.read(fd, CHUNK):
            first, *more = chunk.split(b"\n")
            rest.append(first)
            if more:
                yield [b"".join(rest), *more[:-1]]
                rest = [more[-1]]
    if any(rest):
        yield [b"".join(rest)]
