"""Lines on standard input, from everything that it can be."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cockpit.control.typed import CHUNK, typed

LINES = "go=stats\r\n\n# a comment\n" + "x" * 3_000_000 + "\nhalf a line"
WRITES = "import sys; print('go=stats\\r\\n\\n# a comment\\n' + 'x' * 3_000_000 + '\\nhalf a line', end='')"


async def read(fd: int) -> list[str]:
    async with asyncio.timeout(20):
        return [line async for line in typed(fd)]


@pytest.mark.parametrize("kind", ["file", "pipe"])
async def test_every_line_comes_whole_and_in_order(tmp_path: Path, kind: str) -> None:
    """The last one without its newline, and one of three megabytes."""
    if kind == "file":
        (tmp_path / "verbs").write_text(LINES, encoding="utf-8", newline="")
        fd = os.open(tmp_path / "verbs", os.O_RDONLY)
        found = await read(fd)
    else:
        fd, writing = os.pipe()
        writer = await asyncio.create_subprocess_exec(sys.executable, "-c", WRITES, stdout=writing)
        os.close(writing)
        found = await read(fd)
        assert await writer.wait() == 0
    os.close(fd)
    assert found == ["go=stats", "", "# a comment", "x" * 3_000_000, "half a line"]


async def test_the_null_device_has_no_lines() -> None:
    """`cockpit run --headless --until-idle < /dev/null` ends."""
    fd = os.open(os.devnull, os.O_RDONLY)
    assert await read(fd) == []
    os.close(fd)


async def test_a_terminal_is_read_a_line_at_a_time_and_may_be_hung_up() -> None:
    ours, its = os.openpty()
    lines = typed(its)
    os.write(ours, b"go=stats\n")
    assert await anext(lines) == "go=stats"
    os.close(ours)
    assert [line async for line in lines] == []
    os.close(its)


async def test_what_is_no_utf_8_becomes_u_fffd() -> None:
    fd, writing = os.pipe()
    os.write(writing, b"\xff\n" + "…".encode()[:2])
    os.close(writing)
    assert await read(fd) == ["\ufffd", "\ufffd"]
    os.close(fd)


async def test_a_pipe_that_was_left_not_to_block_is_waited_for() -> None:
    """As some programs leave the pipe that they hand on."""
    fd, writing = os.pipe()
    os.set_blocking(fd, False)
    reading = asyncio.create_task(read(fd))
    assert await asyncio.wait({reading}, timeout=0.1) == (set(), {reading})
    os.write(writing, b"go=stats\n")
    os.close(writing)
    assert await reading == ["go=stats"]
    os.close(fd)


async def test_no_more_is_read_ahead_than_a_chunk() -> None:
    """Many verbs wait in the pipe, not in memory; and none is lost by it."""
    fd, writing = os.pipe()
    code = f"import os\nfor n in range(40): os.write(1, b'go=stats' + b' ' * {CHUNK - 9} + b'\\n')"
    writer = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=writing)
    os.close(writing)
    lines = typed(fd)
    await anext(lines)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.shield(writer.wait()), 0.2)
    assert [line.strip() async for line in lines] == ["go=stats"] * 39
    assert await writer.wait() == 0
    os.close(fd)


def test_a_read_that_never_returns_holds_nobody_up() -> None:
    code = (
        "import asyncio\nfrom cockpit.control.typed import typed\n"
        "async def main():\n    async for line in typed(0):\n        print(line)\n        return\n"
        "asyncio.run(main())"
    )
    with subprocess.Popen([sys.executable, "-W", "error", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:  # fmt: skip
        assert process.stdin is not None
        process.stdin.write(b"one\n")
        process.stdin.flush()
        assert process.wait(20) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b""
