"""Who speaks over the Intercom from within: the operator by `go=say`, a resident by `intercom_send`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from cockpit.connect.intercom import Intercom
from cockpit.core.message import Json
from cockpit.engine.inbox import Inbox
from cockpit.errors import VerbError


class Turning(Protocol):
    """An agent, as far as its running turn's depth goes."""

    hops: int


@dataclass(slots=True)
class Desk:
    """agents by name; filled while the engine is put together."""

    intercom: Intercom
    agents: Mapping[str, Turning]
    inbox: Inbox

    async def say(self, to: str | None, text: str) -> str:
        """The operator speaks. It is no ignition, so a mute holds it (M-7)."""
        receipt = await self.intercom.post(self.intercom.operator, to, text)
        return receipt.reason or "said"

    async def between(self, agent: str, to: str, text: str) -> str:
        """A resident speaks. What it leads to is counted, so that agents cannot wake each other for ever (K-37)."""
        if to == agent:
            raise VerbError("refused", "you are talking to yourself", "name another resident, or a feed")
        if to in self.inbox.participants:
            if not text.strip():
                raise VerbError("missing_value", "an empty message says nothing", 'text="…"')
            await self.inbox.put(agent, to, text)
            return "said"
        receipt = await self.intercom.post(agent, to, text, hops=self.agents[agent].hops + 1)
        return receipt.reason or "said"

    async def received(self, handle: str, token: str, after: int | None) -> tuple[Mapping[str, Json], ...]:
        """What a participant has not read. Raises VerbError (`refused`) where the token is not that handle's."""
        self.intercom.check(handle, token)
        return await self.inbox.after(handle, after)
