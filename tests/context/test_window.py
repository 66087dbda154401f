"""What is kept in memory and what is read: the window, not the history (V-9)."""

from __future__ import annotations

import base64
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from cockpit.context.agent_context import PAGE, AgentContext, Ceilings
from cockpit.context.budget import Prelude
from cockpit.context.images import IMAGES
from cockpit.context.speech import Reader
from cockpit.context.window import Window
from cockpit.core.message import RESIDENTS, Media, Message, Stamp, Text, ToolResult
from cockpit.testing.conversation import NINE, PRELUDE, Conversation, flat, texts, use
from cockpit.testing.memory_chronicle import MemoryChronicle

BARE = Prelude("")
SMALL = Ceilings(context_tokens=10_100, max_tokens=100)


def held(context: AgentContext) -> int:
    return len(context._window)


async def test_v9_a_start_reads_what_the_window_needs_and_no_more() -> None:
    """V-9: a hundred thousand messages are stored, most of them diverted."""
    chronicle = MemoryChronicle()
    for number in range(20_000):
        stamp = Stamp(epoch="e1") if number % 5 else None
        chronicle.add(Message(RESIDENTS, "chat", "ada", (Text("x" * 100),), NINE, channel="c", stamp=stamp))
    scout = AgentContext.resident("scout", SMALL, chronicle)

    await scout.load(chronicle.head)

    assert chronicle.rows == PAGE
    done = scout.compile(BARE)
    assert done.moved
    assert 4_800 < done.statistics.messages <= 5_000


async def test_v9_a_start_goes_on_from_a_stored_anchor_without_reading_below_it() -> None:
    talk = Conversation()
    scout = talk.resident(ceilings=SMALL)
    for _ in range(2_000):
        talk.chat("x" * 100)
        talk.ask(prelude=BARE)
    again = AgentContext.resident("scout", SMALL, talk.chronicle)
    await again.load(talk.chronicle.head, scout.snapshot(0.0).value)

    assert talk.chronicle.rows == talk.chronicle.head - scout.anchor.sequence + 1
    assert flat(again.preview(BARE).request.messages) == flat(scout.preview(BARE).request.messages)


def test_v9_a_flood_between_two_compiles_does_not_grow_the_window() -> None:
    """V-9: what it lets go of, a jump would have passed."""
    talk = Conversation()
    scout = talk.resident(ceilings=SMALL)
    sizes = []
    for _ in range(5_000):
        talk.chat("x" * 100)
        sizes.append(held(scout))

    assert max(sizes) < 600
    done = talk.ask(prelude=BARE)
    assert done.moved
    assert scout.anchor.sequence + len(texts(done.request)) - 1 == talk.chronicle.head
    assert 4_800 < done.statistics.messages <= 5_000


async def test_v9_what_a_flood_pushed_out_is_read_back_in_the_same_bytes() -> None:
    """V-4, V-9: the anchor says the same to a new process."""
    talk = Conversation()
    scout = talk.resident(ceilings=SMALL)
    for _ in range(3_000):
        talk.chat("x" * 100)
    sent = talk.ask(prelude=BARE)
    again = AgentContext.resident("scout", SMALL, talk.chronicle)
    await again.load(talk.chronicle.head, scout.snapshot(0.0).value)

    assert flat(again.preview(BARE).request.messages) == flat(sent.request.messages)


def test_v9_a_notice_that_no_request_has_held_survives_a_flood() -> None:
    """N-8, V-9: a dump waits for its turn's end while thousands of messages come."""
    talk = Conversation()
    talk.resident(ceilings=SMALL)
    talk.prompt("go")
    talk.begin()
    talk.ask(prelude=BARE)
    talk.answer(use("c1"))
    dump = talk.notice("[Tune-out: x cancelled — agent request, 0 wakes]")
    for _ in range(3_000):
        talk.chat("x" * 100)
    talk.result(("c1", "one"))
    talk.ask(prelude=BARE)
    for _ in range(3_000):
        talk.chat("x" * 100)
    talk.answer("Done.")
    talk.end()

    assert texts(talk.ask(prelude=BARE).request).count(dump.text) == 1


def test_v9_nothing_diverted_costs_a_resident_anything() -> None:
    talk = Conversation()
    scout = talk.resident()
    for _ in range(1_000):
        talk.chat("diverted", stamp=Stamp(epoch="e1"))
    assert held(scout) == 0
    assert scout.head == 1_000


def test_v9_what_is_nothing_to_the_reader_is_not_kept() -> None:
    """Another agent's results may be large and are never shown."""
    talk = Conversation()
    scout = talk.resident()
    talk.commit(Message(RESIDENTS, "result", "ranger", (ToolResult("c", (Text("x" * 10_000),)),), NINE))
    assert held(scout) == 0


def test_images_that_no_request_could_hold_are_let_go_of() -> None:
    data = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 300).decode()
    talk = Conversation()
    scout = talk.resident()
    for _ in range(5 * IMAGES.most):
        talk.chat(Media("image", "image/png", data))

    assert held(scout) <= 2 * IMAGES.most
    assert talk.ask().statistics.images == IMAGES.keep


def test_a_message_told_twice_is_kept_once() -> None:
    talk = Conversation()
    scout = talk.resident()
    stored = talk.chat("hello")
    scout.observe(stored)
    assert len(texts(talk.ask().request)) == 1


async def test_what_is_committed_while_it_loads_is_there_once_and_in_order() -> None:
    """The one writer goes on while a window is filled."""

    class Racing(MemoryChronicle):
        async def message(self, reference: str) -> Message | None:
            raced = self.add(Message(RESIDENTS, "chat", "bob", (Text(f"raced {self.head}"),), NINE, channel="c"))
            context.observe(raced)
            return await super().message(reference)

    chronicle = Racing()
    for number in range(10):
        chronicle.add(Message(RESIDENTS, "chat", "ada", (Text(f"said {number}"),), NINE, channel="c"))
    context = AgentContext.resident("scout", Ceilings(), chronicle)
    await context.load(chronicle.head, {"sequence": 8, "pinned": [2], "images": 0})

    shown = [text.split("] ")[1] for text in texts(context.compile(PRELUDE).request)]
    assert shown == ["said 1", "said 7", "said 8", "said 9", "raced 10"]


async def test_v4_a_jump_while_it_reads_leaves_no_gap() -> None:
    """V-4: a request of a running turn may move the anchor while `set_anchor` waits for the store."""

    class Racing(MemoryChronicle):
        async def messages(self, slots: Collection[str], **given: Any) -> Sequence[Message]:
            page = await super().messages(slots, **given)
            if raced:
                context.observe(raced.pop())
                assert context.compile(BARE).moved
            return page

    chronicle = Racing()
    raced: list[Message] = []
    context = AgentContext.resident("scout", Ceilings(1_100, 100), chronicle)

    def more() -> Message:
        text = f"{chronicle.head:04}".ljust(400, ".")
        return chronicle.add(Message(RESIDENTS, "prompt", "operator", (Text(text),), NINE))

    for _ in range(15):
        context.observe(more())
    await context.load(chronicle.head, {"sequence": 6, "pinned": [], "images": 0})
    assert not context.compile(BARE).moved
    raced.append(more())
    await context.set_anchor(5)

    shown = [int(text[:4]) for text in texts(context.compile(BARE).request)]
    assert shown == list(range(11, 16))


async def test_v4_what_was_pinned_is_there_once_when_the_anchor_moves_back() -> None:
    talk = Conversation()
    scout = talk.resident(ceilings=SMALL)
    talk.prompt("go")
    talk.begin()
    talk.ask(prelude=BARE)
    dump = talk.notice("[Tune-out: x cancelled — agent request, 0 wakes]")
    for _ in range(300):
        talk.chat("x" * 100)
    assert talk.ask(prelude=BARE).moved
    assert scout.anchor.pinned == (dump.sequence,)
    talk.end()
    await scout.set_anchor(scout.anchor.sequence - 10)
    await scout.set_anchor(0)

    assert texts(talk.ask(prelude=BARE).request).count(dump.text) == 1


async def test_v10_placeholders_do_not_count_as_images_when_it_loads() -> None:
    """V-10, V-4: so many could not be live, but they are not, and the window reaches its anchor."""
    data = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
    chronicle = MemoryChronicle()
    for _ in range(PAGE + 100):
        chronicle.add(Message(RESIDENTS, "prompt", "operator", (Media("image", "image/png", data),), NINE))
    context = AgentContext.resident("scout", Ceilings(), chronicle)
    await context.load(chronicle.head, {"sequence": 1, "pinned": [], "images": chronicle.head - 5})

    done = context.compile(BARE)
    assert not done.moved
    assert (done.statistics.units, done.statistics.images) == (PAGE + 100, 6)


async def test_v4_loading_again_forgets_what_was_compiled_before() -> None:
    """V-4: the store's branch changed under it."""
    talk = Conversation()
    scout = talk.resident()
    talk.chat("on the old branch")
    talk.ask()
    talk.chronicle.log[0] = replace(talk.chronicle.log[0], blocks=(Text("on the new branch"),))
    await scout.load(talk.chronicle.head)

    assert [text[-10:] for text in texts(talk.ask().request)] == ["new branch"]


def test_the_weight_of_a_message_is_never_more_than_what_it_counts_for() -> None:
    """`Window.overfull` may let go of messages only where a compile would overflow for sure."""
    reader = Reader("scout", RESIDENTS, 10)
    for kind in ("chat", "event", "system", "prompt"):
        for size in (1, 3, 4, 39, 40, 41, 400, 40_000):
            window = Window(reader, 10**9, 0)
            window.append(Message(RESIDENTS, kind, "a", (Text("x" * size),), NINE, channel="c", sequence=1))
            (part,) = window.parts()
            assert window.rough <= part.live_tokens  # type: ignore[union-attr]  # a unit: none is an agent's
