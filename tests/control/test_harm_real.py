"""Clients as programs of their own, that do their worst to a real cockpit: it goes on, and says what was wrong."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from cockpit.control.client import open_link
from cockpit.control.paths import sockets
from cockpit.control.server import MOST_CLIENTS
from cockpit.errors import VerbError
from cockpit.testing.hand_link import raw
from cockpit.testing.mcpl_remote import Remote
from cockpit.testing.program import Line, Program, fields, headless, items
from cockpit.testing.shell import cockpit, runtime

NOISY = "channel:disc/noisy"
PAGE = 4096
"""The smallest pipe there is: a few reports fill it."""


@pytest.fixture
def control() -> Iterator[Path]:
    """A short name for the fixture's socket: a Unix socket's has about a hundred bytes."""
    with tempfile.TemporaryDirectory(prefix="ck") as folder:
        yield Path(folder) / "c"


@asynccontextmanager
async def running(folder: Path, environment: Mapping[str, str], *options: str) -> AsyncIterator[Program]:
    """A cockpit with one chat channel, which ends cleanly and without a word on standard error."""
    command = [sys.executable, "-m", "cockpit.testing.mcpl_server", "--channels", "noisy", *options]
    path = folder / "harm.toml"
    path.write_text(
        f"""
name = "harm"
[model]
provider = "offline"
[[resident]]
name = "scout"
system_prompt = "You are scout."
[subconscious]
system_prompt = "You watch for scout."
[[mcpl]]
name = "disc"
command = {json.dumps(command)}
""",
        encoding="utf-8",
    )
    async with headless(path, folder / "harm.db", environment=environment) as program:
        await program.line(event="channel", target=NOISY, label="online")
        yield program
        await program.run("go=quit")
        assert (await program.ended(), program.errors) == (0, "")


async def test_two_shells_at_once_one_does_it_and_the_other_is_told(tmp_path: Path) -> None:
    """Issue 5: two `cockpit go` from two shells at once: no half state, one row each in the audit (K-123)."""
    with runtime() as environment:
        async with running(tmp_path, environment) as program:
            both = await asyncio.gather(*(cockpit("go", "mute mcp:disc", environment=environment) for _ in range(2)))
            done, refused = sorted(both)
            assert done == (0, "mcp:disc is muted\n", "")
            assert (refused.code, refused.out) == (1, "")
            assert refused.err.splitlines()[0] == "mcp:disc is muted by the operator already"
            assert [(row["actor"], row["origin"], row["verb"], row["ok"]) for row in await audit(program)] == [
                ("operator", "socket", "mute", True),
                ("operator", "socket", "mute", False),
            ]


async def test_a_follower_that_is_never_read_is_dropped_without_harm(tmp_path: Path, control: Path) -> None:
    """Issue 5: `reports --follow` into a pipe that nobody reads: told to the operator, and both sides go on."""
    with runtime() as environment:
        async with Remote(control) as remote, running(tmp_path, environment, "--control", str(control)) as program:
            await remote.connected()
            ours, its = os.pipe()
            fcntl.fcntl(its, fcntl.F_SETPIPE_SZ, PAGE)
            stuck = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "cockpit", "reports", "--follow",
                stdin=asyncio.subprocess.DEVNULL, stdout=its, stderr=asyncio.subprocess.PIPE,
                env={**os.environ, **environment},
            )  # fmt: skip
            os.close(its)
            for number in range(12):
                await program.run(f"go=tune-out target={NOISY}")
                await remote.do("say", channel="noisy", text=f"word {number} " + "so " * 50, id=f"w{number}")
                before = len(program.lines)
                await program.run(f"go=cancel target={NOISY}")
                await program.line(after=before, event="turn", agent="Subconscious", state="ended")
            await program.run(f"go=mute target={NOISY}")
            for number in range(20):
                await remote.do("say", channel="noisy", text="x" * 100_000, id=f"x{number}")
            while not program.all(event="error", code="socket"):
                await program.run(f"go=peek target={NOISY}")
            assert "did not read" in str(program.all(event="error", code="socket")[0]["message"])
            listed = await cockpit("channels", environment=environment)
            assert (listed.code, listed.err) == (0, "")
            await asyncio.to_thread(_emptied, ours)
            assert stuck.stderr is not None
            assert (await stuck.wait(), (await stuck.stderr.read()).decode()) == (
                1, "the cockpit has gone, or it dropped this reader as too slow\n"
            )  # fmt: skip


async def test_whatever_is_said_on_the_socket_the_cockpit_goes_on(tmp_path: Path) -> None:
    """R-5: garbage, 10 MB lines, half a line, what is no UTF-8, and a thousand connections."""
    with runtime() as environment:
        async with running(tmp_path, environment) as program:
            [place] = sockets(environment)
            async with raw(place) as wrong:
                await wrong.said()
                wrong.say(b"\x00\x1b[2J\r\n\xff\xfe\n")
                wrong.say(b'{"id":1,"do":"send","as":"x","text":"%s"}\n' % (b"x" * (10 << 20)))
                assert ["error" in await wrong.said() for _ in range(2)] == [True, True]
                assert fields((await wrong.said())["result"])["ok"] is False
                wrong.say(b'{"id":2,"do":"run","line":"go=mute tar')
            async with raw(place) as endless:
                await endless.said()
                endless.say(b"x" * (17 << 20))
                assert "a line holds at most" in str(await endless.said())
            crowd = [await asyncio.open_unix_connection(place) for _ in range(1_000)]
            with pytest.raises(VerbError, match=f"{MOST_CLIENTS} clients already"):
                await open_link(place)
            assert (await program.run("go=stats"))["ok"]
            for _, writer in crowd:
                writer.close()
            for _, writer in crowd:
                await writer.wait_closed()
            assert (await cockpit("go", "mute mcp:disc", environment=environment)).code == 0
            assert program.all(event="error") == []
            assert [line["verb"] for line in await audit(program)].count("mute") == 1


def _emptied(pipe: int) -> None:
    """Read at last what waits there."""
    while os.read(pipe, 1 << 16):
        pass
    os.close(pipe)


async def audit(program: Program) -> list[Line]:
    await program.run("go=audit")
    return items(program.all(event="audit")[-1]["rows"])
