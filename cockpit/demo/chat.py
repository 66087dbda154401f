"""The demo's chat: an MCPL 0.5 server on standard streams that plays a team's conversation in five channels.

It does what a chat platform's bridge does: it registers its channels once it was told what it may do, sends to
those that are open, marks what is meant for the agent, echoes what the agent publishes with `chat:from-self`, and
shows a sign for an acknowledgement. It needs no network, and nothing it says leaves its standard output.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import signal
import time
from collections.abc import Mapping, Sequence
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
PATIENCE = 20.0
"""Seconds to wait for a policy from a host that is older than MCPL 0.5."""
UNANSWERED = 50
"""Messages that may wait for the host's answer; then the conversation waits too."""
EDIT_AFTER = 3
"""How many messages later an edit follows what it edits."""
METHOD_NOT_FOUND, CHANNEL_UNKNOWN = -32601, -32023


class Chat:
    """The whole server. speed: how many times faster than life. seed: of everything but ids and times.

    Message ids begin with the start time in nanoseconds, since a host's store remembers ids over restarts.
    """

    def __init__(self, nick: str, speed: float, seed: int) -> None:
        self.nick = nick
        self.speed = speed
        self.dice = Random(seed)  # noqa: S311  # a conversation's rhythm, not a secret
        self.peer = Peer()
        self.granted: frozenset[str] = frozenset()
        self.policy = asyncio.Event()
        self.opened: set[str] = set()
        self.listened = asyncio.Event()
        self.room = asyncio.Semaphore(UNANSWERED)
        self.sent: set[str] = set()
        self.born = f"{time.time_ns():x}"
        self.spoken: asyncio.Queue[str] = asyncio.Queue(maxsize=UNANSWERED)

    async def serve(self) -> None:
        """Until standard input ends."""
        async with asyncio.TaskGroup() as group:
            self.group = group
            tasks = [group.create_task(self.play(), name="play"), group.create_task(self.thank(), name="thank")]
            await self.peer.run(self.handle)
            for task in tasks:
                task.cancel()

    async def handle(self, method: str, params: Object) -> Json:
        """The answer to one request or notification of the host."""
        match method:
            case "initialize":
                return manifest()
            case "ping":
                return {}
            case "featureSets/update":
                return self.update(params)
            case "channels/list":
                return {"channels": [descriptor(name) for name in TOPICS]}
            case "channels/open":
                return self.open(params)
            case "channels/close":
                name = str(params.get("channelId", "")).removeprefix(PREFIX)
                closed = name in self.opened
                self.opened.discard(name)
                return {"closed": closed}
            case "channels/publish":
                return self.publish(params)
            case "channels/acknowledge":
                return self.acknowledge(params)
            case _ if method.startswith("notifications/") or method == "channels/typing":
                return {}
            case _:
                raise Refused(METHOD_NOT_FOUND, f"no method {method!r}")
