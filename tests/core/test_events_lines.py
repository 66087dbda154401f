"""The headless lines: each event's keys stand exactly as the table of cockpit.md has them, and all of it is JSON."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from cockpit.control.headless import as_line
from cockpit.core.events import (
    Audited,
    ChannelChanged,
    ContextShown,
    Counted,
    EpochView,
    Explained,
    Failed,
    Held,
    Lined,
    Noticed,
    Peeked,
    Progressed,
    Prompted,
    Ready,
    Reported,
    Result,
    Spoke,
    Stopped,
    ToolCalled,
    TurnChanged,
    VerbRan,
    Writing,
    iso,
)
from cockpit.core.records import Usage

AT = 1_796_040_000.0
EPOCH = EpochView("epoch-7", 1800.0, 200, 5, 2, AT + 60)

LINES: list[tuple[Lined, str, list[str]]] = [
    (Ready(AT, "demo", "x.db", ("scout",), 3), "ready", ["recipe", "store", "agents", "channels"]),
    (
        ChannelChanged(AT, "mcp:git", "mcp", "online", "open", "online", 0, 0, 0, EPOCH, ("operator",)),
        "channel",
        ["target", "kind", "presence", "attention", "label", "wait", "need", "held", "epoch", "muted_by"],
    ),
    (Reported(AT, "S", "mcp:git", "summary", "t", "9"), "report", ["agent", "channel", "kind", "text", "id"]),
    (TurnChanged(AT, "scout", "ended", "prompt", Usage(1, 2, 3, 4)), "turn", ["agent", "state", "reason", "usage"]),
    (Spoke(AT, "scout", "hi"), "text", ["agent", "text"]),
    (Noticed(AT, "residents", "unmute", "mcp:git", "[…]"), "notice", ["agent", "kind", "channel", "text"]),
    (
        VerbRan(AT, "mute x", "mute", False, "no", "unknown_target", "try", (Result("mcp:git", True, "m"),)),
        "verb",
        ["line", "verb", "ok", "message", "error", "results"],
    ),
    (
        Peeked(AT, "mcp:git", (Held("4", AT, "kim", "hi", "mute"),), EPOCH, {"diverted": 1}),
        "peek",
        ["target", "messages", "epoch", "totals"],
    ),
    (
        Explained(AT, "4", "mcp:git", "diverted", {"mute": {"spanId": "s"}}, ("mute",), (), False),
        "why",
        ["id", "target", "decision", "stamp", "rules", "woke", "acknowledged"],
    ),
    (ContextShown(AT, "scout", 10, 100, {"system": []}), "context", ["agent", "tokens", "budget", "request"]),
    (Audited(AT, ({"at": "…"},)), "audit", ["rows"]),
    (Counted(AT, ({},), ({},)), "stats", ["channels", "agents"]),
    (Failed(AT, "store", "full"), "error", ["code", "message"]),
    (Stopped(AT, "quit"), "stopped", ["reason"]),
]


@pytest.mark.parametrize(("event", "name", "keys"), LINES, ids=[name for _, name, _ in LINES])
def test_keys_stand_in_the_tables_order(event: Lined, name: str, keys: list[str]) -> None:
    """cockpit.md, Headless lines: `event`, `at`, then the table's fields, in its order."""
    line = event.line()
    assert list(line) == ["event", "at", *keys]
    assert (line["event"], line["at"]) == (name, "2026-11-30T12:00:00.000Z")
    assert json.loads(as_line(event) or "") == json.loads(json.dumps(line))


def test_every_event_with_a_line_is_in_this_table() -> None:
    assert {type(event) for event, _, _ in LINES} == set(get_args(Lined))


def test_what_only_a_screen_needs_has_no_line() -> None:
    for event in (
        Writing(AT, "S", "1", "x", report=True),
        ToolCalled(AT, "scout", "t", ""),
        Prompted(AT, "scout", "hi"),
        Progressed(AT, "mcp:git", "50 %"),
    ):
        assert as_line(event) is None


def test_an_epochs_keys_and_a_missing_one() -> None:
    """`epoch`: null or `{id, cadence, cap, max_wakes, wakes, deadline}`; spans are seconds, a deadline is a time."""
    keys = ["id", "cadence", "cap", "max_wakes", "wakes", "deadline"]
    assert list(EPOCH.json()) == keys
    assert (EPOCH.json()["cadence"], EPOCH.json()["deadline"]) == (1800, "2026-11-30T12:01:00.000Z")
    assert EpochView("e", 30.5, 0, 1, 0, None).json()["deadline"] is None
    row = ChannelChanged(AT, "mcp:git", "mcp", "online", "open", "online", 0, 0, 0, None, ())
    assert row.line()["epoch"] is None


def test_the_inner_objects_keys() -> None:
    """`usage`, `error`, `results` and a peek's `messages` as the table spells them."""
    turn = TurnChanged(AT, "scout", "ended", "prompt", Usage(1, 2, 3, 4)).line()["usage"]
    assert isinstance(turn, dict)
    assert list(turn) == ["input", "output", "cache_read", "cache_write"]
    assert TurnChanged(AT, "scout", "started", "prompt").line()["usage"] is None
    assert list(Held("4", AT, "kim", "hi", "mute").json()) == ["id", "at", "author", "text", "held_by"]
    assert list(Result("mcp:git", True, "m").json()) == ["target", "ok", "message"]
    ran = VerbRan(AT, "x", "", False, "no", "unknown_verb", "mute").line()
    assert ran["error"] == {"code": "unknown_verb", "hint": "mute"}
    assert VerbRan(AT, "x", "mute", True, "done").line()["error"] is None


def test_times_are_iso_in_utc_with_milliseconds() -> None:
    assert iso(AT + 0.1234) == "2026-11-30T12:00:00.123Z"
    assert iso(253_402_300_799.0) == "9999-12-31T23:59:59.000Z"
