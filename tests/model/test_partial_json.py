"""The text of a report, decoded while its JSON is still being written (S-9)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cockpit.core.text import sanitise
from cockpit.model.partial_json import StringField

texts = st.text(alphabet=st.characters(codec=None))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
others = st.dictionaries(texts.filter(lambda name: name != "text"), values, max_size=4)


def cut(written: str, at: list[int]) -> list[str]:
    places = sorted({place % (len(written) + 1) for place in at})
    return [written[a:b] for a, b in zip([0, *places], [*places, len(written)], strict=True)]


@given(
    before=others, after=others, text=texts, ascii_only=st.booleans(), at=st.lists(st.integers(0, 10_000), max_size=20)
)
def test_the_pieces_add_up_to_the_string_wherever_they_are_cut(  # S-9
    before: dict[str, object], after: dict[str, object], text: str, ascii_only: bool, at: list[int]
) -> None:
    written = json.dumps({**before, "text": text, **after}, ensure_ascii=ascii_only)
    field = StringField()
    assert "".join(field.feed(piece) for piece in cut(written, at)) == sanitise(text)


@given(others, st.integers(0, 5))
def test_an_object_without_the_key_gives_nothing(before: dict[str, object], indent: int) -> None:
    field = StringField()
    assert field.feed(json.dumps(before, indent=indent)) == ""


def test_each_piece_gives_at_once_what_is_certain() -> None:  # S-9
    field = StringField()
    given = [field.feed(piece) for piece in ('{"channel": "text", "te', 'xt" : "Yo', "u were \\", "n", 'asked"', "}")]
    assert given == ["", "Yo", "u were ", "\n", "asked", ""]


def test_the_halves_of_a_pair_wait_for_each_other() -> None:  # D-7
    field = StringField()
    assert [field.feed(piece) for piece in ('{"text":"a\\ud83d', "\\u", "de00", 'b"}')] == ["a", "", "😀", "b"]


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ('{"text":"\\ud83d"}', "\ufffd"),
        ('{"text":"\\ud83dx"}', "\ufffdx"),
        ('{"text":"\\ud83d\\ud83d\\ude00"}', "\ufffd😀"),
        ('{"text":"\\ude00"}', "\ufffd"),
    ],
)
def test_a_lone_half_is_a_replacement_character(written: str, text: str) -> None:  # D-7
    assert StringField().feed(written) == text


@pytest.mark.parametrize(
    "written",
    [
        '{"a": {"text": "no"}, "text": 5}',
        '[{"text": "no"}]',
        '{"a": ["text", "no"], "b": "text"}',
        '{"text": ["no"]}',
        '{"text": {"text": "no"}}',
        '{"x": "a\\"text\\": \\"no"}',
        '{"text": null, "b": "no"}',
    ],
)
def test_only_a_string_of_the_object_itself_is_given(written: str) -> None:
    assert StringField().feed(written) == ""


@given(st.lists(st.text(alphabet='{}[]":,\\utex 0d8')))
def test_what_is_no_json_does_no_harm(pieces: list[str]) -> None:
    field = StringField()
    for piece in pieces:
        field.feed(piece)
