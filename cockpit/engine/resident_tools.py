"""What a resident's own tools do (N-4). Each returns the text the agent reads, or raises ToolError or VerbError."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from cockpit.core import notices
from cockpit.core.channel import Channel, attention, held, label, muted_by, presence
from cockpit.core.duration import spell
from cockpit.core.message import RESIDENTS, Json, Message
from cockpit.core.target import Target
from cockpit.core.text import header_field, render
from cockpit.core.world import Actor
from cockpit.engine import arguments as read
from cockpit.engine.acts import Acts
from cockpit.engine.directory import Directory
from cockpit.errors import ToolError
from cockpit.store.protocol import Chronicle

PAGE = 50
MOST = 200


class Publisher(Protocol):
    """Sends words to a chat channel; raises ToolError where they did not go out."""

    async def publish(self, target: Target, text: str) -> str: ...


@dataclass(slots=True)
class ResidentTools:
    """Dispatch for one resident. intercom: author, to, text."""

    actor: Actor
    acts: Acts
    directory: Directory
    channels: Mapping[Target, Channel]
    chronicle: Chronicle
    publisher: Publisher
    intercom: Callable[[str, str, str], Awaitable[str]]

    async def call(self, name: str, values: Mapping[str, Json]) -> str:
        match name:
            case "tune_out":
                return await self._tune_out(values)
            case "cancel_tune_out":
                return await self.acts.cancel(self._channel(values), self.actor)
            case "mute_channel":
                reason = read.optional_text(values, "reason") or ""
                return await self.acts.mute(self._channel(values), self.actor, reason=reason)
            case "unmute_channel":
                deliver = read.optional_text(values, "deliver")
                if deliver not in {None, "notice", "backlog"}:
                    raise ToolError(f"deliver={deliver!r} is neither notice nor backlog")
                return await self.acts.unmute(self._channel(values), self.actor, deliver=deliver == "backlog")
            case "channel_list":
                return self._list()
            case "channel_open":
                return await self.acts.want(self._channel(values), self.actor, wanted=True)
            case "channel_close":
                return await self.acts.want(self._channel(values), self.actor, wanted=False)
            case "channel_publish":
                return await self.publisher.publish(self._channel(values), read.text(values, "text"))
            case "intercom_send":
                return await self.intercom(self.actor.name, read.text(values, "to"), read.text(values, "text"))
            case "fetch_history":
                return await self._history(values)
            case _:
                raise ToolError(f"no tool {name!r}")

    def _channel(self, values: Mapping[str, Json]) -> Target:
        return self.directory.find(read.text(values, "channel"))

    async def _tune_out(self, values: Mapping[str, Json]) -> str:
        given = {name: value for name, value in values.items() if name != "channel"}
        return await self.acts.tune_out(self._channel(values), self.actor, given)

    def _list(self) -> str:
        lines = [self._line(target) for target in self.directory.targets() if target in self.channels]
        return "\n".join(lines) or "There are no channels."

    def _line(self, target: Target) -> str:
        channel = self.channels[target]
        parent = self.directory.parent(target)
        server = None if parent is None else self.channels.get(parent)
        words = [f"{self.directory.name(target)}: {label(presence(channel, server), attention(channel, server))}"]
        by = muted_by(channel, server)
        if by:
            words.append(f"muted by {' and '.join(by)}")
        if target in self.acts.asks.waiting:
            words.append("your mute of it waits for the operator's yes")
        if held(channel):
            words.append(f"{notices.count(held(channel), 'message')} held")
        epoch = channel.epoch
        if epoch is not None:
            words.append(
                f"tune-out {epoch.id}: {epoch.wakes} of {notices.count(epoch.max_wakes, 'wake')}, "
                f"cadence {spell(epoch.cadence)}, cap {epoch.cap}"
            )
        return ", ".join(words)

    async def _history(self, values: Mapping[str, Json]) -> str:
        target = self._channel(values)
        limit = max(1, read.whole(values, "limit", PAGE, MOST))
        before = read.whole(values, "before", 0) or None
        found = await self.chronicle.messages((RESIDENTS,), view="all", before=before, limit=limit, target=str(target))
        if not found:
            return f"No messages of {self.directory.name(target)} are stored" + (" before that." if before else ".")
        lines = [_shown(message) for message in reversed(found)]
        lines.append(f"Older ones: before={found[0].sequence}.")
        return "\n".join(lines)


def _shown(message: Message) -> str:
    """One stored message, newest pages first; a diverted one says so."""
    mark = " · diverted" if message.stamp else ""
    text = render(message.blocks, deleted=message.deleted).replace("\n", "\n  ")
    return f"[{message.sequence} · {header_field(message.author)}{mark}] {text}"
