"""The windowed strategy: anchor, jumps, budget (V-3, V-4, V-6, K-90)."""

from __future__ import annotations

import pytest

from cockpit.context.agent_context import AgentContext, Ceilings, anchor_slot
from cockpit.context.budget import Prelude
from cockpit.context.strategy import Anchor, read_anchor
from cockpit.context.windowed import WindowedPassthrough
from cockpit.core.message import Stamp, Text, ToolResult
from cockpit.testing.conversation import (
    PRELUDE,
    SUBCONSCIOUS,
    Conversation,
    flat,
    own_slot,
    texts,
    use,
)

BARE = Prelude("")
SMALL = Ceilings(context_tokens=1_100, max_tokens=100, max_message_tokens=None)
"""Exactly 1,000 tokens for messages, where the prelude is empty."""


def fill(talk: Conversation, count: int, tokens: int = 100) -> None:
    """Operator's prompts of exactly so many tokens each."""
    for number in range(count):
        talk.prompt(f"{number:04}".ljust(tokens * 4, "."))


async def loaded(talk: Conversation, name: str = "scout") -> AgentContext:
    """The same agent's context in a new process: what is durable, and nothing else."""
    old = talk.contexts[name]
    new = AgentContext(name, old.view, old.ceilings, talk.chronicle, old.strategy)
    await new.load(talk.chronicle.head, old.snapshot(0.0).value)
    return new


def numbers(context: AgentContext) -> list[int]:
    """The numbers of the prompts that are shown."""
    shown = context.preview(BARE).request
    return [int(text[:4]) for text in texts(shown) if text[:4].isdigit()]


def test_v3_everything_from_the_anchor_on_is_shown_up_to_the_very_budget() -> None:
    """V-3: exactly full is not over."""
    talk = Conversation()
    scout = talk.resident(ceilings=SMALL)
    fill(talk, 10)
    done = talk.ask(prelude=BARE)

    assert not done.moved
    assert done.statistics.messages == done.statistics.budget == 1_000
    assert numbers(scout) == list(range(10))


def test_v3_an_overflow_jumps_to_about_the_fraction_and_then_stays() -> None:
    """V-3."""
    talk = Conversation()
    scout = talk.resident(ceilings=SMALL)
    fill(talk, 11)
    done = talk.ask(prelude=BARE)

    assert done.moved
    assert numbers(scout) == [6, 7, 8, 9, 10]
    assert done.statistics.messages == 500
    fill(talk, 5)
    assert not talk.ask(prelude=BARE).moved
    assert len(numbers(scout)) == 10


@pytest.mark.parametrize(("fraction", "kept"), [(0.1, 1), (0.35, 3), (0.5, 5), (1.0, 10)])
def test_v3_the_fraction_decides_how_much_stays(fraction: float, kept: int) -> None:
    talk = Conversation()
    scout = talk.resident(ceilings=SMALL, strategy=WindowedPassthrough(fraction))
    fill(talk, 11)
    talk.ask(prelude=BARE)

    assert len(numbers(scout)) == kept


@pytest.mark.parametrize("fraction", [0, -0.1, 1.01, float("nan")])
def test_k95_a_fraction_outside_its_range_is_refused(fraction: float) -> None:
    """V-3, K-95."""
    with pytest.raises(ValueError, match="re_anchor_fraction"):
        WindowedPassthrough(fraction)


def test_v3_between_jumps_each_request_is_the_one_before_and_appends() -> None:
    """V-3: over 200 messages there are few jumps, and nothing else breaks the prefix."""
    talk = Conversation()
    talk.resident(ceilings=SMALL)
    jumps = 0
    before = flat(talk.ask(prelude=BARE).request.messages)
    for number in range(200):
        talk.prompt(f"{number:04}".ljust(160, "."))
        done = talk.ask(prelude=BARE)
        now = flat(done.request.messages)
        jumps += done.moved
        assert done.moved or now[: len(before)] == before
        before = now

    assert jumps == 1 + (200 - 26) // 14  # 25 fit, a jump leaves 12, and 14 more are one too many


def test_v3_a_dry_run_moves_nothing() -> None:
    """V-3."""
    talk = Conversation()
    scout = talk.resident(ceilings=SMALL)
    fill(talk, 11)
    anchor = scout.anchor
    shown = scout.preview(BARE)

    assert shown.moved
    assert scout.anchor == anchor
    assert scout.preview(BARE) == shown
    assert flat(talk.ask(prelude=BARE).request.messages) == flat(shown.request.messages)
    assert scout.anchor != anchor


def test_v3_the_usable_budget_is_less_the_answer_the_prompt_and_the_tools() -> None:
    """V-3: tools count by their JSON."""
    talk = Conversation()
    talk.resident(ceilings=Ceilings(1_000, 100))
    talk.prompt("go")

    assert talk.ask(prelude=Prelude("p" * 400)).statistics.budget == 800
    with_tools = talk.ask(prelude=PRELUDE)
    assert with_tools.statistics.prelude == PRELUDE.tokens() > 4 + 2 * 15
    assert with_tools.request.tokens == with_tools.statistics.prelude + 1


def test_v3_a_jump_never_splits_a_call_from_its_result() -> None:
    """V-3, V-8: whatever the sizes, the window begins before a call or behind its results."""
    for size in range(0, 400, 20):
        talk = Conversation()
        scout = talk.resident(ceilings=SMALL)
        fill(talk, 2)
        talk.begin()
        for call in range(4):
            talk.ask(prelude=BARE)
            talk.answer(use(f"c{call}"))
            talk.prompt("." * size)
            talk.result((f"c{call}", "r" * (1_000 - size)))
        fill(talk, 1, tokens=60)
        sent = talk.ask(prelude=BARE).request
        calls = [block for _, block in flat(sent.messages) if isinstance(block, type(use("x")))]
        results = [block for _, block in flat(sent.messages) if isinstance(block, ToolResult)]

        assert [call.id for call in calls] == [result.tool_use_id for result in results]
        assert not any(result.is_error for result in results)
        cut = scout.anchor.sequence
        halves = [call for call in talk.chronicle.log if call.kind == "agent" and call.sequence < cut]
        assert not halves or halves[-1].sequence + 2 < cut


async def test_v3_a_notice_that_waits_is_not_lost_to_a_jump_in_its_turn() -> None:
    """V-3, N-8, K-43: the anchor passes its place in the log before the turn has ended; over a restart too."""
    talk = Conversation()
    scout = talk.resident(ceilings=SMALL)
    talk.prompt("go")
    talk.begin()
    talk.ask(prelude=BARE)
    talk.answer(use("c0"))
    dump = talk.notice("[Tune-out: x cancelled — agent request, 0 wakes]")
    talk.result(("c0", "r" * 400))
    for call in range(1, 12):
        talk.ask(prelude=BARE)
        talk.answer(use(f"c{call}"))
        talk.result((f"c{call}", "r" * 400))
    assert scout.anchor.sequence > dump.sequence
    assert scout.anchor.pinned == (dump.sequence,)
    talk.ask(prelude=BARE)
    talk.answer("Done.")
    talk.end()

    again = await loaded(talk)
    sent = talk.ask(prelude=BARE).request
    assert texts(sent)[-1] == dump.text
    assert flat(again.compile(BARE).request.messages) == flat(sent.messages)


def test_v3_an_answer_stays_with_what_came_while_it_was_written() -> None:
    """V-3: a burst during a request; the window begins in the burst, and its anchor is a plain place in the log."""
    talk = Conversation()
    scout = talk.resident(ceilings=SMALL)
    talk.prompt("go")
    talk.begin()
    talk.ask(prelude=BARE)
    fill(talk, 20)
    talk.answer("w" * 200)
    talk.end()

    sent = talk.ask(prelude=BARE)
    assert sent.moved
    assert numbers(scout) == [16, 17, 18, 19]
    assert sent.request.messages[1].blocks == (Text("w" * 200),)
    assert scout.anchor == Anchor(18)
    fill(talk, 1)
    assert flat(talk.ask(prelude=BARE).request.messages)[:6] == flat(sent.request.messages)


def test_v3_what_is_read_last_stays_even_behind_an_answer_that_fills_the_budget() -> None:
    talk = Conversation()
    scout = talk.resident(ceilings=SMALL)
    talk.prompt("go")
    talk.begin()
    talk.ask(prelude=BARE)
    fill(talk, 1)
    talk.answer("w" * 3_900)
    talk.end()

    sent = talk.ask(prelude=BARE)
    assert numbers(scout) == [0]
    assert sent.sendable
    assert scout.anchor == Anchor(4, (2,))


def test_v3_a_jump_passes_no_notice_that_was_never_sent() -> None:
    """V-3, T-18: a flood between a dump and the request that it wakes for."""
    talk = Conversation()
    scout = talk.resident(ceilings=SMALL)
    fill(talk, 2)
    talk.whole_turn()
    dump = talk.notice("[Tune-out: x cancelled — agent request, 0 wakes]")
    fill(talk, 40)

    sent = talk.ask(prelude=BARE)
    assert texts(sent.request)[0] == dump.text
    assert numbers(scout) == [36, 37, 38, 39]
    talk.whole_turn()
    fill(talk, 12)
    assert dump.text not in texts(talk.ask(prelude=BARE).request)


# V-4


async def test_v4_the_anchor_survives_a_restart_to_the_byte() -> None:
    """V-4, V-3."""
    talk = Conversation()
    scout = talk.resident(ceilings=SMALL)
    for _ in range(7):
        fill(talk, 2)
        talk.begin()
        talk.ask(prelude=BARE)
        talk.answer("w" * 40, use("c"))
        talk.result(("c", "r" * 40))
        talk.ask(prelude=BARE)
        talk.answer("ok")
        talk.end()
    fill(talk, 1)
    sent = talk.ask(prelude=BARE)
    again = (await loaded(talk)).compile(BARE)

    assert scout.anchor.sequence > 1
    assert scout.snapshot(5.0).name == anchor_slot("scout") == "anchor/scout"
    assert flat(again.request.messages) == flat(sent.request.messages)
    assert not again.moved


@pytest.mark.parametrize("value", [None, 5, {}, {"sequence": "x"}, {"sequence": 5, "pinned": 1, "images": 0}, []])
def test_r4_an_anchor_that_cannot_be_read_is_the_beginning(value: object) -> None:
    """R-4."""
    assert read_anchor(value) == Anchor()  # type: ignore[arg-type]  # whatever a store may hold


async def test_k90_the_anchor_is_where_it_was_set_and_ending_an_epoch_leaves_it() -> None:
    """K-90, V-4: set to the older epoch's start; nothing but a jump or the next setting moves it."""
    talk = Conversation()
    watching = talk.subconscious()
    fill(talk, 3)
    started = talk.chronicle.skip()
    talk.chat("a", stamp=Stamp(epoch="e1"))
    second = talk.chronicle.skip()
    talk.chat("b", stamp=Stamp(epoch="e2"))

    assert await watching.set_anchor(started)
    assert [text[-1] for text in texts(talk.ask(SUBCONSCIOUS).request)] == ["a", "b"]
    talk.notice("[Tune-out: x cancelled — agent request, 0 wakes]")
    talk.whole_turn(agent=SUBCONSCIOUS)
    assert watching.anchor.sequence == started
    assert not await watching.set_anchor(started)
    assert await watching.set_anchor(second)
    assert texts(talk.ask(SUBCONSCIOUS).request)[0][-1] == "b"


async def test_v4_set_anchor_moves_back_as_freely_as_forward() -> None:
    """V-4: what it had let go of is read again."""
    talk = Conversation()
    scout = talk.resident()
    fill(talk, 30)
    await scout.set_anchor(21)
    assert numbers(scout) == list(range(20, 30))
    await scout.set_anchor(6)
    assert numbers(scout) == list(range(5, 30))
    await scout.set_anchor(0)
    assert numbers(scout) == list(range(30))


async def test_s2_set_far_back_the_window_jumps_past_only_what_does_not_fit() -> None:
    """S-2, V-3, V-4."""
    talk = Conversation()
    scout = talk.resident(ceilings=SMALL)
    fill(talk, 40)
    talk.ask(prelude=BARE)
    await scout.set_anchor(1)
    done = talk.ask(prelude=BARE)

    assert done.moved
    assert numbers(scout) == [35, 36, 37, 38, 39]


async def test_v4_setting_it_after_a_restart_pins_nothing_that_was_sent() -> None:
    """V-4: which notices were held by a request is read from the log."""
    talk = Conversation()
    talk.subconscious()
    old = talk.notice("[Tune-out wake: x — 1 addressed message]", own_slot(SUBCONSCIOUS))
    talk.whole_turn(agent=SUBCONSCIOUS)
    new = talk.notice("[Tune-out wake: x — 2 addressed messages]", own_slot(SUBCONSCIOUS))
    fill(talk, 1)
    again = await loaded(talk, SUBCONSCIOUS)
    await again.set_anchor(talk.chronicle.head)

    assert again.anchor.pinned == (new.sequence,)
    assert texts(again.compile(BARE).request)[0] == new.text != old.text


async def test_v4_setting_it_in_a_turn_keeps_the_notices_that_wait() -> None:
    """V-4, N-8."""
    talk = Conversation()
    scout = talk.resident()
    talk.prompt("go")
    talk.begin()
    talk.ask()
    talk.answer(use("c1"))
    dump = talk.notice("[Tune-out: x cancelled — agent request, 0 wakes]")
    talk.result(("c1", "r"))
    talk.ask()
    fill(talk, 1)
    await scout.set_anchor(talk.chronicle.head)
    talk.answer("Done.")
    talk.end()

    assert [text[:5] for text in texts(talk.ask().request)] == ["[earl", "Done.", dump.text[:5], "0000."]
