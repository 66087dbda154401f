"""A log and the contexts that read it, driven as the engine drives them: commit, observe, compile, answer.

For tests of what agents are sent. Everything is written through `commit`, so each context hears of each message once
and in order, as from the engine's one writer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cockpit.context.agent_context import AgentContext, Ceilings, Compiled
from cockpit.context.budget import Prelude
from cockpit.context.strategy import Strategy
from cockpit.core.message import (
    RESIDENTS,
    Block,
    Json,
    Media,
    Message,
    MessageKind,
    Stamp,
    Text,
    ToolResult,
    ToolUse,
    agent_slot,
    subconscious_slot,
)
from cockpit.core.request import Request, Tool, Turn
from cockpit.testing.memory_chronicle import MemoryChronicle

NINE = 1_796_029_200.0
"""2026-11-30 09:00 UTC in seconds since 1970."""

PRIMARY = "scout"
SUBCONSCIOUS = "Subconscious"
CHANNEL = "disc:guild:noisy"
TARGET = f"channel:disc/{CHANNEL}"
TOOLS = (Tool("look", "Look somewhere.", {"type": "object"}), Tool("wave", "Wave.", {"type": "object"}))
PRELUDE = Prelude("You are scout.", TOOLS)


@dataclass
class Turning:
    """A running turn and the request that its agent answers next."""

    began: int
    request: Request | None = None


@dataclass
class Conversation:
    """contexts by agent name; `turns` those that run."""

    chronicle: MemoryChronicle = field(default_factory=MemoryChronicle)
    contexts: dict[str, AgentContext] = field(default_factory=dict)
    turns: dict[str, Turning] = field(default_factory=dict)

    def resident(
        self, name: str = PRIMARY, ceilings: Ceilings | None = None, strategy: Strategy | None = None
    ) -> AgentContext:
        """A resident's context that hears of all that is committed from now on."""
        context = AgentContext.resident(name, ceilings or Ceilings(), self.chronicle, strategy, ends_turn=("end_turn",))
        self.contexts[name] = context
        return context

    def subconscious(self, ceilings: Ceilings | None = None, strategy: Strategy | None = None) -> AgentContext:
        """The subconscious's, likewise."""
        context = AgentContext.subconscious(
            SUBCONSCIOUS, PRIMARY, ceilings or Ceilings(), self.chronicle, strategy, ends_turn=("end_turn",)
        )
        self.contexts[SUBCONSCIOUS] = context
        return context

    def commit(self, message: Message) -> Message:
        """Store it and tell every context."""
        stored = self.chronicle.add(message)
        for context in self.contexts.values():
            context.observe(stored)
        return stored

    def chat(self, *said: str | Media, author: str = "ada", stamp: Stamp | None = None, **more: object) -> Message:
        """Something said in CHANNEL; strings become text blocks."""
        return self.commit(_message("chat", author, said, target=TARGET, channel=CHANNEL, stamp=stamp, **more))

    def prompt(self, *said: str | Media) -> Message:
        """The operator's own words."""
        return self.commit(_message("prompt", "operator", said))

    def notice(self, text: str, slot: str = RESIDENTS) -> Message:
        """A system-framed message."""
        return self.commit(_message("system", "system", (text,), slot=slot))

    def begin(self, agent: str = PRIMARY) -> None:
        """A turn of this agent begins."""
        self.turns[agent] = Turning(self.chronicle.head)

    def end(self, agent: str = PRIMARY) -> None:
        self.turns.pop(agent, None)

    def ask(self, agent: str = PRIMARY, prelude: Prelude = PRELUDE) -> Compiled:
        """The next request of the turn that runs, or of none."""
        turn = self.turns.get(agent)
        done = self.contexts[agent].compile(prelude, began=turn.began if turn else None)
        if turn:
            turn.request = done.request
        return done

    def answer(self, *said: Block | str, agent: str = PRIMARY) -> Message:
        """The model's answer to the turn's last request, in the agent's own slot."""
        turn = self.turns[agent]
        if turn.request is None:
            raise ValueError(f"{agent} was asked nothing")
        message = _message("agent", agent, said, slot=_own(agent), seen=turn.request.seen, began=turn.began)
        return self.commit(message)

    def result(self, *results: ToolResult | tuple[str, str], agent: str = PRIMARY) -> Message:
        """Results of its calls, each a block or (id, text)."""
        blocks = [one if isinstance(one, ToolResult) else ToolResult(one[0], (Text(one[1]),)) for one in results]
        return self.commit(Message(_own(agent), "result", agent, tuple(blocks), NINE))

    def whole_turn(self, text: str = "Noted.", agent: str = PRIMARY) -> Compiled:
        """A turn of one request, answered with `text`; returns what was sent."""
        self.begin(agent)
        sent = self.ask(agent)
        self.answer(text, agent=agent)
        self.end(agent)
        return sent


def _own(agent: str) -> str:
    return subconscious_slot(PRIMARY) if agent == SUBCONSCIOUS else RESIDENTS


def own_slot(agent: str) -> str:
    """Where the host appends what is for this agent alone (N-8)."""
    return subconscious_slot(PRIMARY) if agent == SUBCONSCIOUS else agent_slot(agent)


def use(call: str, name: str = "look", **values: Json) -> ToolUse:
    """A call."""
    return ToolUse(call, name, values)


def _message(kind: MessageKind, author: str, said: tuple[Block | str, ...], **more: object) -> Message:
    blocks = tuple(Text(one) if isinstance(one, str) else one for one in said)
    given: Mapping[str, object] = {"slot": RESIDENTS, "at": NINE, **more}
    return Message(kind=kind, author=author, blocks=blocks, **given)  # type: ignore[arg-type]  # real fields, by name


def flat(messages: tuple[Turn, ...]) -> list[tuple[str, Block]]:
    """The blocks of a request with the role of each, markers left out: what a prefix is compared by."""
    return [(turn.role, block) for turn in messages for block in turn.blocks]


def texts(request: Request, role: str | None = None) -> list[str]:
    """The text of a request's blocks in order, those inside results too."""
    found: list[str] = []
    for turn in request.messages:
        if role in {None, turn.role}:
            for block in turn.blocks:
                inner = block.content if isinstance(block, ToolResult) else (block,)
                found.extend(part.text for part in inner if isinstance(part, Text))
    return found
