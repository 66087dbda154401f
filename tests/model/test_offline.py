"""The offline model as a `Model`: its stream, its ids, its usage, and a history that a provider would take."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from cockpit.core import notices
from cockpit.core.message import Block, Text, ToolResult, ToolUse
from cockpit.core.request import Chunk, Completed, Request, SystemText, TextDelta, Tool, ToolInputDelta, Turn
from cockpit.model.offline import OfflineModel
from cockpit.testing.anthropic_check import problem_of_request

REPORTING = tuple(Tool(name, "", {"type": "object"}) for name in ("deliver_summary", "cancel_tuneout", "end_turn"))
NOW = Tool("time__now", "", {"type": "object"})


def request(*turns: Turn, tools: tuple[Tool, ...] = REPORTING) -> Request:
    return Request("any", (SystemText("You watch for scout."),), tools, turns, 1000, seen=0)


def user(*texts: str) -> Turn:
    return Turn("user", tuple(map(Text, texts)))


WOKEN = user("[disc:noisy · ana · 2026-11-30 09:00Z] @scout when is it?", notices.woken("disc:noisy", 1))


async def chunks_of(asked: Request) -> list[Chunk]:
    return [chunk async for chunk in OfflineModel().stream(asked)]


async def answer_to(asked: Request) -> Completed:
    last = (await chunks_of(asked))[-1]
    assert isinstance(last, Completed)
    return last


async def test_a_report_streams_word_by_word_and_adds_up_to_the_calls_text() -> None:  # S-9
    *pieces, last = await chunks_of(request(WOKEN))
    assert isinstance(last, Completed)
    (use,) = last.blocks
    assert isinstance(use, ToolUse)
    deltas = [piece for piece in pieces if isinstance(piece, ToolInputDelta)]
    assert len(deltas) == len(pieces) > 10
    assert "".join(delta.text for delta in deltas) == use.input["text"]
    assert {(delta.tool, delta.id) for delta in deltas} == {(use.name, use.id)}
    assert last.stop == "tool_use"


async def test_prose_streams_word_by_word_and_adds_up() -> None:
    *pieces, last = await chunks_of(request(user("how are  you\n?"), tools=()))
    assert isinstance(last, Completed)
    assert last.blocks == (Text("".join(piece.text for piece in pieces if isinstance(piece, TextDelta))),)
    assert last.stop == "end_turn"


async def test_its_tools_decide_its_role() -> None:
    assert isinstance((await answer_to(request(WOKEN))).blocks[0], ToolUse)
    assert isinstance((await answer_to(request(WOKEN, tools=(NOW,)))).blocks[0], Text)


async def test_the_same_request_gives_the_same_chunks_and_another_gives_other_ids() -> None:
    first, again = await chunks_of(request(WOKEN)), await chunks_of(request(WOKEN))
    assert first == again
    other = await answer_to(replace(request(WOKEN), agent="other"))
    assert isinstance(first[-1], Completed)
    assert isinstance(block := other.blocks[0], ToolUse)
    assert block not in first[-1].blocks


async def test_calls_of_one_answer_have_ids_of_their_own() -> None:
    asked = request(user("call now\ncall now"), tools=(NOW,))
    uses = [block for block in (await answer_to(asked)).blocks if isinstance(block, ToolUse)]
    assert len({use.id for use in uses}) == 2


async def test_usage_is_four_characters_a_token() -> None:
    asked = Request("a", (SystemText("x" * 5),), (), (user("y" * 8),), 1000, seen=0)
    done = await answer_to(asked)
    assert done.usage.input == 4  # 13 characters
    (said,) = done.blocks
    assert isinstance(said, Text)
    assert done.usage.output == -(-len(said.text) // 4)
    assert (done.usage.cache_read, done.usage.cache_write) == (0, 0)


async def test_stopping_in_the_middle_is_harmless() -> None:
    stream = OfflineModel().stream(request(WOKEN))
    assert isinstance(await anext(stream), ToolInputDelta)
    await OfflineModel().aclose()


lines = st.one_of(
    st.builds(
        "[{} · {} · 2026-11-30 09:00Z] {}".format,
        st.sampled_from(["c", "d"]),
        st.sampled_from("ab"),
        st.just("@scout why?"),
    ),
    st.sampled_from([notices.woken("c", 1), notices.due("d", 2), notices.cancelled_report("c", "agent request", 1, 2)]),
    st.sampled_from(["call now", "call nothing", "a prompt", "Subconscious: hi", "quill used time__now"]),
    st.text(max_size=30),
)


@settings(max_examples=60)
@given(st.lists(st.lists(lines, min_size=1, max_size=5), min_size=1, max_size=5), st.booleans())
async def test_any_conversation_with_it_satisfies_the_provider(said: list[list[str]], reporting: bool) -> None:  # V-8
    tools = REPORTING if reporting else (NOW,)
    turns: list[Turn] = []
    for texts in said:
        results: list[Block] = [
            ToolResult(block.id, (Text("ok"),))
            for turn in turns[-1:]
            for block in turn.blocks
            if isinstance(block, ToolUse)
        ]
        turns.append(Turn("user", (*results, *map(Text, texts))))
        asked = request(*turns, tools=tools)
        assert problem_of_request(asked) is None
        turns.append(Turn("assistant", (await answer_to(asked)).blocks))
    uses = [block.id for turn in turns for block in turn.blocks if isinstance(block, ToolUse)]
    assert len(uses) == len(set(uses))
