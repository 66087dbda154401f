"""A whole engine in a test: a real store in a folder, a clock that stands still, scripted models, servers in process.

async with rig(tmp_path, RECIPE, channels={"disc": ["noisy"]}) as cockpit:
    await cockpit.run("go=mute target=mcp:disc")
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from cockpit.connect.config import ServerConfig
from cockpit.connect.ports import Host, Server
from cockpit.core.channel import Channel
from cockpit.core.events import Answer, Event
from cockpit.core.message import Message
from cockpit.core.request import Request, Tool
from cockpit.engine.assemble import ModelMaker, Session, open_session
from cockpit.engine.link import EngineLink
from cockpit.errors import StoreError
from cockpit.model.config import ModelConfig
from cockpit.model.protocol import Model
from cockpit.recipe import load
from cockpit.testing.clock import FakeClock
from cockpit.testing.fake_server import FakeServer
from cockpit.testing.scripted_model import ScriptedModel

E = TypeVar("E", bound=Event)

QUIET = 8
"""Passes of the loop on end without anything to do, after which it is taken to be still."""


@dataclass
class Rig:
    """What a test holds: the session, its clock, its servers by name, the one model of all agents, every event."""

    session: Session
    link: EngineLink
    clock: FakeClock
    model: ScriptedModel
    servers: dict[str, FakeServer]
    events: list[Event] = field(default_factory=list)

    async def run(self, line: str, *, held: Collection[str] = ()) -> Answer:
        """Run one verb and let what follows from it settle."""
        answer = await self.link.run(line)
        await self.settle(held=held)
        return answer

    async def settle(self, *, held: Collection[str] = ()) -> None:
        """Until the engine has nothing more to do at this moment of its clock, but for the agents named in `held`,
        whose answers stand at a gate."""
        quiet = 0
        while quiet < QUIET:
            await asyncio.sleep(0)
            with suppress(StoreError):  # whoever waits for what was not written is told, and so is the operator
                await self.session.engine.ledger.drain()
            quiet = quiet + 1 if self._still(held) else 0

    async def advance(self, seconds: float, *, wall: float | None = None, held: Collection[str] = ()) -> None:
        """Move the clock once all is still, and let the timers and turns that fall due run."""
        await self.settle(held=held)
        self.clock.advance(seconds, wall=wall)
        await self.settle(held=held)

    def channel(self, target: str) -> Channel:
        """A channel's value as of now."""
        found = self.session.engine.directory.get(target)
        if found is None:
            raise KeyError(target)
        return self.session.engine.ledger.channels[found]

    def requests(self, agent: str) -> list[Request]:
        """All that this agent was sent, in order."""
        return [request for request in self.model.requests if request.agent == agent]

    def of(self, kind: type[E]) -> list[E]:
        """The events of one kind so far."""
        return [event for event in self.events if isinstance(event, kind)]

    async def stored(self, *slots: str) -> Sequence[Message]:
        """Everything in these slots, unfiltered (A-6)."""
        return await self.session.engine.ledger.chronicle.messages(slots, view="all", limit=100_000)

    def _still(self, held: Collection[str]) -> bool:
        engine = self.session.engine
        busy = any(agent.busy for name, agent in engine.agents.items() if name not in held)
        return not (busy or engine.ledger.waiting or engine.outbox.waiting or engine.errands)


@asynccontextmanager
async def rig(
    folder: Path,
    recipe: str,
    *,
    channels: Mapping[str, Sequence[str]] | None = None,
    tools: Mapping[str, tuple[Tool, ...]] | None = None,
    model: ScriptedModel | None = None,
    clock: FakeClock | None = None,
    store: str = "rig.db",
    down: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    make_model: ModelMaker | None = None,
) -> AsyncIterator[Rig]:
    """Start a cockpit on a recipe's text; open the same folder and store again to restart it.

    channels and tools by server. down: servers that don't come up by themselves. make_model: from each agent's
    configuration, read from `environment`, to its model; the one scripted `model` for all unless said.
    """
    path = folder / "recipe.toml"
    path.write_text(recipe, encoding="utf-8")
    model, clock = model or ScriptedModel(), clock or FakeClock()
    servers: dict[str, FakeServer] = {}

    def make_server(config: ServerConfig, host: Host, killed: bool) -> Server:
        made = FakeServer(config, host, killed, (channels or {}).get(config.name, ()))
        made.offered = (tools or {}).get(config.name, ())
        servers[config.name] = made
        if config.name in down:
            made.run = _never  # type: ignore[method-assign]  # a server that stays away
        return made

    def scripted(_: ModelConfig) -> Model:
        return model

    async with open_session(
        load(str(path), environment or {}),
        folder / store,
        environment=environment or {},
        logs=folder / "logs",
        clock=clock,
        make_model=make_model or scripted,
        make_server=make_server,
    ) as session:
        found = Rig(session, session.link("headless"), clock, model, servers)
        starting = asyncio.Event()
        starting.set()
        events = session.engine.events()
        async with asyncio.TaskGroup() as group:
            listening = group.create_task(_listen(events, found.events), name="events")
            running = group.create_task(session.engine.run(starting), name="engine")
            for name, server in servers.items():
                if name not in down:
                    await server.came.wait()
            await found.settle()
            try:
                yield found
            finally:
                session.engine.quit()
                await running
                await listening


async def _listen(events: AsyncIterator[Event], heard: list[Event]) -> None:
    async for event in events:
        heard += [event]


async def _never() -> None:
    await asyncio.Event().wait()
