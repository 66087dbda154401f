"""The strict checker, both ways: what the API takes passes, and each thing it refuses is refused (V-8)."""

from __future__ import annotations

import copy
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cockpit.core.message import Json
from cockpit.testing.anthropic_check import markers, problem

Body: TypeAlias = "dict[str, Json]"

PNG = "iVBORw0KGgoAAAANSUhEUg=="
MARK: Body = {"type": "ephemeral"}
TEXT: Body = {"type": "text", "text": "x"}
USE: Body = {"type": "tool_use", "id": "t1", "name": "a", "input": {}}
RESULT: Body = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
THOUGHT: Body = {"type": "thinking", "thinking": "hm", "signature": "s"}
TOOLS: list[Json] = [{"name": "a", "description": "", "input_schema": {"type": "object"}}]
IMAGE: Body = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}


def said(*contents: Json, **more: Json) -> Body:
    """A body whose turns alternate and begin with the user."""
    messages: list[Json] = [
        {"role": "assistant" if at % 2 else "user", "content": content} for at, content in enumerate(contents)
    ]
    return {"model": "m", "max_tokens": 2000, "messages": messages, **more}


def loop(*, assistant: Json = (THOUGHT, USE), results: Json = (RESULT,), **more: Json) -> Body:
    return said("go", assistant, results, **{"tools": TOOLS, **more})


GOOD: dict[str, Body] = {
    "a text": said("hi"),
    "a conversation": said("hi", "hello", [TEXT, IMAGE]),
    "a loop": loop(),
    "two results and a text": loop(
        assistant=[USE, {"type": "tool_use", "id": "t2", "name": "a", "input": {"x": 1}}],
        results=[
            RESULT,
            {"type": "tool_result", "tool_use_id": "t2", "is_error": True, "content": [TEXT, IMAGE]},
            TEXT,
        ],
    ),
    "a result without content": loop(results=[{"type": "tool_result", "tool_use_id": "t1"}]),
    "redacted thinking": said("go", [{"type": "redacted_thinking", "data": "x"}, TEXT], "on"),
    "manual thinking in a loop": loop(thinking={"type": "enabled", "budget_tokens": 1024}),
    "four markers": said(
        [{**TEXT, "cache_control": MARK}, {**TEXT, "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
        system=[{**TEXT, "cache_control": MARK}],
        tools=[{"name": "a", "input_schema": {"type": "object"}, "cache_control": MARK}],
    ),
    "an answer to continue": said("hi", "so"),
    "a system of one text": said("hi", system="You are."),
}

BAD: dict[str, tuple[Body, str]] = {
    "no model": ({**said("hi"), "model": ""}, "model"),
    "no tokens": ({**said("hi"), "max_tokens": 0}, "max_tokens"),
    "tokens that are none": ({**said("hi"), "max_tokens": True}, "max_tokens"),
    "a field that is none": (said("hi", agent="x"), "agent: Extra inputs are not permitted"),
    "no message": (said(), "at least one message"),
    "an assistant first": ({**said("hi"), "messages": [{"role": "assistant", "content": "x"}]}, "roles must alternate"),
    "two of one role": (
        {**said("hi"), "messages": [{"role": "user", "content": "x"}, {"role": "user", "content": "y"}]},
        "roles must alternate",
    ),
    "a role that is none": ({**said("hi"), "messages": [{"role": "system", "content": "x"}]}, "roles must alternate"),
    "empty content": (said([]), "non-empty content"),
    "an empty string": (said(""), "text content blocks must be non-empty"),
    "an empty text": (said([{"type": "text", "text": ""}]), "text content blocks must be non-empty"),
    "a blank text": (said([{"type": "text", "text": " \n"}]), "non-whitespace"),
    "an empty text in a result": (
        loop(results=[{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": ""}]}]),
        "text content blocks must be non-empty",
    ),
    "an empty system text": (said("hi", system=[{"type": "text", "text": ""}]), "non-empty"),
    "an unknown block": (said([{"type": "hologram"}]), "hologram"),
    "a block's unknown field": (said([{**TEXT, "stamp": 1}]), "stamp: Extra inputs"),
    "a use by the user": (said([USE], tools=TOOLS), "not allowed here"),
    "a result by the assistant": (said("hi", [RESULT], "x", tools=TOOLS), "not allowed here"),
    "an image by the assistant": (said("hi", [IMAGE], "x"), "not allowed here"),
    "a use without a result": (loop(results="no"), "without `tool_result` blocks immediately after: t1"),
    "a last use without a result": (said("go", [USE], tools=TOOLS), "without `tool_result`"),
    "a result too late": (said("go", [USE], "x", "y", [RESULT], tools=TOOLS), "without `tool_result`"),
    "a result of nothing": (said([RESULT], tools=TOOLS), "unexpected `tool_use_id`"),
    "two results of one use": (loop(results=[RESULT, RESULT]), "single result"),
    "a text before a result": (loop(results=[TEXT, RESULT]), "must come first"),
    "one id twice in a turn": (loop(assistant=[USE, USE]), "ids must be unique"),
    "one id twice": (said("go", [USE], [RESULT], [USE], [RESULT], tools=TOOLS), "ids must be unique"),
    "uses without tools": (said("go", [USE], [RESULT]), "must define tools"),
    "an error without content": (
        loop(results=[{"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": []}]),
        "content cannot be empty",
    ),
    "a use's name": (loop(assistant=[{**USE, "name": "a b"}]), "should match pattern"),
    "a use's id": (loop(assistant=[{**USE, "id": "t:1"}]), "should match pattern"),
    "a use's input": (loop(assistant=[{**USE, "input": "x"}]), "valid dictionary"),
    "a tool's name": (said("hi", tools=[{"name": "a.b", "input_schema": {"type": "object"}}]), "should match pattern"),
    "a tool's long name": (
        said("hi", tools=[{"name": "a" * 65, "input_schema": {"type": "object"}}]),
        "should match pattern",
    ),
    "a tool twice": (said("hi", tools=[*TOOLS, *TOOLS]), "unique"),
    "a tool without a schema": (said("hi", tools=[{"name": "a"}]), "input_schema"),
    "a schema of no object": (said("hi", tools=[{"name": "a", "input_schema": {"type": "string"}}]), "input_schema"),
    "a tool's unknown field": (
        said("hi", tools=[{"name": "a", "input_schema": {"type": "object"}, "server": "x"}]),
        "server: Extra inputs",
    ),
    "thinking without a signature": (said("go", [{**THOUGHT, "signature": ""}, TEXT], "x"), "Invalid `signature`"),
    "thinking with another field": (said("go", [{**THOUGHT, "cache_control": MARK}, TEXT], "x"), "Extra inputs"),
    "thinking at the end": (said("go", [TEXT, THOUGHT], "x"), "final block"),
    "a loop without its thinking": (
        loop(assistant=[USE], thinking={"type": "enabled", "budget_tokens": 1024}),
        "Expected `thinking`",
    ),
    "a small budget": (said("hi", thinking={"type": "enabled", "budget_tokens": 100}), "budget_tokens"),
    "a budget without room": (said("hi", thinking={"type": "enabled", "budget_tokens": 2000}), "max_tokens"),
    "five markers": (said([{**TEXT, "cache_control": MARK} for _ in range(5)]), "maximum of 4 blocks"),
    "a marker that is none": (said([{**TEXT, "cache_control": {"type": "forever"}}]), "cache_control"),
    "a marker of an odd age": (said([{**TEXT, "cache_control": {"type": "ephemeral", "ttl": "2h"}}]), "cache_control"),
    "a last text with white space": (said("hi", "so "), "trailing whitespace"),
    "an image that is none": (
        said([{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}]),
        "media type",
    ),
    "an image of no base64": (
        said([{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "!"}}]),
        "base64",
    ),
    "an image of a strange type": (
        said([{"type": "image", "source": {"type": "base64", "media_type": "image/bmp", "data": PNG}}]),
        "base64 image",
    ),
    "half a character": (said("x\ud83d"), "surrogate"),
}


@pytest.mark.parametrize("name", GOOD)
def test_what_the_api_takes_passes(name: str) -> None:
    assert problem(GOOD[name]) is None


@pytest.mark.parametrize("name", BAD)
def test_what_the_api_refuses_is_refused_in_its_words(name: str) -> None:
    body, words = BAD[name]
    found = problem(body)
    assert found is not None
    assert words in found


def test_a_signature_is_checked_where_the_server_knows_its_own() -> None:
    body = said("go", [THOUGHT, TEXT], "x")
    assert problem(body, signed=lambda thinking, signature: (thinking, signature) == ("hm", "s")) is None
    assert problem(body, signed=lambda thinking, signature: False) is not None


def test_markers_inside_results_count() -> None:
    inner: Json = [
        {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "x", "cache_control": MARK}]}
    ]
    body = loop(results=inner)
    assert len(list(markers(body))) == 1
    assert problem(body) is None


json_values: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["type", "text", "content", "role", "messages", "tools", "name", "input", "cache_control", "ttl", "source"]
    ), inner, max_size=4),
    max_leaves=10,
)  # fmt: skip


@given(json_values, st.sampled_from(["messages", "tools", "system", "max_tokens", "thinking"]))
def test_no_body_breaks_the_checker(value: Json, field: str) -> None:
    problem(value)
    problem({**copy.deepcopy(said("hi")), field: value})
