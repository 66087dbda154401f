"""What a provider is handed: alternating turns, nothing empty, few markers in the right places (V-7, V-8, S-7)."""

from __future__ import annotations

import pytest

from cockpit.context.agent_context import Ceilings
from cockpit.context.budget import Prelude, standing
from cockpit.context.compile import NOT_SHOWN
from cockpit.context.request_json import request_json
from cockpit.core.message import Text, Thinking, ToolResult
from cockpit.core.records import Usage
from cockpit.core.request import Request
from cockpit.testing.conversation import (
    PRELUDE,
    SUBCONSCIOUS,
    TOOLS,
    Conversation,
    texts,
    use,
)
from cockpit.testing.prompt_cache import PromptCache


def marked(request: Request) -> list[int]:
    return [at for at, turn in enumerate(request.messages) if turn.cached]


def count_markers(value: object) -> int:
    if isinstance(value, dict):
        return ("cache_control" in value) + sum(map(count_markers, value.values()))
    return sum(map(count_markers, value)) if isinstance(value, list) else 0


def test_v8_neighbours_of_one_role_are_one_turn() -> None:
    talk = Conversation()
    talk.resident()
    talk.chat("one")
    talk.prompt("two")
    talk.whole_turn()
    talk.chat("three")
    talk.chat("four")

    assert [(turn.role, len(turn.blocks)) for turn in talk.ask().request.messages] == [
        ("user", 2),
        ("assistant", 1),
        ("user", 2),
    ]


async def test_v8_a_window_that_begins_with_an_answer_gets_a_users_line_before_it() -> None:
    """V-8: roles begin with the user, and the line's bytes never change."""
    talk = Conversation()
    scout = talk.resident()
    talk.prompt("go")
    talk.whole_turn("Gone.")
    talk.prompt("and?")
    await scout.set_anchor(2)

    assert texts(talk.ask().request) == [NOT_SHOWN, "Gone.", "and?"]


async def test_v8_two_answers_that_came_to_stand_side_by_side_are_parted() -> None:
    talk = Conversation()
    scout = talk.resident()
    talk.prompt("go")
    talk.begin()
    talk.ask()
    talk.prompt("wait")  # 2: while the answer was written
    talk.answer("Gone.")  # 3
    talk.end()
    talk.whole_turn("Waiting.")
    talk.prompt("and?")
    await scout.set_anchor(3)

    sent = talk.ask().request
    assert texts(sent) == [NOT_SHOWN, "Gone.", NOT_SHOWN, "Waiting.", "and?"]
    assert [turn.role for turn in sent.messages] == ["user", "assistant", "user", "assistant", "user"]


def test_v8_what_ends_with_an_answer_is_not_sendable() -> None:
    talk = Conversation()
    talk.resident()
    assert not talk.ask().sendable
    talk.prompt("go")
    assert talk.ask().sendable
    talk.whole_turn()
    assert not talk.ask().sendable


def test_v8_a_result_that_only_ended_the_turn_is_nothing_to_answer() -> None:
    talk = Conversation()
    talk.resident()
    talk.prompt("go")
    talk.begin()
    talk.ask()
    talk.answer(use("c1", "end_turn"))
    talk.result(("c1", "ok"))
    talk.end()

    assert not talk.ask().sendable
    talk.chat("news")
    assert talk.ask().sendable


def test_v8_a_result_without_content_says_so() -> None:
    talk = Conversation()
    talk.resident()
    talk.prompt("go")
    talk.begin()
    talk.ask()
    talk.answer(use("c1"))
    talk.result(ToolResult("c1", (Text(" "),), is_error=True))

    assert talk.ask().request.messages[2].blocks == (ToolResult("c1", (Text("[empty]"),), is_error=True),)


def test_v8_a_repeated_call_id_is_made_distinct_with_its_result() -> None:
    """V-8: a provider refuses a request that holds one twice."""
    talk = Conversation()
    talk.resident()
    talk.prompt("go")
    talk.begin()
    for text in ("one", "two"):
        talk.ask()
        talk.answer(use("c1"), use("c1"))
        talk.result(("c1", text), ("c1", f"{text} more"))
    blocks = [block for turn in talk.ask().request.messages for block in turn.blocks]

    calls = [block.id for block in blocks if isinstance(block, type(use("c1")))]
    results = [(block.tool_use_id, block.content) for block in blocks if isinstance(block, ToolResult)]
    assert len(set(calls)) == 4
    assert calls[0] == "c1"
    assert results == list(zip(calls, [(Text(text),) for text in ("one", "one more", "two", "two more")], strict=True))


# V-7


def test_v7_the_end_and_the_end_of_the_request_before_are_marked() -> None:
    """V-7: whatever came since, the new request can read what the last one wrote."""
    talk = Conversation()
    talk.resident()
    talk.prompt("go")
    talk.begin()
    first = talk.ask().request
    assert marked(first) == [0]
    talk.answer(use("c1"))
    for number in range(30):
        talk.chat(f"more than a provider looks back {number}")
    talk.result(("c1", "one"))
    second = talk.ask().request
    assert marked(second) == [0, 2]
    assert second.messages[0].blocks == first.messages[-1].blocks
    talk.answer(use("c2"))
    talk.result(("c2", "two"))
    third = talk.ask().request
    assert marked(third) == [2, 4]
    assert third.messages[2].blocks == second.messages[-1].blocks


def test_v7_in_fifty_turns_with_tools_nine_tenths_of_the_prompt_are_read_back() -> None:
    """V-7, V-3: as the provider documents its cache; bursts longer than its look-back and jumps included."""
    talk = Conversation()
    talk.resident(ceilings=Ceilings(12_000, 1_000))
    cache, total, jumps = PromptCache(), Usage(), 0
    for turn in range(50):
        for number in range(30 if turn % 10 == 5 else 3):
            talk.chat(f"turn {turn}, message {number}: something of an ordinary length")
        talk.begin()
        for call in range(3):
            done = talk.ask()
            jumps += done.moved
            total += cache.count(request_json(done.request))
            talk.answer("I look.", use(f"c{turn}-{call}"))
            talk.chat("and meanwhile somebody says something")
            talk.result((f"c{turn}-{call}", "found " * 60))
        total += cache.count(request_json(talk.ask().request))
        talk.answer("That is all.")
        talk.end()

    assert jumps >= 1
    assert total.cache_read / (total.input + total.cache_read + total.cache_write) >= 0.9


@pytest.mark.parametrize("notes", [{}, {"b": "two", "a": "one"}])
def test_v7_at_most_four_markers_a_request_two_of_them_the_strategys(notes: dict[str, str]) -> None:
    talk = Conversation()
    talk.subconscious()
    for number in range(5):
        talk.chat(f"said {number}")
        talk.whole_turn(agent=SUBCONSCIOUS)
    talk.chat("last")
    request = talk.ask(SUBCONSCIOUS, Prelude("You listen.", TOOLS, notes)).request

    assert len(marked(request)) == 2
    assert count_markers(request_json(request)) == 4
    assert request.system[0].cached
    assert request.tools_cached == (not notes)


def test_v7_a_changed_disposition_leaves_the_prompt_marked_before_it() -> None:
    """V-7, S-7: what never changes is read back all the same."""
    old, new = (Prelude("You listen.", TOOLS, {"lunch": text}).system() for text in ("noon", "one"))

    assert old[0] == new[0]
    assert old[1] != new[1]


# S-7


def test_s7_dispositions_are_lines_in_the_order_of_their_keys() -> None:
    assert standing({"b": "two\r\nlines", "a\nx": "one", "gone": ""}) == (
        "[Standing dispositions]\n- a x: one\n- b: two lines"
    )
    assert standing({}) == ""


def test_s7_they_stand_behind_the_prompt_as_a_block_of_their_own() -> None:
    talk = Conversation()
    talk.subconscious()
    talk.chat("hi")
    request = talk.ask(SUBCONSCIOUS, Prelude("You listen.", (), {"k": "v"})).request

    assert [block.text for block in request.system] == ["You listen.", "[Standing dispositions]\n- k: v"]
    assert [block.text for block in talk.ask(SUBCONSCIOUS, Prelude("", (), {})).request.system] == []


def test_n4_tools_keep_the_callers_order() -> None:
    talk = Conversation()
    talk.resident()
    talk.prompt("go")
    assert talk.ask(prelude=Prelude("p", TOOLS[::-1])).request.tools == TOOLS[::-1]


def test_a_request_as_json_is_in_the_apis_shape() -> None:
    """`go=context`."""
    thought = Thinking({"type": "thinking", "thinking": "hm", "signature": "s"})
    talk = Conversation()
    scout = talk.resident()
    talk.prompt("go")
    talk.begin()
    talk.ask()
    talk.answer(thought, "I look.", use("c1", where="up"))
    talk.result(ToolResult("c1", (Text("sky"),), is_error=True))
    shape = request_json(scout.preview(PRELUDE).request)

    marker = {"type": "ephemeral"}
    assert shape["system"] == [{"type": "text", "text": "You are scout.", "cache_control": marker}]
    assert shape["max_tokens"] == 8192
    assert shape["tools"] == [
        {"name": "look", "description": "Look somewhere.", "input_schema": {"type": "object"}},
        {"name": "wave", "description": "Wave.", "input_schema": {"type": "object"}, "cache_control": marker},
    ]
    assert shape["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "go", "cache_control": marker}]},
        {
            "role": "assistant",
            "content": [
                thought.raw,
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "c1", "name": "look", "input": {"where": "up"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "c1",
                    "content": [{"type": "text", "text": "sky"}],
                    "is_error": True,
                    "cache_control": marker,
                }
            ],
        },
    ]
