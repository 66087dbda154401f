"""The turns that one agent owes: durable requests that wait for its running turn, judged when they would run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from cockpit.core.records import TurnReason, WakeRequest

Judgement = Literal["run", "drop", "hold"]

RANK: tuple[TurnReason, ...] = (
    "prompt", "cancel", "report", "wake", "cadence", "intercom", "push", "message", "summary",
)  # fmt: skip
"""Which reason names a turn that serves several, strongest first."""


@dataclass(slots=True)
class Wakes:
    """judge decides at run time: an ordinary wake runs only if its channel is still open (T-22); one of an ended
    epoch is dropped (T-11); one of a muted channel waits for the unmute (M-12)."""

    judge: Callable[[WakeRequest], Judgement]
    _owed: list[WakeRequest] = field(default_factory=list)
    _dropped: list[WakeRequest] = field(default_factory=list)
    _poked: asyncio.Event = field(default_factory=asyncio.Event)

    def owe(self, request: WakeRequest) -> None:
        self._owed.append(request)
        self._poked.set()

    def poke(self) -> None:
        """A mute or an epoch changed: what was held may run now."""
        if self._owed:
            self._poked.set()

    def owes(self, target: str) -> bool:
        """Whether a turn for this channel is owed already."""
        return any(request.target == target for request in self._owed)

    @property
    def pending(self) -> bool:
        """Whether a turn would run now."""
        return any(self.judge(request) != "hold" for request in self._owed)

    async def take(self) -> list[WakeRequest]:
        """Wait until at least one may run, or some were dropped; returns all that may run, and forgets them."""
        while True:
            ready: list[WakeRequest] = []
            kept: list[WakeRequest] = []
            for request in self._owed:
                match self.judge(request):
                    case "run":
                        ready.append(request)
                    case "hold":
                        kept.append(request)
                    case "drop":
                        self._dropped.append(request)
            self._owed = kept
            if ready or self._dropped:
                return ready
            self._poked.clear()
            await self._poked.wait()

    def dropped(self) -> list[WakeRequest]:
        """The requests dropped since the last call, to be written off at once: one that is still owed in the store
        would be judged anew after a restart, when its channel may be open again (T-22)."""
        found, self._dropped = self._dropped, []
        return found

    def clear(self) -> list[WakeRequest]:
        """Forget all that is owed, as the operator's stop asks; returns what to write off."""
        found, self._owed = self._owed, []
        return found


def strongest(requests: list[WakeRequest]) -> TurnReason:
    """The reason that a turn serving these goes by."""
    return min((request.reason for request in requests), key=RANK.index)
