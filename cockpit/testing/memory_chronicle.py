"""A chronicle in memory: messages with one sequence for all slots, read as the SQLite one is.

For tests of what reads a chronicle. It counts the rows that it hands out, so that a test can say what a read costs.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import replace

from cockpit.core.message import Message
from cockpit.store.protocol import Filter


class MemoryChronicle:
    """Satisfies the reading part of `Chronicle` that concerns messages. rows: how many its reads have returned."""

    def __init__(self) -> None:
        self.log: list[Message] = []
        self.head = 0
        self.rows = 0

    def add(self, message: Message) -> Message:
        """Append it; returns it with its sequence."""
        self.head += 1
        stored = replace(message, sequence=self.head)
        self.log.append(stored)
        return stored

    def skip(self, count: int = 1) -> int:
        """Take sequences as records of another kind would; returns the head after them."""
        self.head += count
        return self.head

    async def messages(
        self,
        slots: Collection[str],
        *,
        view: Filter,
        after: int = 0,
        before: int | None = None,
        limit: int,
        newest: bool = True,
        target: str | None = None,
        stamp: str | None = None,
        edits: bool = True,
    ) -> Sequence[Message]:
        """As `Chronicle.messages` says."""
        start = bisect_right(self.log, after, key=_sequence)
        end = len(self.log) if before is None else bisect_left(self.log, before, key=_sequence)
        places = range(end - 1, start - 1, -1) if newest else range(start, end)
        found: list[Message] = []
        for place in places:
            message = self.log[place]
            if len(found) == limit:
                break
            if (
                message.slot in slots
                and _seen(message, view)
                and target in (None, message.target)
                and (stamp is None or (message.stamp is not None and message.stamp.key == stamp))
                and (edits or message.edits is None)
            ):
                found.append(message)
        self.rows += len(found)
        return found[::-1] if newest else found

    async def message(self, reference: str) -> Message | None:
        """As `Chronicle.message` says."""
        if reference.isascii() and reference.isdigit():
            place = bisect_left(self.log, int(reference), key=_sequence)
            found = self.log[place : place + 1]
            return found[0] if found and found[0].sequence == int(reference) else None
        server, _, message_id = reference.partition("/")
        matching = (
            message
            for message in reversed(self.log)
            if message.id == message_id and message.edits is None and _server(message) == server
        )
        return next(matching, None)


def _sequence(message: Message) -> int:
    return message.sequence


def _seen(message: Message, view: Filter) -> bool:
    if view == "all" or message.stamp is None:
        return True
    return view == "unmuted" and message.stamp.span is None


def _server(message: Message) -> str:
    return (message.target or "").partition(":")[2].partition("/")[0]
