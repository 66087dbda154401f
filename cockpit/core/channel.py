"""A channel's state as a value: presence is observed, attention is decided, the label is derived from both.

The decided part is three things that do not overwrite each other (semantics.md section 1): open or closed, the
mutes by layer, and the epoch. `attention` is the first that holds of muted, tuned-out, closed, open.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from cockpit.core.target import Target

Presence = Literal["online", "offline", "killed", "connecting"]
Attention = Literal["muted", "tuned-out", "closed", "open"]
Layer = Literal["operator", "resident"]


@dataclass(frozen=True, slots=True)
class Span:
    """One stretch of being muted, from the first layer on to the last off (M-9). `since` in seconds since 1970.

    soft: only side-channel messages of the operator are held (M-7). told: the participant was told (M-5).
    """

    id: str
    since: float
    layers: tuple[Layer, ...]
    soft: bool = False
    told: bool = False


@dataclass(frozen=True)
class Epoch:
    """One tune-out of one channel, from enter to cancel; its id never comes back.

    cadence in seconds; cap in messages; deadline and since in wall-clock seconds since 1970; began is the sequence
    of its lifecycle record. held counts its backlog, need the addressed ones of it; undigested counts what the
    subconscious has not looked at (T-12). asked counts the messages that asked for the wake whose two-second window
    opened at `window` (T-8); wakes counts those already charged (T-9). retry counts failed turns in a row (T-14).
    """

    id: str
    cadence: float
    cap: int
    max_wakes: int
    deadline: float | None
    since: float
    began: int
    wakes: int = 0
    held: int = 0
    need: int = 0
    undigested: int = 0
    asked: int = 0
    window: float | None = None
    retry: int = 0


@dataclass(frozen=True, slots=True)
class Quiet:
    """Messages of one rule that wait until their channel has been quiet for `seconds` (the gate's debounce).

    last: wall clock of the channel's last message. messages, asks: all of them, and those that ask for a wake of the
    subconscious; acks: ids to acknowledge then (T-11). epoch: the one they were diverted in, or None. agents: the
    residents that they may wake.
    """

    rule: str
    seconds: float
    last: float
    messages: int
    asks: int
    acks: tuple[str, ...]
    agents: tuple[str, ...]
    epoch: str | None


@dataclass(frozen=True)
class Totals:
    """What M-14 keeps apart. Seconds are wall clock; open stretches are added by whoever shows them."""

    seconds_muted: float = 0.0
    seconds_tuned_out: float = 0.0
    seconds_offline: float = 0.0
    crashes: int = 0
    kills: int = 0
    diverted: int = 0
    delivered: int = 0
    dumped: int = 0


@dataclass(frozen=True)
class Channel:
    """One channel. Immutable; `step` returns the next one.

    wait and wait_need: delivered and in no ended request of the primary's, and the addressed ones of it (A-11).
    withheld: diverted under its own span alone; withheld_by_server: under its server's. quiet: what the gate's
    debounce holds. since: when the presence last changed. registered: its server named it on the present connection.
    place: where it stands among its server's channels, by the order in which they first came.
    """

    target: Target
    wanted: bool = True
    presence: Presence = "connecting"
    reason: str = ""
    since: float = 0.0
    registered: bool = False
    label_given: str = ""
    place: int = 0
    killed: bool = False
    span: Span | None = None
    epoch: Epoch | None = None
    wait: int = 0
    wait_need: int = 0
    withheld: int = 0
    withheld_by_server: int = 0
    quiet: tuple[Quiet, ...] = ()
    totals: Totals = field(default_factory=Totals)

    def evolve(self, **changes: object) -> Channel:
        """A copy with the named fields changed."""
        return replace(self, **changes)  # type: ignore[arg-type]  # checked by dataclasses at run time


Counted = TypeVar("Counted", Channel, Epoch, Totals)


def counted(value: Counted, **changes: object) -> Counted:
    """A copy with the named fields changed, without the checks of `dataclasses.replace`: every message makes three of
    them, and this costs a tenth. It is why these classes have no slots."""
    made = object.__new__(type(value))
    made.__dict__.update(value.__dict__)
    made.__dict__.update(changes)
    return made


def attention(channel: Channel, server: Channel | None = None) -> Attention:
    """The first that holds of muted (by itself or by its server, M-11), tuned-out, closed, open."""
    if channel.span is not None or (server is not None and server.span is not None):
        return "muted"
    if channel.epoch is not None:
        return "tuned-out"
    return "open" if channel.wanted else "closed"


def presence(channel: Channel, server: Channel | None = None) -> Presence:
    """A chat channel is as its server is, and offline while the server lives but has not registered it."""
    match channel.target.kind:
        case "mcp":
            return channel.presence
        case "user" | "feed":
            return "online"
        case "channel":
            if server is None:
                return "offline"
            if server.presence == "online" and not channel.registered:
                return "offline"
            return server.presence


def label(seen: Presence, decided: Attention) -> str:
    """What the operator reads; every row of the table in semantics.md section 1."""
    if seen == "online":
        return "online" if decided == "open" else decided
    return seen if decided == "open" else f"{decided} · {seen}"


def held(channel: Channel) -> int:
    """Its backlog: diverted in the current epoch or mute span (A-11)."""
    return (channel.epoch.held if channel.epoch else 0) + channel.withheld + channel.withheld_by_server


def need(channel: Channel, server: Channel | None = None) -> int:
    """The addressed ones among wait and the epoch's held; 0 while muted (A-11)."""
    if attention(channel, server) == "muted":
        return 0
    return channel.wait_need + (channel.epoch.need if channel.epoch else 0)


def muted_by(channel: Channel, server: Channel | None = None) -> tuple[Layer, ...]:
    """The layers that mute it, its server's included, operator first."""
    on = set(channel.span.layers if channel.span else ()) | set(server.span.layers if server and server.span else ())
    layers: tuple[Layer, ...] = ("operator", "resident")
    return tuple(layer for layer in layers if layer in on)
