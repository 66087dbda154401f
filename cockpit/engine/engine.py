"""The owner of everything that runs: one task group, one ledger, the agents, the timers and the servers.

Nothing here decides; it hands what was committed to whoever has to know, in one fixed order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from cockpit.connect.ports import Server
from cockpit.core.channel import Channel, attention
from cockpit.core.events import Failed, Noticed, Prompted, Ready, Reported, Stopped
from cockpit.core.message import RESIDENTS, Message, Text
from cockpit.core.policy import Policy
from cockpit.core.records import Audit, Lifecycle, Notice, Report, Snapshot, WakeRequest
from cockpit.core.step import Due
from cockpit.core.target import Target
from cockpit.core.text import sanitise
from cockpit.core.world import ENGINE, Actor, Step, World
from cockpit.engine.acts import Acts
from cockpit.engine.agent import Agent, spoken
from cockpit.engine.clock import Clock
from cockpit.engine.commands import Commands
from cockpit.engine.desk import Desk
from cockpit.engine.directory import Directory
from cockpit.engine.garbage import seldom_collected
from cockpit.engine.hub import Hub, Subscription
from cockpit.engine.ledger import Committed, Draft, Ledger
from cockpit.engine.minds import Minds
from cockpit.engine.outbox import Outbox
from cockpit.engine.reload import Reload
from cockpit.engine.rows import Rows
from cockpit.engine.scheduler import Scheduler
from cockpit.engine.settings import AgentSettings
from cockpit.engine.typing import RENEWED
from cockpit.engine.wakes import Judgement
from cockpit.errors import CockpitError, StoreError, VerbError
from cockpit.recipe import Recipe

RECIPE = Actor("recipe", "operator", "recipe")
"""Who tunes out what the recipe says starts tuned out."""


@dataclass(slots=True)
class Engine:
    """Made by `assemble.assemble`; `run` lives until `quit`. See `EngineLink` for what a screen speaks to."""

    recipe: str
    store: str
    policy: Policy
    clock: Clock
    hub: Hub
    ledger: Ledger
    directory: Directory
    rows: Rows
    acts: Acts
    minds: Minds
    outbox: Outbox
    servers: Mapping[str, Server]
    desk: Desk
    agents: Mapping[str, Agent] = field(default_factory=dict)
    settings: dict[str, AgentSettings] = field(default_factory=dict)
    tuned_out: tuple[Target, ...] = ()
    reload: Reload | None = None
    scheduler: Scheduler = field(init=False)
    commands: Commands = field(init=False)
    pending: tuple[WakeRequest, ...] = ()
    _quit: asyncio.Event = field(default_factory=asyncio.Event)
    _reason: str = "quit"
    _group: asyncio.TaskGroup | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.ledger.owner = self
        self.scheduler = Scheduler(self.ledger.channels, self.clock, self._fire, self._silent)

    def quit(self, reason: str = "quit") -> None:
        """End cleanly; `run` returns once all is written and every process has ended."""
        self._reason = self._reason if self._quit.is_set() else reason
        self._quit.set()

    async def run(self, ready_to_start: asyncio.Event) -> None:
        """Open, tell, then, once `ready_to_start` is set (the screen's first frame), start servers and agents."""
        try:
            with seldom_collected():
                async with asyncio.TaskGroup() as group:
                    self._group = group
                    await self._live(group.create_task(self.ledger.run(), name="ledger"), ready_to_start)
        finally:
            self._group = None
            self.hub.emit(Stopped(self.clock.wall(), self._reason))
            self.hub.end()

    async def _live(self, writer: asyncio.Task[None], ready_to_start: asyncio.Event) -> None:
        await self._begin()
        self._spawn(self.rows.run(), "rows")
        await _either(ready_to_start, self._quit)
        if not self._quit.is_set():
            self._start()
        await self._quit.wait()
        while self._tasks:
            await _end(self._tasks)
        with suppress(StoreError):
            await self.ledger.drain()
        self.rows.flush()
        await _end({writer})

    def events(self) -> Subscription:
        """A new subscriber first hears what waits for the operator's answer."""
        subscription = self.hub.subscribe()
        for waiting in self.acts.asks.told():
            subscription.put(waiting)
        return subscription

    def idle(self) -> bool:
        """No turn, no call, no wake that would run, nothing unwritten or unsent."""
        windows = any(
            channel.epoch is not None and channel.epoch.window is not None and not self._silent(channel)
            for channel in self.ledger.channels.values()
        )
        busy = any(agent.busy for agent in self.agents.values())
        return not (busy or windows or self.ledger.waiting or self.outbox.waiting)

    @property
    def errands(self) -> int:
        """Short tasks under way: wishes, processes ending, an anchor being moved."""
        lasting = ("recipe", "timers", "typing", "rows", "server:", "outbox:", "agent:")
        return sum(not task.get_name().startswith(lasting) for task in self._tasks)

    async def ask(self, text: str, agent: str | None = None) -> str:
        """Ignition: stored at once, and a turn is owed; during a turn it shows at the next boundary (M-7)."""
        name = agent or self.policy.primary
        if name not in self.policy.residents:
            raise VerbError("bad_value", f"no resident {name!r}", ", ".join(self.policy.residents))
        words = sanitise(text)
        if not words.strip():
            raise VerbError("missing_value", "an empty prompt asks nothing", 'go=ask text="…"')
        self.minds.check_prompt(name, words)

        def write(draft: Draft) -> None:
            draft.write(Message(RESIDENTS, "prompt", "operator", (Text(words),), draft.wall, woke=(name,)))
            draft.write(WakeRequest(name, "prompt", draft.wall))

        await self.ledger.do(write)
        return f"{name} was asked"

    async def stop(self) -> str:
        """Interrupt the residents' running turns, and call off those that are owed and have not begun."""
        residents = [agent for agent in self.agents.values() if agent.role == "resident"]
        stopped = [agent.name for agent in residents if await agent.stop()]
        if not stopped:
            raise VerbError("not_running", "no turn is running", "go=ask starts one")
        return f"{' and '.join(stopped)} stopped"

    def world(self, draft: Draft, channel: Channel) -> World:
        """A step's surroundings."""
        target = channel.target
        name, parent, server = self.directory.place(target)
        connection = self.servers.get(server)
        above = None if parent is None else draft.channel(parent)
        grant = frozenset[str]() if connection is None else connection.grant
        return World(self.policy, name, above, grant, channel.epoch is not None and self._looking(channel))

    def _looking(self, channel: Channel) -> bool:
        """Whether the subconscious owes a tuned-out channel a turn, or is in one that has shown it all (T-12)."""
        watcher = self.policy.subconscious or ""
        subconscious = self.agents.get(watcher)
        owes = subconscious is not None and subconscious.wakes.owes(str(channel.target))
        return owes or self.minds.shows_all(watcher, channel)

    def judge(self, request: WakeRequest) -> Judgement:
        """Whether an owed turn still runs: T-22, T-11, M-12."""
        target = self.directory.get(request.target or "")
        channel = None if target is None else self.ledger.channels.get(target)
        if channel is None:
            return "run"
        match request.reason:
            case "message" | "push" | "intercom":
                return "run" if self.heard(channel.target) else "drop"
            case "wake" | "cadence":
                if channel.epoch is None or channel.epoch.id != request.epoch:
                    return "drop"
                return "hold" if self._silent(channel) else "run"
            case _:
                return "run"

    def committed(self, done: Committed) -> None:
        """One transaction is durable: contexts, events, owed turns, effects, timers, in this order."""
        for channel in done.channels:
            self.directory.add(channel.target)
        said = (each.message if isinstance(each, Notice) else each for each in done.records)
        self.minds.observe([each for each in said if isinstance(each, Message)])
        for record in done.records:
            self._heard(record)
        entered = False
        for channel in done.channels:
            was = done.before.get(channel.target)
            entered = entered or (channel.epoch is not None and (was is None or was.epoch is None))
            if was != channel:
                self.rows.changed(channel.target)
        if entered:
            self.minds.entered = True
            if not self.minds.turns(self.policy.subconscious or ""):
                self._spawn(self.minds.anchor_subconscious(), "anchor")
        for effect in done.effects:
            self.outbox.release(effect, self._spawn)
        self.minds.typing.check()
        self.scheduler.poke()
        for agent in self.agents.values():
            agent.wakes.poke()

    def broken(self, error: StoreError) -> None:
        """The store failed: the operator is told; what was not written was not accepted (R-8)."""
        self.hub.emit(Failed(self.clock.wall(), "store", str(error)))

    def _heard(self, record: object) -> None:
        match record:
            case Message(kind="agent"):
                said = spoken(record, self.policy.residents)
                if said is not None:
                    self.hub.emit(said)
            case Message(kind="prompt"):
                agent = next(iter(record.woke), self.policy.primary)
                self.hub.emit(Prompted(self.clock.wall(), agent, record.text))
            case Message():
                pass
            case Notice(message, kind, owner):
                self.hub.emit(Noticed(message.at, owner, kind, message.target or "", message.text))
            case Report():
                report = Reported(
                    record.at, record.agent, record.channel, record.kind, record.text, str(record.sequence)
                )
                self.hub.emit(report)
            case WakeRequest():
                if record.agent in self.agents:
                    self.agents[record.agent].wakes.owe(record)
            case Snapshot():
                self.acts.asks.committed(record)
            case _:
                pass

    async def _begin(self) -> None:
        """The state as it was stored, what the recipe adds to a new store, and what fell due while it was down."""
        known = {*self.directory.targets(), *self.tuned_out}
        self.hub.emit(Ready(self.clock.wall(), self.recipe, self.store, tuple(self.agents), len(known)))
        for target in self.tuned_out:
            try:
                await self.acts.tune_out(target, RECIPE, {})
            except VerbError as error:
                self.hub.emit(Failed(self.clock.wall(), error.code, str(error)))
        for target, due in self.scheduler.due():
            if due.what == "deadline":
                await self._fire(target, due)
        await self.minds.anchor_subconscious()
        for request in self.pending:
            if request.agent in self.agents:
                self.agents[request.agent].wakes.owe(request)
        for target in self.directory.targets():
            self.rows.changed(target)

    def adopt(self, recipe: Recipe) -> None:
        """Put the live parts of a changed recipe into force: gate, tune-out defaults, prices."""
        policy = recipe.policy()
        self.policy = replace(self.policy, gate=policy.gate, tune_out=policy.tune_out)
        for agent in recipe.agents:
            known = self.settings.get(agent.name)
            if known is not None:
                model = known.model.model_copy(update={"prices": agent.model.prices})
                self.settings[agent.name] = replace(known, model=model)
        self.minds.redescribe(policy.tune_out)

    def _start(self) -> None:
        if self.reload is not None:
            self._spawn(self.reload.run(), "recipe")
        self._spawn(self.scheduler.run(), "timers")
        self._spawn(self._type(), "typing")
        for name, server in self.servers.items():
            self._spawn(server.run(), f"server:{name}")
            self._spawn(self.outbox.run(name), f"outbox:{name}")
        for name, agent in self.agents.items():
            self._spawn(agent.run(), f"agent:{name}")

    def _spawn(self, work: Coroutine[None, None, None], name: str) -> None:
        """One more task of the one group, named, and ended with the others."""
        if self._group is None:
            work.close()
            return
        task = self._group.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _fire(self, target: Target, due: Due) -> None:
        """Step one timer. An epoch that it ends is audited as the engine's doing."""

        def apply(draft: Draft) -> None:
            before, shown = draft.channel(target), self.acts.label(draft, target)
            done = draft.step(target, due)
            if before is not None and before.epoch is not None and done.channel.epoch is None:
                after = self.acts.label(draft, target)
                row = Audit(
                    draft.wall, ENGINE.name, ENGINE.origin, "cancel", str(target), shown, after, _reason(done),
                    before.epoch.id, ok=True,
                )  # fmt: skip
                draft.write(row)

        try:
            await self.ledger.do(apply)
        except CockpitError as error:
            self.hub.emit(Failed(self.clock.wall(), "store", str(error)))

    async def _type(self) -> None:
        """Repeat what typing is shown, every seven seconds."""
        never = asyncio.Event()
        while True:
            await self.clock.wait(never, RENEWED)
            self.minds.typing.renew()

    def heard(self, target: Target) -> bool:
        """Whether a channel is neither muted nor tuned out."""
        channel, parent = self.ledger.channels.get(target), self.directory.parent(target)
        server = None if parent is None else self.ledger.channels.get(parent)
        return channel is not None and attention(channel, server) in {"open", "closed"}

    def _silent(self, channel: Channel) -> bool:
        parent = self.directory.parent(channel.target)
        server = None if parent is None else self.ledger.channels.get(parent)
        return attention(channel, server) == "muted"


async def _either(one: asyncio.Event, other: asyncio.Event) -> None:
    waits = [asyncio.ensure_future(event.wait()) for event in (one, other)]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


async def _end(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Cancel these, and wait until they have ended."""
    ending = list(tasks)
    for task in ending:
        task.cancel()
    await asyncio.wait(ending)


def _reason(done: Step) -> str:
    """Why a step ended an epoch, as its lifecycle record says it."""
    bodies = (record.body for record in done.records if isinstance(record, Lifecycle) and record.what == "cancelled")
    return str(next(bodies)["reason"])
