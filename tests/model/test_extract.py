"""The extractive report: what it counts, what it quotes, and that it never makes a word up."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cockpit.model.extract import HONEST, LIMIT, Look, addressed, newest_terms, report, sentences
from cockpit.model.heard import Heard

QUOTE = re.compile("“([^”]*)”")


def said(author: str, text: str, minute: int = 0) -> Heard:
    return Heard("disc:noisy", author, f"2026-11-30 09:{minute:02}Z", text)


NOISY = (
    said("ana", "@scout when is the 2.4 release date? The docs team waits.", 0),
    said("ben", "The Friday build broke the importer again.\nIt fails with error 503 on every upload.", 1),
    said("cleo", "lol yes", 2),
    said("cleo", "The importer fails on uploads with error 503 here too. Did anyone see the logs?", 3),
    said("ana", "@scout please look at ticket 4312", 4),
    said("eve", "Finance approved the December budget this morning.", 5),
)


def test_it_says_how_many_messages_by_whom_and_when() -> None:
    first = report(Look("disc:noisy", NOISY, name="scout")).split("\n")[0]
    assert first == (
        "You missed 6 messages in disc:noisy (2026-11-30 09:00Z to 2026-11-30 09:05Z): ana 2, cleo 2, ben 1, eve 1."
    )


def test_it_quotes_the_questions_that_were_put_to_the_reader_and_counts_the_others() -> None:
    told = report(Look("disc:noisy", NOISY, name="scout"))
    assert "You were asked once: ana: “@scout when is the 2.4 release date?”" in told
    assert "You were named once more: ana: “@scout please look at ticket 4312”" in told
    assert "1 question went to nobody in particular or to others." in told


def test_a_mention_of_somebody_else_is_no_question_to_the_reader() -> None:  # T-7
    told = report(Look("c", (said("ana", "@ben are you there?"), said("ben", "scouting is fun?")), name="scout"))
    assert "You were asked" not in told
    assert "2 questions went to nobody in particular or to others." in told


def test_it_quotes_what_is_new_and_does_not_say_the_same_twice() -> None:
    told = report(Look("disc:noisy", NOISY, name="scout"))
    assert "eve: “Finance approved the December budget this morning.”" in told
    about_503 = [quote for quote in QUOTE.findall(told) if "503" in quote]
    assert len(about_503) == 1
    assert "lol yes" not in told


def test_what_was_reported_before_weighs_less_than_what_was_not() -> None:
    fresh = (said("ben", "The importer broke again."), said("eve", "Finance approved the budget."))
    before = tuple(said("ben", "The importer broke again.") for _ in range(9))
    look = Look("c", fresh, before=before)
    assert [one.author for one in newest_terms(look, (), most=1)] == ["eve"]
    assert [
        one.author for one in newest_terms(Look("c", fresh, reported=("Finance approved the budget.",)), (), 1)
    ] == ["ben"]


def test_a_second_report_speaks_of_more_messages() -> None:
    assert report(Look("c", NOISY[:1], reported=("earlier",))).startswith("You missed 1 more message in c (")


def test_it_quotes_from_what_was_not_given_raw_where_that_is_the_question() -> None:  # T-19
    told = report(Look("disc:noisy", NOISY, hidden=2))
    assert "2 messages of these, the oldest, you weren't given raw." in told
    assert set(QUOTE.findall(told)) <= {one.text for m in NOISY[:2] for one in sentences(m)}


def test_an_empty_look_says_so_and_quotes_nothing() -> None:
    told = report(Look("disc:noisy", ()))
    assert told.startswith("Nothing of disc:noisy is in my view")
    assert "“" not in told


def test_it_says_that_it_is_made_by_rule() -> None:
    assert report(Look("c", NOISY)).endswith(HONEST)


def test_names_are_addressed_by_mention_or_at_the_start_only() -> None:
    for text in ("@scout hi", "hi @Scout!", "scout: hi", "Scout, hi", "@scout"):
        assert addressed(said("a", text), "scout"), text
    for text in ("a scout came", "@scouts hi", "hi scout: x", "", "@ scout"):
        assert not addressed(said("a", text), "scout"), text
    assert not addressed(said("a", "@ hi"), "")


def test_sentences_end_at_stops_and_line_ends_and_keep_versions_whole() -> None:
    found = sentences(said("a", "v2.4 is out. Try it!  “Why?” he asked\nnew line… 好。はい"))
    assert [one.text for one in found] == [
        "v2.4 is out.",
        "Try it!",
        "“Why?”",
        "he asked",
        "new line…",
        "好。",
        "はい",
    ]


names = st.text(min_size=1, max_size=80).map(lambda name: name.replace("“", "'").replace("”", "'"))
texts = st.one_of(
    st.text(max_size=400),
    st.lists(st.sampled_from(["@scout", "release", "why?", "503", "done.", "ok", "\n", "import", "fails!"])).map(
        " ".join
    ),
).map(lambda text: text.replace("“", "'").replace("”", "'"))
messages = st.lists(st.builds(said, names, texts, st.integers(0, 59)), max_size=30).map(tuple)
looks = st.builds(
    Look,
    st.text(min_size=1, max_size=200).map(lambda name: name.replace("“", "'").replace("”", "'")),
    messages,
    before=messages,
    reported=st.lists(texts, max_size=3).map(tuple),
    name=st.sampled_from(["", "scout", "a.b"]),
    hidden=st.one_of(st.none(), st.integers(0, 30)),
)


@given(looks)
def test_every_quoted_sentence_stands_verbatim_in_a_message(look: Look) -> None:  # S-8
    for quote in QUOTE.findall(report(look)):
        assert any(quote in message.text for message in look.fresh), quote


@given(looks)
def test_it_is_deterministic_and_compact(look: Look) -> None:
    told = report(look)
    assert told == report(look)
    assert len(told) <= LIMIT + 100


def test_a_flood_of_long_messages_still_gives_a_compact_report() -> None:
    flood = tuple(
        said(f"author{n}", f"@scout is number {n} of the {'very ' * (n % 60)}long ones here?") for n in range(900)
    )
    told = report(Look("disc:noisy", flood, name="scout"))
    assert len(told) <= LIMIT + 100
    assert "You were asked 900 times" in told


HOSTILE = {
    "stops": "!" * 40_000 + "x",
    "blanks": " " * 40_000 + "x",
    "closings": "?)" * 20_000 + "x",
    "letters": "a." * 20_000,
    "quotes": '."' * 20_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_message_costs_no_more_than_its_length(name: str) -> None:  # within the test's own timeout
    look = Look("c", tuple(said("eve", HOSTILE[name]) for _ in range(20)), name="scout")
    assert len(report(look)) <= LIMIT + 100
