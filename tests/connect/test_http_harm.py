"""What an endpoint may do that is no MCP server, or a hostile one: it ends its own connection, with a reason (R-3)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from cockpit.connect import streamable
from cockpit.connect.config import Limits
from cockpit.errors import ToolError
from cockpit.testing.host import Presented
from cockpit.testing.http_server import Exchange, HttpServer
from cockpit.testing.mcp_http import HttpTools, row

EVENTS = "text/event-stream"


async def least(exchange: Exchange) -> None:
    """The least of an endpoint that begins a session; it has no event stream."""
    body = exchange.request.body
    if exchange.request.method != "POST":
        await exchange.respond(405, b"", {})
    elif b'"initialize"' in body:
        result = b'{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}'
        ident = body.partition(b'"id":')[2].partition(b",")[0].strip(b" }")
        whole = b'{"jsonrpc":"2.0","id":%s,"result":%s}' % (ident, result)
        await exchange.respond(200, whole, {"content-type": "application/json", "mcp-session-id": "s-1"})
    else:
        await exchange.respond(202, b"", {})


class TestHanging:
    async def test_a_kill_does_not_wait_for_an_endpoint_that_hangs(self, tmp_path: Path) -> None:
        async def hang(exchange: Exchange) -> None:
            asked.set()
            await exchange.client_left()

        asked = asyncio.Event()
        async with HttpServer(hang) as server, row(server.url, tmp_path) as found:
            await asked.wait()
            await found.server.kill()
            assert found.host.words() == ["connecting", "killed"]

    async def test_a_kill_does_not_wait_for_one_that_does_not_take_the_end_of_its_session(self, tmp_path: Path) -> None:
        async def stubborn(exchange: Exchange) -> None:
            methods.append(exchange.request.method)
            if exchange.request.method == "DELETE":
                await exchange.client_left()
            else:
                await least(exchange)

        methods: list[str] = []
        limits = Limits(grace=0.1)
        async with HttpServer(stubborn) as server, row(server.url, tmp_path, limits=limits) as found:
            await found.host.until_presence("online")
            async with asyncio.timeout(2):
                await found.server.kill()
            assert found.host.words() == ["connecting", "online", "killed"]
            assert methods[-1] == "DELETE"


class TestEventStream:
    """What the server says of itself comes over one long answer to a GET; without it that is missed in silence."""

    @pytest.mark.parametrize("comes_back", [True, False])
    async def test_one_that_ends_and_does_not_come_back_ends_the_session(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, comes_back: bool
    ) -> None:
        async def once(exchange: Exchange) -> None:
            if exchange.request.method != "GET":
                await least(exchange)
                return
            opened.append(exchange)
            if len(opened) == 1 or not comes_back:
                await exchange.respond(200 if len(opened) == 1 else 405, b"retry: 50\n\n", {"content-type": EVENTS})
            else:
                await exchange.begin(200, {"content-type": EVENTS})
                await exchange.client_left()

        opened: list[Exchange] = []
        monkeypatch.setattr(streamable, "_WITHOUT_EVENTS", 0.4)
        async with HttpServer(once) as server, row(server.url, tmp_path) as found:
            await found.host.until_presence("online")
            offline = asyncio.ensure_future(found.host.until_presence("offline"))
            done, _ = await asyncio.wait({offline}, timeout=1.5 if comes_back else 10)
            assert bool(done) is not comes_back
            assert len(opened) >= 2
            if not comes_back:
                assert offline.result() == Presented(
                    "web", "offline", "closed its event stream and gave no other", crashed=True
                )
            offline.cancel()


class TestGarbage:
    """What an endpoint does that is no MCP server, or a hostile one, harms nobody else (R-3)."""

    @pytest.mark.parametrize(
        ("status", "kind", "body", "reason"),
        [
            (500, "text/plain", b"oops", "answered 500 Internal Server Error"),
            (404, "text/html", b"<h1>no</h1>", "answered 404 Not Found"),
            (503, "", b"", "answered 503 Service Unavailable"),
            (403, "text/html", b"", "answered 403 Forbidden: look at the headers in the recipe"),
            (200, "text/html", b"<html>", "refused the handshake: Unexpected content type: text/html"),
            (200, "application/json", b"[", "refused the handshake: Failed to parse JSON response"),
            (200, "application/json", b'{"jsonrpc":"2.0","id":1,"result":null}', "refused the handshake: "),
            (200, "application/json", b'{"jsonrpc":"2.0","id":1,"result":{}}', "answered the handshake with something"),
            (202, "", b"", "refused the handshake: server answered a request with 202 Accepted"),
            (200, "text/event-stream", b"data: x\n\n", "refused the handshake: Failed to parse SSE message"),
            (200, "text/event-stream", b"", "refused the handshake: SSE stream ended without a response"),
        ],
    )
    async def test_an_answer_that_is_none(
        self, tmp_path: Path, status: int, kind: str, body: bytes, reason: str
    ) -> None:
        async def answer(exchange: Exchange) -> None:
            await exchange.respond(status, body, {"content-type": kind} if kind else {})

        async with HttpServer(answer) as server, row(server.url, tmp_path) as found:
            offline = await found.host.until_presence("offline")
            assert offline.reason.startswith(reason), offline.reason
            assert "\n" not in offline.reason
            assert not offline.crashed

    @pytest.mark.parametrize(
        ("kind", "reason"),
        [
            ("application/json", "sent a body longer than 97 KiB"),
            (EVENTS, "Server-sent event exceeded the 100000 byte limit"),
            ("text/html", "Unexpected content type: text/html"),
        ],
    )
    async def test_a_body_without_end_is_cut_off(self, tmp_path: Path, kind: str, reason: str) -> None:
        async def flood(exchange: Exchange) -> None:
            await exchange.begin(200, {"content-type": kind})
            for _ in range(1_000):
                await exchange.send(b"x" * 10_000)
                sent.append(10_000)

        sent: list[int] = []
        async with (
            HttpServer(flood) as server,
            row(server.url, tmp_path, limits=Limits(line=100_000)) as found,
        ):
            offline = await found.host.until_presence("offline")
            assert reason in offline.reason
        assert sum(sent) < 10_000_000

    async def test_a_compressed_body_is_not_unpacked(self, tmp_path: Path) -> None:
        async def squeeze(exchange: Exchange) -> None:
            await exchange.respond(200, b"\x1f\x8b", {"content-type": "application/json", "content-encoding": "gzip"})

        async with HttpServer(squeeze) as server, row(server.url, tmp_path) as found:
            offline = await found.host.until_presence("offline")
            assert offline.reason == "compressed its answer, though it was asked not to"

    async def test_a_connection_that_breaks_in_the_middle(self, tmp_path: Path) -> None:
        async def cut(exchange: Exchange) -> None:
            await exchange.begin(200, {"content-type": "application/json"})
            await exchange.send(b"{")
            exchange.cut()

        async with HttpServer(cut) as server, row(server.url, tmp_path) as found:
            offline = await found.host.until_presence("offline")
            assert offline.reason.startswith("broke the connection off: ")

    async def test_an_endpoint_that_never_answers(self, tmp_path: Path) -> None:
        async def hang(exchange: Exchange) -> None:
            await exchange.client_left()

        async with HttpServer(hang) as server, row(server.url, tmp_path, limits=Limits(handshake=0.2)) as found:
            offline = await found.host.until_presence("offline")
            assert offline.reason == "did not answer the handshake within 0.2 s"

    async def test_a_gateway_whose_server_is_gone_is_no_proof_of_life(self, tmp_path: Path) -> None:  # F-15
        """Pings that a proxy answers with 502 are unanswered: two of them, and it is offline."""

        async def proxy(exchange: Exchange) -> None:
            if b'"ping"' in exchange.request.body:
                await exchange.respond(502, b"bad gateway", {})
                pings.append(exchange.request.body)
                pinged.set()
            else:
                await least(exchange)

        pings: list[bytes] = []
        pinged = asyncio.Event()
        async with HttpServer(proxy) as server, row(server.url, tmp_path, ping=15) as found:
            await found.host.until_presence("online")
            for count in (1, 2, 3):
                await found.clock.until_asked(count)
                while len(pings) < count - 1:
                    await pinged.wait()
                    pinged.clear()
                with pytest.raises(ToolError, match="202 Accepted"):
                    await found.server.call("echo", {})  # by now what was answered before it was taken
                found.clock.advance(15)
            offline = await found.host.until_presence("offline")
            assert offline.reason == "did not answer two pings in a row"
            assert "answered with an HTTP error: 502 Bad Gateway" in found.host.faults

    async def test_a_bad_one_does_not_touch_its_neighbour(self, tmp_path: Path) -> None:
        async def answer(exchange: Exchange) -> None:
            await exchange.respond(500, b"", {})

        async with (
            HttpServer(answer) as server,
            HttpTools() as tools,
            row(tools.url, tmp_path) as good,
            row(server.url, tmp_path) as bad,
        ):
            await good.host.until_presence("online")
            await bad.host.until_presence("offline")
            assert (await good.server.call("echo", {})).content
            assert good.host.words() == ["connecting", "online"]
