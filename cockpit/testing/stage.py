"""What tests of a whole engine share beside the rig: a recipe's text, a model that is cued as the test goes, and words
for what they look at.

model = CuedModel()
async with rig(folder, recipe(), channels=NOISY_ONLY, model=model) as cockpit:
    said = await use(cockpit, model, "tune_out", channel="noisy")
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from cockpit.core.events import Audited, Explained, Noticed, Peeked, Reported, TurnChanged
from cockpit.core.message import Block, Json, Text, ToolResult, ToolUse
from cockpit.core.records import NoticeKind, ReportKind
from cockpit.core.request import Request
from cockpit.testing.clock import FakeClock
from cockpit.testing.rig import Rig
from cockpit.testing.scripted_model import Answer, Call, ScriptedModel, Step

NOISY = "channel:disc/noisy"
SUBCONSCIOUS = '[subconscious]\nsystem_prompt = "You watch."'
DISC = '[[mcpl]]\nname = "disc"\ncommand = ["fake"]'
GIT = '[[mcp]]\nname = "git"\ncommand = ["fake"]'


class Start(Protocol):
    """Start a cockpit; on the same store again: restart it."""

    def __call__(
        self,
        text: str = ...,
        *,
        channels: Mapping[str, Sequence[str]] = ...,
        down: Sequence[str] = ...,
        clock: FakeClock | None = ...,
    ) -> AbstractAsyncContextManager[Rig]: ...


def resident(name: str = "scout", *more: str) -> str:
    """One `[[resident]]`, with further lines of its own."""
    return "\n".join(["[[resident]]", f'name = "{name}"', f'system_prompt = "You are {name}."', *more])


def recipe(
    *servers: str,
    model: str = "",
    residents: Sequence[str] = (resident(),),
    subconscious: str = SUBCONSCIOUS,
    more: str = "",
) -> str:
    """A recipe's text: an offline model with further lines, residents, the subconscious, and servers (`disc` unless
    said)."""
    top = f'name = "stage"\n[model]\nprovider = "offline"\n{model}'
    return "\n".join([top, *residents, subconscious, *(servers or (DISC,)), more])


class CuedModel(ScriptedModel):
    """A model whose answers are given while a test runs, by agent; without a cue it says `Done.`"""

    def __init__(self) -> None:
        self._cues: dict[str, deque[Step]] = {}
        super().__init__(self._next)

    def cue(self, agent: str, *steps: Step) -> None:
        """Queue answers to this agent's next requests."""
        self._cues.setdefault(agent, deque()).extend(steps)

    def calls(self, agent: str, tool: str, **values: Json) -> None:
        """Queue one answer that calls one tool, and one that says `Done.` to its result."""
        self.cue(agent, Answer(calls=(Call(tool, values),)), Answer("Done."))

    def _next(self, request: Request) -> Step:
        cues = self._cues.get(request.agent)
        return cues.popleft() if cues else Answer("Done.")


async def use(cockpit: Rig, model: CuedModel, tool: str, *, by: str = "scout", **values: Json) -> str:
    """Let a resident call one tool in a turn of its own; gives what it was told. `refused:` stands before an error."""
    model.calls(by, tool, **values)
    await cockpit.link.ask("Go on.", by)
    await cockpit.settle()
    return answered(cockpit.requests(by)[-1])[-1]


async def watcher_uses(cockpit: Rig, model: CuedModel, tool: str, **values: Json) -> str:
    """Let the subconscious call one tool, in the turn that an addressed message on NOISY sets off."""
    model.calls("Subconscious", tool, **values)
    await cockpit.servers["disc"].say("noisy", "are you there?", addressed=True)
    await cockpit.advance(2.0)
    return answered(cockpit.requests("Subconscious")[-1])[-1]


def answered(request: Request) -> list[str]:
    """What the tools answered in a request, oldest first; `refused:` stands before an error."""
    blocks = [block for turn in request.messages for block in turn.blocks if isinstance(block, ToolResult)]
    return [("refused: " if block.is_error else "") + _text(block.content) for block in blocks]


def shown(request: Request) -> str:
    """All text of a request's messages, results of tools too."""
    return "\n".join(_text(turn.blocks) for turn in request.messages)


def listed(request: Request) -> list[str]:
    """The names of its tools, in order."""
    return [tool.name for tool in request.tools]


def reports(cockpit: Rig, kind: ReportKind) -> list[str]:
    """The texts of one kind of report so far."""
    return [event.text for event in cockpit.of(Reported) if event.kind == kind]


def notices(cockpit: Rig, kind: NoticeKind) -> list[str]:
    """The texts of one kind of notice so far."""
    return [event.text for event in cockpit.of(Noticed) if event.kind == kind]


def turns(cockpit: Rig, agent: str | None = None) -> list[str]:
    """The reasons of the turns that were started, of one agent or of all."""
    started = [event for event in cockpit.of(TurnChanged) if event.state == "started"]
    return [event.reason for event in started if agent in {None, event.agent}]


async def audit(cockpit: Rig, last: int = 50) -> list[Mapping[str, Json]]:
    """The audit's newest rows, newest last."""
    (found,) = (await cockpit.link.run(f"go=audit last={last}")).shown
    return list(found.rows) if isinstance(found, Audited) else []


async def peek(cockpit: Rig, target: str = NOISY) -> Peeked:
    """A channel's backlog as `go=peek` shows it."""
    (found,) = (await cockpit.link.run(f"go=peek target={target}")).shown
    if not isinstance(found, Peeked):
        raise TypeError(f"a peek shows {found!r}")
    return found


async def why(cockpit: Rig, message: str) -> Explained:
    """A message's admission as `go=why` shows it."""
    (found,) = (await cockpit.link.run(f"go=why message={message}")).shown
    if not isinstance(found, Explained):
        raise TypeError(f"a why shows {found!r}")
    return found


def uses(request: Request) -> list[str]:
    """The tools that a request's own messages have called."""
    return [block.name for turn in request.messages for block in turn.blocks if isinstance(block, ToolUse)]


def _text(blocks: Sequence[Block]) -> str:
    parts = (_text(block.content) if isinstance(block, ToolResult) else _one(block) for block in blocks)
    return "\n".join(part for part in parts if part)


def _one(block: Block) -> str:
    return block.text if isinstance(block, Text) else ""
