"""An answer from the events of a stream: what it gives at once, and what of it can be replayed."""

from __future__ import annotations

import pytest

from cockpit.core.message import Json, Text, Thinking, ToolUse
from cockpit.core.records import Usage
from cockpit.core.request import Completed, StopReason, TextDelta, ToolInputDelta
from cockpit.model.assembly import UNREADABLE, Assembly

Event = dict[str, Json]


def begin(index: int, block: Event) -> Event:
    return {"type": "content_block_start", "index": index, "content_block": block}


def add(index: int, **delta: Json) -> Event:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def say(index: int, *texts: str) -> list[Event]:
    return [begin(index, {"type": "text", "text": ""}), *(add(index, type="text_delta", text=text) for text in texts)]


def call(index: int, name: str, *pieces: str) -> list[Event]:
    start: Event = {"type": "tool_use", "id": f"t{index}", "name": name, "input": {}}
    return [begin(index, start), *(add(index, type="input_json_delta", partial_json=piece) for piece in pieces)]


def think(index: int, thought: str, signature: str) -> list[Event]:
    start: Event = {"type": "thinking", "thinking": "", "signature": ""}
    signed = [add(index, type="signature_delta", signature=signature)] if signature else []
    return [begin(index, start), add(index, type="thinking_delta", thinking=thought), *signed]


def stop(reason: str, **usage: Json) -> Event:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}


def assembled(*events: Event) -> Completed:
    assembly = Assembly()
    for event in events:
        assembly.feed(event)
    return assembly.completed()


def test_blocks_come_in_their_order_with_the_text_whole() -> None:
    done = assembled(
        *think(0, "Hm.", "sig"), *say(1, "Hel", "lo"), *call(2, "a", '{"x":', " 1}"), *call(3, "b"), stop("tool_use")
    )
    assert done.blocks == (
        Thinking({"type": "thinking", "thinking": "Hm.", "signature": "sig"}),
        Text("Hello"),
        ToolUse("t2", "a", {"x": 1}),
        ToolUse("t3", "b", {}),
    )
    assert done.stop == "tool_use"


def test_each_delta_is_given_at_once() -> None:  # S-9
    assembly = Assembly()
    events = [*say(0, "Hi", " you"), *call(1, "deliver_summary", '{"channel":"c","text":"Yo', 'u"}')]
    given = [chunk for event in events if (chunk := assembly.feed(event)) is not None]
    assert given == [
        TextDelta("Hi"),
        TextDelta(" you"),
        ToolInputDelta("deliver_summary", "t1", "Yo"),
        ToolInputDelta("deliver_summary", "t1", "u"),
    ]


def test_usage_is_cumulative_and_what_is_not_given_again_stays() -> None:
    start: Event = {
        "type": "message_start",
        "message": {"usage": {"input_tokens": 9, "cache_read_input_tokens": 70, "cache_creation_input_tokens": 5,
                              "output_tokens": 1}},
    }  # fmt: skip
    done = assembled(start, *say(0, "x"), stop("end_turn", output_tokens=30, input_tokens=None))
    assert done.usage == Usage(input=9, output=30, cache_read=70, cache_write=5)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("end_turn", "end_turn"),
        ("max_tokens", "max_tokens"),
        ("model_context_window_exceeded", "max_tokens"),
        ("refusal", "refusal"),
        ("pause_turn", "pause_turn"),
        ("stop_sequence", "stop_sequence"),
        ("something_new", "end_turn"),
    ],
)
def test_every_reason_to_stop_is_a_state(said: str, meant: StopReason) -> None:
    assert assembled(*say(0, "x"), stop(said)).stop == meant


def test_an_unknown_reason_with_calls_means_that_they_wait_for_results() -> None:
    assert assembled(*call(0, "a", "{}"), stop("something_new")).stop == "tool_use"


@pytest.mark.parametrize("reason", ["max_tokens", "refusal"])
def test_a_call_that_was_cut_short_is_left_out(reason: str) -> None:  # V-8
    done = assembled(*say(0, "So:"), *call(1, "a", '{"x": 1}'), *call(2, "b", '{"x": "un'), stop(reason))
    assert done.blocks == (Text("So:"), ToolUse("t1", "a", {"x": 1}))


def test_a_call_of_nonsense_is_kept_so_that_its_refusal_can_tell_the_model() -> None:
    done = assembled(*call(0, "a", "{oops"), *call(1, "b", "[1]"), stop("tool_use"))
    assert done.blocks == (ToolUse("t0", "a", {UNREADABLE: "{oops"}), ToolUse("t1", "b", {UNREADABLE: "[1]"}))


def test_what_no_provider_takes_back_is_left_out() -> None:  # V-8
    assert assembled(*say(0, "", " \n"), stop("end_turn")).blocks == ()
    assert assembled(*think(0, "cut", ""), *say(1, "x"), stop("max_tokens")).blocks == (Text("x"),)
    assert assembled(*say(0, "x"), *think(1, "last", "sig"), stop("max_tokens")).blocks == (Text("x"),)


def test_blocks_of_the_providers_own_are_replayed_as_they_came() -> None:
    redacted: Event = {"type": "redacted_thinking", "data": "opaque"}
    searched: Event = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}, "new": [1]}
    done = assembled(begin(0, redacted), begin(1, searched), *say(2, "x"), stop("end_turn"))
    assert done.blocks == (Thinking(redacted), Thinking(searched), Text("x"))


def test_thinking_without_words_keeps_its_signature() -> None:
    start: Event = {"type": "thinking", "thinking": "", "signature": "whole"}
    done = assembled(begin(0, start), *say(1, "x"), stop("end_turn"))
    assert done.blocks[0] == Thinking(start)


def test_a_character_parted_between_two_deltas_is_whole_again() -> None:  # D-7
    assembly = Assembly()
    given = [assembly.feed(event) for event in say(0, "a\ud83d", "\ude00b", "\ud83d")]
    assert [chunk.text for chunk in given if isinstance(chunk, TextDelta)] == ["a", "😀b"]
    assert assembly.completed().blocks == (Text("a😀b\ufffd"),)


def test_half_a_pair_in_arguments_is_a_replacement_character() -> None:  # D-7
    done = assembled(*call(0, "a", '{"x": "\\ud83d", "\\ude00": ["\\ud83d\\ude00"]}'), stop("tool_use"))
    assert done.blocks == (ToolUse("t0", "a", {"x": "\ufffd", "\ufffd": ["😀"]}),)


def test_it_is_complete_once_the_provider_said_why_it_stopped() -> None:
    assembly = Assembly()
    for event in say(0, "x"):
        assembly.feed(event)
        assert not assembly.complete
    assembly.feed(stop("end_turn"))
    assert assembly.complete


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"type": "brand_new"},
        {"type": "ping"},
        {"type": "message_start"},
        {"type": "message_start", "message": {"usage": None}},
        {"type": "content_block_start", "index": "x", "content_block": {}},
        {"type": "content_block_start", "index": 0, "content_block": {"no": "type"}},
        {"type": "content_block_delta", "index": 7, "delta": {"type": "text_delta", "text": "x"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "brand_new"}},
        {"type": "message_delta", "delta": {"stop_reason": None}, "usage": None},
    ],
)
def test_events_that_it_does_not_know_add_nothing(event: Event) -> None:
    assembly = Assembly()
    assert assembly.feed(event) is None
    assert not assembly.complete
    assert assembly.completed().blocks == ()
