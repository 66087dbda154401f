"""What a host of MCPL must show of its grant: mcpl.md 16, points 1, 2, 8, 9 and 10, over real stdio."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable

from cockpit.connect.config import DEFAULT_GRANT, Limits, ServerConfig
from cockpit.core.message import Json, Text
from cockpit.testing.served import Served

Serve = Callable[..., Awaitable[Served]]
Config = Callable[..., ServerConfig]

CHANNELS_OFF = json.dumps({"version": "0.5", "channels": False, "pushEvents": False})


def results(*entries: dict[str, Json]) -> Json:
    return {"result": {"results": list(entries)}}


def denied(capability: str) -> Json:
    return {"error": {"code": -32002, "message": "Capability denied", "data": {"capability": capability}}}


class Test1Handshake:
    """`initialize` first, `initialized` next, then the policy request; an empty grant is still sent."""

    async def test_16_1_order_and_policy(self, serve: Serve) -> None:
        served = await serve()
        methods = await served.remote.do("received")
        assert isinstance(methods, list)
        assert methods[:4] == ["initialize", "notifications/initialized", "featureSets/update", "tools/list"]
        policy = await served.remote.do("expect", method="featureSets/update")
        assert policy == [
            {"effectiveCapabilities": sorted(DEFAULT_GRANT), "deniedCapabilities": ["channels.streaming"]}
        ]
        assert served.server.grant == set(DEFAULT_GRANT)

    async def test_16_1_we_show_what_we_serve_and_no_more(self, serve: Serve) -> None:
        served = await serve()
        said = await served.remote.do("expect", method="initialize")
        assert isinstance(said, list)
        assert isinstance(said[0], dict)
        assert said[0]["capabilities"] == {
            "roots": {},
            "experimental": {
                "mcpl": {
                    "version": "0.5",
                    "pushEvents": True,
                    "channels": {
                        "register": True,
                        "lifecycle": True,
                        "publish": True,
                        "incoming": True,
                        "acknowledge": True,
                        "typing": True,
                    },
                    "featureSets": True,
                }
            },
        }

    async def test_16_1_an_empty_grant_is_sent(self, serve: Serve, config: Config) -> None:
        served = await serve(config=config(grant=()))
        policy = await served.remote.do("expect", method="featureSets/update")
        assert isinstance(policy, list)
        assert isinstance(policy[0], dict)
        assert policy[0]["effectiveCapabilities"] == []
        assert policy[0]["disabled"] == ["fixture.push"]
        assert (served.server.grant, served.server.tools()) == (frozenset(), ())

    async def test_16_1_a_plain_mcp_server_has_its_tools_and_hears_nothing_of_this(self, serve: Serve) -> None:
        served = await serve("--plain")
        methods = await served.remote.do("received")
        assert isinstance(methods, list)
        assert "featureSets/update" not in methods
        assert [tool.name for tool in served.server.tools()] == ["echo", "fail", "wait"]
        assert served.server.grant == {"tools"}


class Test2Held:
    """What comes before the receipt is decided after it."""

    @staticmethod
    async def early(served: Served) -> asyncio.Future[Json]:
        """Have it register before its receipt: it answers the policy only when told."""
        await served.remote.do("expect", method="featureSets/update")
        return served.remote.tell("register", channels=["a"])

    async def test_16_2_register_before_the_receipt_is_answered_after_it(self, serve: Serve) -> None:
        served = await serve("--silent", "featureSets/update", until="connected")
        early = await self.early(served)
        await served.remote.do("raw", text='{"jsonrpc":"2.0","method":"mcpl/manifestChanged"}\n')
        assert served.host.registrations == []
        assert not early.done()
        await served.remote.do("raw", text='{"jsonrpc":"2.0","id":"c-1","result":{"accepted":true}}\n')
        assert await early == results({"id": "a", "accepted": True})
        assert served.host.words() == ["connecting", "online"]

    async def test_16_2_without_a_receipt_the_limit_decides(self, serve: Serve, config: Config) -> None:
        served = await serve(
            "--silent", "featureSets/update", until="connected", config=config(limits=Limits(receipt=0.3))
        )
        early = await self.early(served)
        assert await early == results({"id": "a", "accepted": True})

    async def test_16_2_what_is_held_is_bounded(self, serve: Serve, config: Config) -> None:
        limits = Limits(held=10)
        served = await serve("--silent", "featureSets/update", until="connected", config=config(limits=limits))
        await self.early(served)
        served.remote.tell("flood", channel="a", count=10)
        offline = await served.host.until_presence("offline")
        assert offline.reason == "sent too much before it had taken the policy"
        assert not offline.crashed
        assert "online" not in served.host.words()


class Test8Revocation:
    """The next `channels/incoming` gets −32002 although the channel was registered."""

    async def test_16_8_less_holds_at_once(self, serve: Serve) -> None:
        served = await serve("--channels", "a", "--silent", "nothing")
        await served.remote.do("say", channel="a", text="before")
        await served.remote.do("answer", method="featureSets/update", how="silent")
        changing = asyncio.ensure_future(served.server.regrant(["channels.register"]))
        await served.remote.do("expect", method="featureSets/update", count=2)
        assert served.server.grant == {"channels.register"}
        assert await served.remote.do("say", channel="a", text="after") == denied("channels.incoming")
        assert served.host.texts() == ["before"]
        changing.cancel()

    async def test_16_8_more_holds_once_the_server_took_it(self, serve: Serve, config: Config) -> None:
        limits = Limits(receipt=1)
        served = await serve(config=config(grant=("channels.register",), limits=limits))
        await served.remote.do("answer", method="featureSets/update", how="silent")
        await served.server.regrant(["channels.*"])
        assert served.server.grant == {"channels.register"}
        await served.remote.do("answer", method="featureSets/update", how=None)
        await served.server.regrant(["channels.*"])
        assert "channels.incoming" in served.server.grant

    async def test_16_8_a_change_that_is_refused_leaves_nothing(self, serve: Serve) -> None:
        served = await serve()
        how: Json = {"result": {"accepted": False, "fallback": "mcp-only"}}
        await served.remote.do("answer", method="featureSets/update", how=how)
        await served.server.regrant(["channels.*"])
        assert served.server.grant == frozenset()


class Test9Refusal:
    """A refusal leaves no grant; "mcp-only" keeps tools, "close" ends the connection."""

    async def test_16_9_mcp_only(self, serve: Serve) -> None:
        served = await serve("--receipt", "mcp-only")
        assert served.server.grant == frozenset()
        called = await served.server.call("echo", {"a": 1})
        assert called.content == (Text('{"a": 1}'),)
        assert await served.remote.do("register", channels=["a"]) == denied("channels.register")
        assert "refused the policy: not these: no channels, only its tools" in served.host.faults

    async def test_16_9_close(self, serve: Serve) -> None:
        served = await serve("--receipt", "close", until="nothing")
        offline = await served.host.until_presence("offline")
        assert (offline.reason, offline.crashed) == ("refused the policy: not these", False)
        assert "online" not in served.host.words()


class Test10Legacy:
    """A 0.4 server (array feature sets, `channels: true`, −32601): both choices of the operator."""

    async def test_16_10_grant(self, serve: Serve) -> None:
        served = await serve("--receipt", "unknown", "--channels", "a")
        assert served.server.grant == set(DEFAULT_GRANT)
        await served.remote.do("say", channel="a", text="hi")
        # its feature set does not say that it pushes, and yet it would be mute without this
        assert await served.remote.do("push", text="due") == {"result": {"accepted": True}}
        assert await served.remote.do("push", text="due", set="undeclared") == {"result": {"accepted": True}}
        assert served.host.texts() == ["hi", "due", "due"]
        assert [each for each in served.host.faults if each.startswith("pushes in the name")]

    async def test_16_10_deny(self, serve: Serve, config: Config) -> None:
        served = await serve("--receipt", "unknown", config=config(legacy="deny"))
        assert served.server.grant == frozenset()
        assert [tool.name for tool in served.server.tools()] == ["echo", "fail", "wait"]
        assert await served.remote.do("register", channels=["a"]) == denied("channels.register")
        assert await served.remote.do("push", text="due") == denied("pushEvents")
