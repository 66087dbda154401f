"""For random interleavings of everything that a log can hold, what is compiled is valid, holds nothing that was
diverted, and between two anchor jumps only appends (V-3, V-8, V-10, A-3, S-2)."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cockpit.context.agent_context import AgentContext, Ceilings, Compiled
from cockpit.context.budget import Prelude
from cockpit.context.images import ImagePolicy
from cockpit.context.request_json import request_json
from cockpit.context.windowed import WindowedPassthrough
from cockpit.core.message import RESIDENTS, Block, Media, Message, Stamp, Text, Thinking, ToolResult
from cockpit.errors import OverBudgetError
from cockpit.testing.conversation import (
    NINE,
    PRIMARY,
    SUBCONSCIOUS,
    TOOLS,
    Conversation,
    flat,
    own_slot,
    use,
)

AGENTS = (PRIMARY, "ranger", SUBCONSCIOUS)
PRELUDE = Prelude("You listen.", TOOLS, {"k": "v"})
STAMPS = (None, None, None, Stamp(epoch="e1"), Stamp(span="m1"), Stamp(epoch="e1", span="m1"))
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 9).decode()
THOUGHT = Thinking({"type": "thinking", "thinking": "hm", "signature": "s"})


def problem(shape: Mapping[str, Any]) -> str | None:
    """What a strict provider would say against a request, or None: written without a look at the compiler."""
    found: set[str] = set()
    expected: list[str] = []
    messages = shape["messages"]
    if not messages:
        return "no messages"
    for at, message in enumerate(messages):
        if message["role"] != ("user", "assistant")[at % 2]:
            return f"{at}: wrong role"
        content = message["content"]
        if not content:
            return f"{at}: empty turn"
        results = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
        if sorted(results) != sorted(expected):
            return f"{at}: results {results} for calls {expected}"
        if any(block["type"] != "tool_result" for block in content[: len(results)]):
            return f"{at}: a result behind other content"
        expected = [block["id"] for block in content if block["type"] == "tool_use"]
        if len({*found, *expected}) != len(found) + len(expected):
            return f"{at}: a repeated call id"
        found.update(expected)
        if problems := [one for block in content if (one := wrong(block, message["role"]))]:
            return f"{at}: {problems[0]}"
        if content[-1]["type"] == "thinking":
            return f"{at}: ends in thinking"
    if expected:
        return "calls without results"
    markers = [count(shape.get(part, [])) for part in ("system", "tools", "messages")]
    return None if sum(markers) <= 4 and markers[2] <= 2 else f"markers: {markers}"


def wrong(block: Mapping[str, Any], role: str) -> str | None:
    match block["type"]:
        case "text":
            return None if block["text"].strip() else "blank text"
        case "image":
            return None if role == "user" and block["source"]["data"] else "no image here"
        case "tool_use" | "thinking":
            return None if role == "assistant" else f"a user's {block['type']}"
        case "tool_result":
            inner = [wrong(part, role) for part in block["content"]]
            return next(filter(None, inner), None) if inner and role == "user" else "an empty result"
        case other:
            return f"unknown {other}"


def count(value: object) -> int:
    if isinstance(value, Mapping):
        return ("cache_control" in value) + sum(map(count, value.values()))
    return sum(map(count, value)) if isinstance(value, list) else 0


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([], "no messages"),
        ([{"role": "assistant", "content": [{"type": "text", "text": "a"}]}], "0: wrong role"),
        ([{"role": "user", "content": []}], "0: empty turn"),
        ([{"role": "user", "content": [{"type": "text", "text": " "}]}], "0: blank text"),
        ([{"role": "user", "content": [{"type": "tool_use", "id": "1"}]}], "0: a user's tool_use"),
        ([{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1"}]}], "0: results ['1'] for calls []"),
    ],
)
def test_the_checker_itself_is_strict(messages: list[Any], said: str) -> None:
    assert problem({"messages": messages}) == said


@dataclass
class Sent:
    """What an agent was last sent, and whether its next request must begin with it."""

    blocks: Sequence[tuple[str, Block]] = ()
    binding: bool = False


@dataclass
class Play:
    """A log in the making. Texts that nobody or not everybody may see carry a word that says so."""

    talk: Conversation
    sent: dict[str, Sent] = field(default_factory=lambda: {name: Sent() for name in AGENTS})
    calls: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in AGENTS})
    asked: set[str] = field(default_factory=set)
    number: int = 0

    def said(self, stamp: Stamp | None) -> str:
        self.number += 1
        word = "open" if stamp is None else "muted" if stamp.span else "diverted"
        return f"{word}#{self.number};"

    def chat(self, stamp: Stamp | None, size: int, picture: bool) -> None:
        text = self.said(stamp) + "x" * size
        self.talk.chat(text, *([Media("image", "image/png", PNG)] if picture else []), stamp=stamp)

    def prompt(self) -> None:
        self.talk.prompt(self.said(None))

    def notice(self, agent: str | None) -> None:
        self.talk.notice(f"[{self.said(None)}]", RESIDENTS if agent is None else own_slot(agent))

    def delivered(self) -> None:
        """A summary of the subconscious, in the residents' slot."""
        self.talk.commit(Message(RESIDENTS, "agent", SUBCONSCIOUS, (Text(self.said(None)),), NINE))

    def withheld(self) -> None:
        blocks = (Text(self.said(Stamp(span="m1"))),)
        self.talk.commit(Message(RESIDENTS, "withheld", "git", blocks, NINE, stamp=Stamp(span="m1")))

    def begin_or_end(self, agent: str) -> None:
        (self.talk.end if agent in self.talk.turns else self.talk.begin)(agent)
        self.asked.discard(agent)

    def answer(self, agent: str, uses: int, text: str) -> None:
        if agent in self.asked:
            self.asked.discard(agent)
            calls = [f"c{self.number}{at}" if at else "same" for at in range(uses)]
            self.talk.answer(THOUGHT, Text(text), *(use(call) for call in calls), agent=agent)
            self.calls[agent] = calls

    def result(self, agent: str, all_of_them: bool) -> None:
        calls, self.calls[agent] = self.calls[agent], []
        answered = calls if all_of_them else calls[1:]
        for call in answered:
            self.talk.result(ToolResult(call, (Text(self.said(None)),)), agent=agent)

    def round(self, agent: str, uses: int, noise: tuple[bool, bool, bool]) -> None:
        """One request of a turn with its answer and results, and what comes while it runs."""
        if agent not in self.talk.turns:
            self.talk.begin(agent)
        self.ask(agent)
        if noise[0]:
            self.chat(None, 50, picture=False)
        self.answer(agent, uses, "words")
        if noise[1]:
            self.notice(None)
            self.chat(Stamp(epoch="e1"), 50, picture=True)
        self.result(agent, all_of_them=noise[2])

    def ask(self, agent: str) -> None:
        context = self.talk.contexts[agent]
        anchor = context.anchor
        turn = self.talk.turns.get(agent)
        answerable = context.answerable(turn.began if turn else None)
        try:
            done = self.talk.ask(agent, PRELUDE)
        except OverBudgetError:
            assert context.anchor == anchor
            self.talk.turns.pop(agent, None)
            self.asked.discard(agent)
            return
        self.check(agent, done)
        assert turn or done.sendable == answerable
        if agent in self.talk.turns and done.sendable:
            self.asked.add(agent)

    def check(self, agent: str, done: Compiled) -> None:
        shape = request_json(done.request)
        blocks = flat(done.request.messages)
        if done.request.messages:
            assert problem(shape) is None
        assert done.statistics.messages <= done.statistics.budget
        assert "muted#" not in str(shape)
        assert agent == SUBCONSCIOUS or "diverted#" not in str(shape)
        told = re.findall(r"#\d+;", str(shape["messages"]))
        assert len(told) == len(set(told))
        before = self.sent[agent]
        if before.binding and not done.moved:
            assert blocks[: len(before.blocks)] == before.blocks
        self.sent[agent] = Sent(blocks, binding=True)

    async def set_anchor(self, agent: str, back: int) -> None:
        await self.talk.contexts[agent].set_anchor(max(0, self.talk.chronicle.head - back))
        self.sent[agent] = Sent()

    async def restart(self, agent: str) -> None:
        old = self.talk.contexts[agent]
        new = AgentContext(agent, old.view, old.ceilings, self.talk.chronicle, old.strategy)
        await new.load(self.talk.chronicle.head, old.snapshot(0.0).value)
        self.talk.contexts[agent] = new
        self.talk.end(agent)
        self.asked.discard(agent)
        self.sent[agent] = Sent()


agents = st.sampled_from(AGENTS)
steps = st.one_of(
    st.tuples(st.just("chat"), st.sampled_from(STAMPS), st.sampled_from([0, 5, 100, 900]), st.booleans()),
    st.tuples(st.sampled_from(["prompt", "delivered", "withheld"])),
    st.tuples(st.just("notice"), st.none() | agents),
    st.tuples(st.just("begin_or_end"), agents),
    st.tuples(st.just("ask"), agents),
    st.tuples(st.just("answer"), agents, st.integers(0, 3), st.sampled_from(["", "words", "y" * 600])),
    st.tuples(st.just("result"), agents, st.booleans()),
    st.tuples(st.just("round"), agents, st.integers(0, 3), st.tuples(st.booleans(), st.booleans(), st.booleans())),
)
moves = st.one_of(
    st.tuples(st.just("set_anchor"), agents, st.integers(0, 40)),
    st.tuples(st.just("restart"), agents),
)


def play(ceilings: Ceilings) -> Play:
    talk = Conversation()
    talk.chronicle.skip()  # a log's first record is never a message: a turn that began at 0 would have begun nowhere
    strategy = WindowedPassthrough(images=ImagePolicy(keep=1, most=3))
    talk.resident(PRIMARY, ceilings, strategy)
    talk.resident("ranger", ceilings, strategy)
    talk.subconscious(ceilings, strategy)
    return Play(talk)


@settings(max_examples=300, deadline=None)
@given(st.lists(steps, min_size=10, max_size=100), st.sampled_from([450, 1_000, 3_000, 100_000]))
def test_v3_v8_a3_every_request_is_valid_filtered_and_appends(taken: list[tuple[Any, ...]], room: int) -> None:
    """V-3, V-8, A-3, S-2, M-12."""
    made = play(Ceilings(room, 100, 100))
    for name, *arguments in taken:
        getattr(made, name)(*arguments)
    for agent in AGENTS:
        made.ask(agent)


@settings(max_examples=200, deadline=None)
@given(st.lists(steps | moves, min_size=10, max_size=100), st.sampled_from([450, 3_000, 100_000]))
async def test_v4_v8_and_so_they_are_when_anchors_move_and_processes_start_anew(
    taken: list[tuple[Any, ...]], room: int
) -> None:
    """V-4, V-8, A-3."""
    made = play(Ceilings(room, 100, 100))
    for name, *arguments in taken:
        done = getattr(made, name)(*arguments)
        if done is not None:
            await done
    for agent in AGENTS:
        made.ask(agent)


@settings(max_examples=200, deadline=None)
@given(st.lists(steps, max_size=100))
def test_where_nothing_jumps_everything_heard_is_sent_exactly_once(taken: list[tuple[Any, ...]]) -> None:
    """N-8, V-3: no order of events loses a message or shows it twice."""
    made = play(Ceilings(10_000_000, 100, None))
    for agent in AGENTS:
        made.talk.contexts[agent].strategy = WindowedPassthrough()
    for name, *arguments in taken:
        getattr(made, name)(*arguments)
    for agent in AGENTS:
        made.talk.end(agent)
        view = made.talk.contexts[agent].view
        heard = [
            number
            for message in made.talk.chronicle.log
            if view.holds(message) and message.kind in {"chat", "prompt", "system", "agent"}
            for number in re.findall(r"#\d+;", message.text)
            if message.author != agent
        ]
        shown = re.findall(r"#\d+;", str(request_json(made.talk.ask(agent, PRELUDE).request)["messages"]))
        results = [
            number
            for message in made.talk.chronicle.log
            if message.kind == "result"
            for block in message.blocks
            if isinstance(block, ToolResult)
            for number in re.findall(r"#\d+;", str(block.content))
        ]
        assert sorted(number for number in shown if number not in results) == sorted(heard)


@settings(max_examples=100, deadline=None)
@given(st.lists(steps, max_size=80), st.sampled_from([1_000, 100_000]))
async def test_v4_a_process_that_starts_anew_sends_the_same_bytes(taken: list[tuple[Any, ...]], room: int) -> None:
    """V-4, V-9: where every request got its answer, the log and the anchor say all that there is to say."""
    made = play(Ceilings(room, 100, 100))
    for name, *arguments in taken:
        if name not in {"ask", "answer", "begin_or_end", "round"}:
            getattr(made, name)(*arguments)
        elif arguments[0] == PRIMARY:
            made.begin_or_end(PRIMARY)
            made.ask(PRIMARY)
            made.answer(PRIMARY, 2, "on it")
            made.result(PRIMARY, True)
            made.talk.end(PRIMARY)
    old = made.talk.contexts[PRIMARY]
    new = AgentContext(PRIMARY, old.view, old.ceilings, made.talk.chronicle, old.strategy)
    await new.load(made.talk.chronicle.head, old.snapshot(0.0).value)
    try:
        assert flat(new.preview(PRELUDE).request.messages) == flat(old.preview(PRELUDE).request.messages)
    except OverBudgetError:
        assert room == 1_000
