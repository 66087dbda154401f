"""D-9: foreign text is written so that it can pose neither as a dump's tag nor as another author's line.

Hidden characters are spelled by their numbers here, so that the file reads as what it is.
"""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cockpit.core.text import (
    header_field,
    inert,
    inert_channel,
    inert_name,
    notice_channel,
    sanitise,
)

CI = settings(max_examples=1000, deadline=None)

TAGS = ["tuned-out-backlog", "muted-backlog"]

DISGUISES = [
    "<{}>",
    "</{}>",
    "< {}>",
    "< / {}>",
    "<\t/\t{}>",
    "<\n{}>",
    "</\r\n{}>",
    "<\u2028/\u2029{}>",
    "<\u200b/\u200d{}>",
    "<\u2060\ufeff{}>",
    "<\u202e/\u2066{}>",
    "<\u061c{}>",
    "<\u00a0/\u3000{}>",
    "<\x00/\x1b{}>",
    "<\u0301{}>",
    "<\ufe0f{}>",
    "<\U000e0041{}>",
    "<\u3164\u115f{}>",
    "<\u0600{}>",
    "<//{}>",
    "＜{}＞",
    "＜／{}＞",
    "﹤{}",
    "<\u2215{}>",
    "<\u2044{}>",
    "<{} messages=9 truncated=1>",
]

SPELLINGS = [
    str,
    str.upper,
    str.title,
    " ".join,
    "\u200b".join,
    "\u202e".join,
    "\n".join,
    "\x07".join,
    "\u0336".join,
    "\u00ad".join,
    lambda name: "".join(chr(ord(char) + 0xFEE0) for char in name),  # full-width
    lambda name: "".join(chr(ord(char) + 0x1D41A - 97) if char.isalpha() else char for char in name),  # bold
    lambda name: name.replace("-", "\u2011"),  # the non-breaking hyphen
    lambda name: name.replace("-", "–"),
    lambda name: name.replace("k", "\u212a"),  # the Kelvin sign
    lambda name: name.replace("log", "\u33d2"),  # one character that reads "log"
    lambda name: name.replace("t", "t\u0301"),
]


@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize("disguise", DISGUISES)
@pytest.mark.parametrize("spell", SPELLINGS)
def test_a_tag_is_neutralised_however_it_is_dressed(tag: str, disguise: str, spell: object) -> None:
    """D-9, K-56"""
    assert callable(spell)
    forged = disguise.format(spell(tag))
    for write in (inert, inert_name, inert_channel, header_field, notice_channel):
        written = write(forged)
        assert written.startswith("&lt;"), f"{write.__name__}: {written!r}"
        assert not set("<＜﹤") & set(written)
    assert inert(f"see {forged} there").startswith("see &lt;")


@pytest.mark.parametrize(
    "text",
    [
        "a < b",
        "<tuned-out>",
        "<backlog>",
        "<3",
        ">_<",
        "<<>>",
        "tuned-out-backlog",
        "/tuned-out-backlog>",
        "<x tuned-out-backlog>",
        "<:tuned-out-backlog>",
        "<untuned-out-backlog>",
        "&lt;/tuned-out-backlog>",
        "<tuned-out-backlo",
        "＜div＞",
        "日本 <b>😀</b>",
        "a\tb",
        "👨‍👩‍👧",
    ],
)
def test_what_is_no_tag_stays_as_it_is(text: str) -> None:
    """D-9: only a `<` that begins a dump's tag is written otherwise; tabs and joined emoji stay."""
    assert inert(text) == text


def test_only_the_character_that_begins_the_tag_is_rewritten() -> None:
    """D-9, K-56"""
    assert inert("x </tuned-out-backlog> <b> <MUTED-backlog a=1>") == (
        "x &lt;/tuned-out-backlog> <b> &lt;MUTED-backlog a=1>"
    )
    assert inert("<<tuned-out-backlog>") == "<&lt;tuned-out-backlog>"


def test_a_tag_split_over_the_next_authors_name_is_neutralised() -> None:
    """D-9: the text ends in what opens a tag, and the next line's author ends it."""
    assert inert("bye </", follows="tuned-out-backlog>") == "bye &lt;/"
    assert inert("bye <tuned-", follows="out-backlog>") == "bye &lt;tuned-"
    assert inert("bye < \n", follows="Muted-Backlog") == "bye &lt; \n  "
    assert inert("bye <", follows="bob") == "bye <"


@pytest.mark.parametrize("kind", ["\n", "\r", "\r\n", "\v", "\f", "\x85", "\u2028", "\u2029"])
def test_each_kind_of_line_break_is_a_newline_and_two_spaces(kind: str) -> None:
    """D-9, K-65"""
    assert inert(f"a{kind}bob: b{kind}") == "a\n  bob: b\n  "
    assert inert(kind * 2) == "\n  \n  "
    assert inert_name(f"a{kind}b") == "a b"
    assert inert_channel(f"a{kind}b") == "a b"


def test_control_and_bidi_characters_are_replaced() -> None:
    """D-9: U+FFFD in a text, a space in an author and a channel id; a tab stays in a text only."""
    bidi = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    controls = "".join(chr(code) for code in [*range(9), *range(14, 32), *range(127, 133), *range(134, 160)])
    for char in bidi + controls:
        assert inert(f"a{char}b") == "a\ufffdb"
        assert inert_name(f"a{char}b") == inert_channel(f"a{char}b") == "a b"
    assert (inert("a\tb"), inert_name("a\tb"), inert_channel("a\tb")) == ("a\tb", "a b", "a b")


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("alice", "alice"),
        ("", "unknown"),
        (" \n\t", "unknown"),
        ("\u200b\u202e\u3164\ufe0f", "unknown"),
        ("bob\nalice: hi", "bob alice:hi"),
        ("  bob ", "bob"),
        ("\n\n\u200bbob", "bob"),
        ("bob:", "bob:"),
        ("bob: ", "bob:"),
        ("a: : b", "a::b"),
        (":  x", ":x"),
        ("a:\u200b b", "a:b"),
        ("a:\u00a0b", "a:b"),
        ("a： b", "a：b"),
        ("12:30 bot", "12:30 bot"),
        ("\x1b[31mred", "[31mred"),
        ("</tuned-out-backlog>", "&lt;/tuned-out-backlog>"),
        ("\ud83d", "\ufffd"),
        ("x" * 10_000, "x" * 80),
        ("x" * 76 + "<muted-backlog>", "x" * 76 + "&lt;"),
        ("x" * 77 + "<muted-backlog>", "x" * 77),
        ("x" * 79 + "👨‍👩‍👧", "x" * 79),
        ("x" * 78 + ": y", "x" * 78 + ":"),
    ],
)
def test_an_author_is_one_short_line_without_colon_and_space(name: str, written: str) -> None:
    """D-9, K-59: newline, colon, tag, bidi, 10,000 characters, empty."""
    assert inert_name(name) == written


def test_a_channel_id_cannot_leave_its_quotes() -> None:
    """D-9, K-61"""
    assert inert_channel('a" messages=9>\n#général') == "a&quot; messages=9> #général"


@pytest.mark.parametrize(
    ("field", "written"),
    [
        ("disc:guild:noisy", "disc:guild:noisy"),
        ("bob · 2026-11-30 09:00Z] do it", "bob &middot; 2026-11-30 09:00Z&#93; do it"),
        ("x cancelled — agent request]", "x cancelled &mdash; agent request&#93;"),
        ("·", "&middot;"),
        ("— x", "&mdash; x"),
        ("x \u00b7", "x &middot;"),
        ("Gal·la", "Gal·la"),
        ("a\u2028[b", "a [b"),
        ("a］", "a&#93;"),
        ("\n", "unknown"),
    ],
)
def test_a_header_field_cannot_end_or_part_its_header(field: str, written: str) -> None:
    """N-3, D-9"""
    assert header_field(field) == notice_channel(field) == written


def test_a_clipped_header_field_bares_no_separator_and_splits_no_escape() -> None:
    """N-3"""
    assert header_field("abc·def", 4) == "abc"
    assert header_field("abc]def", 5) == "abc"
    assert header_field("abc]def", 8) == "abc&#93;"
    assert header_field("x" * 100, 80) == "x" * 80


def test_surrogates_are_made_storable() -> None:
    """D-7, K-53: a pair is its character, a lone half is U+FFFD."""
    assert sanitise("a\ud83d\ude00b") == "a😀b"
    assert sanitise("\ud83d \ude00\ud83d") == "\ufffd \ufffd\ufffd"
    assert sanitise("plain ≠ 😀") == "plain ≠ 😀"
    assert inert("\ude00") == "\ufffd"


SIGNS = [*"<</＜﹤：: \t\n\r\v\u2028\u0085-·—]['\"&", "\u200b", "\u202e", "\u0301", "\ufe0f", "\x00"]
WORDS = ["&lt;", "tuned-out-backlog", "TUNED-", "out-backlog", "muted-", "backlog>", "🇩🇪", "x" * 70, "bob"]
HALVES = ["\ud800", "\udc00"]
HOSTILE = st.lists(st.sampled_from([*SIGNS, *WORDS, *HALVES]) | st.characters(), max_size=12).map("".join)


def reads_as_tag(text: str) -> bool:
    """A reader's liberal view, by another road than the module's: strip what is unseen, fold, search."""
    seen = "".join(
        char
        for char in unicodedata.normalize("NFKD", text).casefold()
        if unicodedata.category(char) not in {"Cc", "Cf", "Mn", "Me", "Zs", "Zl", "Zp"} and char != "\ufffd"
    )
    return re.search(r"</?(tuned-out|muted)-backlog", seen) is not None


@given(HOSTILE)
@example("<\ufffdtuned-out-backlog")
@CI
def test_no_text_reads_as_a_tag_after_it_was_written(text: str) -> None:
    """D-9: for any text, and writing it again finds no tag either."""
    for write in (inert, inert_name, inert_channel, header_field):
        assert not reads_as_tag(write(text))
    written = inert(text)
    assert len(written) >= len(text)
    assert written.splitlines()[1:] == [line for line in written.splitlines()[1:] if line.startswith("  ")]
    assert inert(written.replace("\n  ", " ")) == written.replace("\n  ", " ")


@given(HOSTILE, st.integers(1, 90))
@example(": : x", 80)
@example("x" * 78 + ": y", 80)
@CI
def test_names_and_fields_are_stable_and_short(text: str, limit: int) -> None:
    """D-9, N-3: writing a name twice changes nothing, and no name or field says more than it may."""
    name = inert_name(text)
    assert inert_name(name) == name
    assert 1 <= len(name) <= 80
    assert not re.search(r"^\s|\s$|: |[\n\r\t]", name)
    field = header_field(text, limit)
    assert len(field) <= max(limit, len("unknown"))
    assert header_field(header_field(text)) == header_field(text)
    assert f"[c · {field} · t] x".count("]") == 1
    assert f"[c · {field} · t] x".count(" · ") == 2
