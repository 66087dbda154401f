"""A muted MCP server that is a real process over stdio, under a whole engine on the real clock (M-1, M-2, M-10)."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cockpit.core.channel import Totals
from cockpit.core.events import ContextShown, Event, TurnChanged
from cockpit.core.message import Block, Json
from cockpit.core.request import Request, SystemText
from cockpit.core.target import server as mcp
from cockpit.engine.assemble import Session, open_session
from cockpit.engine.link import EngineLink
from cockpit.recipe import load
from cockpit.testing.mcpl_remote import Remote
from cockpit.testing.served import remote
from cockpit.testing.stage import CuedModel, answered, listed, recipe, shown

SERVER = mcp("fix")
FIX = str(SERVER)
TOOLS = ["fix__echo", "fix__fail", "fix__wait"]
ASKED: Json = {"messages": [{"role": "user", "content": {"type": "text", "text": "think for me"}}], "maxTokens": 10}
PATIENCE = 30.0


@dataclass
class Live:
    """A running engine, what it told so far, and the test's end of its server."""

    session: Session
    link: EngineLink
    model: CuedModel
    server: Remote
    events: list[Event] = field(default_factory=list)
    more: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def until(self, holds: Callable[[], object]) -> None:
        """Wait until `holds()`, looked at whenever something was told."""
        async with asyncio.timeout(PATIENCE), self.more:
            await self.more.wait_for(holds)

    async def row(self, label: str, held: int | None = None) -> None:
        """Wait until the server's row reads so."""

        def reads() -> bool:
            row = self.session.engine.rows.row(SERVER)
            return row.label == label and held in {None, row.held}

        await self.until(reads)

    @property
    def totals(self) -> Totals:
        return self.session.engine.ledger.channels[SERVER].totals

    async def ask(self, text: str = "Well?") -> Request:
        """Prompt the resident; gives the last request of the turn."""
        before = self.ended("scout")
        await self.link.ask(text)
        await self.until(lambda: self.ended("scout") > before)
        return self.model.requests_of("scout")[-1]

    def ended(self, agent: str) -> int:
        turns = [event for event in self.events if isinstance(event, TurnChanged) and event.agent == agent]
        return sum(event.state == "ended" for event in turns)

    async def pid(self) -> int:
        found = await self.server.do("pid")
        assert isinstance(found, int)
        return found

    async def listen(self, events: AsyncIterator[Event]) -> None:
        async for event in events:
            async with self.more:
                self.events.append(event)
                self.more.notify_all()


@asynccontextmanager
async def live(folder: Path, *more: str) -> AsyncIterator[Live]:
    """The recipe with one MCP server, a subconscious and a feed; the server is up."""
    model = CuedModel()
    async with remote() as server:
        command = [sys.executable, "-m", "cockpit.testing.mcpl_server", "--control", str(server.path), "--plain"]
        rows = ["[[mcp]]", 'name = "fix"', f"command = {json.dumps(command)}", 'restart = "never"', *more]
        path = folder / "muted.toml"
        path.write_text(recipe("\n".join(rows), more='[intercom]\nfeeds = ["general"]'), encoding="utf-8")
        async with open_session(
            load(str(path), {}), folder / "muted.db", environment={}, logs=folder / "logs", make_model=lambda _: model
        ) as session:
            found, starting = Live(session, session.link("headless"), model, server), asyncio.Event()
            await session.warm()
            starting.set()
            async with asyncio.TaskGroup() as group:
                group.create_task(found.listen(session.engine.events()))
                running = group.create_task(session.engine.run(starting))
                try:
                    await server.connected()
                    await found.row("online")
                    yield found
                finally:
                    session.engine.quit()
                    await running


async def test_a_muted_process_lives_on_unheard(tmp_path: Path) -> None:
    """M-1, M-2, K-102, K-105: the same process all along; nothing of it in any request until the unmute."""
    async with live(tmp_path) as cockpit:
        pid, server = await cockpit.pid(), cockpit.server
        assert listed(await cockpit.ask())[-3:] == TOOLS
        await cockpit.link.run(f"go=mute target={FIX}")
        await cockpit.row("muted")

        await server.do("log", text="a log line under the mute")
        await server.do("updated", uri="fixture:under-the-mute")
        await cockpit.row("muted", held=2)
        await server.do("tools", names=["fresh"])
        await server.do("expect", method="tools/list", count=2)
        sampling = await server.do("request", method="sampling/createMessage", params=ASKED)
        assert sampling == {"error": {"code": -32600, "message": "This host does not offer sampling"}}
        assert await server.do("request", method="ping") == {"result": {}}
        assert await server.do("request", method="roots/list") == {"result": {"roots": []}}

        cockpit.model.calls("scout", "fix__echo", said="hello")
        request = await cockpit.ask()
        assert answered(request) == ["refused: [Mute: mcp:fix is muted — this call was not made]"]
        await cockpit.link.run("go=tune-out target=feed:general")
        await cockpit.link.run("go=cancel target=feed:general")
        await cockpit.until(lambda: cockpit.ended("Subconscious"))
        muted = cockpit.model.requests[1:]
        assert {each.agent for each in muted} == {"scout", "Subconscious"}
        assert not [name for each in muted for name in listed(each) if name.startswith("fix__")]
        assert not [each for each in muted if "under-the-mute" in shown(each) or "under the mute" in shown(each)]
        received = await server.do("received")
        assert isinstance(received, list)
        assert "tools/call" not in received

        await cockpit.link.run(f"go=unmute target={FIX}")
        await cockpit.row("online", held=0)
        cockpit.model.calls("scout", "fix__fresh", said="hello")
        request = await cockpit.ask()
        assert [name for name in listed(request) if name.startswith("fix__")] == ["fix__fresh"]
        assert not answered(request)[-1].startswith("refused: [Mute")
        await server.do("expect", method="tools/call")
        await server.do("log", text="a log line that is heard again")
        await cockpit.until(lambda: cockpit.totals.delivered == 1)
        assert "heard again" in shown(await cockpit.ask())
        assert await cockpit.pid() == pid
        totals = cockpit.totals
        assert (totals.crashes, totals.kills, totals.seconds_offline) == (0, 0, 0.0)


async def test_a_hundred_mutes_leave_the_prefix_as_it_was(tmp_path: Path) -> None:
    """M-2, K-110: with `when_muted = "mark"` the request's system and tools are the same bytes, and its messages
    only grow at their end."""
    async with live(tmp_path, 'when_muted = "mark"') as cockpit:
        pid, first = await cockpit.pid(), await cockpit.ask()
        before = await head(cockpit)
        for _ in range(100):
            assert (await cockpit.link.run(f"go=mute target={FIX}")).ran.ok
            assert await head(cockpit) == before
            assert (await cockpit.link.run(f"go=unmute target={FIX}")).ran.ok
            assert await head(cockpit) == before
        await cockpit.link.run(f"go=mute target={FIX}")
        cockpit.model.calls("scout", "fix__echo", said="hello")
        last = await cockpit.ask()
        assert answered(last) == ["refused: [Mute: mcp:fix is muted — this call was not made]"]
        assert (words(last.system), last.tools) == (words(first.system), first.tools)
        assert listed(last)[-3:] == TOOLS
        assert blocks(last)[: len(blocks(first))] == blocks(first)
        assert await cockpit.pid() == pid


@pytest.mark.parametrize("mode", ["hide", "mark"])
async def test_killed_under_the_mute_it_reads_both_words(tmp_path: Path, mode: str) -> None:
    """M-10, K-106: muted and dead are two things; after the unmute only the second is left."""
    async with live(tmp_path, f'when_muted = "{mode}"') as cockpit:
        await cockpit.link.run(f"go=mute target={FIX}")
        os.kill(await cockpit.pid(), signal.SIGKILL)
        await cockpit.row("muted · offline")
        await cockpit.link.run(f"go=unmute target={FIX}")
        await cockpit.row("offline")
        assert "fix__echo" not in listed(await cockpit.ask())
        totals = cockpit.totals
        assert (totals.crashes, totals.kills) == (1, 0)


async def head(cockpit: Live) -> str:
    """System and tools of what the resident would be sent now, as JSON."""
    (found,) = (await cockpit.link.run("go=context agent=scout")).shown
    assert isinstance(found, ContextShown)
    return json.dumps([found.request["system"], found.request["tools"]], default=dict)


def words(system: tuple[SystemText, ...]) -> list[str]:
    return [each.text for each in system]


def blocks(request: Request) -> list[Block]:
    return [block for turn in request.messages for block in turn.blocks]
