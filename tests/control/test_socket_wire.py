"""What crosses the socket arrives whole: every event, every answer, and the snapshot of an attached screen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cockpit.control import wire
from cockpit.control.codec import decode, decode_event, dumps, encode, loads
from cockpit.control.names import client_name
from cockpit.core import events
from cockpit.core.events import Answer, Event, Peeked, Spoke, Stopped, View, Writing
from cockpit.core.message import Json
from cockpit.core.verbs import BY_NAME
from cockpit.errors import VerbCode

TEXTS = st.text(st.characters(), max_size=20)  # lone surrogates too: a typed line may hold them
NUMBERS = st.floats(allow_nan=False)
SCALARS: Mapping[object, st.SearchStrategy[object]] = {
    str: TEXTS, float: NUMBERS, int: st.integers(), bool: st.booleans(), type(None): st.none(),
}  # fmt: skip
KEYS = TEXTS | st.sampled_from(["is", "json"])
JSON: st.SearchStrategy[Json] = st.recursive(
    st.one_of(*SCALARS.values()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


def made(kind: type) -> st.SearchStrategy[object]:
    """Any value of a class: every field by its type, those with a default too."""
    hints = get_type_hints(kind, {**vars(events), "Json": object})
    return st.builds(kind, **{name: drawn(hint) for name, hint in hints.items()})


def drawn(hint: object) -> st.SearchStrategy[object]:
    """Any value of one field's type."""
    inner = get_args(hint)
    if hint in SCALARS:
        return SCALARS[hint]
    if get_origin(hint) is Literal:
        return st.sampled_from(inner)
    if get_origin(hint) is tuple:
        return st.lists(drawn(inner[0]), max_size=3).map(tuple)
    if get_origin(hint) is Mapping:
        return st.dictionaries(KEYS, JSON if inner[1] is object else drawn(inner[1]), max_size=3)
    if inner:
        return st.one_of(*map(drawn, inner))
    assert isinstance(hint, type)
    return made(hint)


@pytest.mark.parametrize("kind", get_args(Event), ids=lambda kind: kind.__name__)
def test_every_event_class_arrives_as_it_was_sent(kind: type) -> None:
    @given(made(kind))
    def holds(event: object) -> None:
        sent = loads(dumps(encode(event)))
        found = decode_event(sent)
        assert type(found) is kind
        assert found == event
        assert repr(found) == repr(event)  # 1 and 1.0 and True are equal, and not the same

    holds()


@given(made(Answer))
def test_an_answer_arrives_as_it_was_given(answer: object) -> None:
    assert repr(decode(loads(dumps(encode(answer))), Answer)) == repr(answer)


@given(made(View))
def test_a_snapshot_arrives_whole(view: object) -> None:
    """K-131: an attached screen begins with what the first one would."""
    assert repr(decode(loads(dumps(encode(view))), View)) == repr(view)


def test_what_only_a_screen_shows_crosses_too() -> None:
    event = Writing(1.0, "Subconscious", "s1", "You were", report=True, channel="channel:disc/noisy")
    raw = wire.event(7, event)
    assert raw is not None
    assert loads(raw)["id"] == 7
    assert decode_event(loads(raw)["event"]) == event


def test_foreign_json_is_never_read_as_a_value_of_ours() -> None:
    forged: dict[str, Json] = {"is": "Stopped", "at": 1.0, "reason": "forged", "json": {"is": "Stopped"}}
    event = Peeked(1.0, "mcp:git", (), None, {"totals": forged, "is": "Stopped"})
    assert decode_event(loads(dumps(encode(event)))) == event


@pytest.mark.parametrize(
    "value",
    [None, 7, "Spoke", [], {}, {"is": "Nonsense"}, {"is": "Spoke"}, {"is": "View"}, {"json": {"is": "Spoke"}}],
    ids=str,
)
def test_what_is_no_event_is_refused(value: Json) -> None:
    with pytest.raises(ValueError, match=r"no|lacks"):
        decode_event(value)


def test_a_field_of_a_newer_cockpit_is_left_out() -> None:
    assert decode_event({"is": "Stopped", "at": 1.0, "reason": "quit", "mood": "good"}) == Stopped(1.0, "quit")


def test_a_value_that_is_none_of_the_links_is_not_sent() -> None:
    with pytest.raises(TypeError):
        encode(BY_NAME["mute"])


REQUESTS = st.one_of(
    st.builds(wire.Run, st.integers(), TEXTS, actor=TEXTS),
    st.builds(wire.Ask, st.integers(), TEXTS, st.none() | TEXTS, actor=TEXTS),
    st.builds(wire.Snapshot, TEXTS),
    st.builds(wire.Subscribe, st.integers()),
    st.builds(wire.Leave, st.integers(), TEXTS),
    st.builds(wire.Send, st.integers(), TEXTS, TEXTS, TEXTS, st.none() | TEXTS),
    st.builds(wire.Inbox, st.integers(), TEXTS, TEXTS, st.none() | st.integers(0, 2**63 - 1)),
)


@given(REQUESTS)
def test_a_request_is_read_as_it_was_written(request: wire.Request) -> None:
    assert wire.read_request(wire.write_request(request)) == request


def test_a_token_is_shown_nowhere() -> None:
    """R-7."""
    assert "s3cret" not in repr(wire.Send(1, "hedgehog", "s3cret", "hello")) + repr(wire.Inbox(1, "hedgehog", "s3cret"))
    for line in (b'{"id":1,"do":"send","token":"s3cret","as":5,"text":"x"}', b'{"token":"s3cret"', b'["s3cret"]'):
        with pytest.raises(wire.Unreadable) as refused:
            wire.read_request(line)
        assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize(
    ("line", "found", "said"),
    [
        (b"hello", None, "no JSON"),
        (b"\xff\xfe", None, "no JSON"),
        (b"[" * 100_000, None, "no JSON"),
        (b"[1]", None, "another JSON value"),
        (b'{"do":"run"}', None, "id"),
        (b'{"id":true,"do":"run"}', None, "id"),
        (b'{"id":1}', 1, "says what to do"),
        (b'{"id":1,"do":"rum"}', 1, "did you mean run?"),
        (b'{"id":"a","do":"run"}', "a", "needs line="),
        (b'{"id":1,"do":"run","line":5}', 1, "needs line="),
        (b'{"id":1,"do":"run","line":"x","origin":"screen"}', 1, "socket, bridge"),
        (b'{"id":1,"do":"ask","text":"x","agent":7}', 1, "agent="),
        (b'{"id":1,"do":"leave"}', 1, "of="),
    ],
)
def test_a_line_that_is_no_request_is_refused_in_one_sentence(line: bytes, found: object, said: str) -> None:
    """R-5."""
    with pytest.raises(wire.Unreadable) as refused:
        wire.read_request(line)
    assert refused.value.id == found
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_no_line_is_longer_than_a_line_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "LIMIT", 1000)
    with pytest.raises(ValueError, match="1000"):
        wire.write_request(wire.Run(1, "x" * 1000))
    assert wire.event(1, Spoke(1.0, "scout", "x" * 1000)) is None
    assert b"error" in wire.result(1, Spoke(1.0, "scout", "x" * 1000))


def test_the_hello_tells_what_runs_and_which_protocol_it_speaks() -> None:
    about = wire.About("demo", "/tmp/demo.db", 12, "0.1.0", bridge_as_operator=True)
    assert wire.read_hello(about.hello()) == about
    for wrong, said in ((b'{"cockpit":99}', "version 99"), (b'{"jsonrpc":"2.0"}', "no cockpit"), (b"220 mail", "JSON")):
        with pytest.raises(ValueError, match=said):
            wire.read_hello(wrong)


def test_every_code_is_text_on_the_wire() -> None:
    for code in get_args(VerbCode):
        assert loads(wire.error(1, code, "no"))["error"] == {"code": code, "message": "no", "hint": ""}


@pytest.mark.parametrize(
    ("given_name", "acts_as"),
    [
        ("claude-code", "claude-code"),
        ("  My Editor 2.0 ", "My-Editor-2.0"),
        ("operator", "operator-client"),
        ("OPERATOR", "OPERATOR-client"),
        ("ｏｐｅｒａｔｏｒ", "operator-client"),
        ("scout", "scout-client"),
        ("you", "you-client"),
        ("", "mcp-client"),
        ("\x1b[31m\u202e]", "31m"),
        ("Клод", "Клод"),
        ("x" * 100, "x" * 40),
    ],
)
def test_a_bridges_client_acts_under_its_own_name_and_no_others(given_name: str, acts_as: str) -> None:
    assert client_name(given_name, ("scout", "you")) == acts_as
