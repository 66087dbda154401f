"""Whatever comes in whatever order, what the engine sends is valid and filtered, and between two anchor jumps it only
appends (V-3, V-8, A-3, A-5, S-2)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cockpit.connect.ports import Called
from cockpit.context.agent_context import AgentContext, Compiled
from cockpit.context.budget import Prelude
from cockpit.context.strategy import Anchor
from cockpit.core.message import RESIDENTS, Json, Text, subconscious_slot
from cockpit.core.request import Request, Tool
from cockpit.model.wire import body
from cockpit.testing.anthropic_check import problem_of_request
from cockpit.testing.provided import COMMIT, STATUS, Body, prefix, unended, unpaired
from cockpit.testing.rig import Rig, rig
from cockpit.testing.scripted_model import Answer, Call, ScriptedModel
from cockpit.testing.stage import DISC, GIT, NOISY, recipe, resident

AGENTS = ("scout", "ranger", "Subconscious")
TOOLS: Mapping[str, tuple[Tool, ...]] = {"git": (STATUS, COMMIT)}
HEADED = re.compile(r"\] (#\d+;)")
"""A message as a channel's header shows it; in a dump it stands behind its author."""

CALLS = (
    Call("git__status"),
    Call("git__commit", {"message": "m"}),
    Call("channel_list"),
    Call("tune_out", {"channel": "noisy"}),
    Call("cancel_tune_out", {"channel": "noisy"}),
    Call("mute_channel", {"channel": "mcp:git"}),
    Call("unmute_channel", {"channel": "mcp:git", "deliver": "backlog"}),
    Call("no_such_tool"),
)
WATCHING = (
    Call("deliver_summary", {"channel": "noisy", "text": "All quiet."}),
    Call("cancel_tuneout", {"channel": "noisy", "text": "You are needed."}),
    Call("think", {"text": "Hm."}),
    Call("end_turn"),
)
VERBS = (
    f"go=tune-out target={NOISY} wakes=2",
    f"go=cancel target={NOISY}",
    f"go=mute target={NOISY}",
    f"go=unmute target={NOISY} deliver=backlog",
    "go=mute target=mcp:disc",
    "go=unmute target=mcp:disc",
    "go=mute target=mcp:git",
    "go=unmute target=mcp:git",
    "go=stop",
)

texts = st.sampled_from(["", "words", "y" * 900])
verbs = st.tuples(st.just("verb"), st.sampled_from(VERBS))
says = st.tuples(st.just("say"), st.sampled_from(["noisy", "quiet"]), st.booleans(), st.sampled_from([0, 60, 900]))
asks = st.tuples(st.just("ask"), st.sampled_from(AGENTS[:2]))
meanwhile = st.lists(verbs | says | asks, max_size=3)
answers = st.tuples(
    st.lists(st.sampled_from(CALLS), max_size=3),
    st.sampled_from(WATCHING),
    texts,
    st.sampled_from(["", "Hm."]),
    meanwhile,
)
moves = verbs | says | asks | st.tuples(st.just("advance"), st.sampled_from([2.0, 31.0]))


@dataclass
class Sent:
    """What an agent was last sent, and from which anchor on."""

    anchor: Anchor
    parts: Sequence[str]


@dataclass
class Play:
    """One random session. script: what the model says, and what comes while its calls run. sent: what each agent was
    last sent; headed: the messages that each was shown under a header."""

    script: list[tuple[list[Call], Call, str, str, list[tuple[object, ...]]]]
    cockpit: Rig | None = None
    number: int = 0
    requests: int = 0
    sent: dict[str, Sent] = field(default_factory=dict)
    headed: dict[str, set[str]] = field(default_factory=lambda: {agent: set() for agent in AGENTS})
    coming: list[tuple[object, ...]] = field(default_factory=list)

    @property
    def rig(self) -> Rig:
        if self.cockpit is None:
            raise RuntimeError("it has not begun")
        return self.cockpit

    def answer(self, request: Request) -> Answer:
        """The next answer of the script; past its end, a word."""
        if not self.script:
            return Answer("Done.")
        calls, watching, text, thinking, coming = self.script.pop()
        self.coming.extend(coming)
        own = (watching,) if request.agent == "Subconscious" else tuple(calls)
        return Answer(text if own or text else "Done.", own, thinking)

    def check(self, agent: str, request: Request, anchor: Anchor) -> None:
        """One request as it was compiled."""
        self.requests += 1
        assert problem_of_request(request) is None
        written: Body = body(request)
        self.headed[agent] |= set(HEADED.findall(json.dumps(written, ensure_ascii=False)))
        parts = prefix(written)
        before = self.sent.get(agent)
        if before is not None and before.anchor == anchor:
            assert parts[: len(before.parts)] == before.parts
        self.sent[agent] = Sent(anchor, parts)

    async def called(self, tool: str, _: Mapping[str, Json]) -> Called:
        """A call of a server's tool: some of what comes meanwhile comes now."""
        if self.coming:
            await self.move(*self.coming.pop())
        return Called((Text(f"{tool} done"),))

    async def move(self, what: object, *more: object) -> None:
        match what, more:
            case "verb", (str(line),):
                await self.rig.link.run(line)
            case "say", (str(channel), bool(addressed), int(size)):
                self.number += 1
                text = f"#{self.number};" + "x" * size
                await self.rig.servers["disc"].say(channel, text, addressed=addressed)
            case "ask", (str(agent),):
                await self.rig.link.ask("Well?", agent)
            case "advance", (float(seconds),):
                await self.rig.advance(seconds)

    async def diverted(self) -> tuple[set[str], set[str]]:
        """The messages that were stamped, and those of them that carry a mute's stamp."""
        stamped = [message for message in await self.rig.stored(RESIDENTS) if message.stamp is not None]
        found = {message.text.partition(";")[0] + ";" for message in stamped if message.kind == "chat"}
        muted = [message for message in stamped if message.stamp is not None and message.stamp.span is not None]
        return found, {message.text.partition(";")[0] + ";" for message in muted if message.kind == "chat"}


@contextmanager
def checked(play: Play) -> Iterator[None]:
    """Every request that any agent compiles is checked."""
    compile_ = AgentContext.compile

    def recording(context: AgentContext, prelude: Prelude, *, began: int | None = None) -> Compiled:
        done = compile_(context, prelude, began=began)
        if done.sendable:
            play.check(context.name, done.request, context.anchor)
        return done

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(AgentContext, "compile", recording)
        yield


def text(window: int) -> str:
    """Two residents and the subconscious on windows of about so many tokens; a muted server's tools stay listed."""
    room = f"context_tokens = {window}\nmax_tokens = 200\nmax_message_tokens = 100"
    marked = f'{GIT}\nwhen_muted = "mark"'
    return recipe(marked, DISC, model=room, residents=(resident(), resident("ranger")))


@pytest.mark.timeout(180)
@settings(max_examples=40, deadline=None)
@given(
    st.lists(moves, min_size=8, max_size=30),
    st.lists(answers, min_size=4, max_size=20),
    st.sampled_from([2_100, 2_600, 100_000]),
)
async def test_every_request_is_valid_filtered_and_appends(
    taken: list[tuple[object, ...]],
    script: list[tuple[list[Call], Call, str, str, list[tuple[object, ...]]]],
    window: int,
) -> None:
    """V-3, V-8, A-3, A-5, S-2, M-12, N-8: of both residents and the subconscious, through the whole engine."""
    play = Play(list(script))
    model = ScriptedModel(play.answer)
    channels = {"disc": ("noisy", "quiet")}
    with TemporaryDirectory() as folder, checked(play):
        async with rig(Path(folder), text(window), channels=channels, tools=TOOLS, model=model) as cockpit:
            play.cockpit = cockpit
            cockpit.servers["git"].answer = play.called
            for move in taken:
                await play.move(*move)
            await cockpit.settle()
            for agent in AGENTS[:2]:
                await cockpit.link.ask("At last?", agent)
                await cockpit.settle()
            stamped, muted = await play.diverted()
            assert not stamped & (play.headed["scout"] | play.headed["ranger"])
            assert not muted & play.headed["Subconscious"]
            assert await unpaired(cockpit, RESIDENTS, subconscious_slot("scout")) == []
            assert unended(cockpit) == []
            assert play.requests >= len(model.requests)
