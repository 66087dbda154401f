"""An MCPL 0.5 chat server on standard streams: all of it but what is said, which `play` of a subclass decides.

It does what the bridge to a chat platform does: it registers its channels once it was told what it may do, sends to
those that are open, echoes what the agent publishes with `chat:from-self`, and shows a sign for an acknowledgement.
It needs no network, and nothing it says leaves its standard output.
"""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime

from cockpit import __version__
from cockpit.core.message import Json
from cockpit.demo.wire import Object, Peer, Refused, texts

PATHS = tuple(f"channels.{leaf}" for leaf in ("register", "lifecycle", "publish", "incoming", "acknowledge", "typing"))
FEATURE = "demo.chat"
SIGNS = {"suppressed-tuned-out": "🔕"}
"""What people see of an acknowledgement, by its intent; an eye for any other."""

PATIENCE = 20.0
"""Seconds to wait for a policy, which a host older than MCPL 0.5 never sends."""
REMEMBERED = 2000
"""Messages that can still be acknowledged."""
METHOD_NOT_FOUND, CHANNEL_UNKNOWN = -32601, -32023


class ChatServer(ABC):
    """The protocol. topics: the channels by name with what each is about, registered under `prefix` and name.
    unanswered: messages that may wait for the host's answer; then whoever says more waits too.

    Message ids begin with the start time in nanoseconds, since a host's store remembers them over restarts.
    """

    def __init__(self, nick: str, topics: Mapping[str, str], prefix: str, unanswered: int) -> None:
        self.nick = nick
        self.topics = topics
        self.prefix = prefix
        self.peer = Peer()
        self.granted: frozenset[str] = frozenset()
        self.met, self.told, self.may_register = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.opened: set[str] = set()
        self.listening = asyncio.Event()
        self.room = asyncio.Semaphore(unanswered)
        self.born, self.count = f"{time.time_ns():x}", 0
        self.sent: dict[str, None] = {}

    @abstractmethod
    async def play(self) -> None:
        """Say what there is to say, once registered. Cancelled when the host has gone."""

    def spoke(self, channel: str) -> None:
        """The agent published something in this channel."""
        del channel

    async def serve(self) -> None:
        """Answer the host and play until standard input ends."""
        async with asyncio.TaskGroup() as group:
            playing = group.create_task(self._played(), name="play")
            await self.peer.run(self.handle)
            playing.cancel()

    async def _played(self) -> None:
        await self.register()
        await self.play()

    async def handle(self, method: str, params: Object) -> Json:
        """The answer to one request or notification of the host."""
        match method:
            case "initialize":
                self.met.set()
                return manifest()
            case "featureSets/update":
                return self.update(params)
            case "channels/list":
                return {"channels": self.descriptors()}
            case "channels/open":
                return self.open(self.channel(params))
            case "channels/close":
                return self.close(self.channel(params))
            case "channels/publish":
                return self.publish(self.channel(params), params.get("content"))
            case "channels/acknowledge":
                return self.acknowledge(params)
            case "ping" | "channels/typing" | "notifications/initialized":
                return {}
            case _:
                raise Refused(METHOD_NOT_FOUND, f"no method {method!r}")

    def channel(self, params: Object) -> str:
        """The channel that `params` names, without the prefix. Raises Refused."""
        name = str(params.get("channelId", "")).removeprefix(self.prefix)
        if name not in self.topics:
            raise Refused(CHANNEL_UNKNOWN, f"no channel {params.get('channelId')!r}")
        return name

    def update(self, params: Object) -> Object:
        """Take the host's policy, and say what is missing without ever widening it (mcpl.md 5.2)."""
        self.granted = frozenset(texts(params.get("effectiveCapabilities")))
        self.told.set()
        if "channels.register" in self.granted:
            self.may_register.set()
        missing = [path for path in PATHS if path not in self.granted]
        if not missing:
            return {"accepted": True}
        lacking: Json = {"featureSet": FEATURE, "missingCapabilities": missing, "effect": "does without"}
        return {"accepted": True, "mode": "degraded", "unavailableFeatures": [lacking]}

    def open(self, name: str) -> Object:
        self.opened.add(name)
        self.listening.set()
        return {"channel": self.descriptor(name)}

    def close(self, name: str) -> Object:
        closed = name in self.opened
        self.opened.discard(name)
        if not self.opened:
            self.listening.clear()
        return {"closed": closed}

    def publish(self, name: str, content: Json) -> Object:
        """Post the agent's words. They come back as `channels/incoming`, as a platform sends them to everyone."""
        message = self.new_id()
        self.spoke(name)
        echo = self.message(name, message, {"id": "agent", "name": self.nick}, content, ["chat:from-self"])
        asyncio.get_running_loop().call_soon(self.send, name, echo)
        return {"delivered": True, "messageId": message}

    def acknowledge(self, params: Object) -> Object:
        if params.get("messageId") not in self.sent:
            return {"acknowledged": False, "reason": "no such message"}
        return {"acknowledged": True, "representation": SIGNS.get(str(params.get("intent")), "👀")}

    async def register(self) -> None:
        """Name the channels, once that is allowed."""
        await self.met.wait()
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await self.told.wait()
        if not self.told.is_set():
            self.granted = frozenset(PATHS)
            self.may_register.set()
        await self.may_register.wait()
        await self.peer.request("channels/register", {"channels": self.descriptors()})

    async def say(self, channel: str, message: Object) -> asyncio.Future[Object] | None:
        """Send, once the host has answered enough of what it got before. None where nobody listens."""
        await self.room.acquire()
        asked = self.send(channel, message)
        if asked is None:
            self.room.release()
        else:
            asked.add_done_callback(lambda _: self.room.release())
        return asked

    def send(self, channel: str, message: Object) -> asyncio.Future[Object] | None:
        """Send to a channel that is open; what is said in a closed one is not for this agent."""
        if channel not in self.opened or "channels.incoming" not in self.granted:
            return None
        return self.peer.request("channels/incoming", {"messages": [message]})

    def message(self, channel: str, message: str, author: Object, content: Json, tags: Sequence[str]) -> Object:
        return {
            "channelId": self.prefix + channel,
            "messageId": message,
            "author": author,
            "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "content": content,
            "tags": list(tags),
        }

    def new_id(self) -> str:
        self.count += 1
        fresh = f"{self.born}-{self.count}"
        self.sent[fresh] = None
        while len(self.sent) > REMEMBERED:
            del self.sent[next(iter(self.sent))]
        return fresh

    def descriptors(self) -> list[Json]:
        return [self.descriptor(name) for name in self.topics]

    def descriptor(self, name: str) -> Object:
        """A channel as it is registered (mcpl.md 7.1)."""
        return {
            "id": self.prefix + name,
            "type": "demo",
            "label": f"#{name}",
            "direction": "bidirectional",
            "initiallyOpen": True,
            "metadata": {"topic": self.topics[name]},
            "capabilities": {"acknowledgment": {"kind": "reaction", "supportsValue": False}},
        }


def manifest() -> Object:
    """The answer to `initialize`. MCPL does not change MCP's protocol version (mcpl.md 3)."""
    mcpl: Json = {
        "version": "0.5",
        "channels": {path.partition(".")[2]: True for path in PATHS},
        "featureSets": {FEATURE: {"description": "A team's chat, made up for a demo", "uses": list(PATHS)}},
    }
    return {
        "protocolVersion": "2024-11-05",
        "serverInfo": {"name": "cockpit-demo-chat", "version": __version__},
        "capabilities": {"experimental": {"mcpl": mcpl}},
    }
