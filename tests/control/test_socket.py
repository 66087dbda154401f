"""A link over a real Unix socket: several clients at once, each as if the engine were its own."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cockpit.control import server, wire
from cockpit.control.codec import decode_event, loads
from cockpit.control.wire import About
from cockpit.core.events import Spoke, VerbRan
from cockpit.errors import VerbError
from cockpit.testing.fake_link import report, view
from cockpit.testing.hand_link import HandLink, client, raw, served


@pytest.fixture
def path() -> Iterator[Path]:
    """A short place in a folder that is fit."""
    with tempfile.TemporaryDirectory(prefix="ck") as folder:
        yield Path(folder) / "one.sock"


async def test_a_verb_goes_in_and_its_answer_comes_out(path: Path) -> None:
    cockpit = HandLink()
    async with served(cockpit, path), client(path) as link:
        assert (await link.hello()).recipe == "demo"
        answer = await link.run("go=mute target=mcp:git")
        assert answer.ran == VerbRan(1.0, "go=mute target=mcp:git", "mute", True, "done")
        assert (await link.ask("well?", "scout")).ran.message == "asked"
        assert cockpit.asked == ["operator by socket: go=mute target=mcp:git", "operator asks scout: well?"]
        assert await link.snapshot() == cockpit.shown


async def test_two_at_once_do_not_wait_for_each_other(path: Path) -> None:
    cockpit = HandLink()
    async with served(cockpit, path), client(path) as one, client(path) as two, asyncio.TaskGroup() as group:
        slow = group.create_task(one.run("first gate"))
        await cockpit.begun.wait()
        assert (await two.run("second")).ran.ok
        assert (await one.run("third")).ran.ok
        cockpit.gate.set()
        assert (await slow).ran.typed == "first gate"
    assert [line.rpartition(": ")[2] for line in cockpit.asked] == ["second", "third", "first gate"]


async def test_what_happens_after_the_subscription_is_not_missed(path: Path) -> None:
    """`events()` first, then `snapshot()`: subscribed before the snapshot is taken."""
    cockpit = HandLink()
    async with served(cockpit, path), client(path) as link:
        events = link.events()
        await link.snapshot()
        assert cockpit.asked == ["events", "snapshot"]
        cockpit.tell(Spoke(1.0, "scout", "hello"))
        assert await anext(events) == Spoke(1.0, "scout", "hello")


async def test_every_client_hears_every_event(path: Path) -> None:
    cockpit = HandLink()
    async with served(cockpit, path), client(path) as one, client(path) as two:
        streams = [one.events(), one.events(), two.events()]
        await one.snapshot()
        await two.snapshot()
        cockpit.tell(report("You were asked."))
        assert [await anext(stream) for stream in streams] == [report("You were asked.")] * 3


async def test_a_stream_that_is_closed_is_left(path: Path) -> None:
    cockpit = HandLink()
    async with served(cockpit, path), client(path) as link:
        one, two = link.events(), link.events()
        await link.snapshot()
        one.close()
        await cockpit.feeds[0].closed.wait()
        cockpit.tell(Spoke(1.0, "scout", "still here"))
        assert await anext(two) == Spoke(1.0, "scout", "still here")
        with pytest.raises(StopAsyncIteration):
            await anext(one)


async def test_half_a_line_is_answered_when_the_client_has_said_all(path: Path) -> None:
    """`printf … | nc -U`: the last line may lack its newline, and the answer still comes."""
    cockpit = HandLink()
    async with served(cockpit, path), raw(path) as piped:
        piped.say(b'\n{"id":"a","do":"run","line":"one"}\n{"id":"b","do":"run","line":"two"}')
        piped.writer.write_eof()
        replies = [loads(line) for line in (await piped.reader.read()).splitlines()]
        assert [reply.get("id") for reply in replies] == [None, "a", "b"]


async def test_a_snapshot_too_long_for_a_line_loses_its_oldest(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cockpit = HandLink(shown=view(reports=tuple(report(f"{n} " + "x" * 1000, at=float(n)) for n in range(64))))
    monkeypatch.setattr(wire, "LIMIT", 30_000)
    async with served(cockpit, path), client(path) as link:
        shown = await link.snapshot()
        assert shown.rows == cockpit.shown.rows
        assert 0 < len(shown.reports) < 64
        assert shown.reports == cockpit.shown.reports[-len(shown.reports) :]


async def test_a_bridges_client_is_never_the_operator(path: Path) -> None:
    """It acts under its own name, and neither prompts nor speaks in the operator's; that is audited (K-123)."""
    cockpit = HandLink()
    async with served(cockpit, path):
        for name in ("editor", "operator", "scout"):
            async with client(path, "bridge", name) as link:
                assert (await link.run("go=mute target=mcp:git")).ran.ok
                for refused in (
                    await link.ask("hello"),
                    await link.run("ask hello"),
                    await link.run('go=say text="hello"'),
                    await link.run(":GO=ASK text=hello"),
                ):
                    assert (refused.ran.ok, refused.ran.code) == (False, "refused")
    assert cockpit.asked == [
        f"{name} by bridge: go=mute target=mcp:git" for name in ("editor", "operator-client", "scout-client")
    ]
    assert len(cockpit.refusals) == 3 * 4
    assert cockpit.refusals[:2] == ["editor by bridge: ask: ask speaks as the operator, and editor is another"] * 2


async def test_a_bridges_client_is_the_operator_where_the_recipe_says_so(path: Path) -> None:
    cockpit = HandLink()
    async with served(cockpit, path, as_operator=True), client(path, "bridge", "editor") as link:
        assert (await link.hello()).bridge_as_operator
        await link.run("one")
        await link.ask("hello")
    assert cockpit.asked == ["operator by bridge: one", "operator asks None: hello"]


async def test_the_intercom_is_spoken_in_by_token(path: Path) -> None:
    async with served(HandLink(), path), client(path) as link:
        assert (await link.send("hedgehog", "right", "feed:general", "hello")).message == "hedgehog to feed:general"
        assert (await link.send("hedgehog", "wrong", None, "hello")).code == "refused"


async def test_without_an_intercom_it_is_refused(path: Path) -> None:
    cockpit = HandLink()
    about = About("demo", "/tmp/demo.db", 1, "0.1.0")
    async with asyncio.TaskGroup() as group:
        serving = group.create_task(server.serve(cockpit.link, path, about=about))
        await asyncio.sleep(0)
        async with client(path) as link:
            assert "[intercom]" in (await link.send("hedgehog", "right", None, "hello")).message
            with pytest.raises(VerbError, match=r"no \[intercom\]"):
                await link.inbox("hedgehog", "right")
        serving.cancel()


async def test_the_protocol_is_plain_json_lines(path: Path) -> None:
    """So that a script can speak it with nothing of ours."""
    cockpit = HandLink()
    async with served(cockpit, path), raw(path) as script:
        assert (await script.said())["cockpit"] == wire.PROTOCOL
        script.say(json.dumps({"id": "s", "do": "events"}).encode() + b"\n")
        script.say(json.dumps({"id": "n", "do": "snapshot"}).encode() + b"\n")
        assert (await script.said())["id"] == "n"
        cockpit.tell(Spoke(1.0, "scout", "naïve"))
        said = await script.said()
        assert (said["id"], decode_event(said["event"])) == ("s", Spoke(1.0, "scout", "naïve"))
