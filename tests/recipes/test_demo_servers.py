"""The demo's two servers, as real processes on real pipes, spoken to as a host speaks (mcpl.md)."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import TextContent

from cockpit.core.message import Json

ALL = [f"channels.{leaf}" for leaf in ("register", "lifecycle", "publish", "incoming", "acknowledge", "typing")]
NOISY = "disc:guild:noisy"

Object = Mapping[str, Json]


class Host:
    """A host's end of the pipe: numbers its own requests, and accepts every message that comes."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process, self.stdin, self.stdout = process, process.stdin, process.stdout
        self.count = 0
        self.backlog: list[Object] = []

    def write(self, message: Object) -> None:
        self.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def read(self) -> Object:
        line = await self.stdout.readline()
        assert line, "the server ended"
        message = json.loads(line)
        assert isinstance(message, dict)
        return message

    async def ask(self, method: str, params: Object) -> Object:
        """One request and its answer; what comes before the answer is kept for `incoming`."""
        self.count += 1
        self.write({"id": self.count, "method": method, "params": params})
        while (message := await self.read()).get("id") != self.count or "method" in message:
            self.backlog.append(message)
        return message

    async def result(self, method: str, **params: Json) -> Object:
        found = (await self.ask(method, params))["result"]
        assert isinstance(found, dict)
        return found

    async def request(self) -> Object:
        """The next request of the server."""
        return self.backlog.pop(0) if self.backlog else await self.read()

    async def register(self) -> Sequence[str]:
        """Say hello, grant everything, accept the channels. Returns their ids."""
        await self.result("initialize", protocolVersion="2025-06-18", capabilities={})
        self.write({"method": "notifications/initialized"})
        assert await self.result("featureSets/update", effectiveCapabilities=ALL) == {"accepted": True}
        asked = await self.request()
        assert asked["method"] == "channels/register"
        ids = [str(channel["id"]) for channel in _objects(_object(asked["params"])["channels"])]
        self.write({"id": asked["id"], "result": {"results": [{"id": each, "accepted": True} for each in ids]}})
        return ids

    async def incoming(self) -> Object:
        """The next message, accepted."""
        asked = await self.request()
        assert asked["method"] == "channels/incoming"
        (message,) = _objects(_object(asked["params"])["messages"])
        result = {"results": [{"messageId": message["messageId"], "accepted": True}]}
        self.write({"id": asked["id"], "result": result})
        return message


@asynccontextmanager
async def chat(*arguments: str) -> AsyncIterator[Host]:
    """The chat server, with its conversation a hundred times faster than life unless said."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "cockpit.demo.chat", *(arguments or ("--speed", "100")),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=2**24,
    )  # fmt: skip
    host = Host(process)
    try:
        yield host
    finally:
        host.stdin.close()
        assert await process.wait() == 0, "it exits when its standard input ends"


def _object(value: Json) -> Object:
    assert isinstance(value, dict)
    return value


def _objects(value: Json) -> list[Object]:
    assert isinstance(value, list)
    return [_object(each) for each in value]


def tags(message: Object) -> set[str]:
    found = message["tags"]
    assert isinstance(found, list)
    return {str(tag) for tag in found}


def said(message: Object) -> str:
    return "\n".join(str(block["text"]) for block in _objects(message["content"]) if block["type"] == "text")


async def test_it_registers_only_after_it_was_told_what_it_may_do() -> None:  # mcpl.md 1, 5.2
    async with chat() as host:
        answer = await host.result("initialize", protocolVersion="2025-06-18", capabilities={})
        assert answer["protocolVersion"] == "2024-11-05"
        mcpl = _object(_object(_object(answer["capabilities"])["experimental"])["mcpl"])
        assert mcpl["version"] == "0.5"
        assert mcpl["channels"] == {path.partition(".")[2]: True for path in ALL}
        host.write({"method": "notifications/initialized"})
        assert (await host.ask("ping", {}))["result"] == {}
        receipt = await host.result("featureSets/update", effectiveCapabilities=[])
        assert (receipt["accepted"], receipt["mode"]) == (True, "degraded")
        assert (await host.ask("ping", {}))["result"] == {}
        assert host.backlog == [], "nothing was registered without the grant"
        await host.result("featureSets/update", effectiveCapabilities=ALL)
        assert (await host.request())["method"] == "channels/register"


async def test_its_channels_carry_the_ids_that_the_recipe_names() -> None:
    async with chat() as host:
        assert await host.register() == [f"disc:guild:{name}" for name in ("noisy", "release", "ops", "help", "random")]


async def test_it_sends_to_open_channels_only() -> None:
    async with chat("--speed", "400") as host:
        await host.register()
        opened = await host.result("channels/open", channelId="disc:guild:ops", type="demo", address={})
        assert _object(opened["channel"])["id"] == "disc:guild:ops"
        assert {(await host.incoming())["channelId"] for _ in range(4)} == {"disc:guild:ops"}
        assert await host.result("channels/close", channelId="disc:guild:ops") == {"closed": True}
        assert await host.result("channels/close", channelId="disc:guild:ops") == {"closed": False}


async def test_the_conversation_has_all_that_a_chat_has_and_goes_on_with_fresh_ids() -> None:
    """Two rounds of it: mentions, bots, pictures, edits, several lines; and no id comes twice but an edit's."""
    async with chat("--speed", "400", "--nick", "bee") as host:
        for channel in await host.register():
            await host.result("channels/open", channelId=channel, type="demo", address={})
        messages = [await host.incoming() for _ in range(140)]
    kinds = set[str]().union(*map(tags, messages))
    assert kinds >= {
        "chat:addressed", "chat:mention", "chat:reply", "chat:ambient", "chat:from-human", "chat:from-bot",
        "chat:has-image", "chat:edited",
    }  # fmt: skip
    assert all("@bee" in said(each) for each in messages if "chat:addressed" in tags(each))
    assert not [each for each in messages if {"chat:addressed", "chat:ambient"} <= tags(each)]
    assert [each for each in messages if "\n" in said(each)]
    edits = [each for each in messages if "chat:edited" in tags(each)]
    fresh = [each["messageId"] for each in messages if each not in edits]
    assert len(set(fresh)) == len(fresh)
    assert {each["messageId"] for each in edits} <= set(fresh)
    assert len({_object(each["author"])["name"] for each in messages}) >= 6
    channels = [each["channelId"] for each in messages]
    assert all(channels.count(NOISY) > channels.count(each) for each in set(channels) - {NOISY})
    (picture, *_) = [block for each in messages for block in _objects(each["content"]) if block["type"] == "image"]
    assert base64.b64decode(str(picture["data"])).startswith(b"\x89PNG\r\n\x1a\n")


async def test_the_agent_is_asked_in_the_noisy_channel_within_the_first_messages() -> None:
    """At most 0.6 s lie between the opening's messages, so the thirteenth comes within eight seconds of the start."""
    async with chat() as host:
        for channel in await host.register():
            await host.result("channels/open", channelId=channel, type="demo", address={})
        first = [await host.incoming() for _ in range(13)]
    assert [each for each in first if each["channelId"] == NOISY and "chat:mention" in tags(each)]


async def test_two_runs_with_one_seed_say_the_same_under_other_ids() -> None:
    """A host's store remembers ids over restarts, so that a second run must not repeat the first one's (A-7)."""
    runs: list[list[Object]] = []
    for _ in range(2):
        async with chat("--speed", "400", "--seed", "3") as host:
            for channel in await host.register():
                await host.result("channels/open", channelId=channel, type="demo", address={})
            runs.append([await host.incoming() for _ in range(30)])
    one, other = runs
    assert [said(each) for each in one] == [said(each) for each in other]
    assert not {each["messageId"] for each in one} & {each["messageId"] for each in other}


async def test_what_the_agent_publishes_comes_back_as_its_own() -> None:  # N-5, mcpl.md 7.8
    async with chat("--speed", "0.01") as host:
        await host.register()
        await host.result("channels/open", channelId=NOISY, type="demo", address={})
        content: Json = [{"type": "text", "text": "on Thursday"}]
        answer = await host.result("channels/publish", channelId=NOISY, conversationId="c", content=content)
        assert answer["delivered"] is True
        echo = await host.incoming()
        assert (echo["messageId"], echo["content"], tags(echo)) == (answer["messageId"], content, {"chat:from-self"})


async def test_an_acknowledgement_is_shown_as_a_sign() -> None:  # mcpl.md 8
    async with chat() as host:
        await host.register()
        await host.result("channels/open", channelId=NOISY, type="demo", address={})
        message = str((await host.incoming())["messageId"])
        acknowledge = "channels/acknowledge"
        answer = await host.result(acknowledge, channelId=NOISY, messageId=message, intent="suppressed-tuned-out")
        assert answer == {"acknowledged": True, "representation": "🔕"}
        answer = await host.result(acknowledge, channelId=NOISY, messageId="other", intent="seen-not-opening")
        assert answer == {"acknowledged": False, "reason": "no such message"}


async def test_it_refuses_what_it_does_not_know_and_skips_noise() -> None:
    async with chat() as host:
        host.stdin.write(b"not json\n[1]\n\xff\n")
        host.write({"id": "nobody's", "result": {}})
        host.write({"method": "channels/typing", "params": {"channelId": NOISY}})
        assert _object((await host.ask("tools/list", {}))["error"])["code"] == -32601
        unknown = await host.ask("channels/publish", {"channelId": "disc:guild:nowhere", "content": []})
        assert _object(unknown["error"])["code"] == -32023


async def test_it_waits_where_the_host_answers_nothing() -> None:
    """Fifty messages may be unanswered; a host that is slow gets no more until it has answered."""
    async with chat("--speed", "100000") as host:
        for channel in await host.register():
            await host.result("channels/open", channelId=channel, type="demo", address={})
        asked = [await host.request() for _ in range(50)]
        assert (await host.ask("ping", {}))["result"] == {}
        assert (await host.ask("ping", {}))["result"] == {}
        assert host.backlog == []
        host.write({"id": asked[0]["id"], "result": {"results": []}})
        assert (await host.request())["method"] == "channels/incoming"


@asynccontextmanager
async def tools() -> AsyncIterator[ClientSession]:
    server = StdioServerParameters(command=sys.executable, args=["-m", "cockpit.demo.tools"], env=dict(os.environ))
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        yield session


async def call(session: ClientSession, tool: str, **arguments: str | int) -> tuple[str, bool]:
    found = await session.call_tool(tool, arguments)
    (block,) = found.content
    assert isinstance(block, TextContent)
    return block.text, bool(found.is_error)


async def test_notes_are_kept_and_listed() -> None:
    async with tools() as session:
        assert [tool.name for tool in (await session.list_tools()).tools] == ["notes_add", "notes_list", "roll"]
        assert await call(session, "notes_list") == ("there are no such notes", False)
        assert await call(session, "notes_add", text="buy vinegar") == ("kept as note 1", False)
        assert await call(session, "notes_add", text="call the repair person") == ("kept as note 2", False)
        assert await call(session, "notes_list") == ("1. buy vinegar\n2. call the repair person", False)
        assert await call(session, "notes_list", containing="VINEGAR") == ("1. buy vinegar", False)


async def test_dice_are_added_up_and_nonsense_is_an_error() -> None:
    async with tools() as session:
        text, failed = await call(session, "roll", dice=3, sides=6)
        total, _, rest = text.partition(" ")
        rolled = [int(each) for each in rest.strip("()").split(" + ")]
        assert (len(rolled), sum(rolled), failed) == (3, int(total), False)
        assert all(1 <= each <= 6 for each in rolled)
        assert (await call(session, "roll", dice=0))[1]
        assert (await call(session, "notes_add", text=""))[1]
