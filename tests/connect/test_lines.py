"""Lines and JSON out of whatever a server writes (R-3, mcpl.md 2)."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cockpit.connect.lines import LineSplitter, LineTooLong, encode, parse


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # other tests share the machine
@given(st.lists(st.binary(max_size=20).map(lambda b: b.replace(b"\n", b"."))), st.data())
def test_lines_come_out_as_they_went_in_however_they_are_cut(lines: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(line + b"\n" for line in lines)
    splitter, found = LineSplitter(1000), []
    while whole:
        cut = data.draw(st.integers(1, len(whole)))
        found += splitter.feed(whole[:cut])
        whole = whole[cut:]
    assert found == lines


def test_an_unfinished_line_is_held_back() -> None:
    splitter = LineSplitter(100)
    assert splitter.feed(b"one\ntw") == [b"one"]
    assert splitter.feed(b"o\n") == [b"two"]


@pytest.mark.parametrize("pieces", [[b"x" * 11], [b"x" * 6, b"x" * 5], [b"x" * 11 + b"\n"], [b"a\n" + b"x" * 11]])
def test_a_line_beyond_the_limit_is_a_fault(pieces: list[bytes]) -> None:  # R-3: 10 MB lines
    splitter = LineSplitter(10)
    *fine, last = pieces
    for piece in fine:
        splitter.feed(piece)
    with pytest.raises(LineTooLong):
        splitter.feed(last)


def test_a_line_at_the_limit_passes() -> None:
    assert LineSplitter(10).feed(b"x" * 10 + b"\n") == [b"x" * 10]


def test_a_long_line_in_many_pieces_is_joined_once() -> None:
    """15 MiB in small pieces: quadratic joining would take minutes and meet the time limit."""
    splitter = LineSplitter(16 << 20)
    piece = b"x" * 4096
    for _ in range(15 * 256):
        assert splitter.feed(piece) == []
    assert len(splitter.feed(b"\n")[0]) == 15 << 20


def test_invalid_utf8_costs_a_character_and_no_more() -> None:  # R-3
    assert parse(b'{"a": "b\xffc"}') == {"a": "b\N{REPLACEMENT CHARACTER}c"}


@pytest.mark.parametrize(
    "line", [b"log: started", b"", b"{", b"NaN", b'{"a": Infinity}', b"[" * 100_000, b"1" * 5000, b"\xff\xfe"]
)
def test_what_is_no_json_is_said_to_be_none(line: bytes) -> None:  # R-3: malformed JSON
    with pytest.raises(ValueError, match=r"."):
        parse(line)


def test_lone_surrogates_become_replacement_characters_and_pairs_stay() -> None:  # D-7
    found = parse(rb'{"k\ud800": ["a\udfff", {"b": "\ud83d\ude00"}], "n": 1}')
    assert found == {"k\N{REPLACEMENT CHARACTER}": ["a\N{REPLACEMENT CHARACTER}", {"b": "😀"}], "n": 1}


def test_what_is_written_is_one_line_of_ascii() -> None:
    assert encode({"text": "a\nb\u2028é\ud800"}).isascii()
    assert "\n" not in encode({"text": "a\nb"})
