"""The Anthropic provider by its real SDK, against a local server that speaks the API and fails as told."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from cockpit.core.message import Block, Json, Text, Thinking, ToolResult, ToolUse
from cockpit.core.records import Usage
from cockpit.core.request import (
    Chunk,
    Completed,
    Request,
    Retrying,
    StopReason,
    SystemText,
    TextDelta,
    Tool,
    ToolInputDelta,
    Turn,
)
from cockpit.errors import ModelError
from cockpit.model.anthropic import AnthropicModel
from cockpit.model.config import ModelConfig
from cockpit.testing.anthropic_server import Answer, AnthropicServer, Break, Call, Fail, Gate, Step

KEY = "sk-very-secret"
SOON = 0.001  # seconds, as a server may ask to wait; nothing here waits longer
TOOLS = tuple(
    Tool(name, "", {"type": "object", "properties": {"text": {"type": "string"}}})
    for name in ("deliver_summary", "git__status", "time__now")
)


def request(*turns: Turn, tools: tuple[Tool, ...] = TOOLS, max_tokens: int = 100) -> Request:
    system = (SystemText("You are scout.", cached=True),)
    return Request("scout", system, tools, turns or (user(Text("hi")),), max_tokens, seen=0)


def user(*blocks: Block, cached: bool = False) -> Turn:
    return Turn("user", blocks, cached)


class Waits:
    """Stands in for sleeping, and says how long it would have been."""

    def __init__(self) -> None:
        self.delays: list[float] = []

    async def __call__(self, delay: float) -> None:
        self.delays.append(delay)


@asynccontextmanager
async def model_of(server: AnthropicServer, waits: Waits | None = None, **more: Json) -> AsyncIterator[AnthropicModel]:
    config = ModelConfig("anthropic", "claude-x", api_key=KEY, base_url=server.url, **more)  # type: ignore[arg-type]
    model = AnthropicModel(config, sleep=waits or Waits())
    try:
        yield model
    finally:
        await model.aclose()


async def chunks_of(model: AnthropicModel, asked: Request | None = None) -> list[Chunk]:
    return [chunk async for chunk in model.stream(asked or request())]


async def played(*script: Step, waits: Waits | None = None, **more: Json) -> list[Chunk]:
    """What a fresh model yields for one request to a server that plays `script`."""
    async with AnthropicServer(script, key=KEY) as server, model_of(server, waits, **more) as model:
        return await chunks_of(model)


async def failed(*script: Step, max_retries: int = 4) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await played(*script, max_retries=max_retries)
    assert KEY not in str(caught.value)
    assert "\n" not in str(caught.value)
    return caught.value


def ending(chunks: list[Chunk]) -> Completed:
    last = chunks[-1]
    assert isinstance(last, Completed)
    assert not any(isinstance(chunk, Completed) for chunk in chunks[:-1])
    return last


class TestAnswers:
    async def test_text_streams_and_is_whole_at_its_end(self) -> None:
        chunks = await played(Answer("Good morning to you.", usage=Usage(output=7)))
        assert chunks[:-1] == [TextDelta("Good "), TextDelta("morning "), TextDelta("to "), TextDelta("you.")]
        done = ending(chunks)
        assert (done.blocks, done.stop) == ((Text("Good morning to you."),), "end_turn")
        assert done.usage.output == 7
        assert done.usage.input > 0

    async def test_parallel_calls_come_with_their_arguments(self) -> None:
        calls = (
            Call("git__status", {"path": "."}, id="t1"),
            Call("time__now", {}, id="t2"),
            Call("git__status", {"n": [1]}),
        )
        done = ending(await played(Answer("Looking.", calls)))
        assert [(use.name, use.input) for use in done.blocks if isinstance(use, ToolUse)] == [
            ("git__status", {"path": "."}),
            ("time__now", {}),
            ("git__status", {"n": [1]}),
        ]
        assert done.stop == "tool_use"

    async def test_a_report_streams_while_its_arguments_are_written(self) -> None:  # S-9
        text = 'You were asked "when?"\nTwice – 😀'
        chunks = await played(Answer(calls=(Call("deliver_summary", {"channel": "c", "text": text}, id="t1"),)))
        deltas = [chunk for chunk in chunks if isinstance(chunk, ToolInputDelta)]
        assert len(deltas) > 3
        assert "".join(delta.text for delta in deltas) == text
        assert {(delta.tool, delta.id) for delta in deltas} == {("deliver_summary", "t1")}

    @pytest.mark.parametrize("stop", ["max_tokens", "refusal", "stop_sequence", "pause_turn"])
    async def test_every_way_to_stop_is_a_state(self, stop: StopReason) -> None:
        done = ending(await played(Answer("As far as", stop=stop)))
        assert (done.blocks, done.stop) == ((Text("As far as"),), stop)

    async def test_a_refusal_may_say_nothing_at_all(self) -> None:
        done = ending(await played(Answer(stop="refusal")))
        assert (done.blocks, done.stop) == ((), "refusal")

    async def test_a_call_that_the_limit_cut_is_left_out(self) -> None:  # V-8
        done = ending(await played(Answer("So:", (Call("git__status", {"path": "a long one"}),), stop="max_tokens")))
        assert (done.blocks, done.stop) == ((Text("So:"),), "max_tokens")

    async def test_one_model_serves_requests_side_by_side(self) -> None:
        async with AnthropicServer(lambda body: Answer(str(body["max_tokens"]))) as server, model_of(server) as model:
            answers = await asyncio.gather(*(chunks_of(model, request(max_tokens=100 + n)) for n in range(4)))
        assert [ending(chunks).blocks for chunks in answers] == [(Text(str(100 + n)),) for n in range(4)]


class TestHistory:
    async def test_a_turn_with_thinking_tools_and_a_429_is_replayed_as_it_was_given(self) -> None:
        calls = tuple(
            Call(name, {}, id=f"t{at}") for at, name in enumerate(("git__status", "time__now", "git__status"))
        )
        script: list[Step] = [
            Fail(429, retry_after=SOON),
            Answer("Three.", calls, thinking="I had better look."),
            Answer("Done."),
        ]
        thinking: dict[str, Json] = {"type": "enabled", "budget_tokens": 1024}
        async with AnthropicServer(script) as server, model_of(server, thinking=thinking) as model:
            first = ending(await chunks_of(model, request(max_tokens=2000)))
            thought = first.blocks[0]
            assert isinstance(thought, Thinking)
            assert thought.raw["thinking"] == "I had better look."
            results = tuple(ToolResult(call.id, (Text("ok"),)) for call in calls)
            turns = (user(Text("hi")), Turn("assistant", first.blocks), user(*results))
            second = ending(await chunks_of(model, request(*turns, max_tokens=2000)))
            assert Text("Done.") in second.blocks
            assert [served.status for served in server.requests] == [429, 200, 200]
            sent = server.requests[-1].body["messages"]
            assert isinstance(sent, list)
            assert sent[1]["content"][0] == thought.raw

    async def test_changed_thinking_is_refused_by_the_api_and_told_in_one_line(self) -> None:
        async with AnthropicServer([Answer("x", thinking="mine")]) as server, model_of(server) as model:
            blocks = ending(await chunks_of(model)).blocks
            changed = Thinking({**_raw(blocks[0]), "thinking": "not mine"})
            turns = (user(Text("hi")), Turn("assistant", (changed, *blocks[1:])), user(Text("go")))
            with pytest.raises(ModelError, match="Invalid `signature` in `thinking` block") as caught:
                await chunks_of(model, request(*turns))
            assert not caught.value.retryable

    async def test_what_was_cached_is_read_back_and_counted(self) -> None:  # V-7
        long = Text("word " * 3000)
        async with AnthropicServer() as server, model_of(server) as model:
            first = ending(await chunks_of(model, request(user(long, cached=True))))
            turns = (user(long), Turn("assistant", first.blocks), user(Text("more"), cached=True))
            second = ending(await chunks_of(model, request(*turns)))
        assert first.usage.cache_write > 3000
        assert second.usage.cache_read == first.usage.cache_write
        assert second.usage.input == 0

    async def test_parameters_and_the_model_reach_the_provider(self) -> None:
        async with AnthropicServer() as server, model_of(server, parameters={"temperature": 0.5}) as model:
            await chunks_of(model)
        body = server.requests[0].body
        assert (body["model"], body["temperature"], body["stream"]) == ("claude-x", 0.5, True)
        assert "eager_input_streaming" not in str(body)  # an endpoint of somebody else's may not know it


def _raw(block: Block) -> dict[str, Json]:
    assert isinstance(block, Thinking)
    return dict(block.raw)


class TestTryingAgain:
    @pytest.mark.parametrize(
        ("status", "reason"),
        [
            (429, "429 rate limited"),
            (529, "529 overloaded"),
            (500, "500 internal server error"),
            (503, "503 service unavailable"),
        ],
    )
    async def test_a_busy_provider_is_waited_for_and_the_operator_is_told(self, status: int, reason: str) -> None:
        chunks = await played(Fail(status, retry_after=SOON), Answer("ok"))
        assert chunks[0] == Retrying(reason, SOON)
        assert ending(chunks).blocks == (Text("ok"),)

    async def test_the_operator_is_told_before_the_wait_and_not_after(self) -> None:
        async with AnthropicServer([Fail(429, retry_after=500)]) as server, model_of(server) as model:
            stream = model.stream(request())
            assert await anext(stream) == Retrying("429 rate limited", 500.0)
            await _close(stream)
            assert len(server.requests) == 1

    @pytest.mark.parametrize("how", ["cut", "end", "error", "garbage"])
    async def test_a_broken_stream_is_begun_anew(self, how: str) -> None:
        waits = Waits()
        chunks = await played(Break(how=how), Answer("whole"), waits=waits)  # type: ignore[arg-type]
        (told,) = [chunk for chunk in chunks if isinstance(chunk, Retrying)]
        assert told.reason.startswith("the answer broke off (")
        assert waits.delays == [told.delay]
        assert ending(chunks).blocks == (Text("whole"),)

    async def test_a_stream_that_only_misses_its_last_event_is_whole(self) -> None:
        answer = Answer("whole")  # message_start, ping, the block's three, message_delta: the seventh would be the end
        assert ending(await played(Break(answer, after=6, how="cut"))).blocks == (Text("whole"),)

    async def test_a_provider_that_falls_silent_is_given_up_in_time(self) -> None:
        waits = Waits()
        chunks = await played(Break(how="hang"), Answer("ok"), waits=waits, timeout=0.2)
        assert [chunk.reason for chunk in chunks if isinstance(chunk, Retrying)] == [
            "the answer broke off (ReadTimeout)"
        ]
        assert ending(chunks).blocks == (Text("ok"),)

    async def test_tries_are_counted_over_both_kinds(self) -> None:
        script = (Fail(529, retry_after=SOON), Break(), Fail(529, retry_after=SOON), Break(), Break())
        error = await failed(*script, max_retries=3)
        assert error.retryable
        assert "broke off" in str(error)

    async def test_it_gives_up_in_the_end(self) -> None:
        error = await failed(*([Fail(529, "Overloaded", retry_after=SOON)] * 3), max_retries=2)
        assert str(error) == "the provider answered 529 (overloaded_error): Overloaded"
        assert error.retryable

    async def test_too_long_a_wait_is_not_waited(self) -> None:
        error = await failed(Fail(429, retry_after=86_400))
        assert str(error) == "the provider asks to wait 86400 s (429 rate limited)"
        assert error.retryable

    async def test_what_the_server_says_of_trying_again_is_obeyed(self) -> None:
        error = await failed(Fail(500, "broken for good", headers={"x-should-retry": "false"}))
        assert not error.retryable

    async def test_a_provider_that_is_not_there_is_told_and_given_up(self) -> None:
        async with AnthropicServer() as server:
            url = server.url
        config = ModelConfig("anthropic", "claude-x", api_key=KEY, base_url=url, max_retries=0)
        model = AnthropicModel(config)
        with pytest.raises(ModelError, match="the provider can't be reached: ") as caught:
            await chunks_of(model)
        assert caught.value.retryable
        await model.aclose()


class TestFailures:
    @pytest.mark.parametrize(
        ("status", "kind"),
        [
            (400, "invalid_request_error"),
            (401, "authentication_error"),
            (403, "permission_error"),
            (404, "not_found_error"),
        ],
    )
    async def test_a_refused_request_is_one_line_and_final(self, status: int, kind: str) -> None:
        error = await failed(Fail(status, f"no,\nnot with {KEY}"))
        assert str(error) == f"the provider answered {status} ({kind}): no, not with [secret]"
        assert not error.retryable

    async def test_a_wrong_key_is_told_without_it(self) -> None:
        async with AnthropicServer(key="another") as server, model_of(server) as model:
            with pytest.raises(ModelError, match=r"401 \(authentication_error\)") as caught:
                await chunks_of(model)
        assert KEY not in str(caught.value)

    async def test_nothing_that_is_logged_holds_the_key(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG)
        await played(Fail(500, retry_after=SOON), Answer("ok"))
        assert caplog.records
        assert KEY not in caplog.text


class TestStopping:
    @pytest.mark.parametrize("stop", ["cancel", "close"])
    async def test_stopping_after_the_first_token_ends_the_http_request(self, stop: str) -> None:
        gate = Gate()
        async with (
            AnthropicServer([Answer("Some words", gate=gate), Answer("next")]) as server,
            model_of(server) as model,
        ):
            stream = model.stream(request())
            assert await anext(stream) == TextDelta("Some ")
            await gate.reached()
            if stop == "close":
                await _close(stream)
            else:
                waiting = asyncio.ensure_future(anext(stream))
                await asyncio.sleep(0)
                waiting.cancel()
                await asyncio.gather(waiting, return_exceptions=True)
            await server.requests[0].left.wait()
            assert ending(await chunks_of(model)).blocks == (Text("next"),)

    async def test_stopping_before_the_first_byte_ends_it_too(self) -> None:
        async with AnthropicServer([Break(after=0, how="hang"), Answer("next")]) as server, model_of(server) as model:
            turn = asyncio.ensure_future(chunks_of(model))
            served = await server.received(1)
            turn.cancel()
            await asyncio.gather(turn, return_exceptions=True)
            assert turn.cancelled()
            await served.left.wait()
            assert ending(await chunks_of(model)).blocks == (Text("next"),)

    async def test_stopping_during_a_wait_sends_nothing_more(self) -> None:
        async with AnthropicServer([Fail(429, retry_after=500)]) as server, model_of(server) as model:
            turn = asyncio.ensure_future(chunks_of(model))
            await server.received(1)
            turn.cancel()
            await asyncio.gather(turn, return_exceptions=True)
            assert turn.cancelled()
            assert len(server.requests) == 1


async def test_warming_loads_the_sdk_once_for_all() -> None:
    async with AnthropicServer() as server, model_of(server) as model:
        await asyncio.gather(model.warm(), model.warm())
        assert ending(await chunks_of(model)).blocks == (Text("Done."),)


async def test_on_anthropics_own_endpoint_reports_are_asked_for_eagerly() -> None:  # S-9
    async with AnthropicServer() as server:
        config = ModelConfig("anthropic", "claude-x", api_key=KEY)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ANTHROPIC_BASE_URL", server.url)  # where the SDK looks for its own endpoint
            model = AnthropicModel(config)
            await chunks_of(model)
            await model.aclose()
        tools = server.requests[0].body["tools"]
        assert isinstance(tools, list)
        assert [tool.get("eager_input_streaming") for tool in tools] == [True, True, True]


async def _close(stream: AsyncIterator[Chunk]) -> None:
    await stream.aclose()  # type: ignore[attr-defined]  # a generator behind the protocol
