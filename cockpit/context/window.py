"""What is kept in memory of one agent's view: the newest of it, no more than a request could hold.

Each committed message is appended as it comes, and at the start only the newest pages are read, so that neither a
compile nor a start costs the history (semantics.md V-9).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace

from cockpit.context.budget import POINTS_A_TOKEN, estimate
from cockpit.context.images import IMAGES, ImagePolicy
from cockpit.context.speech import Answered, Asked, Part, Reader, Unit, images, read
from cockpit.core.message import Message, Text

_HEADER_TOKENS = 6  # the brackets, dots and time of a header, without its names
_SHORT = 8_192  # code points


@dataclass(slots=True)
class _Entry:
    """One message: as it came until it is first needed, then what it is to the reader.

    rough: the least tokens that it can count for in a compile.
    """

    sequence: int
    framed: bool
    rough: int
    message: Message | None = None
    part: Part | None = None


class Window:
    """What the reader's messages are to it, in ascending sequence.

    room: tokens that a request could at most take. The window lets go of its oldest entries when it holds half as
    much again as that, or twice the images that a request may hold: a strategy jumps past them anyway.
    bottom: all that the view holds from this sequence on is here. images_from: below it images are placeholders.
    """

    def __init__(
        self, reader: Reader, room: int, bottom: int, images_from: int = 0, policy: ImagePolicy = IMAGES
    ) -> None:
        self.reader = reader
        self.room = room
        self.bottom = bottom
        self.images_from = images_from
        self.policy = policy
        self.rough = self.images = self.digits = 0
        self._entries: list[_Entry] = []

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def framed(self) -> list[int]:
        """The sequences of the host's notices."""
        return [entry.sequence for entry in self._entries if entry.framed]

    def parts(self) -> list[Part]:
        """What each message is to the reader; made once a message."""
        for entry in self._entries:
            if entry.message is not None:
                entry.part, entry.message = read(entry.message, self.reader), None
        return [entry.part for entry in self._entries if entry.part is not None]

    def append(self, message: Message) -> None:
        """Add the newest message."""
        if (entry := self._entry(message)) is not None:
            self._entries.append(entry)
            self._count(entry)

    def extend_down(self, older: Iterable[Message], bottom: int) -> None:
        """Add messages that are older than what is here or between it; all from `bottom` on is here then."""
        known = {entry.sequence for entry in self._entries}
        fresh = [self._entry(message) for message in older if message.sequence not in known]
        self.bottom = bottom
        self._set(sorted([*filter(None, fresh), *self._entries], key=lambda entry: entry.sequence))

    @property
    def full(self) -> bool:
        """Whether reading further down would be for nothing."""
        return self._exceeds(self.rough, self.images, self.digits)

    @property
    def overfull(self) -> bool:
        """Whether it exceeds what a request may take, with room to spare so that it is not trimmed at each append."""
        return self._exceeds(self.rough * 2 // 3, self.images // 2, self.digits // 2)

    def trim(self, needed: Callable[[int], bool]) -> None:
        """Let go of the oldest down to the room, except notices that are `needed` by their sequence."""
        at = 0
        while at < len(self._entries) - 1 and self._exceeds(self.rough, self.images, self.digits):
            self._count(self._entries[at], -1)
            at += 1
        if at:
            self.bottom = max(self.bottom, self._entries[at].sequence)
            old = [entry for entry in self._entries[:at] if entry.framed and needed(entry.sequence)]
            self._entries[:at] = old
            for entry in old:
                self._count(entry)

    def _exceeds(self, rough: int, found: int, digits: int) -> bool:
        return rough > self.room or found > self.policy.most or digits > self.policy.digits

    def keep(self, bottom: int, pinned: Collection[int], images_from: int) -> None:
        """Let go of what is older than `bottom` and not pinned, and of the images below `images_from`."""
        self.bottom, self.images_from = max(self.bottom, bottom), images_from
        kept = [entry for entry in self._entries if entry.sequence >= bottom or entry.sequence in pinned]
        for entry in kept:
            if entry.sequence < images_from and entry.part is not None and _images(entry)[0]:
                entry.part = _settled(entry.part)
        self._set(kept)

    def _entry(self, message: Message) -> _Entry | None:
        """None where the message is nothing to the reader. Short text is only weighed, since every committed message
        comes by here; anything heavier is read at once, so that no more of it stays than the reader is shown."""
        framed = message.kind == "system"
        points = _points(message)
        if points is not None and points <= _SHORT:
            return _Entry(message.sequence, framed, self._weight(message, points), message, None)
        part = read(message, self.reader)
        if part is None:
            return None
        if message.sequence < self.images_from:
            part = _settled(part)
        return _Entry(message.sequence, framed, _least(part), None, part)

    def _weight(self, message: Message, points: int) -> int:
        tokens, cap, kind = points // POINTS_A_TOKEN, self.reader.cap, message.kind
        if cap is not None and tokens > cap and kind != "prompt":
            tokens = cap
        return tokens + (_HEADER_TOKENS if kind in {"chat", "event"} else 0)

    def _set(self, entries: list[_Entry]) -> None:
        self._entries = entries
        self.rough = self.images = self.digits = 0
        for entry in entries:
            self._count(entry)

    def _count(self, entry: _Entry, times: int = 1) -> None:
        self.rough += times * entry.rough
        if entry.part is not None:
            found, digits = _images(entry)
            self.images, self.digits = self.images + times * found, self.digits + times * digits


def _points(message: Message) -> int | None:
    """The code points of a message from outside that holds nothing but text."""
    points = 0
    if message.kind in {"agent", "result", "withheld"}:
        return None
    for block in message.blocks:
        if not isinstance(block, Text):
            return None
        points += len(block.text)
    return points


def _least(part: Part) -> int:
    if isinstance(part, Unit):
        return part.still_tokens
    return estimate(part.blocks if isinstance(part, Asked) else part.still)


def _images(entry: _Entry) -> tuple[int, int]:
    """How many live images, and their base64 digits."""
    part = entry.part
    if isinstance(part, Unit):
        return part.images, part.digits
    found = images(part.live) if isinstance(part, Answered) else []
    return len(found), sum(len(image.data or "") for image in found)


def _settled(part: Part) -> Part:
    """The part with its images as placeholders for good."""
    if isinstance(part, Unit):
        return replace(part, live=part.still, live_tokens=part.still_tokens, images=0, digits=0)
    return replace(part, live=part.still) if isinstance(part, Answered) else part
