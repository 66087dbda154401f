"""Answers and order: when a message is answered, in which order, and what happens where there is no room (R-1, R-8)."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Awaitable, Callable

import pytest

from cockpit.connect.config import Limits, ServerConfig
from cockpit.core.message import Json
from cockpit.errors import StoreError
from cockpit.testing.host import RecordingHost
from cockpit.testing.served import Served

Serve = Callable[..., Awaitable[Served]]
Config = Callable[..., ServerConfig]

ACCEPTED: Json = {"result": {"accepted": True}}


async def test_an_answer_waits_until_all_in_it_is_durable(serve: Serve) -> None:  # R-1
    served = await serve("--channels", "a", host=RecordingHost(durable=False))
    await served.remote.do("expect", method="channels/open")
    batch: Json = [{"channel": "a", "id": "1"}, {"channel": "a", "id": "2"}]
    telling = served.remote.tell("incoming", messages=batch)
    await served.host.until(lambda: len(served.host.arrivals) == 2)
    # another round trip on the same connection: had the answer been written, it would have come before this one
    await served.server.call("echo", {})
    assert not telling.done()
    assert served.host.commit() == 2
    assert await telling == {
        "result": {"results": [{"messageId": "1", "accepted": True}, {"messageId": "2", "accepted": True}]}
    }


async def test_answers_leave_in_the_order_of_the_requests(serve: Serve) -> None:
    served = await serve("--channels", "a", host=RecordingHost(durable=False))
    await served.remote.do("expect", method="channels/open")
    saying = served.remote.tell("say", channel="a", text="x")
    listing = served.remote.tell("request", method="channels/list")
    asking = served.remote.tell("request", method="nonsense")
    await served.host.until(lambda: served.host.arrivals)
    await served.server.call("echo", {})
    assert [each.done() for each in (saying, listing, asking)] == [False] * 3
    served.host.commit()
    await asyncio.gather(saying, listing, asking)
    trace = await served.remote.do("trace")
    assert isinstance(trace, list)
    assert [each for each in trace if str(each).startswith("answer")] == [f"answer {n}" for n in (1, 2, 3, 4)]


async def test_what_could_not_be_stored_is_not_accepted(serve: Serve) -> None:  # R-8
    served = await serve("--channels", "a", host=RecordingHost(durable=False))
    saying = served.remote.tell("say", channel="a", text="x", id="1")
    pushing = served.remote.tell("push", text="x")
    await served.host.until(lambda: len(served.host.arrivals) == 2)
    served.host.fail(StoreError("disk full"))
    assert await saying == {"result": {"results": [{"messageId": "1", "accepted": False, "reason": "not stored"}]}}
    assert await pushing == {"result": {"accepted": False, "reason": "not stored"}}


async def test_messages_in_a_notification_are_taken_and_not_answered(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    served = await serve("--channels", "a", host=RecordingHost(durable=False))
    await served.remote.do("incoming", notify=True, messages=[{"channel": "a", "text": "quiet"}])
    await served.host.until(lambda: served.host.texts() == ["quiet"])
    served.host.fail(StoreError("disk full"))
    await served.remote.do("request", method="channels/list")
    gc.collect()
    assert "never retrieved" not in caplog.text


async def test_where_the_engine_has_no_room_reading_stops_and_nothing_is_lost(serve: Serve, config: Config) -> None:
    host = RecordingHost()
    served = await serve("--channels", "a", host=host, config=config(limits=Limits(queue=50)))
    await served.remote.do("expect", method="channels/open")
    host.full = True
    flooding = served.remote.tell("flood", channel="a", count=5000, window=5000)
    # what is written while nobody reads waits in the server: sooner or later it cannot answer a call any more
    calling = await served.stuck()
    assert host.arrivals == []
    host.full = False
    await flooding
    await calling
    keys = [each.key for each in host.arrivals]
    assert len(keys) == len(set(keys)) == 5000
    assert host.words() == ["connecting", "online"]


async def test_messages_keep_the_order_of_their_lines(serve: Serve) -> None:
    served = await serve("--channels", "a,b")
    for number in range(50):
        served.remote.tell("say", channel="ab"[number % 2], text=str(number))
    await served.host.until(lambda: len(served.host.arrivals) == 50)
    assert served.host.texts() == [str(number) for number in range(50)]


async def test_a_batch_beyond_the_limit_is_refused_entry_by_entry(serve: Serve, config: Config) -> None:
    served = await serve("--channels", "a", config=config(limits=Limits(batch=2)))
    batch: Json = [{"channel": "a", "id": str(number)} for number in range(3)]
    assert await served.remote.do("incoming", messages=batch) == {
        "result": {
            "results": [
                {"messageId": "0", "accepted": True},
                {"messageId": "1", "accepted": True},
                {"messageId": "2", "accepted": False, "reason": "batch too long"},
            ]
        }
    }


async def test_the_rate_that_a_recipe_sets(serve: Serve, config: Config) -> None:  # A-7
    served = await serve("--channels", "a", config=config(limits=Limits(messages_per_second=2.0)))
    for _ in range(5):
        await served.remote.do("say", channel="a", text="same", id="1")
    assert len(served.host.arrivals) == 5, "a duplicate takes nothing from it"
    await served.remote.do("say", channel="a", text="new", id="2")
    answer = await served.remote.do("push", text="too much")
    assert answer == {"result": {"accepted": False, "reason": "rate"}}
    served.clock.advance(1)
    assert await served.remote.do("push", text="later") == ACCEPTED


SETS = {
    "version": "0.5",
    "pushEvents": True,
    "channels": True,
    "featureSets": {
        "a.on": {"uses": ["pushEvents"]},
        "a.off": {"uses": ["pushEvents", "modelInfo"]},
        "a.silent": {"uses": ["channels.publish"]},
    },
}


@pytest.mark.parametrize(
    ("named", "answer"),
    [
        ("a.on", ACCEPTED),
        ("a.off", {"error": {"code": -32001, "message": "Feature set disabled", "data": {"featureSet": "a.off"}}}),
        ("a.new", {"error": {"code": -32003, "message": "Unknown feature set", "data": {"featureSet": "a.new"}}}),
        (
            "a.silent",
            {
                "error": {
                    "code": -32001,
                    "message": "Feature set does not declare pushEvents",
                    "data": {"featureSet": "a.silent"},
                }
            },
        ),
    ],
)
async def test_a_push_needs_a_feature_set_that_is_on(serve: Serve, named: str, answer: Json) -> None:
    served = await serve("--manifest", json.dumps(SETS))
    assert await served.remote.do("push", text="x", set=named) == answer
    assert len(served.host.arrivals) == (1 if answer == ACCEPTED else 0)


async def test_a_push_without_an_id_is_malformed(serve: Serve) -> None:
    served = await serve()
    answer = await served.remote.do("request", method="push/event", params={"featureSet": "fixture.push"})
    assert answer == {"error": {"code": -32602, "message": "Invalid params: no eventId"}}


async def test_a_push_of_a_registered_channel_is_its_traffic(serve: Serve) -> None:  # A-1
    served = await serve("--channels", "a")
    origin: Json = {"mcplChannelId": "a", "messageId": "m1", "authorName": "Kim"}
    assert await served.remote.do("push", text="you there?", origin=origin, tags=["chat:mention"]) == ACCEPTED
    (arrived,) = served.host.arrivals
    assert (str(arrived.target), arrived.kind, arrived.id, arrived.author) == ("channel:fix/a", "chat", "m1", "Kim")


async def test_one_server_cannot_speak_for_another(serve: Serve, config: Config) -> None:  # A-7, K-114
    one = await serve("--channels", "a", config=config(name="one"))
    other = await serve("--channels", "a", config=config(name="other"))
    for served in (one, other):
        await served.remote.do("say", channel="a", text="x", id="1")
    first, second = one.host.arrivals[0], other.host.arrivals[0]
    assert (str(first.target), str(second.target)) == ("channel:one/a", "channel:other/a")
    assert first.key != second.key
