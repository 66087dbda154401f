"""D-7: a cut never splits what a reader sees as one character, nor what was written for one."""

from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wcwidth import iter_graphemes

from cockpit.core.text import clip, cut, inert, inert_cut

FAMILY = "👨‍👩‍👧"


@pytest.mark.parametrize(
    ("text", "room", "kept"),
    [
        ("hello", 3, "hel"),
        ("hello", 5, "hello"),
        ("hello", 9, "hello"),
        ("hello", 0, ""),
        ("hello", -3, ""),
        ("", 0, ""),
        ("", -1, ""),
        (f"a{FAMILY}b", 5, "a"),
        (f"a{FAMILY}b", 6, f"a{FAMILY}"),
        ("xe\u0301e\u0301", 4, "xe\u0301"),
        ("e\u0301", 1, ""),
        ("🇩🇪🇫🇷🇯🇵", 3, "🇩🇪"),
        ("x🇩🇪🇫🇷🇯🇵", 4, "x🇩🇪"),
        ("👍🏽👍🏽", 3, "👍🏽"),
        ("\u1100\u1161\u11a8\u1100", 2, ""),
        ("a\r\nb", 2, "a"),
        ("a" + "\u0301" * 50, 40, ""),
    ],
)
def test_a_clip_ends_between_two_characters(text: str, room: int, kept: str) -> None:
    """D-7, K-53"""
    assert clip(text, room) == cut(text, room) == kept


@pytest.mark.parametrize(
    ("raw", "room", "kept"),
    [
        ("ab\ncd", 3, "ab"),
        ("ab\ncd", 4, "ab"),
        ("ab\ncd", 5, "ab\n  "),
        ("ab\r\ncd", 6, "ab\n  c"),
        ("a\n\u0301b", 4, "a"),
        ("a\n\u0301b", 5, "a\n  \u0301"),
        ("<tuned-out-backlog>", 3, ""),
        ("<tuned-out-backlog>", 4, "&lt;"),
        ("a<\u0301muted-backlog>", 5, "a"),
        ("\n\n\n", 8, "\n  \n  "),
    ],
)
def test_a_cut_splits_no_escape(raw: str, room: int, kept: str) -> None:
    """D-9, K-53: `&lt;` and an indented break are one character each."""
    assert cut(inert(raw), room) == inert_cut(raw, room) == kept


def test_an_escape_that_was_typed_is_four_characters_where_that_can_be_told() -> None:
    """D-6: exact where the raw text is at hand; `cut` errs on the short side."""
    assert inert_cut("see &lt;/muted-backlog>", 6) == "see &l"
    assert cut("see &lt;/muted-backlog>", 6) == "see "
    assert clip("a\n  b", 2) == "a\n"


@pytest.mark.parametrize(
    "text",
    ["🇩🇪" * 500_000, "a" + "\u0301" * 1_000_000, "需" * 1_000_000, "&lt;\n  " * 200_000],
    ids=["flags", "marks", "ideographs", "escapes"],
)
def test_a_cut_of_a_million_characters_is_linear(text: str) -> None:
    """D-7: a quadratic cut would outlast the test's timeout."""
    assert len(cut(text, len(text) - 1)) in {len(text) - 2, 0, len(text) - 1, len(text) - 3}
    assert len(clip(text, len(text) - 1)) in {len(text) - 2, 0, len(text) - 1}


MARKS = ["\u0301", "\u200d", "\ufe0f", "\u0600", "\u094d", "\x00", "\u202e"]
PARTS = ["👨", FAMILY, "🇩", "🇪", "\u0915", "\u0937", "\u1100", "\u1161", "\u11a8", "각", "a", "zz", " "]
ESCAPED = ["\n", "\r\n", "<", "/", "tuned-out-backlog>", "&lt;", "&l"]
TEXTS = st.lists(st.sampled_from([*MARKS, *PARTS, *ESCAPED]), max_size=14).map("".join)


def boundaries(raw: str) -> list[int]:
    """Where `inert(raw)` may end: between clusters, and not inside what was written for one raw character."""
    written = inert(raw)
    ends = {0, *accumulate(map(len, iter_graphemes(written)))}
    inside: set[int] = set()
    at = 0
    for place, char in enumerate(raw):
        if char in "\n\r":
            if not (char == "\n" and raw[:place].endswith("\r")):
                inside |= {at + 1, at + 2}
                at += 3
        elif char == "<" and written.startswith("&lt;", at):
            inside |= {at + 1, at + 2, at + 3}
            at += 4
        else:
            at += 1
    assert at == len(written)
    return sorted(ends - inside)


@given(TEXTS, st.integers(0, 60))
@settings(max_examples=1000, deadline=None)
def test_a_cut_is_the_longest_that_fits(raw: str, room: int) -> None:
    """D-6, D-7: against every place where the whole text may end."""
    written = inert(raw)
    longest = max(end for end in boundaries(raw) if end <= room)
    assert inert_cut(raw, room) == written[:longest]
    assert len(cut(written, room)) <= longest
    assert clip(raw, room) == raw[: max(e for e in {0, *accumulate(map(len, iter_graphemes(raw)))} if e <= room)]
