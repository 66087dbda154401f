"""Every record of every kind comes back from its row as it went in."""

from __future__ import annotations

from dataclasses import fields as dataclass_fields
from dataclasses import replace

import pytest
from hypothesis import find, given
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


KINDS = (Message, Notice, Lifecycle, WakeRequest, Report, TurnEnded, Audit, Snapshot)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_field_of_every_kind_is_written(kind: type[Stored]) -> None:
    """Each field that holds something else than its default changes the row."""
    plain = find(records, lambda record: type(record) is kind)
    for each in dataclass_fields(kind):
        other = find(
            records, lambda record: type(record) is kind and getattr(record, each.name) != getattr(plain, each.name)
        )  # noqa: B023,E501
        assert encode_record(replace(plain, **{each.name: getattr(other, each.name)})) != encode_record(plain), (
            each.name
        )


@given(records)
def test_every_record_comes_back_as_it_went_in(record: Stored) -> None:
    row = encode_record(record)
    sequence, kind, *_, body = row
    assert "\n" not in body  # a page is lines
    assert decode_record(kind, sequence, body) == record


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
