"""The shell commands against a whole engine over its real socket: what they print, and their exit codes."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

import pytest

from cockpit.control import commands, server
from cockpit.control.client import SocketLink, open_link
from cockpit.control.wire import About, Origin
from cockpit.core.events import ChannelChanged, Event
from cockpit.core.world import Actor
from cockpit.engine.link import EngineLink
from cockpit.testing.rig import Rig, rig

RECIPE = """
name = "arc"
[model]
provider = "offline"
[[resident]]
name = "scout"
system_prompt = "You are scout."
[subconscious]
system_prompt = "You watch."
[[mcpl]]
name = "disc"
command = ["fake"]
"""

NOISY = "channel:disc/disc:guild:noisy"


class Writers(TypedDict):
    """Both writers, as a command takes them."""

    write: commands.Writer
    tell: commands.Writer


@dataclass
class Terminal:
    """Both streams of one command, as lines."""

    out: list[str] = field(default_factory=list)
    err: list[str] = field(default_factory=list)

    @property
    def writers(self) -> Writers:
        return {"write": self.out.append, "tell": self.err.append}

    def json(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.out]


@dataclass
class Running:
    """A whole engine, and the path of its socket."""

    rig: Rig
    path: Path

    @asynccontextmanager
    async def shell(self) -> AsyncIterator[tuple[SocketLink, Terminal]]:
        """One command's connection and streams."""
        link = await open_link(self.path)
        try:
            yield link, Terminal()
        finally:
            await link.aclose()

    async def go(self, line: str) -> Terminal:
        """`cockpit go LINE`, and what follows from it."""
        async with self.shell() as (link, terminal):
            terminal.err.append(str(await commands.go(link, line, **terminal.writers)))
        await self.rig.settle()
        return terminal


@asynccontextmanager
async def engine(folder: Path) -> AsyncIterator[Running]:
    async with rig(folder, RECIPE, channels={"disc": ["disc:guild:noisy"]}) as cockpit:
        session = cockpit.session

        def link_of(actor: str, origin: Origin) -> EngineLink:
            who = Actor(actor, "operator", origin)
            return EngineLink(session.engine, who, session.operator, session.read_only)

        about = About("arc", str(folder / "rig.db"), os.getpid(), "0.1.0")
        with tempfile.TemporaryDirectory(prefix="ck") as place:
            path = Path(place) / "arc.sock"
            async with asyncio.TaskGroup() as group:
                serving = group.create_task(server.serve(link_of, path, about=about))
                await asyncio.sleep(0)
                yield Running(cockpit, path)
                serving.cancel()


async def audited(running: Running) -> list[tuple[object, ...]]:
    shown = (await running.rig.link.run("go=audit")).shown[0].line()["rows"]
    assert isinstance(shown, list)
    return [(each["actor"], each["origin"], each["verb"], each["target"], each["ok"]) for each in shown]


async def test_a_verb_from_a_shell_is_done_and_audited_with_its_origin(tmp_path: Path) -> None:
    """K-123."""
    async with engine(tmp_path) as running:
        done = await running.go("go=mute target=mcp:disc")
        assert done.err == ["0"]
        assert running.rig.channel("mcp:disc").span is not None
        refused = await running.go("go=mute target=mcp:disc")
        assert refused.out == []
        assert (refused.err[-1], "mcp:disc" in refused.err[0]) == ("1", True)
        assert await audited(running) == [
            ("operator", "socket", "mute", "mcp:disc", True),
            ("operator", "socket", "mute", "mcp:disc", False),
        ]


@pytest.mark.parametrize("line", ["go=mut target=mcp:disc", "go=mute", f"go=tune-out target={NOISY} cap=lots", ""])
async def test_wrong_use_is_exit_2_and_changes_nothing(tmp_path: Path, line: str) -> None:
    """R-5; that somebody tried is audited (K-123)."""
    async with engine(tmp_path) as running:
        wrong = await running.go(line)
        assert wrong.out == []
        assert wrong.err[-1] == "2"
        assert [row[:2] for row in await audited(running) if not row[4]] == [("operator", "socket")] * bool(line)
        assert [row for row in await audited(running) if row[4]] == []


async def test_two_shells_at_once_each_get_their_own_answer(tmp_path: Path) -> None:
    async with engine(tmp_path) as running, running.shell() as (one, _), running.shell() as (two, _):
        answers = await asyncio.gather(one.run("go=mute target=mcp:disc"), two.run("go=mute target=mcp:disc"))
        await running.rig.settle()
        assert sorted(answer.ran.ok for answer in answers) == [False, True]
        assert [row[4] for row in await audited(running)] == [True, False]


async def test_a_change_from_a_shell_shows_on_every_screen_at_once(tmp_path: Path) -> None:
    async with engine(tmp_path) as running, running.shell() as (one, _), running.shell() as (two, _):
        screens: list[AsyncIterator[Event]] = [one.events(), two.events()]
        await one.snapshot()
        await two.snapshot()
        await running.go(f"go=mute target={NOISY}")
        await running.rig.advance(0.1)
        for screen in screens:
            async for event in screen:
                if isinstance(event, ChannelChanged) and event.target == NOISY and event.label == "muted":
                    break


async def test_a_screen_that_leaves_ends_nothing_and_the_next_sees_the_same(tmp_path: Path) -> None:
    """K-131: detach leaves the engine running, the last client too; a second attach sees the same state."""
    async with engine(tmp_path) as running:
        await running.go(f"go=tune-out target={NOISY}")
        await running.rig.servers["disc"].say("disc:guild:noisy", "hello")
        await running.rig.settle()
        async with running.shell() as (screen, _):
            screen.events()
            first = await screen.snapshot()
        assert first == await running.rig.link.snapshot()
        await running.rig.servers["disc"].say("disc:guild:noisy", "anybody?")
        await running.rig.settle()
        async with running.shell() as (screen, _):
            second = await screen.snapshot()
        assert second == await running.rig.link.snapshot()
        assert [row.held for row in second.rows if row.target == NOISY] == [2]


async def test_channels_are_an_aligned_table_or_headless_lines(tmp_path: Path) -> None:
    async with engine(tmp_path) as running:
        await running.go(f"go=tune-out target={NOISY} for=2h")
        async with running.shell() as (link, terminal):
            assert await commands.channels(link, write=terminal.out.append) == 0
            head, *rows = terminal.out
            assert head.split() == ["TARGET", "STATE", "WAIT", "NEED", "HELD"]
            assert len({line.index(word) for line, word in zip(rows, ("online", "tuned-out"), strict=True)}) == 1
            assert "cadence 30 min 0 s, cap 200, wake 0 of 5, until 2026-11-30" in rows[1]
            terminal.out.clear()
            assert await commands.channels(link, write=terminal.out.append, as_json=True) == 0
            assert [(each["event"], each["label"]) for each in terminal.json()] == [
                ("channel", "online"),
                ("channel", "tuned-out"),
            ]


async def test_a_peek_is_printed(tmp_path: Path) -> None:
    async with engine(tmp_path) as running:
        await running.go(f"go=mute target={NOISY}")
        await running.rig.servers["disc"].say("disc:guild:noisy", "two\nlines \x1b[31mred\u202e")
        await running.rig.settle()
        peeked = await running.go(f"go=peek target={NOISY}")
        assert peeked.out[1].endswith("kim (mute)")
        assert peeked.out[2:4] == ["  two", "  lines \ufffd[31mred\ufffd"]


async def test_every_reading_verb_is_printed(tmp_path: Path) -> None:
    async with engine(tmp_path) as running:
        await running.go(f"go=mute target={NOISY}")
        await running.rig.servers["disc"].say("disc:guild:noisy", "hello")
        await running.rig.settle()
        held = (await running.rig.link.run(f"go=peek target={NOISY}")).shown[0].line()["messages"]
        assert isinstance(held, list)
        for line, words in (
            (f"go=why message={held[0]['id']}", ("diverted", NOISY, "nobody")),
            ("go=audit", ("ACTOR", "operator", "socket", "mute")),
            ("go=stats", ("TARGET", "DIVERTED", NOISY, "AGENT", "scout")),
            ("go=context agent=scout", ("tokens", '"system"')),
            ("go=mute target=channel:*", ("0 of 1 done", "not done", NOISY)),
        ):
            printed = await running.go(line)
            assert all(word in "\n".join([*printed.out, *printed.err]) for word in words), (line, printed)


async def test_reports_are_told_once_each_and_followed_until_the_end(tmp_path: Path) -> None:
    async with engine(tmp_path) as running, running.shell() as (link, terminal), asyncio.TaskGroup() as group:
        await running.go(f"go=tune-out target={NOISY}")
        await running.rig.servers["disc"].say("disc:guild:noisy", "hello")
        await running.go(f"go=cancel target={NOISY}")
        before = len((await link.snapshot()).reports)
        following = group.create_task(commands.reports(link, follow=True, as_json=True, **terminal.writers))
        await link.snapshot()
        await running.go(f"go=tune-out target={NOISY}")
        await running.go(f"go=cancel target={NOISY}")
        running.rig.session.engine.quit()
        assert await following == 0
        stored = await running.rig.session.engine.ledger.chronicle.reports(limit=100)
        assert 0 < before < len(stored)
        assert [each["id"] for each in terminal.json()] == [str(each.sequence) for each in stored]


async def test_events_are_the_headless_lines_of_a_running_cockpit(tmp_path: Path) -> None:
    """`ready` and each channel first, then what happens, and `stopped` with its reason."""
    async with engine(tmp_path) as running, running.shell() as (link, terminal), asyncio.TaskGroup() as group:
        watching = group.create_task(commands.events(link, wall=lambda: 0.0, **terminal.writers))
        await link.snapshot()
        await running.go(f"go=mute target={NOISY}")
        running.rig.session.engine.quit()
        assert await watching == 0
        lines = terminal.json()
        assert [each["event"] for each in lines[:3]] == ["ready", "channel", "channel"]
        assert (lines[0]["recipe"], lines[0]["channels"], lines[0]["at"]) == ("arc", 2, "1970-01-01T00:00:00.000Z")
        assert any(each.get("target") == NOISY and each.get("label") == "muted" for each in lines[3:])
        assert (lines[-1]["event"], lines[-1]["reason"]) == ("stopped", "quit")
        assert [each["event"] for each in lines].count("ready") == 1
