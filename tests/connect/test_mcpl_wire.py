"""What a host of MCPL must show of messages: mcpl.md 16, points 3 to 7, 11 and 12, over real stdio.

Points 1, 2, 8, 9 and 10 are in test_mcpl_policy.py."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable

import pytest

from cockpit.connect.config import DEFAULT_GRANT, Limits, ServerConfig
from cockpit.connect.ports import Published
from cockpit.core.message import Json
from cockpit.errors import ConnectorError
from cockpit.testing.host import RecordingHost
from cockpit.testing.served import Served

Serve = Callable[..., Awaitable[Served]]
Config = Callable[..., ServerConfig]

CHANNELS_OFF = json.dumps({"version": "0.5", "channels": False, "pushEvents": False})


def results(*entries: dict[str, Json]) -> Json:
    return {"result": {"results": list(entries)}}


def denied(capability: str) -> Json:
    return {"error": {"code": -32002, "message": "Capability denied", "data": {"capability": capability}}}


class Test3Results:
    """Results are per descriptor and per message."""

    async def test_16_3_a_mixed_register(self, serve: Serve) -> None:
        served = await serve()
        answer = await served.remote.do(
            "register", channels=["a", {"label": "no id"}, {"id": ""}, {"id": "b", "initiallyOpen": False}]
        )
        assert answer == results(
            {"id": "a", "accepted": True},
            {"id": None, "accepted": False, "reason": "no id"},
            {"id": "", "accepted": False, "reason": "no id"},
            {"id": "b", "accepted": True},
        )
        ((name, descriptors),) = served.host.registrations
        assert name == "fix"
        assert [(each.id, each.initially_open) for each in descriptors] == [("a", True), ("b", False)]
        assert "a channel was refused: no id" in served.host.faults

    async def test_16_3_incoming_of_an_unknown_channel_refuses_that_entry_only(self, serve: Serve) -> None:
        served = await serve("--channels", "a")
        await served.remote.do("expect", method="channels/open")
        answer = await served.remote.do(
            "incoming",
            messages=[
                {"channel": "a", "id": "1", "text": "one"},
                {"channel": "zzz", "id": "2", "text": "two"},
                {"channelId": "a"},
                "nonsense",
                {"channel": "a", "id": "3", "text": "three"},
            ],
        )
        assert answer == results(
            {"messageId": "1", "accepted": True},
            {"messageId": "2", "accepted": False, "reason": "unknown channel"},
            {"messageId": None, "accepted": False, "reason": "no messageId"},
            {"messageId": None, "accepted": False, "reason": "unknown channel"},
            {"messageId": "3", "accepted": True},
        )
        assert served.host.texts() == ["one", "three"]

    async def test_16_3_changed_removes_updates_and_adds(self, serve: Serve) -> None:
        served = await serve("--channels", "a,b")
        await served.remote.do("expect", method="channels/open", count=2)
        answer = await served.remote.do(
            "changed", removed=["a", "zzz"], updated=[{"id": "b", "label": "Bee"}], added=["c", {"id": 4}]
        )
        assert answer == results(
            {"id": "c", "accepted": True},
            {"id": 4, "accepted": False, "reason": "no id"},
            {"id": "b", "accepted": True},
        )
        assert served.host.removals == [("fix", ["a"])]
        listed = await served.remote.do("request", method="channels/list")
        assert listed == {
            "result": {
                "channels": [
                    {"id": each, "type": kind, "label": label, "direction": "bidirectional", "initiallyOpen": True}
                    for each, kind, label in [("b", "fix", "Bee"), ("c", "fixture", "c")]
                ]
            }
        }
        opened = await served.remote.do("expect", method="channels/open", count=3)
        assert isinstance(opened, list)
        assert [each["channelId"] for each in opened if isinstance(each, dict)] == ["a", "b", "c"]
        refused = await served.remote.do("say", channel="a", text="gone")
        assert isinstance(refused, dict)
        assert "unknown channel" in json.dumps(refused)

    async def test_16_3_changed_as_a_notification_is_taken_and_not_answered(self, serve: Serve) -> None:
        served = await serve("--channels", "a")
        await served.remote.do("changed", notify=True, added=["n"], removed=["a"])
        await served.remote.do("expect", method="channels/open", count=2)
        assert served.host.removals == [("fix", ["a"])]

    async def test_16_3_register_is_answered_before_channels_are_opened(self, serve: Serve) -> None:
        host = RecordingHost(wanted={"b"})
        served = await serve(host=host)
        await served.remote.do("register", channels=[{"id": "a"}, {"id": "b", "address": {"n": [1]}}])
        opened = await served.remote.do("expect", method="channels/open")
        assert opened == [{"channelId": "b", "type": "fix", "address": {"n": [1]}}]
        trace = await served.remote.do("trace")
        assert isinstance(trace, list)
        assert trace.index("answer 1") < trace.index("channels/open")

    async def test_16_3_a_channel_that_does_not_open_is_told_to_the_operator(self, serve: Serve) -> None:
        served = await serve()
        how: Json = {"error": {"code": -32024, "message": "no\nway"}}
        await served.remote.do("answer", method="channels/open", how=how)
        await served.remote.do("register", channels=["a"])
        await served.host.until(lambda: "did not open a channel: a: no way" in served.host.faults)
        with pytest.raises(ConnectorError, match="no way"):
            await served.server.open("a")
        with pytest.raises(ConnectorError, match="has not registered 'b'"):
            await served.server.open("b")


class Test4Denied:
    """Denied is −32002 with the capability, unknown is −32601, and each id is answered once."""

    @pytest.mark.parametrize(
        ("method", "capability"),
        [
            ("channels/register", "channels.register"),
            ("channels/changed", "channels.register"),
            ("channels/list", "channels.register"),
            ("channels/incoming", "channels.incoming"),
            ("push/event", "pushEvents"),
            ("inference/request", "inferenceRequest"),
            ("model/info", "modelInfo"),
        ],
    )
    async def test_16_4_denied(self, serve: Serve, method: str, capability: str) -> None:
        served = await serve("--manifest", CHANNELS_OFF)
        assert await served.remote.do("request", method=method) == denied(capability)
        assert served.host.arrivals == []

    @pytest.mark.parametrize(
        "method",
        ["state/get", "scope/elevate", "branches/list", "context/afterInference", "channels/publish", "nonsense"],
    )
    async def test_16_4_unknown(self, serve: Serve, method: str) -> None:
        served = await serve()
        assert await served.remote.do("request", method=method) == {
            "error": {"code": -32601, "message": "Method not found"}
        }

    async def test_16_4_malformed_params(self, serve: Serve) -> None:
        served = await serve()
        wrong_ones: list[Json] = [[1], "x", {"messages": 1, "channels": {}}]
        wrong = {"error": {"code": -32602, "message": "Invalid params"}}
        for method in ("channels/incoming", "channels/register"):
            for params in wrong_ones:
                assert await served.remote.do("request", method=method, params=params) == wrong

    async def test_16_4_a_path_that_the_recipe_leaves_out_is_not_sent_either(
        self, serve: Serve, config: Config
    ) -> None:
        served = await serve(config=config(grant=("channels.register", "channels.incoming")))
        await served.remote.do("register", channels=["a"])
        for asked in (
            served.server.acknowledge("a", "1", "suppressed-tuned-out"),
            served.server.publish("a", "hi", "c"),
            served.server.open("a"),
            served.server.close("a"),
        ):
            with pytest.raises(ConnectorError, match="is not granted channels"):
                await asked
        served.server.typing("a", on=True)
        await served.remote.do("request", method="channels/list")
        methods = await served.remote.do("received")
        assert isinstance(methods, list)
        assert not [each for each in methods if str(each).startswith("channels/")]

    async def test_16_4_ids_of_any_kind_are_echoed_and_each_request_is_answered_once(self, serve: Serve) -> None:
        served = await serve()
        idents: list[Json] = ["7", 1.5, -(10**30), "", "c-1", "é", 0]
        lines = [json.dumps({"jsonrpc": "2.0", "id": each, "method": "nonsense"}) for each in idents]
        lines += [f'{{"jsonrpc":"2.0","id":{each},"method":"channels/list"}}' for each in ("true", "[1]", "1e999")]
        await served.remote.do("raw", text="\n".join(lines) + "\n")
        answers = await served.remote.do("answers", count=10)
        assert isinstance(answers, list)
        assert [each["id"] for each in answers if isinstance(each, dict)] == [*idents, None, None, None]
        assert all("error" in each for each in answers if isinstance(each, dict))
        await served.remote.do("request", method="channels/list")
        assert answers == await served.remote.do("answers", count=10)


class Test5Repeats:
    """The same message twice, also over a restart: one effect, accepted twice."""

    async def test_16_5_twice(self, serve: Serve) -> None:
        served = await serve("--channels", "a")
        first = await served.remote.do("say", channel="a", text="hi", id="1")
        again = await served.remote.do("say", channel="a", text="hi", id="1")
        assert first == again == results({"messageId": "1", "accepted": True})
        assert served.host.arrivals[0].key == served.host.arrivals[1].key

    async def test_16_5_over_a_restart_of_the_cockpit(self, serve: Serve) -> None:
        before = await serve("--channels", "a")
        await before.remote.do("say", channel="a", text="hi", id="1")
        after = await serve("--channels", "a", host=RecordingHost(keys=before.host.keys))
        again = await after.remote.do("say", channel="a", text="hi", id="1")
        assert again == results({"messageId": "1", "accepted": True})
        assert after.host.keys == before.host.keys

    async def test_16_5_events_too(self, serve: Serve) -> None:
        served = await serve()
        for _ in range(2):
            assert await served.remote.do("push", text="due", id="e1") == {"result": {"accepted": True}}
        assert served.host.arrivals[0].key == served.host.arrivals[1].key


class Test6Tags:
    """`chat:mention` alone is like `chat:addressed`; mention and ambient is not ambient; bare `mention` is nothing."""

    @pytest.mark.parametrize(
        ("tags", "addressed", "ambient"),
        [
            (["chat:mention"], True, False),
            (["chat:mention", "chat:ambient"], True, False),
            (["chat:ambient"], False, True),
            (["mention"], False, False),
        ],
    )
    async def test_16_6_closure(self, serve: Serve, tags: list[Json], addressed: bool, ambient: bool) -> None:
        served = await serve("--channels", "a")
        await served.remote.do("say", channel="a", text="hi", tags=tags)
        (arrived,) = served.host.arrivals
        assert (arrived.addressed, "chat:ambient" in arrived.tags) == (addressed, ambient)


class Test7Acknowledge:
    """The wire's share of point 7: an acknowledgement is one request, and none where it is not granted."""

    async def test_16_7_one_request_with_the_intent_and_no_value(self, serve: Serve) -> None:  # T-7
        served = await serve("--channels", "a")
        await served.server.acknowledge("a", "1", "suppressed-tuned-out")
        sent = await served.remote.do("expect", method="channels/acknowledge")
        assert sent == [{"channelId": "a", "messageId": "1", "intent": "suppressed-tuned-out"}]

    @pytest.mark.parametrize(
        ("how", "why"),
        [
            ({"result": {"acknowledged": False, "reason": "no such message"}}, "no such message"),
            ({"result": {}}, "was not acknowledged"),
            ({"result": None}, "was not acknowledged"),
            ({"error": {"code": -32000, "message": "broken"}}, "broken"),
            ({"error": {}}, "error -32603"),
            ({}, "without a result"),
            ("silent", "no answer to channels/acknowledge within 0.2 s"),
        ],
    )
    async def test_16_7_whatever_fails_is_one_error(self, serve: Serve, config: Config, how: Json, why: str) -> None:
        served = await serve("--channels", "a", config=config(limits=Limits(open=0.2 if how == "silent" else 10)))
        await served.remote.do("answer", method="channels/acknowledge", how=how)
        with pytest.raises(ConnectorError, match=why):
            await served.server.acknowledge("a", "1", "suppressed-tuned-out")


class Test11Noise:
    """A non-JSON line, an answer nobody asked for, one without a result, a long message, a death mid-request."""

    async def test_16_11_noise_costs_nothing(self, serve: Serve) -> None:
        served = await serve("--channels", "a", "--garbage", "Starting up\x1b[2J")
        noise = [
            "log line",
            "[1,2]",
            '"text"',
            '{"jsonrpc":"2.0","id":999,"result":{}}',
            '{"jsonrpc":"2.0","id":"c-999","result":{}}',
            '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"?"}}',
            '{"jsonrpc":"2.0","id":true,"result":1}',
            '{"jsonrpc":"2.0","method":7,"id":1}',
            '{"jsonrpc":"2.0","method":["x"]}',
            '{"jsonrpc":"2.0","method":"nonsense"}',
            '{"jsonrpc":"2.0","method":"channels/incoming","params":[]}',
            "{}",
            "",
        ]
        await served.remote.do("raw", text="\n".join(noise) + "\n")
        await served.remote.do("raw", hex="ff00fe0a")
        await served.remote.do("say", channel="a", text="still here")
        assert served.host.texts() == ["still here"]
        assert served.host.words() == ["connecting", "online"]
        assert "wrote a line that is not JSON: Starting up [2J" in served.host.faults

    async def test_16_11_an_answer_without_a_result_fails_its_request(self, serve: Serve) -> None:
        served = await serve("--channels", "a")
        await served.remote.do("answer", method="channels/publish", how={})
        published = await served.server.publish("a", "hi", "c")
        assert published == Published(
            delivered=False, reason="was answered without a result: it may have gone out all the same"
        )

    async def test_16_11_a_message_of_a_mebibyte_arrives_whole(self, serve: Serve) -> None:
        served = await serve("--channels", "a")
        text = "é" * (1 << 20)
        await served.remote.do("say", channel="a", text=text)
        assert served.host.texts() == [text]

    async def test_16_11_a_longer_one_is_cut_with_a_mark(self, serve: Serve, config: Config) -> None:
        served = await serve("--channels", "a", config=config(limits=Limits(text=10)))
        await served.remote.do("say", channel="a", text="0123456789abc")
        assert served.host.texts()[0].startswith("0123456789\n[cut: ")

    async def test_16_11_a_server_that_dies_with_a_request_open(self, serve: Serve) -> None:
        served = await serve("--channels", "a")
        await served.remote.do("answer", method="channels/publish", how="silent")
        publishing = asyncio.ensure_future(served.server.publish("a", "hi", "c"))
        await served.remote.do("expect", method="channels/publish")
        served.remote.tell("exit", code=3)
        published = await publishing
        assert not published.delivered
        assert published.reason == "exited with code 3: it may have gone out all the same"
        offline = await served.host.until_presence("offline")
        assert (offline.reason, offline.crashed) == ("exited with code 3", True)


class Test12Reconnect:
    """Grant and channels start empty, wanted channels are opened again, closed ones stay closed."""

    async def test_16_12_nothing_of_the_old_connection_counts(self, serve: Serve) -> None:
        host = RecordingHost(wanted={"a"})
        served = await serve(host=host)
        await served.remote.do("register", channels=["a", "b"])
        assert await served.remote.do("expect", method="channels/open") == [
            {"channelId": "a", "type": "fixture", "address": {}}
        ]
        served.remote.tell("crash")
        await host.until_presence("offline")
        assert (served.server.grant, served.server.tools(), served.server.instructions()) == (frozenset(), (), "")
        await served.clock.until_asked(1)
        served.clock.advance(5)
        await served.online(2)
        refused = await served.remote.do("say", channel="a", text="not registered yet", id="1")
        assert refused == results({"messageId": "1", "accepted": False, "reason": "unknown channel"})
        await served.remote.do("register", channels=["a", "b"])
        assert await served.remote.do("expect", method="channels/open") == [
            {"channelId": "a", "type": "fixture", "address": {}}
        ]
        assert served.server.grant == set(DEFAULT_GRANT)
