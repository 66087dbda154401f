"""The engine as a connector sees it: what comes from a server becomes a draft in the one queue, in call order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from cockpit.core.channel import Presence
from cockpit.core.events import Event, Failed, Progressed
from cockpit.core.inputs import Arrived, Descriptor, Receipt
from cockpit.core.step import Observe, Register, Unregister
from cockpit.core.target import Target
from cockpit.core.target import channel as chat
from cockpit.core.target import server as mcp
from cockpit.engine.clock import Clock
from cockpit.engine.directory import Directory
from cockpit.engine.ledger import Draft, Ledger

Subscribe = str | tuple[str, ...]
"""`auto`, `initial`, `manual`, or the ids to open."""


ACCEPTED = Receipt(accepted=True)
REPEATED = Receipt(accepted=True, duplicate=True)


@dataclass(slots=True)
class EngineHost:
    """Satisfies `connect.ports.Host`. faults are capped, so that a shouting server cannot flood the operator."""

    ledger: Ledger
    directory: Directory
    clock: Clock
    subscribe: Mapping[str, Subscribe]
    proofs: dict[str, float]
    emit: Callable[[Event], None]
    _faults: dict[str, list[float]] = field(default_factory=dict)

    async def arrived(self, given: Arrived, *, over: str = "") -> asyncio.Future[Receipt]:
        if over:
            stored, refused = Receipt(accepted=True), Receipt(accepted=False, reason=over)
            return await self.ledger.submit(lambda _: refused, key=given.key, repeated=stored, probe=True, ahead=True)

        def admit(draft: Draft) -> Receipt:
            said = draft.admit(_row(given, draft), given).answer
            return Receipt(accepted=True, reason=said) if said else ACCEPTED

        amends = f"{given.target.name}/{given.id}" if given.change and given.id else None
        return await self.ledger.submit(admit, key=given.key, amends=amends, repeated=REPEATED, ahead=True)

    async def registered(self, server: str, channels: Sequence[Descriptor]) -> Sequence[str]:
        policy = self.subscribe.get(server, "auto")

        def register(draft: Draft) -> list[str]:
            wanted = []
            for place, each in enumerate(channels, start=len(self.ledger.channels)):
                target = chat(server, each.id)
                known = draft.channel(target)
                first = known is None or (not known.registered and not known.label_given)
                done = draft.step(target, Register(each.label, first, _first_choice(policy, each), place))
                if done.channel.wanted:
                    wanted.append(each.id)
            return wanted

        return await self.ledger.do(register)

    async def removed(self, server: str, ids: Sequence[str]) -> None:
        def unregister(draft: Draft) -> None:
            for each in ids:
                if draft.channel(chat(server, each)) is not None:
                    draft.step(chat(server, each), Unregister())

        await self.ledger.do(unregister)

    async def present(self, server: str, presence: Presence, reason: str = "", *, crashed: bool = False) -> None:
        known = self.ledger.channels.get(mcp(server))
        if presence == "offline" and reason and (known is None or (known.presence, known.reason) != (presence, reason)):
            self.fault(server, f"offline: {reason}", code="offline")

        def observe(draft: Draft) -> None:
            draft.step(mcp(server), Observe(presence, reason, crashed))
            if presence in {"offline", "killed"}:
                for target in self.directory.channels_of(server):
                    draft.step(target, Unregister())

        await self.ledger.do(observe)

    def proved(self, server: str) -> None:
        self.proofs[server] = self.clock.wall()

    async def tools_changed(self, server: str) -> None:
        """Nothing to do: each request reads the servers' tools anew."""

    def progressed(self, server: str, text: str) -> None:
        self.emit(Progressed(self.clock.wall(), f"mcp:{server}", text))

    def fault(self, server: str, text: str, *, code: str = "server") -> None:
        now = self.clock.elapsed()
        recent = [at for at in self._faults.get(server, []) if now - at < 60]
        if len(recent) < 5:
            recent.append(now)
            self.emit(Failed(self.clock.wall(), code, f"mcp:{server}: {text}"))
        self._faults[server] = recent


def _row(given: Arrived, draft: Draft) -> Target:
    """The channel whose state decides: of the Intercom, the user's mute comes before the feed's (A-10)."""
    if not given.intercom or given.target.kind == "user":
        return given.target
    user = Target("user", given.author)
    known = draft.channel(user)
    return user if known is not None and known.span is not None else given.target


def _first_choice(policy: Subscribe, descriptor: Descriptor) -> bool:
    match policy:
        case "auto":
            return True
        case "initial":
            return descriptor.initially_open
        case "manual":
            return False
        case _:
            return descriptor.id in policy
