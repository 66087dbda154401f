"""Every record of every kind comes back from its row as it went in."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cockpit.core.message import Json, Media, Message, Stamp, Text, Thinking, ToolResult, ToolUse
from cockpit.core.records import Audit, Lifecycle, Notice, Report, Snapshot, TurnEnded, Usage, WakeRequest
from cockpit.store.codec import Stored, decode_record, encode_record

# What ingestion has let through: no lone surrogates (D-7), no NaN; anything else.
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
numbers = st.floats(allow_nan=False, allow_infinity=False)
sequences = st.integers(1, 2**62)
tuples = st.lists(words, max_size=3).map(tuple)
optional = st.none() | words
json_values: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | numbers | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(words, json_values, max_size=3)

texts = st.builds(Text, words)
media = st.builds(Media, words, optional, optional, optional)
blocks = st.one_of(
    texts,
    media,
    st.builds(ToolUse, words, words, objects),
    st.builds(ToolResult, words, st.lists(texts | media, max_size=3).map(tuple), st.booleans()),
    st.builds(Thinking, objects),
)
ids = st.none() | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=9)
stamps = st.builds(Stamp, ids, ids).filter(lambda stamp: stamp.key != "")
messages = st.builds(
    Message,
    slot=words,
    kind=st.sampled_from(["chat", "event", "prompt", "system", "agent", "result", "withheld"]),
    author=words,
    blocks=st.lists(blocks, max_size=3).map(tuple),
    at=numbers,
    target=optional,
    channel=optional,
    id=optional,
    author_id=optional,
    tags=tuples,
    stamp=st.none() | stamps,
    key=optional,
    rules=tuples,
    woke=tuples,
    acknowledged=st.booleans(),
    seen=st.integers(0, 2**62),
    began=st.integers(0, 2**62),
    edits=st.none() | sequences,
    deleted=st.booleans(),
    sequence=sequences,
)
reasons = st.sampled_from(
    ["prompt", "message", "push", "intercom", "cancel", "wake", "cadence", "report", "summary"]
)  # fmt: skip
usages = st.builds(Usage, *[st.integers(0, 2**40)] * 4)
records: st.SearchStrategy[Stored] = st.one_of(
    messages,
    st.builds(Notice, messages, st.sampled_from(["tune-out-cancel", "unmute", "gate"]), words),
    st.builds(Lifecycle, words, words, numbers, objects, sequences),
    st.builds(WakeRequest, words, reasons, numbers, optional, optional, sequences, st.integers(0, 99)),
    st.builds(Report, words, st.sampled_from(["summary", "prose", "failure"]), words, numbers, words, sequences),
    st.builds(
        TurnEnded,
        words,
        st.sampled_from(["started", "ended", "failed", "stopped"]),
        reasons,
        numbers,
        st.none() | usages,
        st.lists(sequences, max_size=3).map(tuple),
        sequences,
    ),
    st.builds(Audit, numbers, *[words] * 7, optional, st.booleans(), sequences),
    st.builds(Snapshot, words, json_values, numbers, sequences),
)


FULL: tuple[Stored, ...] = (
    Message(
        slot="residents",
        kind="chat",
        author="hedgehog",
        blocks=(
            Text("hi"),
            ToolUse("u", "look", {"at": [1, None]}),
            ToolResult("u", (Media("image", "a/b", "c", "d"),)),
        ),
        at=1.5,
        target="channel:disc/a",
        channel="a",
        id="m1",
        author_id="u17",
        tags=("chat:addressed",),
        stamp=Stamp("epoch-1", "span-1"),
        key="disc/a/m1",
        rules=("mute",),
        woke=("scout",),
        acknowledged=True,
        seen=7,
        began=6,
        edits=3,
        deleted=True,
        sequence=9,
    ),
    Notice(Message("agent/scout", "system", "system", (), 1.5, sequence=9), "gate", "scout"),
    Lifecycle("mcp:git", "muted", 1.5, {"actor": "operator"}, 9),
    WakeRequest("scout", "message", 1.5, "mcp:git", "epoch-1", 9, 2),
    Report("watcher", "summary", "quiet", 1.5, "mcp:git", 9),
    TurnEnded("scout", "ended", "message", 1.5, Usage(1, 2, 3, 4), (7, 8), 9),
    Audit(1.5, "operator", "screen", "mute", "mcp:git", "open", "muted", "noise", "epoch-1", True, 9),
    Snapshot("anchor", {"at": 7}, 1.5, 9),
)


@pytest.mark.parametrize("record", FULL, ids=lambda record: type(record).__name__)
def test_no_field_is_forgotten(record: Stored) -> None:
    """A field that a record gains must be given a value here, and then comes back."""
    left = [each.name for each in fields(record) if getattr(record, each.name) in (each.default, _made(each))]
    assert left == []
    sequence, kind, *_, body = encode_record(record)
    assert decode_record(kind, sequence, body) == record


def _made(field: Field[object]) -> object:
    """What an absent field is made of; no value of a record equals MISSING."""
    return MISSING if field.default_factory is MISSING else field.default_factory()


@settings(deadline=None)
@given(records)
def test_every_record_comes_back_as_it_went_in(record: Stored) -> None:
    row = encode_record(record)
    sequence, kind, *_, body = row
    assert "\n" not in body  # a page is lines
    assert decode_record(kind, sequence, body) == record


@settings(deadline=None)
@given(messages)
def test_the_columns_say_what_the_message_says(message: Message) -> None:
    _, kind, slot, target, stamp, muted, key, _, edits, _ = encode_record(message)
    assert (kind, slot, target, key, edits) == ("message", message.slot, message.target, message.key, message.edits)
    assert stamp == (message.stamp.key if message.stamp else None)
    assert bool(muted) == bool(message.stamp and message.stamp.span)


@pytest.mark.parametrize("kind", ["message", "lifecycle", "wake", "report", "turn", "audit", "snapshot", "rumour"])
@pytest.mark.parametrize("body", ["", "[]", "{}", "null", "{}}"])
def test_what_is_no_record_is_a_value_error(kind: str, body: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # the words differ, and all are told
        decode_record(kind, 1, body)


def test_what_is_absent_costs_no_space() -> None:
    bare = Message("residents", "chat", "hedgehog", (Text("hi"),), 1.5, sequence=1)
    *_, body = encode_record(bare)
    assert body == (
        '{"slot":"residents","kind":"chat","author":"hedgehog","blocks":[{"type":"text","text":"hi"}],"at":1.5}'
    )


@pytest.mark.parametrize(
    ("target", "reference"),
    [
        ("channel:disc/a/b", "disc/m"),
        ("mcp:git", "git/m"),
        ("user:hedgehog", None),
        ("feed:general", None),
        (None, None),
    ],
)
def test_a_message_is_referred_to_by_its_server_and_id(target: str | None, reference: str | None) -> None:
    message = Message("residents", "chat", "hedgehog", (), 1.0, target=target, id="m", sequence=2)
    assert encode_record(message)[7] == reference
    assert encode_record(replace(message, edits=1))[7] is None
