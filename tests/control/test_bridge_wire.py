"""`cockpit mcp` on its pipes, as hosts of any age and any manners drive it: one process, no cockpit, its very bytes."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest

from cockpit.core.message import Json
from cockpit.testing.program import fields
from cockpit.testing.shell import PATIENCE, runtime, start

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18")


class Host:
    """One connection in lines."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    def say(self, raw: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(raw + b"\n")

    def tell(self, method: str, found: int | None = None, **params: Json) -> None:
        told: dict[str, Json] = {"jsonrpc": "2.0", "method": method, "params": params}
        self.say(json.dumps(told if found is None else {**told, "id": found}).encode())

    async def answer(self, found: int) -> Mapping[str, Json]:
        """The next line, which answers that request."""
        assert self.process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            line: dict[str, Json] = json.loads(await self.process.stdout.readline())
        assert line["id"] == found
        return line

    async def greet(self, version: str = VERSIONS[-1]) -> Mapping[str, Json]:
        self.tell("initialize", 0, protocolVersion=version, capabilities={}, clientInfo={"name": "ed", "version": "1"})
        found = fields((await self.answer(0))["result"])
        self.tell("notifications/initialized")
        return found


@asynccontextmanager
async def host() -> AsyncIterator[Host]:
    with runtime() as environment:
        process = await start("mcp", environment=environment, stdin=asyncio.subprocess.PIPE)
        try:
            yield Host(process)
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


async def test_what_a_host_says_wrong_is_answered_and_the_end_of_input_ends_it() -> None:
    """R-5: the next request is answered as if nothing had been; nothing is written on standard error."""
    async with host() as wrong:
        assert fields((await wrong.greet())["capabilities"]).keys() == {"tools"}
        for method in ("resources/list", "prompts/list", "server/fly"):
            wrong.tell(method, 1)
            assert fields((await wrong.answer(1))["error"])["code"] == -32601
        wrong.say(b"{what?")
        wrong.say(b"\xff\xfe")
        wrong.say(b"")
        wrong.tell("tools/call", 2, name="mute", arguments=["mcp:git"])
        assert fields((await wrong.answer(2))["error"])["code"] == -32602
        for name, target, words in (("mute", "x" * (10 << 20), "no cockpit is running"), ("mut", "x", "did you mean")):
            wrong.tell("tools/call", 3, name=name, arguments={"target": target})
            result = fields((await wrong.answer(3))["result"])
            assert result["isError"] is True
            assert words in str(result["content"])
        wrong.tell("ping", 4)
        assert (await wrong.answer(4))["result"] == {}
        assert wrong.process.stdin is not None
        wrong.process.stdin.close()
        out, err = await wrong.process.communicate()
        assert (wrong.process.returncode, out, err) == (0, b"", b"")


@pytest.mark.parametrize("asked", [*VERSIONS, "1999-01-01"])
async def test_a_host_of_any_age_is_served(asked: str) -> None:
    """One that asks for a version which nobody knows gets one that it may take or leave."""
    async with host() as old:
        given = (await old.greet(asked))["protocolVersion"]
        assert given == asked if asked in VERSIONS else given != asked
        old.tell("tools/list", 1)
        assert "tools" in fields((await old.answer(1))["result"])


async def test_ctrl_c_ends_it_at_once() -> None:
    async with host() as running:
        await running.greet()
        running.process.send_signal(signal.SIGINT)
        assert await running.process.wait() == -signal.SIGINT
        assert running.process.stderr is not None
        assert await running.process.stderr.read() == b""
