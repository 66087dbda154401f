"""The engine over a `Link`, for one actor: what the screen in this process, the headless twin and the socket hold."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from cockpit.core.events import AgentView, Answer, Event, Noticed, Prompted, Reported, Spoke, ToolCalled, VerbRan, View
from cockpit.core.message import RESIDENTS, Message
from cockpit.core.world import Actor
from cockpit.engine.engine import Engine
from cockpit.engine.refusals import Refusal, record, unquoted
from cockpit.engine.settings import AgentSettings
from cockpit.errors import CockpitError, VerbError

SHOWN = 200
"""Reports, and messages of the conversation, that a screen begins with."""


@dataclass(slots=True)
class EngineLink:
    """echo: what it runs is told as events too, in order, as the headless twin wants it."""

    engine: Engine
    actor: Actor
    operator: str
    read_only: bool
    echo: bool = False

    def events(self) -> AsyncIterator[Event]:
        return self.engine.events()

    async def run(self, line: str) -> Answer:
        answer = await self.engine.commands.run(line, self.actor)
        if self.echo:
            for shown in answer.shown:
                self.engine.hub.emit(shown)
            self.engine.hub.emit(answer.ran)
        return answer

    async def ask(self, text: str, agent: str | None = None) -> Answer:
        now = self.engine.clock.wall()
        try:
            if self.read_only:
                raise VerbError("read_only", "a prompt writes, and this cockpit is read-only", "")
            said = await self.engine.ask(text, agent)
        except VerbError as error:
            await record(self.engine.acts, Refusal("ask", "", unquoted(error)), self.actor)
            return Answer(VerbRan(now, text, "ask", False, str(error), error.code, error.hint))
        except CockpitError as error:
            return Answer(VerbRan(now, text, "ask", False, str(error), "refused", "nothing was changed"))
        return Answer(VerbRan(now, text, "ask", True, said))

    async def snapshot(self) -> View:
        engine = self.engine
        chronicle = engine.ledger.chronicle
        reports = await chronicle.reports(limit=SHOWN)
        messages = await chronicle.messages((RESIDENTS,), view="heard", limit=SHOWN)
        defaults = engine.policy.tune_out
        return View(
            recipe=engine.recipe,
            store=engine.store,
            operator=self.operator,
            model=engine.settings[engine.policy.primary].model.shown,
            read_only=self.read_only,
            agents=tuple(self._agent(each) for each in engine.settings.values()),
            rows=engine.rows.all(),
            reports=tuple(
                Reported(each.at, each.agent, each.channel, each.kind, each.text, str(each.sequence))
                for each in reports
            ),
            conversation=tuple(entry for message in messages for entry in _entries(message, engine.policy.residents)),
            defaults={
                "cadence": f"{defaults.cadence:g}",
                "cap": str(defaults.cap),
                "wakes": str(defaults.wakes),
                **({} if defaults.duration is None else {"for": f"{defaults.duration:g}"}),
            },
        )

    def _agent(self, settings: AgentSettings) -> AgentView:
        agent = self.engine.agents[settings.name]
        return AgentView(settings.name, settings.role, agent.activity, agent.usage, settings.cost(agent.usage))


def _entries(message: Message, residents: tuple[str, ...]) -> list[Spoke | Prompted | ToolCalled | Noticed]:
    """What one stored message is in the resident's pane."""
    if message.kind == "prompt":
        return [Prompted(message.at, next(iter(message.woke), residents[0]), message.text)]
    if message.kind == "agent" and message.author in residents and message.text.strip():
        return [Spoke(message.at, message.author, message.text)]
    return []
