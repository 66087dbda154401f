"""How a channel is named (semantics.md section 1)."""

from __future__ import annotations

import pytest

from cockpit.core.target import KINDS, Target, channel, parse, server
from cockpit.errors import VerbError


@pytest.mark.parametrize(
    ("text", "kind", "of", "own"),
    [
        ("mcp:git", "mcp", "git", "git"),
        ("channel:disc/disc:guild:noisy", "channel", "disc", "disc:guild:noisy"),
        ("channel:irc/#a/b", "channel", "irc", "#a/b"),
        ("user:hedgehog", "user", None, "hedgehog"),
        ("feed:general", "feed", None, "general"),
    ],
)
def test_a_target_reads_and_writes_itself(text: str, kind: str, of: str | None, own: str) -> None:
    """Section 1: the first colon parts the kind, the first slash the server; the id may hold both."""
    found = parse(text)
    assert (found.kind, found.server, found.id, str(found)) == (kind, of, own, text)


def test_a_server_name_may_hold_a_colon() -> None:
    """K-114."""
    assert parse("mcp:a:b") == server("a:b")
    assert parse("channel:a:b/noisy") == channel("a:b", "noisy")


def test_one_name_in_two_kinds_is_two_channels() -> None:
    """K-114."""
    assert parse("mcp:general") != parse("feed:general")


def test_the_kind_is_read_in_any_case_and_spaces_fall_away() -> None:
    """K-113: case and trailing space."""
    assert parse(" MCP:git ") == Target("mcp", "git")
    assert parse("mcp:Git") != Target("mcp", "git")


@pytest.mark.parametrize("text", ["", "git", "mcp:", "mcp: ", ":git", "server:git", "mcp"])
def test_what_is_no_target_is_refused_with_the_forms(text: str) -> None:
    """K-113."""
    with pytest.raises(VerbError) as refused:
        parse(text)
    assert refused.value.code == "unknown_target"
    assert all(f"{kind}:" in str(refused.value) for kind in KINDS)
