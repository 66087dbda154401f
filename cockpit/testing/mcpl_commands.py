"""What the fixture MCPL server can be told: the field `do`, then its fields; those in brackets have defaults.

register channels             `channels/register`; a channel is an id or a whole descriptor
changed [added, removed, updated, notify]
say channel, text             one message by `channels/incoming` [id, author, tags, content, timestamp]
incoming messages [notify]    a batch as it is; a message that has a `channel` is built as `say` does
push text                     `push/event` [id, set, origin, tags]
request method [params]       any request; `notify` any notification
answer method, how            how it answers a method from now on: "silent", {"error": …}, {"result": …}; null: as usual
expect method [count]         waits until it was sent so many of that, in all; gives the params of all
received                      the methods of all that it was sent, in order; `trace`: answers too, as `answer ID`
answers [count]               waits until so many answers came to requests that were sent `raw`; gives all of them
tools names                   its tools from now on, and `list_changed`
log text [level], progress text, updated uri
flood channel, count [window, bytes]   that many messages, `window` in flight; gives the seconds it took
raw text | hex                bytes on stdout as they are; `line bytes`: one line of that many
stderr lines [text]           shouts; `environment`, `pid`, `spawn` give its variables, its pid, a child's
release                       lets calls of its tool `wait` end
deaf, exit [code], crash      never reads again; ends; ends by SIGKILL
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cockpit.core.message import Json

if TYPE_CHECKING:
    from cockpit.testing.mcpl_server import Server

FLOOD_ID = "flood"
"""The id of each request of a flood: its answers are counted, not read."""

_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Given:
    """The fields of one command. A missing one without a default raises KeyError, one of another type TypeError."""

    fields: Mapping[str, Json]

    def text(self, name: str, default: str | None = None) -> str:
        value = self.fields.get(name, default)
        if value is None:
            raise KeyError(name)
        if not isinstance(value, str):
            raise TypeError(f"{name} is no text")
        return value

    def number(self, name: str, default: int | None = None) -> int:
        value = self.fields.get(name, default)
        if value is None:
            raise KeyError(name)
        if not isinstance(value, int):
            raise TypeError(f"{name} is no number")
        return value

    def items(self, name: str) -> Sequence[Json]:
        value = self.fields.get(name, [])
        if not isinstance(value, list):
            raise TypeError(f"{name} is no list")
        return value


class Commands:
    """Each `do_NAME` is one command; what it returns is its answer."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def do(self, command: Mapping[str, Json]) -> Json:
        """Raises KeyError where there is no such command, or a field is missing."""
        given = Given(command)
        found: Callable[[Given], Awaitable[Json]] | None = getattr(self, f"do_{given.text('do')}", None)
        if found is None:
            raise KeyError(given.text("do"))
        return await found(given)

    async def do_register(self, given: Given) -> Json:
        return await self._server.ask("channels/register", {"channels": _descriptors(given.items("channels"))})

    async def do_changed(self, given: Given) -> Json:
        params: dict[str, Json] = {"removed": given.items("removed")}
        params |= {name: _descriptors(given.items(name)) for name in ("added", "updated")}
        return await self._send("channels/changed", params, given)

    async def do_say(self, given: Given) -> Json:
        return await self._server.ask("channels/incoming", {"messages": [message(given)]})

    async def do_incoming(self, given: Given) -> Json:
        built: list[Json] = [
            message(Given(each)) if isinstance(each, Mapping) and "channel" in each else each
            for each in given.items("messages")
        ]
        return await self._send("channels/incoming", {"messages": built}, given)

    async def do_push(self, given: Given) -> Json:
        event: dict[str, Json] = {
            "featureSet": given.text("set", "fixture.push"),
            "eventId": given.text("id", _fresh("event")),
            "timestamp": "2026-11-30T09:00:00Z",
            "origin": given.fields.get("origin", {}),
            "tags": given.items("tags"),
            "payload": {"content": [{"type": "text", "text": given.text("text")}]},
        }
        return await self._server.ask("push/event", event)

    async def do_request(self, given: Given) -> Json:
        return await self._server.ask(given.text("method"), given.fields.get("params", {}))

    async def do_notify(self, given: Given) -> Json:
        self._notify(given.text("method"), given.fields.get("params", {}))
        return None

    async def do_answer(self, given: Given) -> Json:
        self._server.how[given.text("method")] = given.fields.get("how")
        return None

    async def do_expect(self, given: Given) -> Json:
        server, method, count = self._server, given.text("method"), given.number("count", 1)

        def found() -> list[Json]:
            return [each.get("params") for each in server.received if each["method"] == method]

        async with server.came:
            await server.came.wait_for(lambda: len(found()) >= count)
        return found()

    async def do_answers(self, given: Given) -> Json:
        server, count = self._server, given.number("count", 1)
        async with server.came:
            await server.came.wait_for(lambda: len(server.strays) >= count)
        return list(server.strays)

    async def do_received(self, given: Given) -> Json:
        return [each["method"] for each in self._server.received]

    async def do_trace(self, given: Given) -> Json:
        return list(self._server.trace)

    async def do_tools(self, given: Given) -> Json:
        self._server.tools = [str(name) for name in given.items("names")]
        self._notify("notifications/tools/list_changed", {})
        return None

    async def do_log(self, given: Given) -> Json:
        self._notify("notifications/message", {"level": given.text("level", "warning"), "data": given.text("text")})
        return None

    async def do_progress(self, given: Given) -> Json:
        self._notify("notifications/progress", {"progressToken": 1, "progress": 1, "message": given.text("text")})
        return None

    async def do_updated(self, given: Given) -> Json:
        self._notify("notifications/resources/updated", {"uri": given.text("uri")})
        return None

    async def do_flood(self, given: Given) -> Json:
        """Messages are made before the clock starts, and answers only counted: the host is what is measured."""
        server, count, window = self._server, given.number("count"), given.number("window", 500)
        fields: dict[str, Json] = {"channel": given.text("channel"), "text": "x" * given.number("bytes", 300)}
        lines = [_flood_line(message(Given({**fields, "id": _fresh("flood")}))) for _ in range(count)]
        server.flood_answers, sent = 0, 0
        began = time.monotonic()
        while server.flood_answers < count:
            upto = min(count, server.flood_answers + window)
            server.write(b"".join(lines[sent:upto]))
            sent = upto
            server.flood_answered.clear()
            await server.drain()
            if server.flood_answers + window <= sent or sent == count:
                await server.flood_answered.wait()
        return time.monotonic() - began

    async def do_raw(self, given: Given) -> Json:
        self._server.write(bytes.fromhex(given.text("hex", "")) + given.text("text", "").encode())
        return None

    async def do_line(self, given: Given) -> Json:
        self._server.write(b"x" * given.number("bytes") + b"\n")
        return None

    async def do_stderr(self, given: Given) -> Json:
        shout(given.number("lines"), given.text("text", "shouting"))
        return None

    async def do_environment(self, given: Given) -> Json:
        return dict(os.environ)

    async def do_pid(self, given: Given) -> Json:
        return os.getpid()

    async def do_spawn(self, given: Given) -> Json:
        command = (sys.executable, "-c", "import signal; signal.pause()")
        child = subprocess.Popen(command)  # noqa: ASYNC220 - it outlives this command on purpose
        return child.pid

    async def do_release(self, given: Given) -> Json:
        self._server.release.set()
        return None

    async def do_deaf(self, given: Given) -> Json:
        self._server.deaf = True
        return None

    async def do_exit(self, given: Given) -> Json:
        os._exit(given.number("code", 0))

    async def do_crash(self, given: Given) -> Json:
        os.kill(os.getpid(), signal.SIGKILL)
        return None

    def _notify(self, method: str, params: Json) -> None:
        self._server.send({"method": method, "params": params})

    async def _send(self, method: str, params: Mapping[str, Json], given: Given) -> Json:
        if given.fields.get("notify"):
            self._notify(method, params)
            return None
        return await self._server.ask(method, params)


def message(given: Given) -> dict[str, Json]:
    """One entry of `channels/incoming`."""
    author = given.fields.get("author", "kim")
    return {
        "channelId": given.text("channel"),
        "messageId": given.text("id", _fresh("message")),
        "author": {"id": author, "name": author} if isinstance(author, str) else author,
        "timestamp": given.text("timestamp", "2026-11-30T09:00:00Z"),
        "content": given.fields.get("content", [{"type": "text", "text": given.text("text", "")}]),
        "tags": given.items("tags"),
    }


def _fresh(what: str) -> str:
    """An id that no other run of the fixture gives."""
    return f"{what}-{os.getpid()}-{next(_numbers)}"


def shout(lines: int, text: str) -> None:
    """Write to stderr."""
    for number in range(lines):
        sys.stderr.write(f"{text} {number}\n")
    sys.stderr.flush()


def _descriptors(channels: Sequence[Json]) -> list[Json]:
    return [{"id": each, "type": "fixture", "label": each} if isinstance(each, str) else each for each in channels]


def _flood_line(entry: Mapping[str, Json]) -> bytes:
    params = {"messages": [entry]}
    whole = {"jsonrpc": "2.0", "id": FLOOD_ID, "method": "channels/incoming", "params": params}
    return json.dumps(whole).encode() + b"\n"
