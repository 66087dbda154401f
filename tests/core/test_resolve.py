"""Which channels a typed target means (cockpit.md, Verbs; semantics.md section 1)."""

from __future__ import annotations

import pytest

from cockpit.core.resolve import complete, resolve
from cockpit.core.target import Target, channel, parse
from cockpit.core.verbs import BY_NAME
from cockpit.errors import VerbCode, VerbError

GIT, GITHUB, DB = parse("mcp:git"), parse("mcp:github"), parse("mcp:db")
NOISY, QUIET, TWIN = channel("disc", "disc:guild:noisy"), channel("disc", "quiet"), channel("irc", "quiet")
FEED, HEDGEHOG = parse("feed:general"), parse("user:hedgehog")
KNOWN = [GIT, GITHUB, DB, NOISY, QUIET, TWIN, FEED, HEDGEHOG]


def found(text: str, verb: str = "mute") -> tuple[Target, ...]:
    return resolve(text, KNOWN, BY_NAME[verb])[0]


def refused(text: str, verb: str = "mute") -> VerbError:
    with pytest.raises(VerbError) as error:
        resolve(text, KNOWN, BY_NAME[verb])
    return error.value


def test_what_is_typed_exactly_is_what_is_meant() -> None:
    """F-24: `mcp:git` is never `mcp:github`."""
    assert found("mcp:git") == (GIT,)
    assert found("mcp:github") == (GITHUB,)


def test_a_prefix_is_a_candidate_and_never_the_answer() -> None:
    """F-24: nothing runs on a longer name."""
    error = refused("mcp:gith")
    assert error.code == "unknown_target"
    assert "mcp:github" in error.hint


@pytest.mark.parametrize("text", [" mcp:git ", "MCP:git", "Mcp: git"])
def test_the_kind_is_read_in_any_case(text: str) -> None:
    """K-113: case, trailing space."""
    assert found(text) == (GIT,)


def test_an_id_alone_names_the_one_channel_that_has_it() -> None:
    """Section 1: `channel:ID` where it names one channel."""
    assert found("channel:disc:guild:noisy") == (NOISY,)


def test_an_id_of_two_servers_is_refused_with_both() -> None:
    """Section 1: refused with the candidates where it names several."""
    error = refused("channel:quiet")
    assert error.code == "ambiguous_target"
    assert str(QUIET) in str(error)
    assert str(TWIN) in str(error)
    assert found("channel:irc/quiet") == (TWIN,)


@pytest.mark.parametrize(
    ("text", "code", "hint"),
    [
        ("mcp:gitt", "unknown_target", "mcp:git"),
        ("mcp:GIT", "unknown_target", "mcp:git"),
        ("git", "unknown_target", "mcp:git"),
        ("server:git", "unknown_target", "mcp:git"),
        ("mcp:", "unknown_target", ""),
        ("*", "unknown_target", ""),
        ("mcp:zz*", "unknown_target", ""),
    ],
)
def test_an_unknown_target_is_refused_with_the_nearest(text: str, code: VerbCode, hint: str) -> None:
    """K-113."""
    error = refused(text)
    assert error.code == code
    assert hint in error.hint


@pytest.mark.parametrize(
    ("text", "verb"), [("mcp:git", "tune-out"), ("user:hedgehog", "cancel"), ("feed:general", "kill")]
)
def test_a_kind_that_the_verb_does_not_take_is_refused(text: str, verb: str) -> None:
    """K-113, T-2."""
    assert refused(text, verb).code == "wrong_kind"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("mcp:*", [GIT, GITHUB, DB]),
        ("mcp:git*", [GIT, GITHUB]),
        ("channel:disc/*", [NOISY, QUIET]),
        ("channel:*/quiet", [QUIET, TWIN]),
        ("mcp:d?", [DB]),
        ("*:git*", [GIT, GITHUB]),
    ],
)
def test_a_glob_means_all_that_match_and_says_it_is_one(text: str, meant: list[Target]) -> None:
    """cockpit.md, Verbs: globs act on all that match."""
    targets, many = resolve(text, KNOWN, BY_NAME["mute"])
    assert (list(targets), many) == (meant, True)


def test_a_name_with_a_star_is_itself_first() -> None:
    """K-113: what is written exactly wins over a glob."""
    star = parse("mcp:git*")
    assert resolve("mcp:git*", [*KNOWN, star], BY_NAME["mute"]) == ((star,), False)


def test_a_server_with_a_colon_and_one_name_in_two_kinds() -> None:
    """K-114."""
    known = [parse("mcp:a:b"), parse("mcp:general"), parse("feed:general")]
    for each in known:
        assert resolve(str(each), known, BY_NAME["mute"]) == ((each,), False)


def test_completion_offers_and_does_not_decide() -> None:
    """F-24: Tab completes; Enter runs what was typed."""
    assert complete("mu", KNOWN) == ["mute "]
    assert complete(":tu", KNOWN) == [":tune-out "]
    assert complete("go=mute target=mcp:g", KNOWN) == ["go=mute target=mcp:git", "go=mute target=mcp:github"]
    assert complete("mute mcp:d", KNOWN) == ["mute mcp:db"]
    assert complete("unmute mcp:db deliver=", KNOWN) == [
        "unmute mcp:db deliver=notice",
        "unmute mcp:db deliver=backlog",
    ]
    assert complete("frob ", KNOWN) == []
