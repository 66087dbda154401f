"""What each agent is sent and what its calls do: contexts, tool lists, dispatch, and what a request's end means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from cockpit.context.agent_context import AgentContext
from cockpit.context.budget import Prelude
from cockpit.context.request_json import request_json
from cockpit.core.channel import Channel, Epoch
from cockpit.core.events import ContextShown
from cockpit.core.message import Json, Message, ToolUse
from cockpit.core.policy import TuneOutDefaults
from cockpit.core.records import Usage, WakeRequest
from cockpit.core.request import Request, Tool
from cockpit.core.step import Looked, Missed, Read
from cockpit.core.target import Target, parse
from cockpit.core.verbs import nearest, repeated
from cockpit.engine.calls import Calls, Finish, Own
from cockpit.engine.catalogue import Catalogue
from cockpit.engine.ledger import Draft, Ledger
from cockpit.engine.settings import AgentSettings
from cockpit.engine.toolbox import resident_tools
from cockpit.engine.typing import Typing
from cockpit.errors import ModelError, VerbError


@dataclass(slots=True)
class Mind:
    """One agent's standing equipment. tools: the host's own for it; own: what they do. notes: S-7."""

    settings: AgentSettings
    context: AgentContext
    tools: tuple[Tool, ...]
    own: Own
    notes: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Minds:
    """Satisfies `agent.Surroundings`. entered: a tune-out began while the subconscious had a turn, whose history must
    not be cut under it, so its anchor moves when the next one begins (V-4)."""

    ledger: Ledger
    catalogue: Catalogue
    calls: Calls
    typing: Typing
    primary: str
    minds: Mapping[str, Mind]
    _held: dict[str, dict[Target, Channel]] = field(default_factory=dict)
    entered: bool = False
    _began: dict[str, int] = field(default_factory=dict)
    _looked: dict[str, dict[Target, Epoch]] = field(default_factory=dict)

    async def compile(self, agent: str, began: int) -> Request | None:
        """The next request, its moved anchor kept before it is sent; None where there is nothing new to answer."""
        context = self.minds[agent].context
        if self.entered and agent not in self._began and self.minds[agent].settings.role == "subconscious":
            await self.anchor_subconscious()
        self._began[agent] = began
        done = context.compile(self.prelude(agent), began=began)
        self._held[agent] = dict(self.ledger.channels)  # what comes while the anchor is kept is not in this request
        if done.moved:
            await self.ledger.do(partial(_keep_anchor, context))
        return done.request if done.sendable else None

    def owed(self, agent: str, began: int) -> bool:
        """Whether a turn has anything to answer."""
        return self.minds[agent].context.answerable(began)

    def shown(self, agent: str | None) -> ContextShown:
        """`go=context`: what the agent would be sent now. A dry run."""
        name = agent or self.primary
        if name not in self.minds:
            close = nearest(name, self.minds)
            hint = f"did you mean {close[0]}?" if close else f"agents: {', '.join(self.minds)}"
            raise VerbError("bad_value", f"no agent {repeated(name)}; {hint}", ", ".join(self.minds))
        try:
            done = self.minds[name].context.preview(self.prelude(name), began=self._began.get(name))
        except ModelError as error:
            raise VerbError("refused", str(error), "") from error
        request = request_json(done.request)
        return ContextShown(self.ledger.wall(), name, done.request.tokens, done.request.budget, request)

    def check_prompt(self, agent: str, text: str) -> None:
        """V-5: a prompt is never cut; one that cannot fit is refused when it is given."""
        if not self.minds[agent].context.fits(self.prelude(agent), text):
            raise VerbError("refused", f"a prompt of {len(text)} characters cannot fit {agent}'s context", "say less")

    def prelude(self, agent: str) -> Prelude:
        """System prompt, tools and standing notes; a muted server's tools as its mode says (M-2)."""
        mind = self.minds[agent]
        tools = mind.tools
        if mind.settings.role == "resident":
            tools = (*tools, *self.catalogue.offered(self._muted()))
        return Prelude(mind.settings.system_prompt, tools, mind.notes)

    async def call(self, agent: str, use: ToolUse) -> Finish:
        mind = self.minds[agent]
        return await self.calls.run(use, mind.own, mind.tools, resident=mind.settings.role == "resident")

    def asked(self, agent: str) -> Callable[[Draft], None]:
        """A-11: what was waiting when the primary's request was made is read when that request has ended."""
        held = self._held.get(agent, {})
        if self.minds[agent].settings.role == "subconscious":
            self._looked[agent] = {
                target: channel.epoch for target, channel in held.items() if channel.epoch is not None
            }
        if agent != self.primary:
            return _nothing
        waiting = [(target, Read(channel.wait, channel.wait_need)) for target, channel in held.items() if channel.wait]

        def read(draft: Draft) -> None:
            for target, given in waiting:
                draft.step(target, given)

        return read

    def answered(self, agent: str, request: Request, usage: Usage) -> None:
        """The provider's own count corrects the estimate."""
        self.minds[agent].context.calibrate(request.tokens, usage.input + usage.cache_read + usage.cache_write)

    def turning(self, agent: str, requests: Sequence[WakeRequest] | None) -> None:
        """A-9: typing is shown in the channels that woke a resident's turn, while it runs."""
        if requests is None:
            self._began.pop(agent, None)
        if self.minds[agent].settings.role != "resident":
            return
        if requests is None:
            self.typing.end(agent)
            return
        ordinary = [each.target for each in requests if each.reason in {"message", "push"} and each.target]
        self.typing.begin(agent, [parse(target) for target in ordinary])

    def redescribe(self, defaults: TuneOutDefaults) -> None:
        """The tune-out's defaults are others now, and its tool names them (T-1)."""
        for mind in self.minds.values():
            if mind.settings.role == "resident":
                mind.tools = resident_tools(defaults)

    def looked(self, agent: str, well: bool) -> Callable[[Draft], None]:
        """T-12, T-14: a turn that ended well has digested what its last request held; a failed one nothing."""
        held = self._looked.pop(agent, {})

        def write(draft: Draft) -> None:
            for target, epoch in held.items():
                now = draft.channel(target)
                if epoch.undigested and now is not None and now.epoch is not None and now.epoch.id == epoch.id:
                    draft.step(target, Looked(epoch.undigested) if well else Missed())

        return write

    def shows_all(self, agent: str, channel: Channel | None) -> bool:
        """Whether the agent's running turn has been shown all that is undigested there (T-12)."""
        if channel is None or channel.epoch is None:
            return False
        seen = self._looked.get(agent, {}).get(channel.target)
        return seen is not None and (seen.id, seen.undigested) == (channel.epoch.id, channel.epoch.undigested)

    def observe(self, messages: Sequence[Message]) -> None:
        """Tell every context of what was committed."""
        for mind in self.minds.values():
            mind.context.observe(*messages)

    def turns(self, agent: str) -> bool:
        """Whether a turn of the agent has a request out."""
        return agent in self._began

    async def anchor_subconscious(self) -> None:
        """V-4: at an enter and at startup, to the start of the oldest epoch then active; with none it stays."""
        self.entered = False
        begun = [channel.epoch.began for channel in self.ledger.channels.values() if channel.epoch is not None]
        for mind in self.minds.values():
            context = mind.context
            if begun and mind.settings.role == "subconscious" and await context.set_anchor(min(begun)):
                await self.ledger.do(partial(_keep_anchor, context))

    def _muted(self) -> tuple[str, ...]:
        return tuple(
            target.name
            for target, channel in self.ledger.channels.items()
            if target.kind == "mcp" and channel.span is not None
        )


def _keep_anchor(context: AgentContext, draft: Draft) -> None:
    draft.write(context.snapshot(draft.wall))


def _nothing(_: Draft) -> None:
    """Nobody's count changes."""


def notes_of(snapshots: Mapping[str, Json], agent: str) -> dict[str, str]:
    """The standing notes as the store kept them."""
    value = snapshots.get(f"dispositions/{agent}")
    if not isinstance(value, Mapping):
        return {}
    return {key: text for key, text in value.items() if isinstance(text, str)}
