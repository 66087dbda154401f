"""Which messages an agent may see: its own slot, slots merged into it read-only, and a filter by stamp.

`View.holds` is the one place where anything is excluded (semantics.md A-4, V-1): compile, preview, statistics and
every strategy are fed from a window that took only what it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from cockpit.core.message import RESIDENTS, Message, agent_slot, subconscious_slot

Index = Literal["heard", "unmuted", "all"]
"""Which of the chronicle's indexes serves a read; the names are the chronicle's."""

ViewFilter = Callable[[Message], bool]
"""Deterministic per message: it looks at stamps only, which never change (A-3), so its answer never does either."""


class History(Protocol):
    """The part of a chronicle that a context reads."""

    async def messages(
        self,
        slots: Collection[str],
        *,
        view: Index,
        after: int = 0,
        before: int | None = None,
        limit: int,
    ) -> Sequence[Message]:
        """Of the messages of these slots with after < sequence < before, the newest `limit`, in ascending order."""
        ...

    async def message(self, reference: str) -> Message | None:
        """One message by its sequence (`"1234"`) or by `SERVER/MESSAGE-ID`, unfiltered."""
        ...


@dataclass(frozen=True, slots=True)
class View:
    """The slots an agent reads, merged by sequence (V-2). It writes to `own` alone.

    index: the narrowest of the chronicle's indexes that still holds all that `view_filter` lets through.
    """

    own: str
    auxiliary: tuple[str, ...] = ()
    index: Index = "all"
    view_filter: ViewFilter | None = None

    @property
    def slots(self) -> tuple[str, ...]:
        return (self.own, *self.auxiliary)

    def holds(self, message: Message) -> bool:
        """Whether it may be seen here. The true result of a withheld call is in no view (M-3)."""
        if message.kind == "withheld" or (message.slot != self.own and message.slot not in self.auxiliary):
            return False
        return self.view_filter is None or self.view_filter(message)


def heard(message: Message) -> bool:
    """A resident's filter: nothing that was diverted, for whatever reason (A-3)."""
    return message.stamp is None


def unmuted(message: Message) -> bool:
    """The subconscious's filter: what was tuned out, but nothing that carries a mute stamp (S-2, M-12)."""
    return message.stamp is None or message.stamp.span is None


def resident_view(name: str) -> View:
    """The residents' shared slot, and beside it what the host appends for this one alone (N-8)."""
    return View(RESIDENTS, (agent_slot(name),), "heard", heard)


def subconscious_view(primary: str) -> View:
    """Its isolated slot merged with the residents' (S-1, S-2)."""
    return View(subconscious_slot(primary), (RESIDENTS,), "unmuted", unmuted)
