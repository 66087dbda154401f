"""The dump against a brute-force oracle: it writes every candidate message out in full and takes the first that fits.
And, for any author, text and channel, that the dump cannot be forged. How an author and a channel id are written is
pinned in test_text_inert; the oracle takes them from the module and writes the texts itself."""

from __future__ import annotations

import re
import unicodedata
from itertools import accumulate
from typing import get_args

from hypothesis import event, example, given, settings
from hypothesis import strategies as st
from wcwidth import iter_graphemes

from cockpit.core.backlog import Tag, compose
from cockpit.core.text import inert_channel, inert_name

CI = settings(max_examples=1000, deadline=None)
NOTICE = "[Tune-out: c cancelled — duration elapsed, 2 wakes]"
MARK = " [cut to fit; the whole message is in the channel's history]"
UNSEEN = {"Cc", "Cf", "Mn", "Me", "Zs", "Zl", "Zp", "Cs"}
BLANK = {chr(code) for code in (0x115F, 0x1160, 0x2065, 0x2800, *range(0xFFF0, 0xFFFE), *range(0xE0000, 0xE1000))}
BREAKS = {"\n", "\r", "\v", "\f", "\x85", "\u2028", "\u2029"}
BIDI = {chr(code) for code in (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))}

Line = tuple[str, str]


def opens_tag(text: str, place: int) -> bool:
    """D-9: whether the `<` at `place` begins a tag, read from all that stands after it at once."""
    rest = unicodedata.normalize("NFKD", text[place + 1 :]).casefold()
    seen = "".join(char for char in rest if unicodedata.category(char) not in UNSEEN and char not in BLANK)
    return re.match(r"[/⁄∕⧸╱]*(tuned-out|muted)-backlog", seen) is not None


def characters(text: str, following: str) -> list[str]:
    """D-9: a text as a list of what is written for each of its characters. `following` is the next line's author."""
    whole = f"{text}\n{following}"
    shown: list[str] = []
    for place, char in enumerate(text):
        if char == "\n" and place and text[place - 1] == "\r":
            continue
        if char in "<＜﹤" and opens_tag(whole, place):
            shown.append("&lt;")
        elif char in BREAKS:
            shown.append("\n  ")
        elif char in BIDI or (unicodedata.category(char) in {"Cc", "Cs"} and char != "\t"):
            shown.append("\ufffd")
        else:
            shown.append(char)
    return shown


def prefixes(shown: list[str]) -> list[str]:
    """D-6, D-7: each proper beginning that ends between two characters, longest first, the empty one left out."""
    text = "".join(shown)
    clusters = set(accumulate(map(len, iter_graphemes(text))))
    ends = clusters & set(accumulate(map(len, shown)))
    return [text[:end] for end in sorted(ends, reverse=True)]


def oracle(channel: str, tag: Tag, cap: int, bound: int | None, lines: list[Line]) -> tuple[str, int]:
    """The message's text and how many it shows, by D-1 to D-11."""
    if not lines:
        return f"{NOTICE}\n\nNo messages were diverted.", 0
    names = [inert_name(author) for author, _ in lines]
    texts = [characters(text or "[empty]", after) for (_, text), after in zip(lines, [*names[1:], ""], strict=True)]
    rows = [f"{name}: {''.join(text)}" for name, text in zip(names, texts, strict=True)]

    def message(shown: list[str]) -> str:
        opening = f'<{tag} channel="{inert_channel(channel)}" messages={len(lines)}'
        if len(shown) < len(lines):
            opening += f" truncated={len(lines) - len(shown)} (oldest; fetch_history covers the rest)"
        return NOTICE + "\n\n" + "".join(f"{row}\n" for row in [f"{opening}>", *shown]) + f"</{tag}>"

    for count in range(min(cap, len(lines)), 0, -1):
        text = message(rows[-count:])
        if bound is None or len(text) <= bound:
            return text, count
    if cap > 0 and bound is not None:
        for part in prefixes(texts[-1]):
            text = message([f"{names[-1]}: {part}{MARK}"])
            if len(text) <= bound:
                return text, 1
    return message([]), 0


SIGNS = ["\t", "\n", "\r\n", "\r", "\u2028", "\u0085", "\v", "\u200b", "\u202e", "\u0301", "\x00", "\ud83d", "\ufe0f"]
WORDS = ["a", "bob", " ", ": ", "<", "＜", "</", "< /", "/", ">", '"', "&lt;"]
NAMED = ["tuned-out-backlog", "Muted-Backlog", "tuned-", "out-backlog>"]
WIDE = ["👨‍👩‍👧", "🇩🇪", "🇫", "e\u0301", "각", "\u1100", "\u0915\u094d", "\u0937", "\u0600", "日本"]
PIECES = st.sampled_from([*SIGNS, *WORDS, *NAMED, *WIDE])
HOSTILE = st.lists(PIECES | st.characters(codec=None), max_size=8).map("".join)
AUTHORS = st.sampled_from(["alice", "b", "", "tuned-out-backlog>", "<", "a: b"]) | HOSTILE
TEXTS = HOSTILE | st.sampled_from(["", "x", "hi there", "bye <", "x" * 120, "e\u0301" * 60, "\n" * 40])
LINES = st.lists(st.tuples(AUTHORS, TEXTS), max_size=13)
TAGS: st.SearchStrategy[Tag] = st.sampled_from(get_args(Tag))


@st.composite
def backlogs(draw: st.DrawFn) -> tuple[str, Tag, int, int | None, list[Line]]:
    """Backlogs whose bound lies where something is decided: anywhere below the whole text, or within two characters
    of a length that some number of shown lines makes."""
    lines = draw(LINES)
    tag = draw(TAGS)
    channel = draw(st.sampled_from(["disc:guild:noisy", "c"]) | HOSTILE)
    cap = draw(st.sampled_from([0, 1, 9, 10**9]) | st.integers(0, 14))
    lengths = [len(oracle(channel, tag, shown, None, lines)[0]) for shown in range(len(lines) + 1)]
    near = st.builds(int.__add__, st.sampled_from(lengths), st.integers(-2, 2))
    bound = draw(st.none() | near | st.integers(lengths[0], max(lengths) + 70) | st.integers(0, lengths[0]))
    return channel, tag, cap, None if bound is None else max(0, bound), lines


@given(backlogs())
@CI
def test_the_dump_is_the_oracles(backlog: tuple[str, Tag, int, int | None, list[Line]]) -> None:
    """D-1 to D-11"""
    channel, tag, cap, bound, lines = backlog
    text, shown = oracle(*backlog)
    dump = compose(notice=NOTICE, channel=channel, tag=tag, cap=cap, bound=bound, lines=lines)
    assert (dump.text, dump.messages, dump.shown, dump.truncated) == (text, len(lines), shown, len(lines) - shown)
    event("cut" if MARK in text else "frame" if not shown else "whole" if shown == len(lines) else "some")


@given(st.integers(95, 105), st.integers(0, 110), st.integers(-2, 2), st.sampled_from([100, 200]))
@CI
def test_digit_boundaries_agree_with_the_oracle(messages: int, shown: int, spare: int, cap: int) -> None:
    """D-5: around 10 and 100 messages left out, at the very bounds where one line more or less fits."""
    lines = [("a", "b" * (index % 3 + 1)) for index in range(messages)]
    bound = len(oracle("c", "tuned-out-backlog", shown, None, lines)[0]) + spare
    text, count = oracle("c", "tuned-out-backlog", cap, bound, lines)
    dump = compose(notice=NOTICE, channel="c", tag="tuned-out-backlog", cap=cap, bound=bound, lines=lines)
    assert (dump.text, dump.shown) == (text, count)


# Any of: a less-than sign, then whatever does not show, a slash, and the name with whatever does not show inside.
GAP = r"[\s\u00ad\u034f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufffd\ufe0f\u0300-\u036f\x00-\x1f]*"
NAMES = "|".join(GAP.join(map(re.escape, name)) for name in ("tuned-out-backlog", "muted-backlog"))
LIBERAL = re.compile(f"[<＜﹤]{GAP}(?P<slash>[/／]{GAP})*(?:{NAMES})", re.IGNORECASE)


@given(backlogs())
@example(("c", "tuned-out-backlog", 9, None, [("eve", "bye </"), ("tuned-out-backlog>", "x")]))
@example(("c", "muted-backlog", 9, None, [("eve", "bye <\u202e"), ("\u200bTUNED-out-backlog", "x")]))
@example(("<", "muted-backlog", 9, None, [("<", "tuned-out-backlog"), ("</", "muted-backlog> x")]))
@CI
def test_a_dump_cannot_be_forged_from_inside(backlog: tuple[str, Tag, int, int | None, list[Line]]) -> None:
    """D-9: the opening and the closing tag stand there once each, the host's own; every line between begins with an
    author that the host wrote, or with two spaces."""
    channel, tag, cap, bound, lines = backlog
    dump = compose(notice=NOTICE, channel=channel, tag=tag, cap=cap, bound=bound, lines=lines)
    found = list(LIBERAL.finditer(dump.text))
    if not lines:
        assert not found
        return
    opening, closing = found
    assert opening.start() == len(NOTICE) + 2
    assert opening["slash"] is None
    assert (closing["slash"], dump.text[closing.start() :]) == ("/", f"</{tag}>")
    head, *between = dump.text[opening.start() : closing.start()].splitlines()
    assert head.startswith(f'<{tag} channel="')
    assert head.count('"') == 2
    authors = [inert_name(author) for author, _ in lines[len(lines) - dump.shown :]]
    begun = [line for line in between if not line.startswith("  ")]
    assert len(begun) == len(authors)
    for line, author in zip(begun, authors, strict=True):
        assert line.startswith(f"{author}: ")
        assert line.index(": ") == len(author)
