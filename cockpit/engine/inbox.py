"""What the Intercom holds for a participant: what was said to it, and its feeds, in one order, until it has read them.

Up to where it has read is kept in the store, so that neither a restart nor a client that dies loses a message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cockpit.core.events import iso
from cockpit.core.message import RESIDENTS, Json, Message, Text
from cockpit.core.records import Snapshot
from cockpit.core.target import Target
from cockpit.core.text import render, sanitise
from cockpit.engine.ledger import Draft, Ledger

PAGE = 100
"""Messages that one answer holds at most."""


def inbox_slot(handle: str) -> str:
    """The slot of what is said to one participant, and the snapshot slot of up to where it has read."""
    return f"inbox/{handle}"


@dataclass(slots=True)
class Inbox:
    """participants: who has one. feeds: what all of them read. read: the last sequence each has read, by handle."""

    ledger: Ledger
    participants: frozenset[str]
    feeds: tuple[str, ...]
    read: dict[str, int] = field(default_factory=dict)

    def restore(self, snapshots: Mapping[str, Json]) -> None:
        """Up to where each has read, as it was stored."""
        for handle in self.participants:
            match snapshots.get(inbox_slot(handle)):
                case {"read": int(sequence)}:
                    self.read[handle] = sequence

    async def put(self, author: str, handle: str, text: str) -> None:
        """A direct message to a participant. It is in no agent's view: its author knows what it said."""

        def write(draft: Draft) -> None:
            slot, target = inbox_slot(handle), str(Target("user", handle))
            draft.write(Message(slot, "chat", author, (Text(sanitise(text)),), draft.wall, target=target))

        await self.ledger.do(write)

    async def after(self, handle: str, sequence: int | None) -> tuple[Mapping[str, Json], ...]:
        """The oldest messages that came after `sequence`, which is thereby read; of all that were not read if None."""
        known = self.read.get(handle, 0)
        if sequence is not None and known < sequence <= self.ledger.head:
            await self._advance(handle, sequence)
        place = known if sequence is None else sequence
        while page := await self._page(handle, place):
            found = tuple(_line(message) for message in page if message.kind == "chat")
            if found:
                return found
            place = page[-1].sequence
        return ()

    async def _advance(self, handle: str, sequence: int) -> None:
        def write(draft: Draft) -> None:
            draft.write(Snapshot(inbox_slot(handle), {"read": sequence}, draft.wall))

        await self.ledger.do(write)
        self.read[handle] = sequence

    async def _page(self, handle: str, place: int) -> Sequence[Message]:
        chronicle = self.ledger.chronicle
        found = [*await chronicle.messages(
            (inbox_slot(handle),), view="all", after=place, limit=PAGE, newest=False
        )]  # fmt: skip
        for feed in self.feeds:
            found += await chronicle.messages(
                (RESIDENTS,), view="all", after=place, limit=PAGE, newest=False, target=f"feed:{feed}"
            )
        return sorted(found, key=lambda message: message.sequence)[:PAGE]


def _line(message: Message) -> Mapping[str, Json]:
    place = message.target or ""
    return {
        "at": iso(message.at),
        "author": message.author,
        "to": place.removeprefix("user:"),
        "text": render(message.blocks),
        "id": str(message.sequence),
    }
