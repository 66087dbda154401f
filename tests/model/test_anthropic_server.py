"""The local server itself: its shapes on the wire, its refusals, and its own command."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from contextlib import suppress

import pytest

from cockpit.core import notices
from cockpit.core.message import Json, Text, ToolUse
from cockpit.core.request import Completed, Request, Retrying, SystemText, Tool, Turn
from cockpit.model.anthropic import AnthropicModel
from cockpit.model.config import ModelConfig
from cockpit.testing.anthropic_server import Answer, AnthropicServer, Break, Call, Fail, Step

BODY: dict[str, Json] = {"model": "m", "max_tokens": 99, "messages": [{"role": "user", "content": "hi"}]}
HEADERS = {"x-api-key": "k", "anthropic-version": "2023-06-01", "content-type": "application/json"}


async def post(
    server: AnthropicServer,
    body: bytes | Json = None,
    *,
    path: str = "/v1/messages",
    headers: dict[str, str] | None = None,
) -> tuple[int, str]:
    """One request by hand over a connection of its own: its status, and the body as it came."""
    sent = body if isinstance(body, bytes) else json.dumps(BODY if body is None else body).encode()
    port = int(server.url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    lines = [f"{name}: {value}" for name, value in (HEADERS if headers is None else headers).items()]
    head = "\r\n".join([f"POST {path} HTTP/1.1", *lines, f"content-length: {len(sent)}", "", ""])
    writer.write(head.encode() + sent)
    first = (await reader.readuntil(b"\r\n\r\n")).decode()
    writer.write_eof()
    rest = (await reader.read()).decode()
    writer.close()
    await writer.wait_closed()
    return int(first.split(" ")[1]), rest


def events(body: str) -> list[str]:
    return [line.removeprefix("event: ") for line in body.split("\n") if line.startswith("event: ")]


async def test_a_stream_has_the_events_of_the_api_in_their_order() -> None:
    answer = Answer("Hi.", (Call("a", {"x": 1}),), thinking="hm")
    async with AnthropicServer([answer]) as server:
        status, body = await post(server, {**BODY, "stream": True})
    found = [name for name in events(body) if name != "content_block_delta"]
    assert status == 200
    block = ["content_block_start", "content_block_stop"]
    assert found == ["message_start", "ping", *block * 3, "message_delta", "message_stop"]
    assert '"signature_delta"' in body
    assert '"partial_json": "{\\"x\\": 1"' in body


async def test_without_stream_the_answer_is_one_object() -> None:
    answer = Answer("Hi.", (Call("a", {"x": 1}, id="t1"), Call("b", {}, id="t2")), thinking="hm")
    async with AnthropicServer([answer]) as server:
        status, body = await post(server)
    message = json.loads(body)
    assert (status, message["stop_reason"]) == (200, "tool_use")
    assert [block["type"] for block in message["content"]] == ["thinking", "text", "tool_use", "tool_use"]
    assert message["content"][2] == {"type": "tool_use", "id": "t1", "name": "a", "input": {"x": 1}}
    assert message["content"][3]["input"] == {}
    assert message["usage"]["output_tokens"] > 0


@pytest.mark.parametrize(
    ("body", "headers", "status", "kind"),
    [
        ({**BODY, "messages": []}, None, 400, "invalid_request_error"),
        (b"{not json", None, 400, "invalid_request_error"),
        ([1], None, 400, "invalid_request_error"),
        (None, {"anthropic-version": "2023-06-01"}, 401, "authentication_error"),
        (None, {**HEADERS, "x-api-key": "other"}, 401, "authentication_error"),
        (None, {"x-api-key": "k"}, 400, "invalid_request_error"),
    ],
)
async def test_a_refusal_has_the_shape_of_the_api_and_plays_no_step(
    body: bytes | Json, headers: dict[str, str] | None, status: int, kind: str
) -> None:
    async with AnthropicServer([Answer("first")], key="k") as server:
        found, text = await post(server, body, headers=headers)
        assert (found, json.loads(text)["error"]["type"]) == (status, kind)
        assert "first" in (await post(server))[1]
        assert [served.status for served in server.requests] == [status, 200]


async def test_another_path_is_not_found() -> None:
    async with AnthropicServer() as server:
        assert (await post(server, path="/v1/complete"))[0] == 404
        assert server.requests == []


async def test_what_is_no_http_ends_the_connection_and_nothing_else() -> None:
    async with AnthropicServer() as server:
        port = int(server.url.rpartition(":")[2])
        for garbage in (b"nonsense\r\n\r\n", b"POST / HTTP/1.1\r\ncontent-length: -5\r\n\r\n", b"x" * 70_000):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(garbage)
            with suppress(ConnectionError):  # more was on its way than the server cared to read
                assert await reader.read() == b""
            writer.close()
            await asyncio.gather(writer.wait_closed(), return_exceptions=True)
        assert (await post(server))[0] == 200


async def test_usage_adds_up_over_all_answers() -> None:
    async with AnthropicServer([Answer("one"), Answer("two words more")]) as server:
        await post(server)
        await post(server)
        assert server.usage == server.requests[0].usage + server.requests[1].usage
        assert server.usage.output > 1


@pytest.mark.parametrize("step", [Fail(529), Break(how="cut"), Break(how="hang")])
async def test_leaving_the_server_ends_whatever_it_was_doing(step: Step) -> None:
    async with AnthropicServer([step]) as server:
        port = int(server.url.rpartition(":")[2])
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        sent = json.dumps({**BODY, "stream": True}).encode()
        lines = [f"{name}: {value}" for name, value in HEADERS.items()]
        writer.write(
            "\r\n".join(["POST /v1/messages HTTP/1.1", *lines, f"content-length: {len(sent)}", "", ""]).encode()
        )
        writer.write(sent)
        await server.received(1)
    writer.close()
    await asyncio.gather(writer.wait_closed(), return_exceptions=True)


async def test_its_command_plays_a_plan_and_then_the_offline_rules() -> None:
    command = (sys.executable, "-m", "cockpit.testing.anthropic_server", "--plan", "end,refusal", "--key", "k")
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    try:
        assert process.stdout is not None
        url = (await process.stdout.readline()).decode().strip()
        model = AnthropicModel(
            ModelConfig("anthropic", "m", api_key="k", base_url=url), sleep=lambda _: asyncio.sleep(0)
        )
        tool = Tool("deliver_summary", "", {"type": "object", "properties": {"text": {"type": "string"}}})
        said = (Text("[c · ana · 2026-11-30 09:00Z] @scout when?"), Text(notices.woken("c", 1)))
        asked = Request("Subconscious", (SystemText("For scout."),), (tool,), (Turn("user", said),), 99, seen=0)
        first = [chunk async for chunk in model.stream(asked)]
        assert any(isinstance(chunk, Retrying) for chunk in first)
        assert isinstance(refused := first[-1], Completed)
        assert refused.stop == "refusal"
        second = [chunk async for chunk in model.stream(asked)][-1]
        assert isinstance(second, Completed)
        (use,) = second.blocks
        assert isinstance(use, ToolUse)
        assert "You were asked once: ana: “@scout when?”" in str(use.input["text"])
        await model.aclose()
    finally:
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0


async def test_its_command_refuses_a_plan_that_it_does_not_know() -> None:
    command = (sys.executable, "-m", "cockpit.testing.anthropic_server", "--plan", "sing")
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    _, told = await process.communicate()
    assert process.returncode == 2
    assert b"'sing' is none of" in told
