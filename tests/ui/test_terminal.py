"""The screen in a real terminal: what it writes, and that it leaves the terminal as it was."""

from __future__ import annotations

import os
import re
import select
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pexpect
import pyte
import pytest

ROOT = Path(__file__).parents[2]
RESTORED = (b"\x1b[?1049l", b"\x1b[?1000l", b"\x1b[?1003l", b"\x1b[?25h", b"\x1b[?2004l")


QUIET = """
import asyncio, logging, os, sys
from pathlib import Path
from cockpit.testing.fake_link import FakeLink, demo_rows, view
from cockpit.ui import run_screen_async

async def shout():
    for number in range(20):
        for _ in range(300):
            await asyncio.sleep(0)
        os.write(2, b"SHOUT raw\\n")
        os.write(1, b"SHOUT out\\n")
        logging.getLogger("x").warning("SHOUT logged")
        print("SHOUT printed", flush=True)

async def main():
    logging.basicConfig(stream=sys.__stderr__)
    task = asyncio.create_task(shout()) if LOUD else None
    rows = [row for row in demo_rows() if row.epoch is None]
    link = FakeLink(view(rows))
    code = await run_screen_async(link, theme="dark", themes=Path("themes"), mouse=True, read_only=False)
    if task is not None:
        await task
    return code

sys.exit(asyncio.run(main()))
"""


class Terminal:
    """A pseudo-terminal with the demo of the fake link in it, or a Python script."""

    def __init__(self, *, size: tuple[int, int] = (120, 40), script: str = "", **environ: str) -> None:
        ran = ["-c", script] if script else ["-m", "cockpit.testing.fake_link"]
        surroundings = {
            **os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "TZ": "UTC", "LC_ALL": "C.UTF-8",
            **environ,
        }  # fmt: skip
        self.child = pexpect.spawn(
            sys.executable, ran, cwd=str(ROOT), env=surroundings,
            dimensions=(size[1], size[0]), timeout=30,
        )  # fmt: skip
        self.screen = pyte.Screen(*size)
        self.stream = pyte.ByteStream(self.screen)
        self.bytes = b""

    def read(self, seconds: float) -> bytes:
        """What comes within so many seconds."""
        end, got = time.monotonic() + seconds, b""
        while time.monotonic() < end:
            try:
                got += self.child.read_nonblocking(65_536, timeout=0.05)
            except pexpect.TIMEOUT:
                continue
            except pexpect.EOF:
                break
        self.take(got)
        return got

    def take(self, got: bytes) -> None:
        self.bytes += got
        # pyte knows neither the kitty keyboard protocol nor private modes with intermediates
        self.stream.feed(re.sub(rb"\x1b\[[<>=?][0-9;]*[u$p]+|\x1b\[\?[0-9;]*\$p", b"", got))

    def until(self, words: str, seconds: float = 30.0) -> None:
        """Read until the screen shows `words`."""
        end = time.monotonic() + seconds
        while words not in self.text:
            assert time.monotonic() < end, self.text
            self.read(0.05)

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self.screen.display)

    def ended(self) -> int | None:
        """Wait for the end; the exit code."""
        self.read(20.0)
        self.child.wait()
        code = self.child.exitstatus
        assert code is None or isinstance(code, int)
        return code


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    opened = Terminal()
    yield opened
    with suppress(OSError, pexpect.ExceptionPexpect):
        opened.child.close(force=True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_restores_the_terminal(terminal: Terminal, number: signal.Signals) -> None:
    """F-8"""
    terminal.until("mcp:git")
    os.kill(terminal.child.pid, number)
    assert terminal.ended() == 0
    for sequence in RESTORED:
        assert terminal.bytes.rindex(sequence) > terminal.bytes.rindex(b"mcp:git")


def test_ctrl_c_twice_restores_the_terminal_and_ends_with_130(terminal: Terminal) -> None:
    """F-8, cockpit.md"""
    terminal.until("mcp:git")
    terminal.child.send("\x03")
    terminal.until("Ctrl-C again within 2 s quits")
    terminal.child.send("\x03")
    assert terminal.ended() == 130
    assert all(sequence in terminal.bytes for sequence in RESTORED)


def test_the_title_counts_who_needs_someone_and_is_given_back(terminal: Terminal) -> None:
    """cockpit.md, Screen"""
    terminal.until("mcp:git")
    terminal.read(0.5)
    assert b"\x1b]2;cockpit (3)\x07" in terminal.bytes
    terminal.child.send("q")
    assert terminal.ended() == 0
    assert terminal.bytes.index(b"\x1b[22;2t") < terminal.bytes.index(b"\x1b]2;")
    assert terminal.bytes.index(b"\x1b[23;2t") > terminal.bytes.rindex(b"\x1b]2;")


def test_q_ends_with_0_and_says_nothing_on_the_shell(terminal: Terminal) -> None:
    """F-42"""
    terminal.until("mcp:git")
    terminal.child.send("q")
    assert terminal.ended() == 0
    left = terminal.bytes[terminal.bytes.rindex(b"\x1b[?1049l") :]
    assert re.sub(rb"\x1b\[[?<>]?[0-9;]*[a-z]", b"", left).strip() == b""


def test_a_closed_window_leaves_no_process(terminal: Terminal) -> None:
    """F-10"""
    terminal.until("mcp:git")
    os.close(terminal.child.child_fd)
    gone = os.pidfd_open(terminal.child.pid)
    try:
        assert select.select([gone], [], [], 10.0)[0]
    finally:
        os.close(gone)


def test_ctrl_z_suspends_and_comes_back(terminal: Terminal) -> None:
    """F-9"""
    terminal.until("mcp:git")
    terminal.child.send("\x1a")
    end = time.monotonic() + 20
    while _state(terminal.child.pid) != "T":
        assert time.monotonic() < end
        terminal.read(0.05)
    terminal.read(0.3)
    assert b"\x1b[?1049l" in terminal.bytes
    terminal.screen.reset()
    os.kill(terminal.child.pid, signal.SIGCONT)
    terminal.until("mcp:git")
    terminal.child.send("m")
    terminal.until("mute mcp:git: done")
    terminal.child.send("q")
    assert terminal.ended() == 0


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]


def test_borders_are_straight_in_the_grid(terminal: Terminal) -> None:
    """F-49"""
    terminal.until("mcp:git")
    terminal.read(0.5)
    column = [line[60] for line in terminal.screen.display[1:37]]
    assert set(column) <= {"│", "┬", "├"}
    assert terminal.screen.display[1][60] == "┬"


def test_a_changed_count_writes_few_bytes(terminal: Terminal) -> None:
    """architecture.md, Performance: at most 400 bytes; F-44. The demo changes one count a second."""
    terminal.until("mcp:git")
    terminal.read(2.0)
    quiet = [len(got) for got in (terminal.read(0.2) for _ in range(15)) if got]
    assert quiet
    assert min(quiet) <= 400


def test_nothing_else_is_written_over_the_screen() -> None:
    """F-11: raw writes, logging and prints are kept, and come out when the terminal is the shell's again."""
    terminal = Terminal(script=QUIET.replace("LOUD", "True"))
    try:
        terminal.until("mcp:git")
        terminal.read(2.0)
        assert b"SHOUT" not in terminal.bytes
        terminal.child.send("q")
        assert terminal.ended() == 0
        after = terminal.bytes[terminal.bytes.rindex(b"\x1b[?1049l") :]
        assert b"SHOUT raw" in after
        assert b"SHOUT out" in after
        assert b"SHOUT logged" in after
    finally:
        terminal.child.close(force=True)


def test_an_idle_screen_writes_nothing() -> None:
    """F-43, architecture.md, Performance"""
    terminal = Terminal(script=QUIET.replace("LOUD", "False"))
    try:
        terminal.until("mcp:git")
        terminal.read(2.0)
        assert terminal.read(4.0) == b""
        terminal.child.send("i")
        terminal.read(1.0)
        assert terminal.read(3.0) == b""
    finally:
        terminal.child.close(force=True)


def test_no_color_in_the_bytes() -> None:
    """F-47"""
    terminal = Terminal(NO_COLOR="1")
    try:
        terminal.until("mcp:git")
        terminal.read(0.5)
        codes = {code for found in re.findall(rb"\x1b\[([0-9;]*)m", terminal.bytes) for code in found.split(b";")}
        assert codes <= {b"", b"0", b"1", b"2", b"4", b"7", b"39", b"49"}
    finally:
        terminal.child.close(force=True)


def test_sixteen_colours_are_enough() -> None:
    """cockpit.md, Themes"""
    terminal = Terminal(TERM="xterm", COLORTERM="")
    try:
        terminal.until("mcp:git")
        terminal.read(0.5)
        assert b"38;2;" not in terminal.bytes
        assert b"38;5;" not in terminal.bytes
    finally:
        terminal.child.close(force=True)


CALLED = """
import asyncio, sys
from pathlib import Path
from dataclasses import replace
from cockpit.testing.fake_link import FakeLink, START, report, row, view
from cockpit.ui import run_screen_async
from cockpit.ui.alert import Alerts

class Calling(FakeLink):
    async def run(self, line):
        "s: a moment later somebody needs the resident once more; a: a report comes."
        if line.startswith("go=stats"):
            need = self.view.rows[0].need + 1
            asyncio.get_running_loop().call_later(0.2, lambda: self.change("channel:d/noisy", need=need))
        else:
            self.emit(report("one more line of a report " * 4, id=f"new {len(self.ran)}"))
        return await super().run(line)

rows = (row("channel:d/noisy"), *(row(f"channel:d/{n}", wait=1) for n in range(100)))
reports = tuple(report(f"report {n} " + "words and more words " * 8, id=f"r{n}") for n in range(60))
sys.exit(asyncio.run(run_screen_async(
    Calling(view(rows, reports=reports)), theme="dark", themes=Path("themes"), mouse=False, read_only=False,
    alerts=Alerts(bell=RINGS, notify=RINGS, every=0.0),
)))
"""


def rang(got: bytes) -> tuple[int, list[bytes]]:
    """How often the bell rang, and what the desktop was told. A title and a notice end in sequences of their own."""
    notices = re.findall(rb"\x1b\]9;([^\x07\x1b]*)\x1b\\", got)
    return re.sub(rb"\x1b\].*?(?:\x07|\x1b\\)", b"", got).count(b"\x07"), notices


def after(terminal: Terminal, keys: str) -> bytes:
    """All that keys have it write: until something came and then nothing for a while."""
    terminal.child.send(keys)
    got, quiet, end = b"", 0, time.monotonic() + 20.0
    while (not got or quiet < 3) and time.monotonic() < end:
        more = terminal.read(0.1)
        got, quiet = got + more, 0 if more else quiet + 1
    return got


def called(terminal: Terminal, keys: str, need: int) -> bytes:
    """What it writes up to the title with this count, and a moment more."""
    terminal.child.send(keys)
    title, got, end = f"\x1b]2;cockpit ({need})\x07".encode(), b"", time.monotonic() + 20.0
    while title not in got:
        assert time.monotonic() < end
        got += terminal.read(0.1)
    return got + terminal.read(0.2)


def test_bell_and_notice_ring_unless_somebody_is_known_to_look() -> None:
    """cockpit.md, Screen: a bell or desktop notice (OSC 9) can be switched on."""
    terminal = Terminal(script=CALLED.replace("RINGS", "True"))
    try:
        terminal.until("noisy")
        terminal.read(0.5)
        assert rang(terminal.bytes) == (0, [])
        assert rang(called(terminal, "s", 1)) == (1, [b"cockpit: #noisy needs you (1 in all)"])
        terminal.child.send("\x1b[I")
        assert terminal.read(0.5) == b""
        assert rang(called(terminal, "s", 2)) == (0, [])
        terminal.child.send("\x1b[O")
        assert terminal.read(0.5) == b""
        assert rang(called(terminal, "s\x1b[O", 3)) == (1, [b"cockpit: #noisy needs you (3 in all)"])
    finally:
        terminal.child.close(force=True)


def test_what_a_key_writes_is_what_it_changed() -> None:
    """F-44, F-43: no key and no report paints the whole screen, which is 25 kB; and nothing rings unasked."""
    terminal = Terminal(script=CALLED.replace("RINGS", "False"))
    try:
        terminal.until("noisy")
        terminal.read(0.5)
        assert rang(called(terminal, "s", 1)) == (0, [])
        assert len(after(terminal, "j")) < 1_000  # two rows of the table
        after(terminal, "\t")
        assert len(after(terminal, "k")) < 6_000  # the pane of reports
        assert len(after(terminal, "k")) < 6_000
        after(terminal, "G")
        assert len(after(terminal, "a")) < 9_000  # the same, a line longer
        assert len(after(terminal, "\t")) < 9_000  # two title bars, two panes' marks, the legend
        after(terminal, "i")
        assert len(after(terminal, "x")) < 500  # a letter
    finally:
        terminal.child.close(force=True)
