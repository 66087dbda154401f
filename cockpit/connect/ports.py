"""The border between a connector and the engine: what a connector calls on its host, and what the host calls on it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from cockpit.core.channel import Presence
from cockpit.core.inputs import Arrived, Descriptor, Receipt
from cockpit.core.message import Json, Media, Text
from cockpit.core.request import Tool


class Host(Protocol):
    """The engine, as a connector sees it. Everything goes into the engine's one bounded queue, in call order."""

    async def arrived(self, given: Arrived, *, over: str = "") -> asyncio.Future[Receipt]:
        """Waits while the queue is full; the future is done when the message is durable, or refused.

        over: the limit that it is beyond, for which it is refused unless it is stored already (A-7).
        """
        ...

    async def registered(self, server: str, channels: Sequence[Descriptor]) -> Sequence[str]:
        """The server named these channels. Returns the ids of those that are wanted open, once that is durable."""
        ...

    async def removed(self, server: str, ids: Sequence[str]) -> None:
        """The server dropped these channels; nothing decided about them changes."""
        ...

    async def present(self, server: str, presence: Presence, reason: str = "", *, crashed: bool = False) -> None:
        """Presence was observed. `crashed` counts one crash (M-14). Going offline ends all registrations."""
        ...

    def proved(self, server: str) -> None:
        """The server just proved to be alive (any line of its)."""
        ...

    async def tools_changed(self, server: str) -> None:
        """Its list of tools is another one now."""
        ...

    def progressed(self, server: str, text: str) -> None:
        """Progress on a call: for the screen only (M-2)."""
        ...

    def fault(self, server: str, text: str) -> None:
        """Something worth the operator's eye that harms nobody: a malformed line, a refused descriptor."""
        ...


@dataclass(frozen=True, slots=True)
class Called:
    """What a tool answered."""

    content: tuple[Text | Media, ...]
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Published:
    """Whether a publish went out, and the server's id for it."""

    delivered: bool
    message_id: str | None = None
    reason: str = ""


class Server(Protocol):
    """One supervised server, as the engine sees it. Calls on a server that is not online raise ConnectorError."""

    @property
    def name(self) -> str: ...

    async def run(self) -> None:
        """Supervise it until cancelled: start, prove, watch, start again. Ends its process on the way out."""
        ...

    @property
    def grant(self) -> frozenset[str]:
        """The effective grant of the present connection (mcpl.md 5.1); empty while there is none."""
        ...

    def tools(self) -> tuple[Tool, ...]:
        """Its tools under their own names, in the server's order; empty while it is not online."""
        ...

    def instructions(self) -> str: ...

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> Called:
        """Call a tool. Raises ToolError where the outcome is an error of the protocol or unknown."""
        ...

    async def open(self, channel_id: str) -> None: ...

    async def close(self, channel_id: str) -> None: ...

    async def publish(self, channel_id: str, text: str, conversation: str) -> Published: ...

    async def acknowledge(self, channel_id: str, message_id: str, intent: str) -> None:
        """Raises ConnectorError where it was not acknowledged; the caller records that and goes on (T-7)."""
        ...

    def typing(self, channel_id: str, *, on: bool) -> None:
        """Best effort, never waits."""
        ...

    async def kill(self) -> None:
        """End the process and keep it down until `start` (presence `killed`)."""
        ...

    async def start(self) -> None:
        """Start it again after a kill or a give-up."""
        ...
