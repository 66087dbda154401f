"""A server as an MCP server: tools, calls, what becomes a message, and what it asks of us (M-2, K-105)."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from cockpit.connect.config import Limits, ServerConfig
from cockpit.connect.ports import Called
from cockpit.core.message import Json, Media, Text
from cockpit.core.request import Tool
from cockpit.errors import ToolError
from cockpit.testing.host import RecordingHost
from cockpit.testing.served import Served

Serve = Callable[..., Awaitable[Served]]
Config = Callable[..., ServerConfig]


async def test_tools_come_in_the_servers_order_under_their_own_names(serve: Serve, config: Config) -> None:
    served = await serve("--plain", config=config(protocol="mcp"))
    assert served.server.tools() == tuple(
        Tool(name, f"The tool {name}.", {"type": "object"}) for name in ("echo", "fail", "wait")
    )
    assert served.server.grant == {"tools"}
    assert served.server.instructions() == "A fixture."


async def test_a_plain_server_is_not_told_of_mcpl(serve: Serve, config: Config) -> None:
    served = await serve("--plain", config=config(protocol="mcp"))
    assert "mcpl" not in str(await served.remote.do("expect", method="initialize"))
    unknown = {"error": {"code": -32601, "message": "Method not found"}}
    assert await served.remote.do("register", channels=["a"]) == unknown
    assert served.host.registrations == []


async def test_pages_of_tools_are_read_to_the_end(serve: Serve) -> None:
    served = await serve("--tools-a-page", "1")
    assert [tool.name for tool in served.server.tools()] == ["echo", "fail", "wait"]
    assert await served.remote.do("expect", method="tools/list", count=3) == [None, {"cursor": "1"}, {"cursor": "2"}]


async def test_a_changed_list_is_fetched_again_and_told(serve: Serve) -> None:  # M-2, K-105
    served = await serve()
    told = served.host.tool_changes
    await served.remote.do("tools", names=["new"])
    await served.host.until(lambda: served.host.tool_changes == told + 1)
    assert [tool.name for tool in served.server.tools()] == ["new"]


async def test_a_list_that_changes_without_end_is_asked_no_faster_than_once_a_second(serve: Serve) -> None:
    served = await serve()
    for number in range(100):
        await served.remote.do("tools", names=[str(number)])
    pause = await served.clock.until_asked(1)
    assert pause is not None
    assert 0 < pause <= 1
    served.clock.advance(1)
    await served.host.until(lambda: [tool.name for tool in served.server.tools()] == ["99"])
    methods = await served.remote.do("received")
    assert isinstance(methods, list)
    assert methods.count("tools/list") == 3


async def test_a_list_that_is_wrong_changes_nothing_and_is_told(serve: Serve) -> None:
    served = await serve()
    await served.remote.do("answer", method="tools/list", how={"result": {"tools": [{"name": 3}]}})
    await served.remote.do("notify", method="notifications/tools/list_changed")
    await served.host.until(lambda: any(each.startswith("did not list its tools") for each in served.host.faults))
    assert len(served.server.tools()) == 3
    assert "\n" not in served.host.faults[-1]


async def test_a_call(serve: Serve) -> None:
    served = await serve()
    assert await served.server.call("echo", {"a": [1, "é"]}) == Called((Text('{"a": [1, "\\u00e9"]}'),))
    assert await served.server.call("fail", {}) == Called((Text("it failed"),), is_error=True)


@pytest.mark.parametrize(
    ("result", "content"),
    [
        ({"content": [], "structuredContent": {"a": 1}}, (Text('{"a": 1}'),)),
        ({"content": [{"type": "text", "text": "t"}], "structuredContent": {"a": 1}}, (Text("t"),)),
        (
            {"content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}]},
            (Media("image", "image/png", "AAAA"),),
        ),
        (
            {"content": [{"type": "resource_link", "uri": "file:a", "name": "a"}]},
            (Media("resource_link", names="file:a"),),
        ),
    ],
)
async def test_what_a_tool_answers(serve: Serve, result: Json, content: tuple[Text | Media, ...]) -> None:
    served = await serve()
    await served.remote.do("answer", method="tools/call", how={"result": result})
    assert (await served.server.call("echo", {})).content == content


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"error": {"code": -32602, "message": "no such\ntool"}}, "fix: no such tool"),
        ({"error": {"code": -32000, "message": "Server error"}}, "fix: Server error"),
        ({"result": {"content": 3}}, "fix: its answer is not what the protocol says"),
        ({"result": None}, "fix: its answer is not what the protocol says"),
        ({}, "fix: answered without a result"),
        ("silent", "fix: it did not answer in time; what became of the request is unknown"),
    ],
)
async def test_a_call_that_fails(serve: Serve, config: Config, how: Json, why: str) -> None:
    served = await serve(config=config(limits=Limits(call=0.3 if how == "silent" else 120)))
    await served.remote.do("answer", method="tools/call", how=how)
    with pytest.raises(ToolError, match=why):
        await served.server.call("echo", {})


async def test_a_call_in_flight_when_the_server_dies(serve: Serve) -> None:
    served = await serve()
    calling = asyncio.ensure_future(served.server.call("wait", {}))
    await served.remote.do("expect", method="tools/call")
    served.remote.tell("crash")
    with pytest.raises(ToolError, match="it ended before it answered; what became of the request is unknown"):
        await calling


async def test_a_call_in_flight_when_the_server_is_killed(serve: Serve) -> None:
    served = await serve()
    calling = asyncio.ensure_future(served.server.call("wait", {}))
    await served.remote.do("expect", method="tools/call")
    await served.server.kill()
    with pytest.raises(ToolError, match="it ended before it answered"):
        await calling


async def test_calls_run_beside_each_other(serve: Serve) -> None:
    served = await serve()
    waiting = asyncio.ensure_future(served.server.call("wait", {"n": 1}))
    await served.remote.do("expect", method="tools/call")
    assert (await served.server.call("echo", {})).content
    assert not waiting.done()
    await served.remote.do("release")
    assert (await waiting).content == (Text('{"n": 1}'),)


async def test_log_lines_from_warning_on_become_messages(serve: Serve) -> None:  # M-2
    served = await serve()
    for level in ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency", "nonsense"):
        await served.remote.do("log", level=level, text=f"said at {level}")
    await served.host.until(lambda: len(served.host.arrivals) == 5)
    assert served.host.texts()[:2] == ["warning: said at warning", "error: said at error"]
    first = served.host.arrivals[0]
    assert (str(first.target), first.kind, first.author, first.key) == ("mcp:fix", "event", "fix", None)
    assert await served.remote.do("expect", method="logging/setLevel") == [{"level": "warning"}]


async def test_updates_of_resources_become_messages(serve: Serve) -> None:  # M-2
    served = await serve()
    assert await served.remote.do("expect", method="resources/subscribe") == [{"uri": "fixture:one"}]
    await served.remote.do("updated", uri="fixture:one")
    await served.host.until(lambda: served.host.texts() == ["resource updated: fixture:one"])


async def test_a_server_without_what_it_said_it_has_is_no_fault(serve: Serve, tmp_path: Path) -> None:
    """A method that it does not know has nothing to offer, and what comes after it is asked for all the same."""
    unknown = {"error": {"code": -32601, "message": "Method not found"}}
    said = [{"do": "answer", "method": method, "how": unknown} for method in ("logging/setLevel", "resources/list")]
    script = tmp_path / "script"
    script.write_text("\n".join(map(json.dumps, said)), encoding="utf-8")
    served = await serve("--script", str(script))
    await served.remote.do("expect", method="resources/list")
    await served.remote.do("request", method="channels/list")  # what it answered before this was taken
    assert served.host.faults == []


async def test_a_message_that_cannot_be_stored_harms_nobody(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    served = await serve(host=RecordingHost(durable=False))  # F-42
    await served.remote.do("log", text="x")
    await served.host.until(lambda: served.host.arrivals)
    served.host.fail(ValueError("lost"))
    assert (await served.server.call("echo", {})).content
    gc.collect()
    assert "never retrieved" not in caplog.text


async def test_progress_goes_to_the_screen_only_and_not_too_often(serve: Serve) -> None:  # M-2
    served = await serve()
    await served.remote.do("progress", text="one\x1b[31m")
    await served.remote.do("progress", text="two")
    await served.remote.do("request", method="channels/list")
    served.clock.advance(1)
    await served.remote.do("progress", text="three")
    await served.host.until(lambda: len(served.host.progress) == 2)
    assert served.host.progress == ["one [31m", "three"]
    assert served.host.arrivals == []


@pytest.mark.parametrize(
    ("method", "params", "expected"),
    [
        ("ping", {}, {"result": {}}),
        ("roots/list", {}, {"result": {"roots": []}}),
        (
            "sampling/createMessage",
            {"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}], "maxTokens": 10},
            {"error": {"code": -32600, "message": "This host does not offer sampling"}},
        ),
        # not part of the version that the fixture speaks
        (
            "elicitation/create",
            {"message": "sure?"},
            {"error": {"code": -32601, "message": "Method not found", "data": "elicitation/create"}},
        ),
    ],
)
async def test_what_a_server_asks_of_us_is_answered(serve: Serve, method: str, params: Json, expected: Json) -> None:
    served = await serve()  # M-2
    assert await served.remote.do("request", method=method, params=params) == expected


async def test_an_elicitation_is_declined(serve: Serve) -> None:  # M-2
    served = await serve("--version", "2025-11-25")
    schema: Json = {"type": "object", "properties": {}}
    answer = await served.remote.do(
        "request", method="elicitation/create", params={"message": "sure?", "requestedSchema": schema}
    )
    assert answer == {"result": {"action": "decline"}}


async def test_a_thousand_requests_at_once_are_all_answered(serve: Serve) -> None:
    served = await serve()
    pings = [served.remote.tell("request", method="ping") for _ in range(1000)]
    assert all(each == {"result": {}} for each in await asyncio.gather(*pings))
