"""Turns on the real provider against the local server: whatever goes wrong, the operator is told, the log stays whole,
and the next turn works (issue 3)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import pytest

from cockpit.connect.ports import Called
from cockpit.core.events import ToolCalled, Writing
from cockpit.core.message import RESIDENTS, Json, Text, Thinking, subconscious_slot
from cockpit.errors import RecipeError
from cockpit.model.factory import make_model
from cockpit.testing.anthropic_server import Answer, AnthropicServer, Break, Call, Fail, Gate, Step
from cockpit.testing.provided import (
    KEY,
    SOON,
    blocks_of,
    failures,
    prefix,
    provided,
    provided_recipe,
    refused,
    said,
    spoken,
    states,
    told,
    unended,
    unpaired,
)
from cockpit.testing.rig import Rig, rig
from cockpit.testing.stage import DISC, GIT, NOISY

BOTH = provided_recipe(GIT, DISC)
THINKS = provided_recipe(GIT, DISC, model='thinking = { type = "enabled", budget_tokens = 1024 }')
STATUS, COMMIT = Call("git__status", {}, id="t1"), Call("git__commit", {"message": "done"}, id="t2")
CHANNELS = Call("channel_list", {}, id="t3")


@asynccontextmanager
async def on(folder: Path, *script: Step, text: str = BOTH) -> AsyncIterator[tuple[Rig, AnthropicServer]]:
    """A cockpit on a server that plays `script`, and then says `Done.`"""
    async with AnthropicServer(script, key=KEY) as server, provided(folder, text, server) as cockpit:
        yield cockpit, server


async def ask(cockpit: Rig, text: str = "Look.") -> None:
    await cockpit.link.ask(text)
    await cockpit.settle()


async def next_works(cockpit: Rig, server: AnthropicServer) -> None:
    """The log is whole, nothing is being written for ever on a screen, and one more turn runs to its end."""
    assert await unpaired(cockpit, RESIDENTS, subconscious_slot("scout")) == []
    before = len(server.requests)
    await ask(cockpit, "And now?")
    assert [served.status for served in server.requests[before:]] == [200]
    assert "And now?" in said(server.requests[-1].body, "user")
    assert states(cockpit)[-2:] == ["started", "ended"]
    assert spoken(cockpit)[-1] == "Done."
    assert refused(server) == []
    assert unended(cockpit) == []


async def asked_until_written(cockpit: Rig, text: str, word: str) -> None:
    """Ask, and wait until `word` is written on the screen."""
    events = cockpit.session.engine.events()
    await cockpit.link.ask(text)
    async for event in events:
        if isinstance(event, Writing) and word in event.text:
            break
    events.close()


def kept(folder: Path) -> bytes:
    """All that a cockpit left in its folder."""
    return b"".join(path.read_bytes() for path in folder.iterdir() if path.is_file())


def results(server: AnthropicServer) -> list[tuple[str, bool]]:
    """What the newest request answers to its calls: the text, and whether it is an error."""
    blocks = [block for block in blocks_of(server.requests[-1].body) if block["type"] == "tool_result"]
    return [(str(block["content"][0]["text"]), bool(block.get("is_error"))) for block in blocks]  # type: ignore[index, call-overload]  # as the API has it


class TestGoingWell:
    async def test_three_parallel_tools_thinking_and_a_429(self, tmp_path: Path) -> None:
        """Three calls run at once, thinking is replayed as it came, and the wait is told."""
        first = Answer("Looking.", (STATUS, COMMIT, CHANNELS), thinking="I had better look.")
        async with on(tmp_path, Fail(429, retry_after=SOON), first, Answer("All three."), text=THINKS) as (
            cockpit,
            server,
        ):
            together = asyncio.Barrier(2)

            async def answer(tool: str, _: Mapping[str, Json]) -> Called:
                await together.wait()
                return Called((Text(f"{tool} done"),))

            cockpit.servers["git"].answer = answer
            await ask(cockpit)
            assert [served.status for served in server.requests] == [429, 200, 200]
            assert told(cockpit, "model") == ["scout: 429 rate limited; again in 0.0 s"]
            body = server.requests[-1].body
            assert [block["type"] for block in blocks_of(body)] == [
                *("text", "thinking", "text", "tool_use", "tool_use", "tool_use"),
                *("tool_result", "tool_result", "tool_result"),
            ]
            assert [block["tool_use_id"] for block in blocks_of(body, "user")[1:]] == ["t1", "t2", "t3"]
            assert blocks_of(body, "assistant")[0]["thinking"] == "I had better look."
            assert spoken(cockpit) == ["Looking.", "All three."]
            assert states(cockpit) == ["started", "ended"]
            await next_works(cockpit, server)

    async def test_a_restart_replays_thinking_and_calls_as_they_came(self, tmp_path: Path) -> None:
        """V-3, R-1: the request after a restart begins with the bytes of the one before it."""
        async with AnthropicServer([Answer("Looking.", (STATUS,), thinking="Hm.")], key=KEY) as server:
            async with provided(tmp_path, THINKS, server) as cockpit:
                await ask(cockpit)
                stored = [block for message in await cockpit.stored(RESIDENTS) for block in message.blocks]
                assert any(isinstance(block, Thinking) for block in stored)
            before = prefix(server.requests[-1].body)
            async with provided(tmp_path, THINKS, server) as cockpit:
                await ask(cockpit, "Again.")
                assert prefix(server.requests[-1].body)[: len(before)] == before
                assert refused(server) == []


class TestBrokenStreams:
    @pytest.mark.parametrize("how", ["cut", "end", "error", "garbage"])
    async def test_a_stream_that_breaks_off_is_begun_anew(
        self, tmp_path: Path, how: Literal["cut", "end", "error", "garbage"]
    ) -> None:
        """What was written before the break is void: it is ended on the screen, and in no log."""
        async with on(tmp_path, Break(Answer("This is said in part only."), how=how), Answer("Whole.")) as (
            cockpit,
            server,
        ):
            await ask(cockpit)
            assert spoken(cockpit) == ["Whole."]
            (line,) = told(cockpit, "model")
            assert line.startswith("scout: the answer broke off (")
            assert line.endswith("; again in 0.5 s")
            assert states(cockpit) == ["started", "ended"]
            await next_works(cockpit, server)
            assert "in part" not in said(server.requests[-1].body)

    async def test_one_that_breaks_in_its_calls_runs_none_of_them_twice(self, tmp_path: Path) -> None:
        """V-8: a call counts only in an answer that is whole."""
        calls = Answer("Let me.", (STATUS, COMMIT))
        async with on(tmp_path, Break(calls, after=12), calls) as (cockpit, server):
            await ask(cockpit)
            assert [tool for tool, _ in cockpit.servers["git"].calls] == ["status", "commit"]
            assert spoken(cockpit) == ["Let me.", "Done."]
            await next_works(cockpit, server)

    async def test_one_that_goes_on_breaking_fails_the_turn(self, tmp_path: Path) -> None:
        async with on(tmp_path, *[Break(Answer("Part of it."))] * 5) as (cockpit, server):
            await ask(cockpit)
            assert states(cockpit) == ["started", "failed"]
            assert len(told(cockpit, "model")) == 5
            assert told(cockpit, "model")[-1].startswith("scout: the provider's answer broke off: ")
            assert spoken(cockpit) == []
            await next_works(cockpit, server)


class TestStopping:
    async def test_after_the_first_token(self, tmp_path: Path) -> None:
        """The request is cancelled, and what was said so far is kept and marked."""
        gate = Gate()
        async with on(tmp_path, Answer("One two three.", gate=gate)) as (cockpit, server):
            await asked_until_written(cockpit, "Count.", "One")
            assert (await cockpit.run("go=stop")).ran.message == "scout stopped"
            await server.requests[0].left.wait()
            assert states(cockpit) == ["started", "stopped"]
            assert spoken(cockpit) == ["One [interrupted]"]
            await next_works(cockpit, server)
            assert said(server.requests[-1].body, "assistant").count("One [interrupted]") == 1

    async def test_after_a_stream_that_broke_off_keeps_only_what_was_said_since(self, tmp_path: Path) -> None:
        gate = Gate()
        async with on(tmp_path, Break(Answer("Void words here.")), Answer("One two.", gate=gate)) as (cockpit, server):
            await asked_until_written(cockpit, "Count.", "One")
            await cockpit.run("go=stop")
            assert spoken(cockpit) == ["One [interrupted]"]
            await next_works(cockpit, server)

    async def test_while_thinking(self, tmp_path: Path) -> None:
        """Thinking without its signature can't be replayed, and is not kept."""
        gate = Gate()
        async with on(tmp_path, Answer("Never.", thinking="Let me think of it.", gate=gate), text=THINKS) as (
            cockpit,
            server,
        ):
            await cockpit.link.ask("Count.")
            await gate.reached()
            await cockpit.run("go=stop")
            assert spoken(cockpit) == []
            await next_works(cockpit, server)

    async def test_during_tool_calls(self, tmp_path: Path) -> None:
        """A call that had ended keeps its result; one that ran says that there is none; the screen tells of both."""
        async with on(tmp_path, Answer("Both.", (STATUS, COMMIT), thinking="Hm."), text=THINKS) as (cockpit, server):
            running, never = asyncio.Event(), asyncio.Event()

            async def answer(tool: str, _: Mapping[str, Json]) -> Called:
                if tool == "commit":
                    running.set()
                    await never.wait()
                return Called((Text(f"{tool} done"),))

            cockpit.servers["git"].answer = answer
            await cockpit.link.ask("Both, please.")
            await running.wait()
            await cockpit.settle(held={"scout"})
            await cockpit.run("go=stop")
            assert states(cockpit) == ["started", "stopped"]
            assert [(event.tool, event.ok) for event in cockpit.of(ToolCalled)] == [
                ("git__status", True),
                ("git__commit", False),
            ]
            await next_works(cockpit, server)
            assert results(server) == [("status done", False), ("[no result: the turn was interrupted]", True)]

    async def test_what_the_rounds_before_have_cost_is_counted(self, tmp_path: Path) -> None:
        gate = Gate()
        async with on(tmp_path, Answer("Looking.", (STATUS,)), Answer("And so on.", gate=gate)) as (cockpit, server):
            await cockpit.link.ask("Look.")
            await gate.reached()
            await cockpit.run("go=stop")
            assert cockpit.session.engine.agents["scout"].usage == server.requests[0].usage


class TestEndings:
    async def test_a_refusal_is_a_failed_turn(self, tmp_path: Path) -> None:
        async with on(tmp_path, Answer("I would rather", stop="refusal")) as (cockpit, server):
            await ask(cockpit)
            assert states(cockpit) == ["started", "failed"]
            assert told(cockpit, "model") == ["scout: the model refused to answer"]
            assert spoken(cockpit) == ["I would rather"]
            await next_works(cockpit, server)

    @pytest.mark.parametrize("text", ["", "So:"])
    async def test_nothing_that_a_refusal_asked_for_is_done(self, tmp_path: Path, text: str) -> None:
        """A call that was whole when the refusal came is not made."""
        async with on(tmp_path, Answer(text, (STATUS, COMMIT), stop="refusal")) as (cockpit, server):
            await ask(cockpit)
            assert cockpit.servers["git"].calls == []
            assert states(cockpit) == ["started", "failed"]
            await next_works(cockpit, server)

    async def test_max_tokens_is_told_and_what_is_whole_is_kept(self, tmp_path: Path) -> None:
        async with on(tmp_path, Answer("As far as", stop="max_tokens")) as (cockpit, server):
            await ask(cockpit)
            assert states(cockpit) == ["started", "ended"]
            assert told(cockpit, "max_tokens") == ["scout: an answer was cut at its limit of 8192 tokens"]
            assert spoken(cockpit) == ["As far as"]
            await next_works(cockpit, server)

    async def test_max_tokens_with_a_complete_call_makes_it(self, tmp_path: Path) -> None:
        """V-8: the call that was cut is in no log; the whole one is made, and the turn goes on with its result."""
        async with on(tmp_path, Answer("So:", (STATUS, COMMIT), stop="max_tokens"), Answer("On.")) as (cockpit, server):
            await ask(cockpit)
            assert [tool for tool, _ in cockpit.servers["git"].calls] == ["status"]
            assert results(server) == [("status done", False)]
            assert spoken(cockpit) == ["So:", "On."]
            assert len(told(cockpit, "max_tokens")) == 1
            await next_works(cockpit, server)


class TestErrors:
    @pytest.mark.parametrize(("status", "said"), [(529, "529 overloaded"), (500, "500 internal server error")])
    async def test_a_busy_provider_is_waited_for_and_told(self, tmp_path: Path, status: int, said: str) -> None:
        async with on(tmp_path, Fail(status, retry_after=SOON), Answer("Here.")) as (cockpit, server):
            await ask(cockpit)
            assert told(cockpit, "model") == [f"scout: {said}; again in 0.0 s"]
            assert spoken(cockpit) == ["Here."]
            await next_works(cockpit, server)

    async def test_500s_until_it_gives_up(self, tmp_path: Path) -> None:
        """Each try is told, and at last the failure."""
        async with on(tmp_path, *[Fail(500, "the server is on fire", retry_after=SOON)] * 5) as (cockpit, server):
            await ask(cockpit)
            assert states(cockpit) == ["started", "failed"]
            *tries, last = told(cockpit, "model")
            assert len(tries) == 4
            assert last == "scout: the provider answered 500 (api_error): the server is on fire"
            assert spoken(cockpit) == []
            await next_works(cockpit, server)

    async def test_500s_in_the_middle_of_a_turn_leave_its_calls_answered(self, tmp_path: Path) -> None:
        """V-8: the calls before the failure were made, and the next turn sees their results."""
        fails = [Fail(500, retry_after=SOON)] * 5
        async with on(tmp_path, Answer("Looking.", (STATUS,)), *fails) as (cockpit, server):
            await ask(cockpit)
            assert states(cockpit) == ["started", "failed"]
            assert spoken(cockpit) == ["Looking."]
            await next_works(cockpit, server)
            assert results(server) == [("status done", False)]

    async def test_what_the_api_refuses_fails_at_once_without_the_key_in_its_words(self, tmp_path: Path) -> None:
        """R-5, R-7: one line, no key, and no try in vain."""
        async with on(tmp_path, Fail(400, f"no\nsuch thing for {KEY}")) as (cockpit, server):
            await ask(cockpit)
            assert len(server.requests) == 1
            assert told(cockpit, "model") == [
                "scout: the provider answered 400 (invalid_request_error): no such thing for [secret]"
            ]
            await next_works(cockpit, server)
        assert KEY.encode() not in kept(tmp_path)

    @pytest.mark.parametrize("step", [Answer(stop="refusal"), Fail(400, "no")])
    async def test_a_subconscious_that_fails_is_told_in_its_pane(self, tmp_path: Path, step: Step) -> None:
        """T-14, S-3, S-9: refusals and failures are handled as the primary's, and the messages stay undigested."""
        async with on(tmp_path, step) as (cockpit, server):
            await cockpit.run(f"go=tune-out target={NOISY}")
            await cockpit.servers["disc"].say("noisy", "scout?", addressed=True)
            await cockpit.advance(2.0)
            assert states(cockpit, "Subconscious") == ["started", "failed"]
            (failure,) = failures(cockpit)
            assert failure in {
                "the model refused to answer",
                "the provider answered 400 (invalid_request_error): no",
            }
            epoch = cockpit.channel(NOISY).epoch
            assert epoch is not None
            assert (epoch.undigested, epoch.retry) == (1, 1)
            await next_works(cockpit, server)

    async def test_a_missing_key_is_one_line_before_anything_starts(self, tmp_path: Path) -> None:
        """R-5."""
        with pytest.raises(RecipeError, match=r"^the provider 'anthropic' needs a key: set the variable LOCAL_KEY$"):
            async with rig(tmp_path, BOTH, make_model=make_model):
                pass
        assert not (tmp_path / "rig.db").exists()
