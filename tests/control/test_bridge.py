"""`cockpit mcp` as an MCP host meets it: the SDK's own client, real stdio, a process of its own, a whole engine."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult, Implementation, TextContent

from cockpit.control import server
from cockpit.control.paths import socket_path
from cockpit.control.wire import About, Origin
from cockpit.core.events import Reported
from cockpit.core.world import Actor
from cockpit.engine.link import EngineLink
from cockpit.testing.hand_link import HandLink, letter
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
BRIDGE = "import asyncio; from cockpit.control.bridge import run_bridge; asyncio.run(run_bridge())"


@dataclass
class Place:
    """Folders that nobody else uses, as the environment names them."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        return {"XDG_RUNTIME_DIR": str(self.folder), "TMPDIR": str(self.folder)}


@pytest.fixture
def place() -> Iterator[Place]:
    with tempfile.TemporaryDirectory(prefix="ck") as folder:
        yield Place(Path(folder))


@asynccontextmanager
async def engine(folder: Path, place: Place, *, as_operator: bool = False) -> AsyncIterator[Rig]:
    """A whole engine with its socket."""
    async with rig(folder, RECIPE, channels={"disc": ["disc:guild:noisy"]}) as cockpit:
        session = cockpit.session

        def link_of(actor: str, origin: Origin) -> EngineLink:
            return EngineLink(session.engine, Actor(actor, "operator", origin), session.operator, session.read_only)

        store = folder / "rig.db"
        about = About("arc", str(store), os.getpid(), "0.1.0", as_operator, ("scout", "Subconscious"))
        path = socket_path(store, "arc", place.environment)
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(server.serve(link_of, path, about=about))
            await asyncio.sleep(0)
            yield cockpit
            serving.cancel()


@asynccontextmanager
async def by_hand(place: Place, name: str = "demo") -> AsyncIterator[tuple[HandLink, asyncio.Task[None]]]:
    """A link by hand behind a socket of its own, and the task that serves it."""
    cockpit, store = HandLink(), place.folder / f"{name}.db"
    async with asyncio.TaskGroup() as group:
        path = socket_path(store, name, place.environment)
        about = About(name, str(store), os.getpid(), "0.1.0")
        serving = group.create_task(
            server.serve(cockpit.link, path, about=about, intercom=cockpit.say, inboxes=cockpit.inbox)
        )
        await asyncio.sleep(0)
        yield cockpit, serving
        serving.cancel()


def bridge(place: Place, **more: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable, args=["-W", "error", "-c", BRIDGE], env={**place.environment, **more}
    )


@asynccontextmanager
async def host(place: Place, name: str = "editor", *, mode: str = "auto", **more: str) -> AsyncIterator[Client]:
    """An MCP host of that name with the bridge as its server."""
    async with Client(bridge(place, **more), client_info=Implementation(name=name, version="1"), mode=mode) as client:
        yield client


def text(result: CallToolResult) -> str:
    [block] = result.content
    assert isinstance(block, TextContent)
    return block.text


def lines(result: CallToolResult) -> list[Mapping[str, object]]:
    assert isinstance(result.structured_content, dict)
    found: list[Mapping[str, object]] = result.structured_content["lines"]
    return found


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_host_mutes_reads_and_unmutes(tmp_path: Path, place: Place, mode: str) -> None:
    """By the old handshake and by the new one: the same verbs, the client's own name in the audit."""
    async with engine(tmp_path, place) as cockpit, host(place, mode=mode) as client:
        listed = {each.name: each for each in (await client.list_tools()).tools}
        assert listed["channels"].annotations is not None
        assert listed["channels"].annotations.read_only_hint is True
        assert listed["kill"].annotations is not None
        assert listed["kill"].annotations.destructive_hint is True
        muted = await client.call_tool("mute", {"target": NOISY, "reason": 'he said "later"'})
        assert not muted.is_error
        assert lines(muted)[-1]["verb"] == "mute"
        await cockpit.servers["disc"].say("disc:guild:noisy", "hello")
        await cockpit.settle()
        for name in ("channels", "backlog", "audit"):
            shown = await client.call_tool(name, {})
            assert not shown.is_error
            assert NOISY in text(shown)
        held = lines(await client.call_tool("backlog", {"target": NOISY}))[0]["messages"]
        assert isinstance(held, list)
        assert [each["text"] for each in held] == ["hello"]
        assert not (await client.call_tool("unmute", {"target": NOISY, "deliver": "backlog"})).is_error
        rows = lines(await client.call_tool("audit", {"target": NOISY}))[0]["rows"]
        assert isinstance(rows, list)
        assert [(row["actor"], row["origin"], row["verb"], row["reason"]) for row in rows] == [
            ("editor", "bridge", "mute", 'he said "later"'),
            ("editor", "bridge", "unmute", ""),
        ]


async def test_a_host_follows_a_tune_out_by_its_reports(tmp_path: Path, place: Place) -> None:
    async with engine(tmp_path, place) as cockpit, host(place) as client:
        assert "no reports" in text(await client.call_tool("reports", {}))
        tuned = await client.call_tool("tune_out", {"target": NOISY, "cadence": "60", "cap": 5, "for": "2h"})
        assert not tuned.is_error
        await cockpit.servers["disc"].say("disc:guild:noisy", "hello")
        await cockpit.run(f"go=cancel target={NOISY}")
        told = cockpit.of(Reported)
        assert [line["id"] for line in lines(await client.call_tool("reports", {}))] == [each.id for each in told]
        assert [line["id"] for line in lines(await client.call_tool("reports", {"last": 1}))] == [told[-1].id]
        for about, found in (("disc:guild:noisy", len(told)), (NOISY, len(told)), ("quiet", 0)):
            assert len(lines(await client.call_tool("reports", {"channel": about}))) == found


async def test_a_refusal_is_an_error_with_the_same_words_as_everywhere(tmp_path: Path, place: Place) -> None:
    """R-5."""
    async with engine(tmp_path, place) as cockpit, host(place) as client:
        for name, arguments, code in (
            ("mute", {"target": "mcp:dis"}, "unknown_target"),
            ("unmute", {"target": "mcp:disc"}, "already"),
            ("mute", {}, "missing_value"),
            ("mute", {"target": "mcp:disc", "for": "2h"}, "bad_value"),
            ("mutate", {}, "unknown_verb"),
        ):
            refused = await client.call_tool(name, arguments)
            assert refused.is_error
            assert code in json.dumps(refused.structured_content)
        assert "mcp:disc" in text(await client.call_tool("mute", {"target": "mcp:dis"}))
        assert cockpit.channel("mcp:disc").span is None


async def test_a_host_never_acts_as_the_operator_unless_the_recipe_says_so(tmp_path: Path, place: Place) -> None:
    async with engine(tmp_path, place) as cockpit, host(place, "operator") as client:
        assert (await client.call_tool("ask", {"text": "hello"})).is_error
        assert not (await client.call_tool("mute", {"target": NOISY})).is_error
        [row] = (await cockpit.session.engine.ledger.chronicle.audit(limit=10))[-1:]
        assert (row.actor, row.origin) == ("operator-client", "bridge")
        assert cockpit.requests("scout") == []
    async with engine(tmp_path, place, as_operator=True) as cockpit, host(place, "editor") as client:
        assert not (await client.call_tool("ask", {"text": "hello"})).is_error
        await cockpit.settle()
        assert len(cockpit.requests("scout")) == 1


async def test_without_a_cockpit_each_call_says_so_and_finds_the_next_one(tmp_path: Path, place: Place) -> None:
    async with host(place) as client:
        assert len((await client.list_tools()).tools) > 10
        for _ in range(2):
            alone = await client.call_tool("channels", {})
            assert alone.is_error
            assert "no cockpit is running" in text(alone)
            assert lines(alone)[0]["code"] == "not_running"
        async with engine(tmp_path, place):
            assert not (await client.call_tool("channels", {})).is_error
        assert (await client.call_tool("channels", {})).is_error
        async with engine(tmp_path, place):
            assert not (await client.call_tool("channels", {})).is_error


async def test_a_host_speaks_under_its_own_name_by_its_token(place: Place) -> None:
    """Or under the handle that `--as` names; what it does is audited under the name that it gives itself."""
    async with by_hand(place) as (cockpit, _):
        async with host(place, "hedgehog", COCKPIT_TOKEN="right") as client:
            said = await client.call_tool("send", {"text": "hello", "to": "feed:general"})
            assert (said.is_error, text(said)) == (False, "hedgehog to feed:general")
        called = StdioServerParameters(
            command=sys.executable,
            args=["-m", "cockpit", "mcp", "--as", "hedgehog"],
            env={**place.environment, "COCKPIT_TOKEN": "right"},
        )
        async with Client(called, client_info=Implementation(name="Some Editor", version="1")) as client:
            assert text(await client.call_tool("send", {"text": "hello"})) == "hedgehog to None"
            await client.call_tool("mute", {"target": "mcp:git"})
            assert cockpit.asked == ['Some-Editor by bridge: go=mute target="mcp:git"']
        async with host(place, "hedgehog") as client:
            assert (await client.call_tool("send", {"text": "hello"})).is_error


async def test_a_host_reads_what_was_said_to_its_own_name(place: Place) -> None:
    """By its token; what it says it has read is not told again."""
    async with by_hand(place) as (cockpit, _):
        cockpit.letters = [letter(number) for number in (1, 2, 3)]
        async with host(place, "hedgehog", COCKPIT_TOKEN="right") as client:
            first = await client.call_tool("inbox", {})
            assert text(first).splitlines()[:2] == ["2026-11-30T09:00:00.000Z  scout  to hedgehog", "  word 1"]
            assert [line["id"] for line in lines(first)] == ["1", "2"]
            assert [line["id"] for line in lines(await client.call_tool("inbox", {}))] == ["1", "2"]
            assert [line["id"] for line in lines(await client.call_tool("inbox", {"after": 2}))] == ["3"]
            assert text(await client.call_tool("inbox", {"after": 3})) == "there is nothing new"
            assert (await client.call_tool("inbox", {"after": -1})).is_error
        async with host(place, "hedgehog", COCKPIT_TOKEN="wrong") as client:
            refused = await client.call_tool("inbox", {})
            assert (refused.is_error, text(refused)) == (True, "no participant 'hedgehog' with that token")


async def test_a_host_that_dies_in_the_middle_of_a_call_leaves_the_cockpit_working(place: Place) -> None:
    """The verb that was begun is finished, and the next host is served."""
    cockpit, store = HandLink(), place.folder / "demo.db"
    async with asyncio.TaskGroup() as group:
        path = socket_path(store, "demo", place.environment)
        about = About("demo", str(store), os.getpid(), "0.1.0")
        serving = group.create_task(server.serve(cockpit.link, path, about=about, failed=cockpit.failures.put_nowait))
        await asyncio.sleep(0)
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", BRIDGE,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, env={**os.environ, **place.environment},
        )  # fmt: skip
        assert process.stdin is not None
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "editor", "version": "1"}}
        call = {"name": "mute", "arguments": {"target": "gate"}}
        for message in (
            {"id": 1, "method": "initialize", "params": hello},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/call", "params": call},
        ):
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        await cockpit.begun.wait()
        process.kill()
        await process.wait()
        cockpit.gate.set()
        async with host(place) as client:
            assert not (await client.call_tool("mute", {"target": "mcp:git"})).is_error
        serving.cancel()
    assert cockpit.asked == [f'editor by bridge: go=mute target="{target}"' for target in ("gate", "mcp:git")]
    assert cockpit.failures.empty()


async def test_where_several_run_each_call_lists_them_until_one_is_left(place: Place) -> None:
    async with host(place) as client, by_hand(place, "one") as (cockpit, _):
        async with by_hand(place, "two") as (other, _):
            asked = await client.call_tool("mute", {"target": "mcp:git"})
            assert asked.is_error
            for words in ("several cockpits run", "one (--db", "two (--db"):
                assert words in text(asked)
        assert not (await client.call_tool("mute", {"target": "mcp:git"})).is_error
        assert (len(cockpit.asked), other.asked) == (1, [])


async def test_a_cockpit_that_goes_in_the_middle_of_a_call_is_told_and_the_next_is_found(place: Place) -> None:
    """The host's call does not hang, and is not made again behind its back."""
    async with host(place) as client, asyncio.TaskGroup() as group:
        async with by_hand(place) as (cockpit, serving):
            calling = group.create_task(client.call_tool("mute", {"target": "gate"}))
            await cockpit.begun.wait()
            serving.cancel()
            gone = await calling
            assert (gone.is_error, text(gone)) == (True, "the cockpit has gone")
            assert "not_running" in json.dumps(gone.structured_content)
        async with by_hand(place) as (cockpit, _):
            assert not (await client.call_tool("mute", {"target": "mcp:git"})).is_error
            assert cockpit.asked == ['editor by bridge: go=mute target="mcp:git"']


def test_the_bridge_costs_nothing_before_it_runs() -> None:
    """The SDK takes a second to import: the other commands must not pay for it."""
    code = "import sys, cockpit.control.bridge, cockpit.control.commands; print('mcp' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
