"""A request as the provider is sent it: shapes, markers, and what would poison a history."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import pytest

from cockpit.core.message import Block, Json, Media, Text, Thinking, ToolResult, ToolUse
from cockpit.core.request import Request, SystemText, Tool, Turn
from cockpit.model.wire import EMPTY, MARKERS, body
from cockpit.testing.anthropic_check import problem_of_request

PNG = "iVBORw0KGgoAAAANSUhEUg=="
WEBP = "UklGRgAAAABXRUJQ"
MARK = {"type": "ephemeral"}
TOOL = Tool("a", "does a", {"type": "object", "properties": {"text": {"type": "string"}}})


def request(
    *turns: Turn, system: tuple[SystemText, ...] = (), tools: tuple[Tool, ...] = (), cached: bool = False
) -> Request:
    return Request("scout", system, tools, turns, 100, seen=0, tools_cached=cached)


def user(*blocks: Block, cached: bool = False) -> Turn:
    return Turn("user", blocks, cached)


def content(turn: Turn) -> list[Mapping[str, Json]]:
    messages = body(request(turn))["messages"]
    assert isinstance(messages, list)
    return list(messages[0]["content"])


def test_a_whole_request_reads_as_the_api_wants_it() -> None:
    thought: dict[str, Json] = {"type": "thinking", "thinking": "hm", "signature": "s"}
    asked = request(
        user(Text("hi")),
        Turn("assistant", (Thinking(thought), Text("on it"), ToolUse("t1", "a", {"x": 1}))),
        user(ToolResult("t1", (Text("done"),)), Text("and?")),
        system=(SystemText("You are scout."),),
        tools=(TOOL,),
    )
    assert body(asked) == {
        "max_tokens": 100,
        "system": [{"type": "text", "text": "You are scout."}],
        "tools": [{"name": "a", "description": "does a", "input_schema": dict(TOOL.input_schema)}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "hi"}]},
            {
                "role": "assistant",
                "content": [
                    thought,
                    {"type": "text", "text": "on it"},
                    {"type": "tool_use", "id": "t1", "name": "a", "input": {"x": 1}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "done"}]},
                    {"type": "text", "text": "and?"},
                ],
            },
        ],
    }
    assert problem_of_request(asked) is None


def test_without_system_and_tools_they_are_not_there() -> None:
    assert set(body(request(user(Text("hi"))))) == {"max_tokens", "messages"}
    assert set(body(request(user(Text("hi")), system=(SystemText(" "),)))) == {"max_tokens", "messages"}


def test_markers_stand_where_the_request_wants_them() -> None:  # V-7
    made = body(
        request(
            user(Text("a"), Text("b"), cached=True),
            system=(SystemText("x"), SystemText("y", cached=True)),
            tools=(TOOL, Tool("b", "", {"type": "object"})),
            cached=True,
        )
    )
    assert isinstance(made["tools"], list)
    assert [tool.get("cache_control") for tool in made["tools"]] == [None, MARK]
    assert isinstance(made["system"], list)
    assert [part.get("cache_control") for part in made["system"]] == [None, MARK]
    assert isinstance(made["messages"], list)
    assert [part.get("cache_control") for part in made["messages"][0]["content"]] == [None, MARK]


def test_a_marker_never_stands_on_thinking() -> None:  # V-7
    thought: dict[str, Json] = {"type": "thinking", "thinking": "hm", "signature": "s"}
    turn = Turn("assistant", (Text("x"), Thinking(thought)), cached=True)
    assert content(turn) == [{"type": "text", "text": "x", "cache_control": MARK}, thought]
    assert content(Turn("assistant", (Thinking(thought),), cached=True)) == [thought]


def test_there_are_never_more_than_four_markers_and_the_first_keep_theirs() -> None:  # V-7
    turns = [Turn("assistant" if at % 2 else "user", (Text(str(at)),), cached=True) for at in range(5)]
    asked = request(*turns, system=(SystemText("x", cached=True),), tools=(TOOL,), cached=True)
    assert str(body(asked)).count("ephemeral") == MARKERS
    assert str(body(asked)["tools"]).count("ephemeral") == 1
    assert problem_of_request(asked) is None


def test_tools_with_a_text_stream_eagerly_only_where_asked() -> None:  # S-9
    asked = request(user(Text("hi")), tools=(TOOL, Tool("b", "", {"type": "object"})))
    assert "eager_input_streaming" not in str(body(asked))
    tools = body(asked, eager=True)["tools"]
    assert isinstance(tools, list)
    assert [tool.get("eager_input_streaming") for tool in tools] == [True, None]


@pytest.mark.parametrize(
    ("media", "mime"),
    [
        (Media("image", "image/png", PNG), "image/png"),
        (Media("image", "image/jpeg", PNG), "image/png"),
        (Media("image", None, WEBP), "image/webp"),
        (Media("image", "image/gif", "R0lGODlhAQ=="), "image/gif"),
        (Media("image", "image/jpeg", "/9j/4AAQSg=="), "image/jpeg"),
    ],
)
def test_an_image_is_sent_as_what_it_is(media: Media, mime: str) -> None:  # V-10
    source = {"type": "base64", "media_type": mime, "data": media.data}
    assert content(user(media)) == [{"type": "image", "source": source}]
    assert content(user(ToolResult("t1", (media,))))[0]["content"] == [{"type": "image", "source": source}]


@pytest.mark.parametrize(
    "media",
    [
        Media("image", "image/svg+xml", "PHN2Zz4="),
        Media("image", "image/png", "not base64!"),
        Media("image", "image/png", "é"),
        Media("image", "image/png"),
        Media("audio", "audio/wav", "UklGRgAAAABXQVZF"),
        Media("resource", names="notes.txt"),
        Media("image", "image/png", PNG[:-4] + "A" * (6 * 1024 * 1024) + "Eg=="),
    ],
)
def test_what_the_api_would_not_take_as_an_image_is_a_placeholder(media: Media) -> None:  # D-10
    (block,) = content(user(media))
    assert block["type"] == "text"
    assert str(block["text"]).startswith(f"[{media.type}")


def test_an_assistant_has_no_images() -> None:
    assert content(Turn("assistant", (Media("image", "image/png", PNG),)))[0]["type"] == "text"


def test_nothing_is_empty_and_no_half_character_is_sent() -> None:  # V-8, D-7
    assert content(user(Text(""), Text(" \n"), Text("x\ud83d"))) == [{"type": "text", "text": "x\ufffd"}]
    assert content(user(Text(""))) == [{"type": "text", "text": EMPTY}]
    assert content(user(ToolResult("t1", (Text(""),), True))) == [
        {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": EMPTY}], "is_error": True}
    ]


def test_a_last_answer_that_is_to_be_continued_ends_without_white_space() -> None:
    turns = (user(Text("hi")), Turn("assistant", (Text("so \n"),)))
    assert problem_of_request(request(*turns)) is None
    earlier = body(request(*turns, user(Text("go"))))["messages"]
    assert isinstance(earlier, list)
    assert earlier[1]["content"] == [{"type": "text", "text": "so \n"}]


def test_frozen_json_is_sent_as_plain_json() -> None:
    values: Mapping[str, Json] = MappingProxyType({"x": (1, MappingProxyType({"y": None}))})
    assert content(Turn("assistant", (ToolUse("t", "a", values),)))[0]["input"] == {"x": [1, {"y": None}]}
