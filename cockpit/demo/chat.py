"""The demo's chat: an MCPL 0.5 server on standard streams that plays a team's conversation in five channels.

It does what the bridge to a chat platform does: it registers its channels once it was told what it may do, sends to
those that are open, marks what is meant for the agent, echoes what the agent publishes with `chat:from-self`, and
shows a sign for an acknowledgement. It needs no network, and nothing it says leaves its standard output.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import signal
import time
from contextlib import suppress
from datetime import UTC, datetime
from random import Random

from cockpit import __version__
from cockpit.core.message import Json
from cockpit.demo.conversation import MIDDLE, OPENING, PEOPLE, PREFIX, THANKS, TOPICS, Said, numbers
from cockpit.demo.picture import chart
from cockpit.demo.wire import Object, Peer, Refused, texts

PATHS = tuple(f"channels.{leaf}" for leaf in ("register", "lifecycle", "publish", "incoming", "acknowledge", "typing"))
FEATURE = "demo.chat"
SIGNS = {"suppressed-tuned-out": "🔕"}
"""What people see of an acknowledgement, by its intent; an eye for any other."""

PATIENCE = 20.0
"""Seconds to wait for a policy, which a host older than MCPL 0.5 never sends."""
UNANSWERED = 50
"""Messages that may wait for the host's answer; then the conversation waits too."""
REMEMBERED = 2000
"""Messages that can still be acknowledged."""
EDIT_AFTER = 3
"""How many messages later an edit follows what it edits."""
METHOD_NOT_FOUND, CHANNEL_UNKNOWN = -32601, -32023


class Chat:
    """The whole server. speed: how many times faster than life. seed: of everything but ids and times.

    Message ids begin with the start time in nanoseconds, since a host's store remembers them over restarts.
    """

    def __init__(self, nick: str, speed: float, seed: int) -> None:
        self.nick = nick
        self.speed = speed
        self.dice = Random(seed)  # noqa: S311  # a conversation's rhythm, not a secret
        self.peer = Peer()
        self.granted: frozenset[str] = frozenset()
        self.met, self.told, self.may_register = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.opened: set[str] = set()
        self.listening = asyncio.Event()
        self.room = asyncio.Semaphore(UNANSWERED)
        self.born, self.count = f"{time.time_ns():x}", 0
        self.sent: dict[str, None] = {}
        self.spoken_in, self.spoken = "", asyncio.Event()

    async def serve(self) -> None:
        """Answer the host and play the conversation until standard input ends."""
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self.play(), name="play"), group.create_task(self.thank(), name="thank")]
            await self.peer.run(self.handle)
            for task in tasks:
                task.cancel()

    async def handle(self, method: str, params: Object) -> Json:
        """The answer to one request or notification of the host."""
        match method:
            case "initialize":
                self.met.set()
                return manifest()
            case "featureSets/update":
                return self.update(params)
            case "channels/list":
                return {"channels": [descriptor(name) for name in TOPICS]}
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
        name = str(params.get("channelId", "")).removeprefix(PREFIX)
        if name not in TOPICS:
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
        return {"channel": descriptor(name)}

    def close(self, name: str) -> Object:
        closed = name in self.opened
        self.opened.discard(name)
        if not self.opened:
            self.listening.clear()
        return {"closed": closed}

    def publish(self, name: str, content: Json) -> Object:
        """Post the agent's words. They come back as `channels/incoming`, as a platform sends them to everyone."""
        message = self.new_id()
        self.spoken_in = name
        self.spoken.set()
        echo = self.message(name, message, {"id": "agent", "name": self.nick}, content, ["chat:from-self"])
        asyncio.get_running_loop().call_soon(self.send, name, echo)
        return {"delivered": True, "messageId": message}

    def acknowledge(self, params: Object) -> Object:
        if params.get("messageId") not in self.sent:
            return {"acknowledged": False, "reason": "no such message"}
        return {"acknowledged": True, "representation": SIGNS.get(str(params.get("intent")), "👀")}

    async def play(self) -> None:
        """Register once that is allowed, then go round and round while at least one channel is open."""
        await self.met.wait()
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await self.told.wait()
        if not self.told.is_set():
            self.granted = frozenset(PATHS)
            self.may_register.set()
        await self.may_register.wait()
        await self.peer.request("channels/register", {"channels": [descriptor(name) for name in TOPICS]})
        turn = 0
        while True:
            await self.round(turn)
            turn += 1

    async def round(self, turn: int) -> None:
        """Say everything once; the first time it begins quickly, so that there is something to see at once."""
        edits: list[tuple[int, str, Object]] = []
        for place, said in enumerate((*OPENING, *MIDDLE)):
            quick = turn == 0 and place < len(OPENING)
            await self.pause(0.25, 0.6) if quick else await self.pause(2.0, 5.0)
            await self.listening.wait()
            message = self.new_id()
            await self.say(said.channel, self.spell(said, said.text, message, turn))
            if said.edited:
                edits.append((place + EDIT_AFTER, said.channel, self.spell(said, said.edited, message, turn, "edited")))
            for due, channel, edit in edits:
                if due == place:
                    await self.say(channel, edit)

    def spell(self, said: Said, text: str, message: str, turn: int, change: str = "") -> Object:
        """One line of the conversation as it goes over the wire in round `turn`."""
        content: list[Json] = [{"type": "text", "text": text.format_map(numbers(self.nick, turn))}]
        tags = ["chat:addressed", f"chat:{said.to}"] if said.to else ["chat:ambient"]
        tags.append("chat:from-bot" if said.author.endswith("bot") else "chat:from-human")
        if said.chart and not change:
            data = base64.b64encode(chart(self.dice)).decode()
            content.append({"type": "image", "mimeType": "image/png", "data": data})
            tags.append("chat:has-image")
        if change:
            tags.append(f"chat:{change}")
        author = {"id": said.author, "name": PEOPLE[said.author]}
        return self.message(said.channel, message, author, content, tags)

    async def thank(self) -> None:
        """Somebody answers the agent now and then, to nobody in particular: an answer must not call for another."""
        while True:
            await self.spoken.wait()
            self.spoken.clear()
            await self.pause(2.0, 5.0)
            author = self.dice.choice([each for each in PEOPLE if not each.endswith("bot")])
            said = Said(self.spoken_in, author, self.dice.choice(THANKS))
            await self.say(said.channel, self.spell(said, said.text, self.new_id(), 0))
            await self.pause(15.0, 20.0)

    async def pause(self, least: float, most: float) -> None:
        await asyncio.sleep(self.dice.uniform(least, most) / self.speed)

    async def say(self, channel: str, message: Object) -> None:
        """Send, once the host has answered enough of what it got before."""
        await self.room.acquire()
        asked = self.send(channel, message)
        if asked is None:
            self.room.release()
        else:
            asked.add_done_callback(lambda _: self.room.release())

    def send(self, channel: str, message: Object) -> asyncio.Future[Object] | None:
        """Send to a channel that is open; what is said in a closed one is not for this agent."""
        if channel not in self.opened or "channels.incoming" not in self.granted:
            return None
        return self.peer.request("channels/incoming", {"messages": [message]})

    def message(self, channel: str, message: str, author: Object, content: Json, tags: list[str]) -> Object:
        return {
            "channelId": PREFIX + channel,
            "messageId": message,
            "author": author,
            "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "content": content,
            "tags": tags,
        }

    def new_id(self) -> str:
        self.count += 1
        fresh = f"{self.born}-{self.count}"
        self.sent[fresh] = None
        while len(self.sent) > REMEMBERED:
            del self.sent[next(iter(self.sent))]
        return fresh


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


def descriptor(name: str) -> Object:
    """A channel as it is registered (mcpl.md 7.1)."""
    return {
        "id": PREFIX + name,
        "type": "demo",
        "label": f"#{name}",
        "direction": "bidirectional",
        "initiallyOpen": True,
        "metadata": {"topic": TOPICS[name]},
        "capabilities": {"acknowledgment": {"kind": "reaction", "supportsValue": False}},
    }


def main() -> None:
    """The console script `cockpit-demo-chat`."""
    parser = argparse.ArgumentParser(prog="cockpit-demo-chat", description="A made-up team chat that speaks MCPL.")
    parser.add_argument("--nick", default="scout", help="what people call the agent")
    parser.add_argument("--speed", type=float, default=1.0, help="how many times faster than life")
    parser.add_argument("--seed", type=int, default=17, help="of the rhythm, so that two runs are alike")
    given = parser.parse_args()
    if not 0 < given.speed < float("inf"):
        parser.error("--speed must be a number above 0")
    # The reading thread cannot be interrupted; without this, Ctrl-C would wait for one more line.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    asyncio.run(run(given.nick, given.speed, given.seed))


async def run(nick: str, speed: float, seed: int) -> None:
    """Serve until standard input ends; a host that went away is no error."""
    try:
        await Chat(nick, speed, seed).serve()
    except* BrokenPipeError:
        pass


if __name__ == "__main__":
    main()
