"""A server behind a URL lives as one behind a pipe does: a real SDK server over streamable HTTP, supervised."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from mcp import types

from cockpit.connect.ports import Called
from cockpit.core.message import Text
from cockpit.errors import ToolError
from cockpit.testing.host import Presented
from cockpit.testing.http_server import Exchange, HttpServer
from cockpit.testing.mcp_http import HttpTools, Row, row

TOKEN = "tok-5f1d9c"


@pytest.fixture
async def web() -> AsyncIterator[HttpTools]:
    async with HttpTools(token=TOKEN) as server:
        yield server


@pytest.fixture
async def up(web: HttpTools, tmp_path: Path) -> AsyncIterator[Row]:
    async with row(web.url, tmp_path, token=TOKEN) as found:
        await found.host.until_presence("online")
        yield found


class TestTools:
    async def test_its_tools_are_called(self, up: Row, web: HttpTools) -> None:
        assert [tool.name for tool in up.server.tools()] == ["echo", "wait"]
        assert await up.server.call("echo", {"a": [1, "é"]}) == Called((Text('{"a": [1, "\\u00e9"]}'),))
        assert up.host.words() == ["connecting", "online"]
        assert up.server.grant == {"tools"}

    async def test_each_request_carries_the_headers_and_the_version_that_was_agreed(
        self, up: Row, web: HttpTools
    ) -> None:
        await up.server.call("echo", {})
        assert {each.headers["authorization"] for each in web.asked} == {f"Bearer {TOKEN}"}
        assert "mcp-protocol-version" not in web.asked[0].headers
        assert {each.headers["mcp-protocol-version"] for each in web.asked[1:]} == {"2025-11-25"}
        assert {each.headers["accept-encoding"] for each in web.asked} == {"identity"}

    async def test_calls_run_beside_each_other(self, up: Row, web: HttpTools) -> None:
        waiting = asyncio.ensure_future(up.server.call("wait", {}))
        await web.calling.wait()
        assert (await up.server.call("echo", {})).content
        assert not waiting.done()
        web.release()
        assert (await waiting).content == (Text("wait"),)

    async def test_a_changed_list_is_fetched_again(self, up: Row, web: HttpTools) -> None:  # M-2, K-105
        told = up.host.tool_changes
        web.tools[:] = ["new"]
        await web.session.send_tool_list_changed()
        await up.host.until(lambda: up.host.tool_changes == told + 1)
        assert [tool.name for tool in up.server.tools()] == ["new"]


class TestWhatItSays:
    async def test_an_update_becomes_a_message_without_any_call(self, up: Row, web: HttpTools) -> None:  # M-2
        await web.session.send_resource_updated("fixture:disk")
        await up.host.until(lambda: up.host.texts() == ["resource updated: fixture:disk"])

    async def test_what_it_asks_of_us_is_answered(self, up: Row, web: HttpTools) -> None:  # M-2
        assert await web.session.send_ping() == types.EmptyResult()
        roots = await web.session.send_request(types.ListRootsRequest(), types.ListRootsResult)
        assert roots.roots == []

    async def test_messages_come_in_order(self, up: Row, web: HttpTools) -> None:
        for number in range(200):
            await web.session.send_resource_updated(f"fixture:{number}")
        await up.host.until(lambda: len(up.host.arrivals) == 200)
        assert up.host.texts() == [f"resource updated: fixture:{number}" for number in range(200)]


class TestPresence:
    async def test_gone_it_is_offline_with_the_reason_and_back_it_is_online(
        self, up: Row, web: HttpTools
    ) -> None:  # R-3, F-15
        await web.stop()
        calling = asyncio.ensure_future(up.server.call("echo", {}))
        offline = await up.host.until_presence("offline")
        assert offline.crashed
        assert offline.reason.startswith(("cannot be reached: ", "broke the ", "closed its event"))
        with pytest.raises(ToolError):
            await calling
        await up.clock.until_asked(1)
        up.clock.advance(10)
        again = await up.host.until_presence("offline", 2)
        assert (again.reason, again.crashed) == ("cannot be reached: All connection attempts failed", False)
        assert await up.clock.until_asked(2) == 10
        await web.start()
        up.clock.advance(10)
        await up.host.until_presence("online", 2)
        assert (await up.server.call("echo", {})).content

    async def test_a_session_that_it_no_longer_knows_is_begun_anew(self, up: Row, web: HttpTools) -> None:
        await web.stop()
        await web.start()
        with pytest.raises(ToolError):
            await up.server.call("echo", {})
        offline = await up.host.until_presence("offline")
        assert offline == Presented(
            "web", "offline", "no longer knows the session: answered 404 Not Found", crashed=True
        )
        await up.clock.until_asked(1)
        up.clock.advance(10)
        await up.host.until_presence("online", 2)

    async def test_pings_keep_it_online(self, web: HttpTools, tmp_path: Path) -> None:  # F-15
        async with row(web.url, tmp_path, token=TOKEN, ping=15) as found:
            await found.host.until_presence("online")
            for count in range(1, 5):
                await found.clock.until_asked(count)
                await found.server.call("echo", {})
                found.clock.advance(15)
            assert found.host.words() == ["connecting", "online"]


class TestKill:
    async def test_kill_ends_the_session_and_no_further_request_is_made(self, up: Row, web: HttpTools) -> None:  # F-14
        await up.server.kill()
        assert web.methods()[-1] == "DELETE"
        assert web.methods().count("DELETE") == 1
        count = len(web.asked)
        up.clock.advance(10_000)
        await up.clock.until_asked(1)
        assert len(web.asked) == count
        assert up.host.words() == ["connecting", "online", "killed"]

    async def test_killed_before_it_ran_it_is_never_contacted_until_start(
        self, web: HttpTools, tmp_path: Path
    ) -> None:  # F-14, M-13
        async with row(web.url, tmp_path, token=TOKEN, killed=True) as found:
            await found.host.until_presence("killed")
            found.clock.advance(10_000)
            await found.clock.until_asked(1)
            assert web.asked == []
            await found.server.start()
            await found.host.until_presence("online")

    async def test_a_call_in_flight_when_it_is_killed(self, up: Row, web: HttpTools) -> None:
        calling = asyncio.ensure_future(up.server.call("wait", {}))
        await web.calling.wait()
        await up.server.kill()
        with pytest.raises(ToolError, match="it ended before it answered"):
            await calling


class TestSecrets:
    async def test_a_wrong_token_is_told_without_it(self, web: HttpTools, tmp_path: Path) -> None:
        async with row(web.url, tmp_path, token="wrong-token-77") as found:
            offline = await found.host.until_presence("offline")
            assert offline == Presented(
                "web", "offline", "answered 401 Unauthorized: look at the headers in the recipe", crashed=False
            )
            assert "wrong-token" not in repr((found.host.faults, found.host.presences))

    async def test_a_token_that_the_server_quotes_is_cut(self, tmp_path: Path) -> None:
        async def quote(exchange: Exchange) -> None:
            quoted = (
                f'{{"jsonrpc":"2.0","id":null,"error":{{"code":-32600,"message":"{TOKEN} or k3y-123456 expired"}}}}'
            )
            await exchange.respond(400, quoted.encode(), {"content-type": "application/json"})

        async with HttpServer(quote) as server, row(f"{server.url}/?key=k3y-123456", tmp_path, token=TOKEN) as found:
            offline = await found.host.until_presence("offline")
            assert offline.reason == "refused the handshake: [Authorization] or [url] expired"

    async def test_a_redirect_to_another_host_gets_nothing(self, tmp_path: Path) -> None:
        async def elsewhere(exchange: Exchange) -> None:
            reached.append(dict(exchange.request.headers))
            await exchange.respond(200, b"", {})

        async def redirect(exchange: Exchange) -> None:
            await exchange.respond(307, b"", {"location": f"{other.url}/mcp"})

        reached: list[dict[str, str]] = []
        async with (
            HttpServer(elsewhere) as other,
            HttpServer(redirect) as server,
            row(server.url, tmp_path, token=TOKEN) as found,
        ):
            offline = await found.host.until_presence("offline")
            assert offline.reason.startswith(f"refused the handshake: Redirect to {other.url}/mcp not followed")
        assert reached == []
