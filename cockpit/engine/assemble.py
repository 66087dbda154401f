"""Puts an engine together from a recipe and a store: every part is made here, and nowhere else."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from cockpit.connect.config import ServerConfig
from cockpit.connect.intercom import Intercom
from cockpit.connect.ports import Host, Server
from cockpit.connect.supervisor import supervise
from cockpit.context.agent_context import AgentContext, Ceilings, anchor_slot
from cockpit.context.windowed import WindowedPassthrough
from cockpit.core.channel import Channel, Presence
from cockpit.core.events import Failed, VerbRan
from cockpit.core.message import Json
from cockpit.core.records import Usage
from cockpit.core.target import Target
from cockpit.core.target import server as mcp
from cockpit.core.world import Actor
from cockpit.engine.acts import Acts
from cockpit.engine.agent import Agent
from cockpit.engine.asks import SLOT, MuteAsks
from cockpit.engine.calls import Calls, Own
from cockpit.engine.catalogue import Catalogue
from cockpit.engine.clock import Clock, SystemClock
from cockpit.engine.commands import Commands
from cockpit.engine.desk import Desk
from cockpit.engine.directory import Directory, worth_showing
from cockpit.engine.engine import Engine
from cockpit.engine.host import EngineHost
from cockpit.engine.hub import Hub
from cockpit.engine.inbox import Inbox
from cockpit.engine.ledger import Ledger
from cockpit.engine.link import EngineLink
from cockpit.engine.minds import Mind, Minds, notes_of
from cockpit.engine.outbox import Outbox
from cockpit.engine.reading import Reading
from cockpit.engine.refusals import WORDS, AuditedTools, Refusal, record
from cockpit.engine.reload import Reload
from cockpit.engine.resident_tools import ResidentTools
from cockpit.engine.rows import Rows
from cockpit.engine.settings import AgentSettings, agents_of, model_config, server_config
from cockpit.engine.subconscious_tools import SubconsciousTools
from cockpit.engine.timeline import Timeline
from cockpit.engine.toolbox import ENDS_TURN, resident_tools, subconscious_tools
from cockpit.engine.typing import Typing
from cockpit.engine.wakes import Wakes
from cockpit.errors import CockpitError, StoreError, VerbError
from cockpit.model.config import ModelConfig
from cockpit.model.factory import make_model
from cockpit.model.protocol import Model
from cockpit.recipe import McplServer, Recipe
from cockpit.store.chronicle import open_chronicle
from cockpit.store.protocol import Chronicle, Opened

UNPROVED = "participant"
"""The actor, in the audit, of a refused `send`: whose handle it is was not proved."""

ServerMaker = Callable[[ServerConfig, Host, bool], Server]
ModelMaker = Callable[[ModelConfig], Model]


@dataclass(frozen=True, slots=True)
class Session:
    """An engine, and what links to it need."""

    engine: Engine
    operator: str
    read_only: bool
    models: tuple[Model, ...]

    async def send(self, handle: str, token: str, to: str | None, text: str) -> VerbRan:
        """A participant speaks over the Intercom."""
        now = self.engine.clock.wall()
        try:
            receipt = await self.engine.desk.intercom.send(handle, token, to, text)
        except VerbError as error:
            await self.refused(UNPROVED, "socket", "send", str(error))
            return VerbRan(now, text, "send", False, str(error), error.code, error.hint)
        except CockpitError as error:
            return VerbRan(now, text, "send", False, str(error), "refused", "nothing was changed")
        return VerbRan(now, text, "send", True, receipt.reason or "said")

    async def inbox(self, handle: str, token: str, after: int | None) -> tuple[Mapping[str, Json], ...]:
        """What a participant has not read yet; raises VerbError where the token is not its own."""
        return await self.engine.desk.received(handle, token, after)

    async def refused(self, name: str, origin: str, verb: str, why: str) -> None:
        """Put in the audit what was refused before any link saw it (K-123)."""
        await record(self.engine.acts, Refusal(verb, "", why[:WORDS]), Actor(name, "operator", origin))

    async def warm(self) -> None:
        """Load the SDKs that this recipe needs, in threads: after the first frame, before anything starts."""
        if self.engine.servers:
            await asyncio.to_thread(importlib.import_module, "mcp")
        for model in self.models:
            await model.warm()

    def link(self, origin: str, *, name: str = "operator", echo: bool = False) -> EngineLink:
        """The engine for whoever acts in the operator's layer, from `screen`, `headless`, `socket` or `bridge`."""
        actor = Actor(name, "operator", origin)
        return EngineLink(self.engine, actor, self.operator, self.read_only, echo)


@asynccontextmanager
async def open_session(
    recipe: Recipe,
    store: Path,
    *,
    environment: Mapping[str, str],
    logs: Path,
    read_only: bool = False,
    clock: Clock | None = None,
    make_model: ModelMaker = make_model,
    make_server: ServerMaker | None = None,
) -> AsyncIterator[Session]:
    """Open the store and make the engine; nothing runs before `engine.run`.

    logs: the folder of the servers' stderr files. Raises RecipeError where a model cannot be made, StoreInUse,
    StoreError.
    """
    settings = agents_of(recipe)
    models = {each.name: make_model(model_config(each.model, environment)) for each in settings}
    try:
        time = clock or SystemClock()
        hub = Hub(time.wall)
        async with open_chronicle(store, tell=lambda line: hub.emit(Failed(time.wall(), "store", line))) as chronicle:
            opened = await chronicle.opened()
            building = _Building(recipe, settings, chronicle, opened, time, hub, read_only)

            def start(config: ServerConfig, host: Host, killed: bool) -> Server:
                return supervise(config, host, logs=logs, clock=time, killed=killed)

            engine = building.engine(str(store), models, make_server or start)
            engine.reload = Reload(recipe, environment, time, engine.adopt, engine.hub.emit)
            await building.load(engine)
            yield Session(engine, recipe.intercom.operator, read_only, tuple(models.values()))
    finally:
        for model in models.values():
            await model.aclose()


@dataclass(slots=True)
class _Building:
    recipe: Recipe
    settings: tuple[AgentSettings, ...]
    chronicle: Chronicle
    opened: Opened
    clock: Clock
    hub: Hub
    read_only: bool

    def engine(self, store: str, models: Mapping[str, Model], make_server: ServerMaker) -> Engine:
        policy, clock = self.recipe.policy(), self.clock
        names = [server.name for server in self.recipe.servers]
        directory = Directory(names, self._people())
        channels = self._channels(names, directory)
        hub = self.hub
        ledger = Ledger(
            self.chronicle,
            clock.wall,
            head=self.opened.head,
            channels=channels,
        )
        rows = Rows(ledger.channels, directory, clock, hub.emit)
        acts = Acts(ledger, directory, MuteAsks(policy.operators, hub.emit))
        subscribe = {each.name: each.subscribe for each in self.recipe.servers if isinstance(each, McplServer)}
        host = EngineHost(ledger, directory, clock, subscribe, rows.proofs, hub.emit)
        servers = {
            each.name: make_server(server_config(each), host, channels[mcp(each.name)].killed)
            for each in self.recipe.servers
        }
        outbox = Outbox(servers, failed=lambda verb, target, why: _record(acts, verb, target, why))
        catalogue = Catalogue(servers, policy.when_muted)
        agents: dict[str, Agent] = {}
        said = self.recipe.intercom
        inbox = Inbox(ledger, frozenset(said.participants), tuple(feed.name for feed in said.feeds))
        inbox.restore(self.opened.snapshots)
        desk = Desk(self._intercom(host), agents, inbox)
        minds = self._minds(ledger, acts, outbox=outbox, catalogue=catalogue, desk=desk)
        engine = Engine(
            recipe=self.recipe.name,
            store=store,
            policy=policy,
            clock=clock,
            hub=hub,
            ledger=ledger,
            directory=directory,
            rows=rows,
            acts=acts,
            minds=minds,
            outbox=outbox,
            servers=servers,
            desk=desk,
            agents=agents,
            settings={each.name: each for each in self.settings},
            tuned_out=self.recipe.tuned_out if self.opened.fresh else (),
            pending=self.opened.pending,
        )
        minds.typing.heard = engine.heard
        agents |= {each.name: self._agent(each, engine, models[each.name]) for each in self.settings}
        engine.commands = self._commands(engine)
        return engine

    async def load(self, engine: Engine) -> None:
        """What the windows need of the log, and what the store had to leave out."""
        for each in self.settings:
            anchor = self.opened.snapshots.get(anchor_slot(each.name))
            await engine.minds.minds[each.name].context.load(self.opened.head, anchor)
        for line in (*self.opened.skipped, *self._asked(engine)):
            engine.hub.keep(Failed(self.clock.wall(), "store", line))
        for line in self.recipe.warnings:
            engine.hub.keep(Failed(self.clock.wall(), "recipe", line))

    def _asked(self, engine: Engine) -> list[str]:
        """Put back what waits for the operator's yes; a line where it cannot be read (R-4)."""
        try:
            engine.acts.asks.restore(self.opened.snapshots.get(SLOT, {}))
        except ValueError as error:
            return [f"a record is malformed and is left out: {error}"]
        return []

    def _channels(self, servers: list[str], directory: Directory) -> dict[Target, Channel]:
        """Every channel's last value, its presence as of a process that just began."""
        found = {mcp(name): Channel(mcp(name)) for name in servers}
        found |= {target: Channel(target, registered=True) for target in self._people()}
        for channel in sorted(self.opened.channels, key=lambda each: each.place):
            if worth_showing(channel, dict.fromkeys(servers)):
                found[channel.target] = self._restored(channel, servers)
        for target in found:
            directory.add(target)
        return found

    def _people(self) -> list[Target]:
        """The Intercom's channels, where the recipe has one: participants, the operator, other residents, feeds."""
        said = self.recipe.intercom
        feeds = [Target("feed", feed.name) for feed in said.feeds]
        if not feeds and not said.participants:
            return []
        residents = [each.name for each in self.recipe.residents] if len(self.recipe.residents) > 1 else []
        return [*(Target("user", name) for name in (*said.participants, *residents, said.operator)), *feeds]

    def _restored(self, channel: Channel, servers: list[str]) -> Channel:
        if channel.target.server is None:
            return channel
        known = channel.target.server in servers
        presence: Presence = "killed" if channel.killed else "connecting" if known else "offline"
        reason = "" if known else "no such server in this recipe"
        return replace(channel, presence=presence, reason=reason, registered=False, since=self.clock.wall())

    def _minds(self, ledger: Ledger, acts: Acts, *, outbox: Outbox, catalogue: Catalogue, desk: Desk) -> Minds:
        directory = acts.directory
        minds: dict[str, Mind] = {}

        def audited(actor: Actor, inner: Own) -> Own:
            return AuditedTools(actor, acts, inner).call

        for each in self.settings:
            ceilings = Ceilings(each.model.context_tokens, each.model.max_tokens, each.model.max_message_tokens)
            notes = notes_of(self.opened.snapshots, each.name)
            own: Own
            if each.role == "resident":
                tools = ResidentTools(
                    Actor(each.name, "resident", "tool"),
                    acts,
                    directory,
                    ledger.channels,
                    self.chronicle,
                    outbox,
                    desk.between,
                )
                own, listed = audited(tools.actor, tools.call), resident_tools(self.recipe.policy().tune_out)
                context = AgentContext.resident(each.name, ceilings, self.chronicle)
            else:
                subconscious = self.recipe.subconscious
                speech = subconscious is not None and subconscious.allow_channel_speech
                its = SubconsciousTools(
                    Actor(each.name, "subconscious", "tool"),
                    self.recipe.primary.name,
                    acts,
                    directory,
                    ledger,
                    outbox,
                    notes,
                    summary_wakes=subconscious is not None and subconscious.summary_wakes,
                    speech=speech,
                )
                own, listed = audited(its.actor, its.call), subconscious_tools(speech=speech)
                strategy = WindowedPassthrough(each.re_anchor_fraction)
                context = AgentContext.subconscious(
                    each.name, self.recipe.primary.name, ceilings, self.chronicle, strategy, ends_turn=ENDS_TURN
                )
            minds[each.name] = Mind(each, context, listed, own, notes)
        calls = Calls(catalogue, catalogue.servers, ledger.channels)
        typing = Typing(catalogue.servers, lambda _: False)
        return Minds(ledger, catalogue, calls, typing, self.recipe.primary.name, minds)

    def _intercom(self, host: EngineHost) -> Intercom:
        said = self.recipe.intercom
        return Intercom(
            host,
            said.operator,
            tuple(resident.name for resident in self.recipe.residents),
            tuple(feed.name for feed in said.feeds),
            {handle: token.get_secret_value() for handle, token in said.participants.items()},
            stamp=lambda: f"{self.clock.wall():.6f}",
        )

    def _agent(self, settings: AgentSettings, engine: Engine, model: Model) -> Agent:
        return Agent(
            name=settings.name,
            role=settings.role,
            primary=self.recipe.primary.name,
            model=model,
            rounds=settings.model.tool_rounds,
            ledger=engine.ledger,
            clock=self.clock,
            around=engine.minds,
            emit=engine.hub.emit,
            wakes=Wakes(engine.judge),
            usage=self.opened.usage.get(settings.name, Usage()),
            turns=self.opened.turns.get(settings.name, 0),
        )

    def _commands(self, engine: Engine) -> Commands:
        reading = Reading(self.chronicle, engine.directory, engine.ledger.channels)
        return Commands(
            acts=engine.acts,
            reading=reading,
            timeline=Timeline(self.chronicle, engine.ledger.channels, lambda: engine.ledger.head),
            directory=engine.directory,
            channels=engine.ledger.channels,
            clock=self.clock,
            read_only=self.read_only,
            ask=engine.ask,
            say=engine.desk.say,
            stop=engine.stop,
            quit=engine.quit,
            stats=lambda: reading.stats(
                {
                    name: (each.usage, each.turns, engine.settings[name].cost(each.usage))
                    for name, each in engine.agents.items()
                },
                self.clock.wall(),
            ),
            context=engine.minds.shown,
        )


async def _record(acts: Acts, verb: str, target: str, why: str) -> None:
    with suppress(StoreError):  # the ledger has told of it, and nobody waits for this row
        await acts.refuse(verb, target, Actor("engine", "engine", "server"), why)
