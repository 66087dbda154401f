"""What a step may look at beside its channel, and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cockpit.core.channel import Channel
from cockpit.core.message import Message
from cockpit.core.policy import Policy
from cockpit.core.records import Record
from cockpit.core.value import value


@value
class Now:
    """Wall clock in seconds since 1970, and the sequence of the next record (so that ids are made of it)."""

    wall: float
    sequence: int


@dataclass(frozen=True, slots=True)
class Actor:
    """Who asks, and from where: `operator` from `screen`, `scout` by `tool`, the engine by `timer`."""

    name: str
    role: Literal["operator", "resident", "subconscious", "engine"]
    origin: str


ENGINE = Actor("engine", "engine", "timer")

OPERATOR = "operator"
"""The name that the operator's own links act under; a client of the bridge has another unless the recipe says so."""


@value
class World:
    """name: the channel's own name as notices spell it. server: the state of the server it belongs to.
    grant: that server's effective grant. looking: the subconscious owes this channel a turn already, or is in one
    that has shown it everything. original: the stored message that an edit or deletion speaks of."""

    policy: Policy
    name: str
    server: Channel | None = None
    grant: frozenset[str] = frozenset()
    looking: bool = False
    original: Message | None = None


@dataclass(frozen=True, slots=True)
class Acknowledge:
    """Send one `channels/acknowledge`; a failure is recorded and changes nothing else (T-7)."""

    server: str
    channel_id: str
    message_id: str
    intent: str = "suppressed-tuned-out"


@dataclass(frozen=True, slots=True)
class Wish:
    """Tell the server that the channel is wanted open, or closed."""

    server: str
    channel_id: str
    wanted: bool


@dataclass(frozen=True, slots=True)
class Process:
    """End or start the server's process."""

    server: str
    alive: bool


Effect = Acknowledge | Wish | Process
"""Released only after the commit."""


@value
class Step:
    """The next state, what to write in one transaction, what to do after it, and what to tell whoever asked."""

    channel: Channel
    records: tuple[Record, ...] = ()
    effects: tuple[Effect, ...] = ()
    answer: str = ""


def clear(world: World, channel: Channel) -> bool:
    """Whether neither the channel nor its server is muted."""
    return channel.span is None and (world.server is None or world.server.span is None)
