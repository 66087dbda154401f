"""What we send to channels, and how its outcome is told (mcpl.md 7.5 to 7.9, N-5, A-9)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from cockpit.connect.config import Limits, ServerConfig
from cockpit.connect.ports import Published
from cockpit.core.message import Json
from cockpit.errors import ConnectorError
from cockpit.testing.served import Served

Serve = Callable[..., Awaitable[Served]]
Config = Callable[..., ServerConfig]


async def test_a_publish_is_one_request_with_text(serve: Serve) -> None:
    served = await serve("--channels", "a")
    published = await served.server.publish("a", "hello", "conversation-1")
    assert published.delivered
    assert published.message_id
    assert await served.remote.do("expect", method="channels/publish") == [
        {"conversationId": "conversation-1", "channelId": "a", "content": [{"type": "text", "text": "hello"}]}
    ]


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ({"error": {"code": -32023, "message": "Unknown channel"}}, "Unknown channel"),
        ({"result": {"delivered": False, "reason": "too\nlong"}}, "too long"),
        ({"result": {"delivered": False}}, "was not delivered"),
        ({"result": [1]}, "was not delivered"),
        ("silent", "no answer to channels/publish within 0.2 s: it may have gone out all the same"),
    ],
)
async def test_a_publish_that_fails_says_why(serve: Serve, config: Config, how: Json, reason: str) -> None:
    served = await serve("--channels", "a", config=config(limits=Limits(request=0.2 if how == "silent" else 60)))
    await served.remote.do("answer", method="channels/publish", how=how)
    assert await served.server.publish("a", "hello", "c") == Published(delivered=False, reason=reason)


async def test_nothing_is_published_where_it_cannot_be(serve: Serve) -> None:
    served = await serve()
    await served.remote.do("register", channels=[{"id": "in", "direction": "inbound"}])
    assert (await served.server.publish("in", "hi", "c")).reason == "'in' only receives"
    assert (await served.server.publish("zzz", "hi", "c")).reason == "fix has not registered 'zzz'"
    assert "channels/publish" not in str(await served.remote.do("received"))


async def test_our_own_message_is_known_when_it_comes_back(serve: Serve) -> None:  # N-5
    served = await serve("--channels", "a")
    published = await served.server.publish("a", "hello", "c")
    await served.remote.do("say", channel="a", text="hello, edited", id=published.message_id)
    await served.remote.do("say", channel="a", text="hello", id="somebody-else")
    await served.remote.do("say", channel="a", text="x", id="tagged", tags=["chat:from-self"])
    assert [each.own for each in served.host.arrivals] == [True, False, True]


async def test_an_echo_that_overtakes_the_answer_is_known_too(serve: Serve) -> None:  # N-5
    served = await serve("--channels", "a")
    await served.remote.do("answer", method="channels/publish", how="silent")
    publishing = asyncio.ensure_future(served.server.publish("a", "hello", "c"))
    await served.remote.do("expect", method="channels/publish")
    await served.remote.do("say", channel="a", text="hello", id="echo")
    assert served.host.arrivals[0].own
    publishing.cancel()


async def test_an_echo_after_a_reconnect_is_known(serve: Serve) -> None:  # N-5
    served = await serve("--channels", "a")
    published = await served.server.publish("a", "hello", "c")
    await served.server.kill()
    await served.server.start()
    await served.online(2)
    await served.remote.do("say", channel="a", text="hello", id=published.message_id)
    assert served.host.arrivals[0].own


async def test_typing_starts_and_stops(serve: Serve) -> None:
    served = await serve("--channels", "a")
    served.server.typing("a", on=True)
    served.server.typing("a", on=False)
    served.server.typing("zzz", on=True)
    assert await served.remote.do("expect", method="channels/typing", count=2) == [
        {"channelId": "a", "op": "start"},
        {"channelId": "a", "op": "stop"},
    ]


async def test_open_and_close(serve: Serve) -> None:
    served = await serve("--channels", "a")
    await served.remote.do("answer", method="channels/close", how={"result": {"closed": False}})
    await served.server.close("a")
    await served.server.open("a")
    assert await served.remote.do("expect", method="channels/close") == [{"channelId": "a"}]
    await served.remote.do("expect", method="channels/open", count=2)


async def test_a_server_that_is_not_online_raises(serve: Serve) -> None:
    served = await serve(killed=True, until="nothing")
    await served.host.until_presence("killed")
    server = served.server
    for asked in (
        server.call("echo", {}),
        server.open("a"),
        server.close("a"),
        server.publish("a", "x", "c"),
        server.acknowledge("a", "1", "seen"),
    ):
        with pytest.raises(ConnectorError, match="fix is not online"):
            await asked
    server.typing("a", on=True)
    assert (server.tools(), server.grant, server.instructions()) == ((), frozenset(), "")
