"""The wake gate: ordered rules, the first match wins; it decides waking, never seeing."""

from __future__ import annotations

import time

import pytest

from cockpit.core.gate import (
    KEPT,
    MOST_HOPS,
    Behavior,
    Debounce,
    Gate,
    GateState,
    Match,
    RateLimit,
    Rule,
    Sample,
    judge,
    matches,
    pattern,
    unreachable,
)
from cockpit.core.inputs import Arrived
from cockpit.core.message import Text
from cockpit.core.target import Target, channel


def said(
    text: str = "hello",
    *,
    author: str = "kim",
    author_id: str = "7",
    tags: tuple[str, ...] = (),
    target: Target | None = None,
    change: bool = False,
    own: bool = False,
    push: bool = False,
    intercom: bool = False,
    hops: int = 0,
) -> Arrived:
    return Arrived(
        target=target or channel("disc", "general"),
        kind="chat",
        author=author,
        author_id=author_id,
        blocks=(Text(text),),
        tags=tags,
        change="edited" if change else "",
        own=own,
        push=push,
        intercom=intercom,
        hops=hops,
    )


def passes(given: Arrived, gate: Gate | None = None) -> bool:
    return judge(given, gate, GateState(), 0.0)[0].passes


def only(behavior: Behavior, match: Match | None = None) -> Gate:
    return Gate((Rule("one", match or Match(), behavior),))


@pytest.mark.parametrize(
    ("given", "woken"),
    [
        (said(tags=("chat:addressed",)), True),
        (said(tags=("chat:dm",)), True),
        (said(push=True), True),
        (said(intercom=True), True),
        (said(), False),
        (said(tags=("chat:mention",)), False),
        (said(tags=("chat:addressed",), change=True), False),
        (said(tags=("chat:addressed",), own=True), False),
    ],
)
def test_without_a_gate_only_what_is_meant_for_it_wakes(given: Arrived, woken: bool) -> None:
    """N-5, N-6, K-30, K-31: `chat:mention` alone is somebody else's until the tags are expanded."""
    assert passes(given) is woken


def test_the_first_rule_that_matches_decides() -> None:
    gate = Gate(
        (
            Rule("loud", Match(channel=("general",)), "defer"),
            Rule("all", Match(), "always"),
        )
    )
    verdict, _ = judge(said(), gate, GateState(), 0.0)
    assert (verdict.passes, verdict.rule) == (False, "gate:loud")
    verdict, _ = judge(said(target=channel("disc", "ops")), gate, GateState(), 0.0)
    assert (verdict.passes, verdict.rule) == (True, "gate:all")


def test_a_privileged_author_counts_as_always_only_where_no_rule_matches() -> None:
    """K-19, K-20, T-6: a suppressed privileged author stays suppressed."""
    gate = Gate((Rule("quiet", Match(channel=("ops",)), "defer"),), privileged=frozenset({"7"}))
    verdict, _ = judge(said(), gate, GateState(), 0.0)
    assert (verdict.passes, verdict.privileged, verdict.rule) == (True, True, "gate:privileged")
    verdict, _ = judge(said(target=channel("disc", "ops")), gate, GateState(), 0.0)
    assert (verdict.passes, verdict.privileged) == (False, True)


@pytest.mark.parametrize(
    ("match", "fits"),
    [
        (Match(kind=("channel",)), True),
        (Match(kind=("mcp",)), False),
        (Match(server=("d*",)), True),
        (Match(channel=("gen*",)), True),
        (Match(channel=("disc/general",)), True),
        (Match(channel=("channel:disc/general",)), True),
        (Match(author=("k?m",)), True),
        (Match(author=("7",)), True),
        (Match(author=("bob",)), False),
        (Match(tags_any=("chat:*",)), True),
        (Match(tags_all=("chat:addressed", "chat:has-link")), False),
        (Match(tags_none=("chat:from-bot",)), True),
        (Match(tags_none=("chat:addressed",)), False),
        (Match(text=("*release*",)), True),
        (Match(regex=r"rel\w+ date"), True),
        (Match(regex=r"^date"), False),
        (Match(author=("kim",), text=("*nothing*",)), False),
    ],
)
def test_a_match_asks_for_all_its_fields(match: Match, fits: bool) -> None:
    given = said("what is the\nrelease date?", tags=("chat:addressed",))
    assert matches(match, given) is fits


def test_a_rate_limit_gives_its_tokens_and_refills_one_each_interval() -> None:
    gate, state = only(RateLimit(2, 60.0)), GateState()
    seen = []
    for moment in (0.0, 1.0, 2.0, 61.0, 62.0):
        verdict, state = judge(said(), gate, state, moment)
        seen.append(verdict.passes)
    assert seen == [True, True, False, True, False]


def test_a_rate_limit_is_kept_apart_by_its_key() -> None:
    gate, state = only(RateLimit(1, 60.0, "author")), GateState()
    seen = []
    for author in ("1", "1", "2"):
        verdict, state = judge(said(author_id=author), gate, state, 0.0)
        seen.append(verdict.passes)
    assert seen == [True, False, True]


def test_a_limit_remembers_so_many_and_forgets_the_oldest() -> None:
    """T-6: bounded, however many authors there are."""
    gate, state = only(RateLimit(1, 60.0, "author")), GateState()
    for number in range(KEPT + 1):
        _, state = judge(said(author_id=str(number)), gate, state, float(number) / KEPT)
    assert len(state.buckets) == KEPT
    assert not judge(said(author_id="1"), gate, state, 1.0)[0].passes
    assert judge(said(author_id="0"), gate, state, 1.0)[0].passes


def test_what_a_limit_stops_leaves_it_as_it_was() -> None:
    """A-7: so that nothing has to be written of it; and it refills as if it had not been asked."""
    gate, state = only(RateLimit(1, 60.0)), GateState()
    _, state = judge(said(), gate, state, 0.0)
    for moment in (1.0, 30.0, 59.9):
        verdict, after = judge(said(), gate, state, moment)
        assert (verdict.passes, after is state) == (False, True)
    assert judge(said(), gate, state, 60.0)[0].passes


def test_a_clock_that_steps_back_gives_a_limit_nothing_and_takes_nothing() -> None:
    """K-79."""
    gate, state = only(RateLimit(1, 60.0)), GateState()
    _, state = judge(said(), gate, state, 1_000.0)
    verdict, state = judge(said(), gate, state, 10.0)
    assert not verdict.passes
    verdict, _ = judge(said(), gate, state, 71.0)
    assert verdict.passes


def test_a_sample_lets_every_nth_through() -> None:
    gate, state = only(Sample(3)), GateState()
    seen = []
    for _ in range(6):
        verdict, state = judge(said(), gate, state, 0.0)
        seen.append(verdict.passes)
    assert seen == [False, False, True, False, False, True]


def test_a_debounce_does_not_pass_now_and_says_how_long_it_waits() -> None:
    verdict, _ = judge(said(), only(Debounce(180.0)), GateState(), 0.0)
    assert (verdict.passes, verdict.debounce) == (False, 180.0)


def test_agents_cannot_wake_each_other_for_ever() -> None:
    """K-37."""
    assert passes(said(intercom=True, hops=MOST_HOPS - 1))
    assert not passes(said(intercom=True, hops=MOST_HOPS))
    assert not passes(said(hops=MOST_HOPS), only("always"))


def test_no_pattern_can_stall_the_engine() -> None:
    """A pattern that backtracking engines need years for is linear here."""
    gate = only("always", Match(regex=r"(a+)+$", text=("*a*a*a*a*b",)))
    began = time.process_time()
    assert not passes(said("a" * 50_000 + "!"), gate)
    assert time.process_time() - began < 5


def test_a_pattern_that_cannot_be_read_is_one_line() -> None:
    with pytest.raises(ValueError, match=r"is no regular expression: .*") as caught:
        pattern("(?=x)")
    assert "\n" not in str(caught.value)


def test_rules_that_can_never_match_are_named() -> None:
    gate = Gate(
        (
            Rule("mentions", Match(tags_any=("chat:mention", "chat:reply")), "always"),
            Rule("replies", Match(tags_any=("chat:reply",), channel=("ops",)), "defer"),
            Rule("torn", Match(tags_all=("chat:dm",), tags_none=("chat:dm",)), "always"),
            Rule("rest", Match(), "defer"),
            Rule("late", Match(author=("kim",)), "always"),
            Rule("ops", Match(channel=("ops",)), "always"),
        )
    )
    assert [name for name, _ in unreachable(gate)] == ["replies", "torn", "late", "ops"]
    assert not unreachable(Gate((Rule("a", Match(author=("a",)), "always"), Rule("b", Match(author=("b",)), "mute"))))
