"""The double that the engine's tests lean on: it plays its script, remembers, holds and fails as told."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from cockpit.core.message import Block, Text, Thinking, ToolUse
from cockpit.core.records import Usage
from cockpit.core.request import Chunk, Completed, Request, Retrying, TextDelta, Tool, ToolInputDelta, Turn
from cockpit.errors import ModelError
from cockpit.testing.scripted_model import Answer, Call, Gate, ScriptedModel


def request(agent: str = "scout", *blocks: Block) -> Request:
    return Request(
        agent, (), (Tool("a", "", {"type": "object"}),), (Turn("user", blocks or (Text("hi"),)),), 100, seen=0
    )


async def said(model: ScriptedModel, agent: str = "scout") -> str:
    last = [chunk async for chunk in model.stream(request(agent))][-1]
    assert isinstance(last, Completed)
    return "".join(block.text for block in last.blocks if isinstance(block, Text))


async def collect(model: ScriptedModel, chunks: list[Chunk]) -> None:
    async for chunk in model.stream(request()):
        chunks.append(chunk)  # noqa: PERF401  (what comes before an error is wanted too)


async def test_a_list_is_played_in_order_and_then_the_rest() -> None:
    model = ScriptedModel([Answer("one"), Answer("two")], otherwise=Answer("rest"))
    assert [await said(model) for _ in range(4)] == ["one", "two", "rest", "rest"]
    assert len(model.requests) == 4


async def test_each_agent_may_have_its_own_list() -> None:
    model = ScriptedModel({"scout": [Answer("one")], "aide": [Answer("two")]})
    assert [await said(model, "aide"), await said(model), await said(model, "other")] == ["two", "one", "Done."]
    assert [asked.agent for asked in model.requests_of("aide")] == ["aide"]


async def test_a_function_answers_the_request() -> None:
    assert await said(ScriptedModel(lambda asked: Answer(f"hello {asked.agent}"))) == "hello scout"


async def test_an_answer_streams_and_is_whole_at_its_end() -> None:
    retry = Retrying("busy", 1.0)
    calls = (Call("deliver_summary", {"channel": "c", "text": "You were"}), Call("a", {}, id="mine"))
    model = ScriptedModel([Answer("Hi you", calls, thinking="hm", retries=(retry,), usage=Usage(1, 2))])
    chunks: list[Chunk] = [chunk async for chunk in model.stream(request())]
    assert chunks[:-1] == [
        retry,
        TextDelta("Hi "),
        TextDelta("you"),
        ToolInputDelta("deliver_summary", "toolu_scripted_1", "You "),
        ToolInputDelta("deliver_summary", "toolu_scripted_1", "were"),
    ]
    last = chunks[-1]
    assert isinstance(last, Completed)
    assert [type(block) for block in last.blocks] == [Thinking, Text, ToolUse, ToolUse]
    assert last.blocks[-1] == ToolUse("mine", "a", {})
    assert (last.stop, last.usage) == ("tool_use", Usage(1, 2))


async def test_errors_come_before_or_after_what_is_said() -> None:
    model = ScriptedModel([ModelError("down"), Answer("part", fails=ModelError("cut"))])
    with pytest.raises(ModelError, match="down"):
        await said(model)
    chunks: list[Chunk] = []
    with pytest.raises(ModelError, match="cut"):
        await collect(model, chunks)
    assert chunks == [TextDelta("part")]
    assert model.stopped == 0


@pytest.mark.parametrize("text", ["held for a while", ""])
async def test_a_gate_holds_it_after_its_first_piece(text: str) -> None:
    gate = Gate()
    model = ScriptedModel([Answer(text, gate=gate)])
    turn = asyncio.ensure_future(said(model))
    await gate.reached()
    assert (await model.received(1)).agent == "scout"
    assert not turn.done()
    gate.open()
    assert await turn == text


async def test_it_counts_the_streams_that_were_stopped() -> None:
    gate = Gate()
    model = ScriptedModel([Answer("held", gate=gate), Answer("two words")])
    turn = asyncio.ensure_future(said(model))
    await gate.reached()
    turn.cancel()
    await asyncio.gather(turn, return_exceptions=True)
    assert model.stopped == 1
    async with aclosing(model.stream(request())) as stream:
        await anext(stream)
    assert model.stopped == 2


async def test_a_request_that_the_api_would_refuse_is_refused() -> None:  # V-8
    bad = Request("scout", (), (), (Turn("assistant", (Text("x"),)),), 100, seen=0)
    with pytest.raises(ModelError, match="roles must alternate"):
        await anext(ScriptedModel().stream(bad))
    assert isinstance(await anext(ScriptedModel(strict=False).stream(bad)), TextDelta)


async def test_received_waits_for_the_requests_of_an_agent() -> None:
    model = ScriptedModel()
    waiting = asyncio.ensure_future(model.received(2, "scout"))
    await said(model, "aide")
    await said(model)
    assert not waiting.done()
    await said(model)
    assert (await waiting).agent == "scout"
    await model.aclose()
    assert model.closed
