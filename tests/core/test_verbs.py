"""The verb grammar: what a line means, and how one that means nothing is refused (cockpit.md, Verbs)."""

from __future__ import annotations

import pytest

from cockpit.core.resolve import resolve
from cockpit.core.target import Target
from cockpit.core.verbs import BY_NAME, VERBS, Value, nearest, parse
from cockpit.errors import VerbCode, VerbError


def refused(line: str) -> VerbError:
    with pytest.raises(VerbError) as found:
        parse(line)
    return found.value


@pytest.mark.parametrize(
    ("line", "verb", "target", "values"),
    [
        ("go=mute target=mcp:git", "mute", "mcp:git", {}),
        ("mute mcp:git", "mute", "mcp:git", {}),
        (":mute mcp:git", "mute", "mcp:git", {}),
        ("target=mcp:git go=mute", "mute", "mcp:git", {}),
        ("GO=Mute TARGET=mcp:git REASON=noise", "mute", "mcp:git", {"reason": "noise"}),
        ("  go=unmute   target=mcp:git  deliver=Backlog ", "unmute", "mcp:git", {"deliver": "backlog"}),
        ("go=cancel target=channel:d/a=b", "cancel", "channel:d/a=b", {}),
        ("cancel channel:d/a=b", "cancel", "channel:d/a=b", {}),
        ("go=stop", "stop", None, {}),
        ("go=peek target=mcp:git last=5", "peek", "mcp:git", {"last": 5}),
        ("why disc/m1", "why", None, {"message": "disc/m1"}),
        ('why "disc/m1"', "why", None, {"message": "disc/m1"}),
        ("go=why 'disc/a b'", "why", None, {"message": "disc/a b"}),
        ('why disc/a"b"=c', "why", None, {"message": 'disc/a"b"=c'}),
        ('rewind "disc/a=b"', "rewind", None, {"to": "disc/a=b"}),
        ('switch "main"', "switch", None, {"branch": "main"}),
        ("context scout", "context", None, {"agent": "scout"}),
        ("audit", "audit", None, {}),
        ("go=mute target = mcp:git", "mute", "mcp:git", {}),
        ("mute target= mcp:git reason =loud", "mute", "mcp:git", {"reason": "loud"}),
        ("go=mute target = 'mcp:git' REASON = \"too loud\"", "mute", "mcp:git", {"reason": "too loud"}),
        ("cancel target = channel:d/a=b", "cancel", "channel:d/a=b", {}),
        ("go=why message = disc/m1", "why", None, {"message": "disc/m1"}),
    ],
)
def test_both_forms_say_the_same(line: str, verb: str, target: str | None, values: dict[str, Value]) -> None:
    """`go=VERB target=TARGET [name=value …]` in any order and case of names, with spaces around an `=` or without;
    `VERB TARGET` for short."""
    found = parse(line)
    assert (found.verb.name, found.target, dict(found.values)) == (verb, target, values)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('mute mcp:git reason="too loud"', "too loud"),
        ("mute mcp:git reason='too \"loud\"'", 'too "loud"'),
        (r'mute mcp:git reason="a \"b\" \\ c"', r'a "b" \ c'),
        ("mute mcp:git reason=don't", "don't"),
        ('mute mcp:git reason="a=b for=2h"', "a=b for=2h"),
    ],
)
def test_values_may_be_quoted(line: str, reason: str) -> None:
    """`"` and `'` quote; an apostrophe inside a word is a letter."""
    assert parse(line).text("reason") == reason


def test_what_is_said_stands_as_it_was_typed() -> None:
    assert parse("ask how is 2+2=4 going").text("text") == "how is 2+2=4 going"
    assert parse('ask say "hi" twice').text("text") == 'say "hi" twice'
    assert parse('go=ask text="say hi"').text("text") == "say hi"
    assert parse('ask "hi" they said').text("text") == '"hi" they said'
    assert parse('say to=feed:general "hi"').text("text") == '"hi"'
    assert parse("ask 'hi'").text("text") == "'hi'"
    assert parse("ask is text = right").text("text") == "is text = right"


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("90", 90), ("90s", 90), ("30m", 1800), ("2h", 7200), ("1d", 86400)],
)
def test_durations_are_read_to_seconds(written: str, seconds: float) -> None:
    found = parse(f"tune-out channel:d/n cadence={written} for={written}")
    assert found.number("cadence") == found.number("for") == seconds


@pytest.mark.parametrize(("written", "whole"), [("5", 5), ("1.5", 1), ("0.5", 0), ("0", 0), ("1e3", 1000)])
def test_counts_are_whole_and_fractions_are_floored(written: str, whole: int) -> None:
    """T-1, K-48: 0.5 is 0."""
    found = parse(f"tune-out channel:d/n cap={written}").number("cap")
    assert found == whole
    assert isinstance(found, int)


@pytest.mark.parametrize("bad", ["nan", "inf", "-inf", "-1", "-0.5", "many", "true", "1e999"])
@pytest.mark.parametrize("name", ["cap", "wakes"])
def test_a_count_that_is_no_number_is_refused_by_name(name: str, bad: str) -> None:
    """T-1, K-48."""
    error = refused(f"tune-out channel:d/n {name}={bad}")
    assert error.code == "bad_value"
    assert f"{name}={bad!r} is {'below 0' if bad in {'-1', '-0.5'} else 'not a whole number'}" in str(error)


@pytest.mark.parametrize("name", ["cadence", "for"])
@pytest.mark.parametrize("bad", ["nan", "inf", "-5", "soon", "5 parsecs", "true"])
def test_a_duration_that_is_none_is_refused_by_name(name: str, bad: str) -> None:
    """T-1, K-80: NaN duration refused."""
    error = refused(f'tune-out channel:d/n {name}="{bad}"')
    assert error.code == "bad_value"
    assert f"{name}=" in str(error)


@pytest.mark.parametrize("written", ["1e300", "9" * 400, "99999999999999999999"])
def test_a_count_of_any_size_stays_a_number_that_a_store_can_hold(written: str) -> None:
    """K-49: no ceiling that anybody would meet; but no store takes an integer of three hundred digits."""
    line = f"peek mcp:git last={written}"
    if written == "9" * 400:
        assert refused(line).code == "bad_value"
    else:
        number = parse(line).number("last")
        assert number is not None
        assert 10**15 < number < 2**63


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("", "missing_value", "names no verb"),
        ("go=", "unknown_verb", "no verb ''"),
        ("go=mut target=mcp:git", "unknown_verb", "did you mean mute"),
        ("go=tuneout target=channel:d/n", "unknown_verb", "tune-out"),
        ("frobnicate", "unknown_verb", "no verb 'frobnicate'"),
        ("go=mute", "missing_value", "mute needs target="),
        ("go=mute target=", "missing_value", "target= has no value"),
        ('go=mute target="  "', "missing_value", "target= has no value"),
        ('go=mute target="" mcp:git', "bad_value", "no place for 'mcp:git'"),
        ("go=mute target= reason=x", "missing_value", "target= has no value"),
        ("go=mute mcp:git = x", "bad_value", "nothing stands before '='"),
        ("go=ask", "missing_value", "ask needs text="),
        ("go=mute target=mcp:git reson=x", "bad_value", "did you mean reason=?"),
        ("go=stop target=mcp:git", "bad_value", "it takes nothing"),
        ("go=mute target=mcp:git target=mcp:db", "bad_value", "given twice"),
        ("go=mute mcp:git mcp:db", "bad_value", "no place for 'mcp:db'"),
        ("go=unmute target=mcp:git deliver=all", "bad_value", "none of notice, backlog"),
        ('go=mute target=mcp:git reason="open', "bad_value", "not closed"),
        ("go=mute target=mcp:git soft=no", "bad_value", "none of yes"),
        ('why "disc/m1', "bad_value", "not closed"),
    ],
)
def test_what_means_nothing_is_refused_with_the_nearest(line: str, code: VerbCode, said: str) -> None:
    """K-113, R-5: unknown words and missing values, each one clear line."""
    error = refused(line)
    assert error.code == code
    assert said in str(error)
    assert "\n" not in str(error)


def test_a_mute_has_no_duration_and_says_where_to_find_one() -> None:
    """M-9: `go=mute for=…` is refused with the hint that a tune-out has one."""
    error = refused("go=mute target=channel:d/n for=2h")
    assert error.code == "bad_value"
    assert "tune-out" in error.hint
    assert "for=2h" in error.hint


LONG = 10_000_000


@pytest.mark.parametrize(
    "line",
    [
        "x" * LONG,
        f"go={'mute' * (LONG // 4)}",
        f"go=mute {'r' * LONG}=1",
        f"mute mcp:git {'x' * LONG}",
        f"go=unmute target=mcp:git deliver={'x' * LONG}",
        f"tune-out channel:d/n cap={'9' * LONG}",
        f"tune-out channel:d/n cap={'-' * 300}",
        f"tune-out channel:d/n for={'9' * LONG}",
        f"mute {'a ' * (LONG // 50)}",
    ],
    ids=lambda line: line[:30],
)
def test_a_word_of_any_length_is_refused_in_a_short_line(line: str) -> None:
    """R-5, R-6: a slip of the clipboard; neither the answer nor its hint repeats it."""
    error = refused(line)
    assert len(str(error)) + len(error.hint) < 600


@pytest.mark.parametrize("name", ["cap", "for"])
def test_a_number_of_millions_of_digits_is_not_read(name: str) -> None:
    """R-5, T-1: reading it would take seconds, and it means nothing."""
    assert "too long for a number" in str(refused(f"tune-out channel:d/n {name}={'9' * LONG}"))


def test_a_long_word_is_compared_by_its_beginning() -> None:
    """R-5: comparing takes the square of its length, and everybody else waits for it."""
    known = f"channel:disc/{'a' * 150}"
    assert nearest(known[:120], [known]) == nearest(f"{known[:120]}{'b' * LONG}", [known]) == (known,)
    assert nearest("x" * LONG, ["xy"]) == ()


def test_a_glob_of_many_stars_is_tried_in_no_time() -> None:
    """R-5: a star never goes back over what it has taken, or thirty would try every way to share a name."""
    known = [Target("mcp", "a" * 60), Target("mcp", "b[1]"), Target("mcp", "b1")]
    mute = BY_NAME["mute"]
    assert resolve(f"mcp:{'*a' * 30}*", known, mute) == ((known[0],), True)
    assert resolve("mcp:b[?]", known, mute) == ((known[1],), True)
    assert resolve(f"mcp:{'*' * LONG}", known, mute) == (tuple(known), True)
    for none in (f"mcp:{'*a' * 30}*z", f"mcp:{'?' * LONG}", f"mcp:*{'a*' * 61}"):
        with pytest.raises(VerbError) as found:
            resolve(none, known, mute)
        assert found.value.code == "unknown_target"
        assert len(str(found.value)) < 600


def test_the_nearest_stand_first() -> None:
    assert nearest("mcp:gi", ["mcp:db", "mcp:github", "mcp:git"])[:2] == ("mcp:github", "mcp:git")
    assert nearest("zzz", ["mcp:git"]) == ()


@pytest.mark.parametrize(
    ("word", "known", "named"),
    [
        ("mut", ["quit", "mute", "unmute"], ("mute",)),
        ("un", ["mute", "unmute", "undo"], ("unmute", "undo")),
        ("verb.mutee", ["verb.quit", "verb.mute", "verb.peek"], ("verb.mute",)),
        ("mcp:gti", ["mcp:db", "mcp:git", "mcp:github"], ("mcp:git", "mcp:github")),
    ],
)
def test_what_begins_so_wins_over_what_is_only_alike(word: str, known: list[str], named: tuple[str, ...]) -> None:
    """A word that shares no more with it than the head of all of them is not named."""
    assert nearest(word, known) == named


def test_each_verb_stands_once_and_shows_its_usage() -> None:
    assert len(BY_NAME) == len(VERBS)
    assert BY_NAME["mute"].usage == "go=mute target=… [reason=…] [override=…] [soft=yes]"
    assert BY_NAME["unmute"].usage == "go=unmute target=… [deliver=notice|backlog]"
    assert BY_NAME["tune-out"].usage == "go=tune-out target=… [cadence=30m] [cap=200] [wakes=5] [for=2h]"
    assert BY_NAME["cancel"].usage == "go=cancel target=… [reason=…]"


def test_what_only_reads_is_no_writing_verb() -> None:
    """`--read-only` refuses every writing verb and no other."""
    reading = {verb.name for verb in VERBS if not verb.writes}
    assert reading == {"peek", "why", "audit", "stats", "context", "branches", "quit"}
