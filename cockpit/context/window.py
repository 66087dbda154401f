"""What is kept in memory of one agent's view: the newest of it, no more than a budget could hold.

Each committed message is appended as it comes, and at the start only the newest pages are read, so that neither a
compile nor a start costs the history (semantics.md V-9).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from cockpit.context.budget import POINTS_A_TOKEN
from cockpit.context.speech import Part, Reader, read
from cockpit.core.message import Block, Message, Text, ToolResult

_HEADER_TOKENS = 6  # the brackets, dots and time of a header, without its names


@dataclass(slots=True)
class _Entry:
    """A message, and once it was needed what it is to the reader. rough: the least tokens that it can count for."""

    message: Message
    rough: int
    made: bool = False
    part: Part | None = None


class Window:
    """Messages of one view in ascending sequence.

    room: tokens. The window lets go of its oldest messages when it holds half as much again as that; a strategy
    jumps past them anyway. bottom: all that the view holds from this sequence on is here.
    """

    def __init__(self, reader: Reader, room: int, bottom: int = 0) -> None:
        self.reader = reader
        self.room = room
        self.bottom = bottom
        self.rough = 0
        self._entries: list[_Entry] = []

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(entry.message for entry in self._entries)

    @property
    def lowest(self) -> int | None:
        """The sequence of its oldest message."""
        return self._entries[0].message.sequence if self._entries else None

    def parts(self) -> list[tuple[Message, Part | None]]:
        """Each message with what it is to the reader; made once a message."""
        for entry in self._entries:
            if not entry.made:
                entry.part, entry.made = read(entry.message, self.reader), True
        return [(entry.message, entry.part) for entry in self._entries]

    def append(self, message: Message) -> None:
        """Add the newest message."""
        entry = _Entry(message, rough(message, self.reader))
        self.rough += entry.rough
        self._entries.append(entry)

    @property
    def overfull(self) -> bool:
        return self.rough * 2 > self.room * 3

    def trim(self, needed: Callable[[Message], bool]) -> None:
        """Let go of the oldest messages down to the room, except those `needed` whatever their age."""
        excess, at = self.rough - self.room, 0
        while excess > 0 and at < len(self._entries) - 1:
            excess -= self._entries[at].rough
            at += 1
        if at:
            self.bottom = max(self.bottom, self._entries[at].message.sequence)
            self._set([entry for entry in self._entries[:at] if needed(entry.message)] + self._entries[at:])

    def keep(self, holds: Callable[[int], bool], bottom: int) -> None:
        """Let go of every message whose sequence does not hold."""
        self.bottom = max(self.bottom, bottom)
        self._set([entry for entry in self._entries if holds(entry.message.sequence)])

    def extend_down(self, older: Iterable[Message], bottom: int) -> None:
        """Add messages older than what is here, or between it; the window is then complete from `bottom` on."""
        known = {entry.message.sequence for entry in self._entries}
        fresh = [_Entry(one, rough(one, self.reader)) for one in older if one.sequence not in known]
        self.bottom = bottom
        self._set(sorted([*fresh, *self._entries], key=lambda entry: entry.message.sequence))

    def _set(self, entries: list[_Entry]) -> None:
        self._entries = entries
        self.rough = sum(entry.rough for entry in entries)


def rough(message: Message, reader: Reader) -> int:
    """The least tokens that a message can count for in a compile; cheap, since every committed message is weighed."""
    if message.kind == "result" and message.author != reader.agent:
        return 0
    if message.kind == "agent" and message.author == reader.agent and message.slot != reader.own and not message.seen:
        return 0
    capped = None if message.kind == "prompt" else reader.cap
    headed = _HEADER_TOKENS if message.kind in {"chat", "event"} else 0
    return headed + _rough(message.blocks, capped)


def _rough(blocks: Sequence[Block], capped: int | None) -> int:
    points = tokens = 0
    for block in blocks:
        if isinstance(block, Text):
            points += len(block.text)
        elif isinstance(block, ToolResult):
            tokens += _rough(block.content, capped)
    found = points // POINTS_A_TOKEN
    return tokens + (found if capped is None else min(found, capped))


