"""A fixture MCPL server over real stdio, `python -m cockpit.testing.mcpl_server`, that does what a test tells it.

It knows only the standard library, so that it starts at once. Commands are JSON objects with a `do`, one a line,
from `--script FILE` (one after the other, once the host said `initialized`) or over `--control PATH`: a Unix socket
on which the test listens (`cockpit.testing.mcpl_remote`) and to which the server connects when it starts; each gets
one line back, `{"ref": …, "answer": …}` or `{"ref": …, "error": …}`. `--transcript FILE` takes every message that it
was sent, one JSON object a line, appended and flushed. `cockpit.testing.mcpl_commands` lists what can be told;
`--help` how it can be made to misbehave from the start.

A call of its tool `echo` gives its arguments back, `fail` an error, `wait` its answer after the command `release`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cockpit.core.message import Json
from cockpit.testing.mcpl_commands import FLOOD_ID, Commands, Given, shout

Wire = Mapping[str, Json]

CHANNELS: Wire = {
    "register": True,
    "lifecycle": True,
    "publish": True,
    "incoming": True,
    "streaming": True,
    "acknowledge": True,
    "typing": True,
}
MANIFEST: Wire = {
    "version": "0.5",
    "pushEvents": True,
    "channels": CHANNELS,
    "featureSets": {"fixture.push": {"description": "Pushes", "uses": ["pushEvents", "channels.incoming"]}},
}
LEGACY_MANIFEST: Wire = {
    "version": "0.4",
    "pushEvents": True,
    "channels": True,
    "featureSets": [{"name": "fixture.push", "description": "Pushes", "uses": ["tools"]}],
}
_FLOOD_MARK = f'"id":"{FLOOD_ID}"'.encode()
UNKNOWN: Wire = {"error": {"code": -32601, "message": "Method not found"}}


@dataclass
class Options:
    """The command line. `channels` are registered at once. `receipt`: how it takes the policy. `manifest`: another
    one than its own, as JSON."""

    control: str | None = None
    script: str | None = None
    transcript: str | None = None
    channels: list[str] = field(default_factory=list)
    manifest: str | None = None
    plain: bool = False
    receipt: str = "accept"
    silent: list[str] = field(default_factory=list)
    garbage: list[str] = field(default_factory=list)
    stubborn: bool = False
    version: str = "2024-11-05"
    tools_a_page: int = 1000
    shout: int = 0


class Server:
    """One run of it. `received` holds every message with a method that came; `strays` every answer to
    what was written `raw`; `how` what a test said of answers."""

    def __init__(self, options: Options) -> None:
        self.received: list[Wire] = []
        self.trace: list[str] = []
        self.strays: list[Wire] = []
        self.how: dict[str, Json] = dict.fromkeys(options.silent, "silent")
        self.tools = ["echo", "fail", "wait"]
        self.release = asyncio.Event()
        self.came = asyncio.Condition()
        self.deaf = False
        self.pending: dict[int, asyncio.Future[Wire]] = {}
        self.next = 0
        self.flood_answers = 0
        self.flood_answered = asyncio.Event()
        self._options = options
        self._initialized = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._writer: asyncio.StreamWriter | None = None

    async def run(self) -> None:
        """Serve until stdin ends."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=64 << 20)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, sys.stdout)
        self._writer = asyncio.StreamWriter(transport, protocol, None, loop)
        if self._options.stubborn:
            loop.add_signal_handler(signal.SIGTERM, lambda: None)
        for text in self._options.garbage:
            self.write(text.encode() + b"\n")
        self.start(self._controlled())
        self.start(self._scripted())
        while line := await reader.readline():
            if self.deaf:
                break
            if _FLOOD_MARK in line:
                self.flood_answers += 1
                self.flood_answered.set()
                continue
            await self._take(json.loads(line))
        if self.deaf or self._options.stubborn:
            await asyncio.Event().wait()

    def start(self, work: Coroutine[object, object, None]) -> None:
        """Run it beside; it is kept alive."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # To the host.

    def write(self, data: bytes) -> None:
        if self._writer is not None:
            self._writer.write(data)

    async def drain(self) -> None:
        if self._writer is not None:
            await self._writer.drain()

    def send(self, message: Wire) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def ask(self, method: str, params: Json) -> asyncio.Future[Wire]:
        """Send a request; the future is the host's answer as it came, `result` or `error`."""
        self.next += 1
        self.pending[self.next] = future = asyncio.get_running_loop().create_future()
        self.send({"id": self.next, "method": method, "params": params})
        return future

    # From the host.

    async def _take(self, message: dict[str, Json]) -> None:
        self.trace.append(str(message.get("method", f"answer {message.get('id')}")))
        if "method" not in message:
            await self._take_answer(message)
            return
        self.received.append(message)
        if self._options.transcript:
            with open(self._options.transcript, "a", encoding="utf-8") as transcript:  # noqa: ASYNC230, PTH123
                transcript.write(json.dumps(message) + "\n")
        if message["method"] == "notifications/initialized":
            self._initialized.set()
        async with self.came:
            self.came.notify_all()
        if "id" in message:
            self.start(self._answer(message))

    async def _take_answer(self, message: dict[str, Json]) -> None:
        ident = message.get("id")
        future = self.pending.pop(ident, None) if isinstance(ident, int) else None
        if future is not None:
            future.set_result({key: message[key] for key in ("result", "error") if key in message})
            return
        self.strays.append(message)
        async with self.came:
            self.came.notify_all()

    async def _answer(self, message: Wire) -> None:
        params = message.get("params")
        method, given = str(message["method"]), Given(params if isinstance(params, Mapping) else {})
        how = self.how.get(method)
        if how == "silent":
            return
        answer = how if isinstance(how, Mapping) else await self._usual(method, given)
        self.send({"id": message["id"], **answer})

    async def _usual(self, method: str, params: Given) -> Wire:
        match method:
            case "initialize":
                return {"result": self._initialize()}
            case "featureSets/update":
                return self._receipt()
            case "tools/list":
                return {"result": self._page_of_tools(params)}
            case "tools/call":
                return {"result": await self._call(params)}
            case "channels/open":
                return {"result": {"channel": {"id": params.text("channelId")}}}
            case "channels/close":
                return {"result": {"closed": True}}
            case "channels/publish":
                return {"result": {"delivered": True, "messageId": f"own-{len(self.received)}"}}
            case "channels/acknowledge":
                return {"result": {"acknowledged": True}}
            case "ping" | "logging/setLevel" | "resources/subscribe":
                return {"result": {}}
            case "resources/list":
                return {"result": {"resources": [{"uri": "fixture:one", "name": "one"}]}}
            case _:
                return UNKNOWN

    def _initialize(self) -> Wire:
        capabilities: dict[str, Json] = {
            "tools": {"listChanged": True},
            "logging": {},
            "resources": {"subscribe": True},
        }
        if not self._options.plain:
            usual = LEGACY_MANIFEST if self._options.receipt == "unknown" else MANIFEST
            own: Json = json.loads(self._options.manifest) if self._options.manifest else usual
            capabilities["experimental"] = {"mcpl": own}
        return {
            "protocolVersion": self._options.version,
            "serverInfo": {"name": "fixture", "version": "1"},
            "instructions": "A fixture.",
            "capabilities": capabilities,
        }

    def _page_of_tools(self, params: Given) -> Wire:
        start, size = int(params.text("cursor", "0")), self._options.tools_a_page
        page: dict[str, Json] = {"tools": [_tool(name) for name in self.tools[start : start + size]]}
        return page if start + size >= len(self.tools) else page | {"nextCursor": str(start + size)}

    def _receipt(self) -> Wire:
        match self._options.receipt:
            case "accept":
                return {"result": {"accepted": True}}
            case "unknown":
                return UNKNOWN
            case fallback:
                return {"result": {"accepted": False, "fallback": fallback, "reason": "not these"}}

    async def _call(self, params: Given) -> Wire:
        name = params.text("name")
        if name == "wait":
            await self.release.wait()
        if name == "fail":
            return {"content": [{"type": "text", "text": "it failed"}], "isError": True}
        return {"content": [{"type": "text", "text": json.dumps(params.fields.get("arguments"))}]}

    # From the test.

    async def _controlled(self) -> None:
        if not self._options.control:
            return
        try:
            reader, writer = await asyncio.open_unix_connection(self._options.control, limit=64 << 20)
        except OSError:
            return  # nobody listens: it serves all the same
        while line := await reader.readline():
            self.start(self._told(json.loads(line), writer))

    async def _told(self, command: Wire, writer: asyncio.StreamWriter) -> None:
        said: dict[str, Json] = {"ref": command.get("ref")}
        try:
            said["answer"] = await Commands(self).do(command)
        except (KeyError, TypeError, ValueError) as error:
            said["error"] = f"{type(error).__name__}: {error}"
        writer.write(json.dumps(said).encode() + b"\n")

    async def _scripted(self) -> None:
        await self._initialized.wait()
        commands = Commands(self)
        if self._options.channels:
            await commands.do({"do": "register", "channels": self._options.channels})
        if self._options.script:
            for line in Path(self._options.script).read_text(encoding="utf-8").splitlines():  # noqa: ASYNC240
                if line.strip():
                    await commands.do(json.loads(line))


def _tool(name: str) -> Wire:
    return {"name": name, "description": f"The tool {name}.", "inputSchema": {"type": "object"}}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="cockpit.testing.mcpl_server", description="A fixture MCPL server.")
    parser.add_argument("--control", help="a Unix socket on which the test listens")
    parser.add_argument("--script", help="a file of commands, one JSON object a line")
    parser.add_argument("--transcript", help="a file to which every received message is appended")
    parser.add_argument("--channels", type=lambda text: text.split(","), default=[], help="ids, parted by commas")
    parser.add_argument("--manifest", help="another capability object, as JSON")
    parser.add_argument("--plain", action="store_true", help="a plain MCP server: no manifest")
    parser.add_argument("--receipt", default="accept", choices=("accept", "unknown", "mcp-only", "close"))
    parser.add_argument("--silent", action="append", default=[], help="a method that it never answers")
    parser.add_argument("--garbage", action="append", default=[], help="a line on stdout before anything else")
    parser.add_argument("--stubborn", action="store_true", help="ends neither with its stdin nor by SIGTERM")
    parser.add_argument("--version", default="2024-11-05", help="the MCP version that it answers")
    parser.add_argument("--tools-a-page", type=int, default=1000)
    parser.add_argument("--shout", type=int, default=0, help="lines on stderr at the start")
    options = parser.parse_args(arguments, namespace=Options())
    shout(options.shout, "starting")
    asyncio.run(Server(options).run())


if __name__ == "__main__":
    main()
