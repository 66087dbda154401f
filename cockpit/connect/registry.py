"""The channels of one connection, as their server registered them (mcpl.md 7.1): gone with the connection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from cockpit.connect.config import Limits
from cockpit.core.inputs import Descriptor
from cockpit.core.message import Json
from cockpit.core.target import Target
from cockpit.core.target import channel as channel_target

SEPARATOR = "\x1f"
_LONGEST_LABEL = 512


@dataclass(frozen=True, slots=True)
class Registered:
    """One channel. `address` goes back unchanged in `channels/open`. `prefix` begins its messages' keys (A-7)."""

    descriptor: Descriptor
    address: Json
    target: Target
    prefix: str

    def json(self) -> dict[str, Json]:
        """The descriptor as `channels/list` answers it."""
        given = self.descriptor
        shown: dict[str, Json] = {
            "id": given.id,
            "type": given.type,
            "label": given.label,
            "direction": given.direction,
            "initiallyOpen": given.initially_open,
        }
        return shown if self.address is None else shown | {"address": self.address}


@dataclass(slots=True)
class Registry:
    """What is registered now, by id, and which of it we have asked to be open."""

    server: str
    limits: Limits
    channels: dict[str, Registered] = field(default_factory=dict)
    asked_open: set[str] = field(default_factory=set)

    def add(self, given: Json) -> Registered | str:
        """Register a descriptor, or say why not. A known id is replaced."""
        ident = given.get("id") if isinstance(given, Mapping) else None
        if not isinstance(given, Mapping) or not isinstance(ident, str) or not ident:
            return "no id"
        if len(ident) > self.limits.id:
            return "id too long"
        if ident not in self.channels and len(self.channels) >= self.limits.channels:
            return "too many channels"
        kind, label = given.get("type"), given.get("label")
        descriptor = Descriptor(
            id=ident,
            type=kind[:_LONGEST_LABEL] if isinstance(kind, str) and kind else self.server,
            label=label[:_LONGEST_LABEL] if isinstance(label, str) and label else ident,
            direction=_direction(given.get("direction")),
            initially_open=given.get("initiallyOpen") is not False,
        )
        target = channel_target(self.server, ident)
        found = Registered(descriptor, given.get("address"), target, f"{key(self.server, ident)}{SEPARATOR}")
        self.channels[ident] = found
        return found

    def remove(self, given: Json) -> list[str]:
        """Drop what of this list is registered, and say what it was."""
        named = [ident for ident in given if isinstance(ident, str)] if isinstance(given, list) else []
        dropped = [ident for ident in dict.fromkeys(named) if self.channels.pop(ident, None) is not None]
        self.asked_open.difference_update(dropped)
        return dropped


def key(*parts: str) -> str:
    """One string of several, never the same for others: what makes a delivery a duplicate (A-7)."""
    return SEPARATOR.join(map(_escaped, parts))


def _escaped(part: str) -> str:
    if "\\" in part or SEPARATOR in part:
        return part.replace("\\", "\\\\").replace(SEPARATOR, "\\u")
    return part


def _direction(given: Json) -> Literal["inbound", "outbound", "bidirectional"]:
    match given:
        case "inbound" | "outbound" | "bidirectional":
            return given
        case _:
            return "bidirectional"
