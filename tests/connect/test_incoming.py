"""Messages and events, normalised and keyed (A-1, A-7, mcpl.md 7.7, 9.1, 10)."""

from __future__ import annotations

from itertools import combinations

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cockpit.connect.config import Limits
from cockpit.connect.incoming import Malformed, chat, event
from cockpit.connect.registry import Registered, Registry, key
from cockpit.core.inputs import Arrived
from cockpit.core.message import Json, Text
from cockpit.core.target import Target

LIMITS = Limits()


def registered(ident: str = "c:1/a", server: str = "disc") -> Registered:
    found = Registry(server, LIMITS).add({"id": ident})
    assert isinstance(found, Registered)
    return found


def message(**changes: Json) -> dict[str, Json]:
    plain: dict[str, Json] = {
        "channelId": "c:1/a",
        "messageId": "m1",
        "author": {"id": "u1", "name": "Kim"},
        "timestamp": "2026-11-30T09:00:00Z",
        "content": "hello",
    }
    return plain | changes


def taken(given: dict[str, Json], channel: Registered | None = None) -> Arrived:
    found = chat(given, channel or registered(), LIMITS)
    assert isinstance(found, Arrived)
    return found


def test_a_message() -> None:
    found = taken(message(tags=["chat:mention", "chat:from-human"]))
    assert found.target == Target("channel", "disc/c:1/a")
    assert (found.kind, found.author, found.author_id, found.id) == ("chat", "Kim", "u1", "m1")
    assert found.blocks == (Text("hello"),)
    assert found.addressed
    assert (found.push, found.own, found.change) == (False, False, "")


def test_the_same_message_has_the_same_key_and_any_other_another() -> None:
    assert taken(message()).key == taken(message(content="other words", timestamp="later")).key
    others = [
        taken(message()),
        taken(message(messageId="m2")),
        taken(message(), registered("c:2")),
        taken(message(), registered(server="irc")),
        taken(message(tags=["chat:edited"])),
        taken(message(tags=["chat:deleted"])),
        taken(message(tags=["chat:edited"], timestamp="later")),
        taken(message(tags=["chat:edited"], content="second edit")),
    ]
    assert all(one.key != other.key for one, other in combinations(others, 2))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # other tests share the machine
@example(["a\x1fb"], ["a", "b"])
@example(["a\\u"], ["a\x1f"])
@example(["a\\\x1fb"], ["a\\", "b"])
@given(st.lists(st.text("ab\\\x1fu", min_size=1), min_size=1), st.lists(st.text("ab\\\x1fu", min_size=1), min_size=1))
def test_keys_of_different_parts_differ(one: list[str], other: list[str]) -> None:
    assert (key(*one) == key(*other)) is (one == other)


def test_edits_and_deletions_say_which_message_they_change() -> None:
    assert taken(message(tags=["chat:edited"])).change == "edited"
    deleted = taken(message(tags=["chat:deleted"], content=[]))
    assert (deleted.change, deleted.id) == ("deleted", "m1")


def test_missing_and_malformed_fields_are_filled_in() -> None:  # K-59
    assert taken(message(author=None)).author == "unknown"
    assert taken(message(author={"id": "u9"})).author == "u9"
    assert taken(message(author={"name": "", "id": ""})).author == "unknown"
    assert taken(message(author=["x"], content={"a": 1}, tags="x", timestamp=4)).blocks == ()
    assert len(taken(message(author={"name": "x" * 10_000})).author) == 512


def test_ids_are_required_and_bounded() -> None:
    assert chat(message(messageId=None), registered(), LIMITS) == Malformed("no messageId")
    assert chat(message(messageId=7), registered(), LIMITS) == Malformed("no messageId")
    assert chat(message(messageId="x" * 513), registered(), LIMITS) == Malformed("messageId too long")
    assert taken(message(messageId="x" * 512)).id == "x" * 512
    assert event({"eventId": ""}, "s", {}, LIMITS) == Malformed("no eventId")
    assert event({"eventId": "x" * 513}, "s", {}, LIMITS) == Malformed("eventId too long")


def pushed(origin: Json = None, **changes: Json) -> Arrived:
    given: dict[str, Json] = {"eventId": "e1", "payload": {"content": "due"}, "origin": origin}
    found = event(given | changes, "disc", {"c:1/a": registered()}, LIMITS)
    assert isinstance(found, Arrived)
    return found


def test_an_event_belongs_to_its_server() -> None:
    found = pushed({"source": "cron"})
    assert (str(found.target), found.kind, found.push) == ("mcp:disc", "event", True)
    assert (found.author, found.id, found.blocks) == ("cron", "e1", (Text("due"),))
    assert pushed().author == "disc"


def test_an_event_that_names_a_registered_channel_is_its_traffic() -> None:
    origin: dict[str, Json] = {"mcplChannelId": "c:1/a", "messageId": "m7", "authorName": "Kim", "authorId": "u1"}
    found = pushed(origin, tags=["chat:mention"])
    assert (str(found.target), found.kind, found.push) == ("channel:disc/c:1/a", "chat", True)
    assert (found.id, found.author, found.author_id) == ("m7", "Kim", "u1")
    assert found.addressed
    assert pushed(origin, tags=["chat:edited"]).change == "edited"
    assert pushed({"mcplChannelId": "c:1/a"}).id is None


def test_a_channel_that_is_not_registered_gives_an_event_no_place() -> None:
    assert str(pushed({"mcplChannelId": "c:other"}).target) == "mcp:disc"
    assert str(pushed({"mcplChannelId": ["c:1/a"]}).target) == "mcp:disc"


def test_an_event_is_keyed_by_its_own_id() -> None:
    origin: Json = {"mcplChannelId": "c:1/a", "messageId": "m7"}
    assert pushed(origin).key == pushed().key != pushed(eventId="e2").key


def test_our_own_words_are_known_by_their_tag() -> None:  # N-5
    assert taken(message(tags=["chat:from-self"])).own
    assert pushed(tags=["chat:from-self"]).own


def test_a_registry_fills_in_what_is_missing_and_bounds_the_rest() -> None:  # mcpl.md 7.1
    registry = Registry("disc", Limits(channels=2))
    first = registry.add({"id": "a"})
    assert isinstance(first, Registered)
    described = first.descriptor
    assert (described.type, described.label, described.direction, described.initially_open) == (
        "disc",
        "a",
        "bidirectional",
        True,
    )
    assert registry.add({"label": "x"}) == "no id"
    assert registry.add({"id": ""}) == registry.add(3) == "no id"
    assert registry.add({"id": "x" * 513}) == "id too long"
    second = registry.add({"id": "b", "initiallyOpen": False, "direction": "inbound", "address": {"n": 1}})
    assert isinstance(second, Registered)
    assert (second.descriptor.initially_open, second.descriptor.direction) == (False, "inbound")
    assert second.json()["address"] == {"n": 1}
    assert registry.add({"id": "c"}) == "too many channels"
    assert isinstance(registry.add({"id": "a", "label": "new"}), Registered)
    assert registry.remove(["a", "a", "zzz", 4]) == ["a"]
    assert registry.remove("b") == []
