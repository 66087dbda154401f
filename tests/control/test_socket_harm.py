"""What clients do wrong, and how they die: none of it harms the cockpit, or another client."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cockpit.control import server, wire
from cockpit.control.client import GONE, open_link
from cockpit.control.wire import About
from cockpit.core.events import Spoke, Stopped
from cockpit.errors import VerbError
from cockpit.testing.fake_link import report, view
from cockpit.testing.hand_link import HandLink, client, raw, served


@pytest.fixture
def path() -> Iterator[Path]:
    """A short place in a folder that is fit."""
    with tempfile.TemporaryDirectory(prefix="ck") as folder:
        yield Path(folder) / "one.sock"


async def test_a_client_that_never_reads_is_dropped_and_nobody_else(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A `reports --follow` whose pipe is never read."""
    monkeypatch.setattr(server, "BEHIND", 1 << 20)
    cockpit = HandLink()
    async with served(cockpit, path), raw(path) as stuck, client(path) as link:
        stuck.say(b'{"id":1,"do":"events"}\n{"id":2,"do":"snapshot"}\n')
        events = link.events()
        await link.snapshot()
        while len(cockpit.feeds) < 2:
            await link.snapshot()
        while cockpit.failures.empty():
            cockpit.tell(Spoke(1.0, "scout", "x" * (128 << 10)))
            assert isinstance(await anext(events), Spoke)
        assert "did not read" in cockpit.failures.get_nowait()
        stuck_feed = next(feed for feed in cockpit.feeds if feed.closed.is_set() or feed is cockpit.feeds[0])
        await stuck_feed.closed.wait()
        cockpit.tell(Spoke(2.0, "scout", "after"))
        async for event in events:
            if event == Spoke(2.0, "scout", "after"):
                break
        assert (await link.run("go=mute target=mcp:git")).ran.ok
    assert cockpit.failures.empty()


async def test_a_client_that_asks_and_never_reads_takes_bounded_room(path: Path) -> None:
    cockpit = HandLink(shown=view(reports=tuple(report("x" * 100_000, at=float(n)) for n in range(20))))
    async with served(cockpit, path), raw(path) as stuck, client(path) as link:
        for number in range(500):
            stuck.say(b'{"id":%d,"do":"snapshot"}\n' % number)
        for _ in range(50):
            assert (await link.run("go=mute target=mcp:git")).ran.ok
        assert cockpit.asked.count("snapshot") <= server.MOST_AT_ONCE


async def test_a_client_that_is_killed_leaves_its_subscription(path: Path) -> None:
    cockpit = HandLink()
    async with served(cockpit, path):
        async with raw(path) as screen:
            screen.say(b'{"id":1,"do":"events"}\n{"id":2,"do":"snapshot"}\n')
            await screen.said()
            await screen.said()
        await cockpit.feeds[0].closed.wait()
        async with client(path) as link:
            assert await link.snapshot() == cockpit.shown
    assert cockpit.failures.empty()


async def test_a_verb_that_was_begun_is_finished_though_its_client_died(path: Path) -> None:
    """A bridge's client that dies in the middle of a call."""
    cockpit = HandLink()
    async with served(cockpit, path):
        async with raw(path) as dying:
            dying.say(b'{"id":1,"do":"run","line":"gate","origin":"bridge","actor":"editor"}\n')
            await cockpit.begun.wait()
        async with client(path) as link:
            await link.snapshot()
            cockpit.gate.set()
            while len(cockpit.asked) < 2:
                await link.hello()
                await asyncio.sleep(0)
    assert cockpit.asked == ["snapshot", "editor by bridge: gate"]
    assert cockpit.failures.empty()


async def test_each_line_that_cannot_be_read_gets_one_clear_error(path: Path) -> None:
    """R-5: and the next line is read as if nothing had been."""
    cockpit = HandLink()
    async with served(cockpit, path), raw(path) as wrong:
        await wrong.said()
        wrong.say(b'what?\n\xff\xff\n[1]\n{"id":4,"do":"fly"}\n{"id":5,"do":"run","line":"go"}\n')
        replies = [await wrong.said() for _ in range(5)]
        assert [reply["id"] for reply in replies] == [None, None, None, 4, 5]
        assert all("error" in reply for reply in replies[:4])
        assert "result" in replies[4]
    assert len(cockpit.asked) == 1


async def test_a_line_without_an_end_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "LIMIT", 4096)
    cockpit = HandLink()
    async with served(cockpit, path):
        async with raw(path) as endless:
            await endless.said()
            endless.say(b"x" * 10_000)
            assert "4096" in str(await endless.said())
            assert await endless.reader.read() == b""
        async with client(path) as link:
            assert (await link.run("x" * 5000)).ran.code == "bad_value"
            assert (await link.run("one")).ran.ok


async def test_a_crash_ends_its_client_and_nobody_else(path: Path) -> None:
    cockpit = HandLink()
    async with served(cockpit, path), client(path) as one, client(path) as two:
        assert (await one.run("crash")).ran.code == "not_running"
        assert "RuntimeError: a fault of its own" in await cockpit.failures.get()
        assert (await two.run("go")).ran.ok


async def test_a_client_of_another_user_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cockpit = HandLink()
    monkeypatch.setattr(server, "peer_uid", lambda _: os.getuid() + 1)
    async with served(cockpit, path):
        with pytest.raises(VerbError, match="another user"):
            await open_link(path)
        assert "refused" in cockpit.failures.get_nowait()
    assert cockpit.asked == []


async def test_the_kernel_says_who_is_at_the_other_end(path: Path) -> None:
    async with served(HandLink(), path), raw(path) as ours:
        found = server.peer_uid(ours.writer.get_extra_info("socket"))
        assert found in {os.getuid(), None}


async def test_more_clients_than_it_takes_are_refused_until_one_leaves(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "MOST_CLIENTS", 1)
    async with served(HandLink(), path):
        async with client(path):
            with pytest.raises(VerbError, match="1 clients already"):
                await open_link(path)
        async with raw(path) as first:
            while "error" in await first.said():
                first.reader, first.writer = await asyncio.open_unix_connection(path)


async def test_when_the_cockpit_ends_every_stream_ends_and_every_verb_is_refused(path: Path) -> None:
    cockpit = HandLink()
    async with served(cockpit, path) as serving, client(path) as link, asyncio.TaskGroup() as group:
        events = link.events()
        await link.snapshot()
        pending = group.create_task(link.run("gate"))
        await cockpit.begun.wait()
        serving.cancel()
        assert [event.reason async for event in events if isinstance(event, Stopped)] == [GONE]
        assert (await pending).ran.code == "not_running"
        assert (await link.run("go")).ran.code == "not_running"
        assert [event async for event in link.events() if not isinstance(event, Stopped)] == []
        with pytest.raises(VerbError, match=GONE):
            await link.snapshot()
    with pytest.raises(FileNotFoundError):
        await open_link(path)
    assert cockpit.feeds[0].closed.is_set()


async def test_a_clean_end_is_told_once_with_its_own_reason(path: Path) -> None:
    cockpit = HandLink()
    async with served(cockpit, path) as serving, client(path) as link:
        events = link.events()
        await link.snapshot()
        cockpit.tell(Stopped(1.0, "quit"))
        cockpit.feeds[0].queue.put_nowait(None)
        assert await anext(events) == Stopped(1.0, "quit")
        serving.cancel()
        assert [event async for event in events] == []


async def test_events_that_end_without_a_stop_end_the_stream(path: Path) -> None:
    cockpit = HandLink()
    async with served(cockpit, path), client(path) as link:
        events = link.events()
        await link.snapshot()
        cockpit.feeds[0].queue.put_nowait(None)
        assert [type(event) async for event in events] == [Stopped]


async def test_a_client_outlives_what_it_cannot_understand(path: Path) -> None:
    """A cockpit that speaks nonsense is as good as gone, and says so."""

    async def nonsense(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(About("demo", "/tmp/demo.db", 1, "0.1.0").hello())
        await reader.readuntil(b"\n")
        writer.write(b'{"id":1,"event":{"is":"Nonsense"}}\n')
        writer.close()

    async with await asyncio.start_unix_server(nonsense, path), client(path) as link:
        assert [type(event) async for event in link.events()] == [Stopped]
