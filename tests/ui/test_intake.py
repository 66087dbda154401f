"""Where events wait for the next paint: bounded, coalesced, and counting what gives way."""

from __future__ import annotations

from cockpit.core.events import Failed, Noticed, Reported, Stopped, ToolCalled, TurnChanged, Writing
from cockpit.core.records import Usage
from cockpit.testing.fake_link import START, report, row
from cockpit.ui.intake import MOST, Intake


def test_a_row_replaces_its_older_self() -> None:
    intake = Intake()
    for held in range(1000):
        intake.put(row("mcp:git", held=held))
    assert [each.held for each in intake.take().rows] == [999]
    assert intake.take().rows == ()


def test_ten_thousand_reports_in_one_paint_are_shown_or_counted() -> None:
    """F-27: shown + dropped = sent."""
    intake = Intake()
    for number in range(10_000):
        intake.put(report(f"r{number}", id=str(number)))
    batch = intake.take()
    assert len(batch.reports) == MOST
    assert len(batch.reports) + batch.lost_reports == 10_000
    assert isinstance(batch.reports[-1], Reported)
    assert batch.reports[-1].text == "r9999"


def test_pieces_of_one_stream_become_one() -> None:
    intake = Intake()
    for word in ("one ", "two ", "three"):
        intake.put(Writing(START, "Subconscious", "s1", word, report=True))
    intake.put(Writing(START, "scout", "s2", "other", report=False))
    batch = intake.take()
    assert [each.text for each in batch.reports if isinstance(each, Writing)] == ["one two three"]
    assert len(batch.talk) == 1


def test_a_piece_that_gives_way_is_no_lost_report() -> None:
    """F-27: its whole text comes as a report of its own."""
    intake = Intake()
    for number in range(MOST + 5):
        intake.put(Writing(START, "Subconscious", f"s{number}", "x", report=True))
    assert intake.take().lost_reports == 0


def test_turns_of_one_agent_add_up_their_usage() -> None:
    intake = Intake()
    intake.put(TurnChanged(START, "scout", "ended", "prompt", Usage(10, 1)))
    intake.put(TurnChanged(START, "scout", "started", "message"))
    intake.put(TurnChanged(START, "scout", "ended", "message", Usage(5, 2)))
    (turn,) = intake.take().turns
    assert turn.state == "ended"
    assert turn.usage == Usage(15, 3)


def test_the_subconscious_calls_are_its_panes() -> None:
    intake = Intake()
    intake.subconscious = "Subconscious"
    intake.put(ToolCalled(START, "Subconscious", "speak_in_channel", "hi", ok=True))
    intake.put(Noticed(START, "Subconscious", "tune-out-wake", "", "[Tune-out wake: x — 1 addressed message]"))
    intake.put(ToolCalled(START, "scout", "git__log", "", ok=True))
    batch = intake.take()
    assert [type(each).__name__ for each in batch.reports] == ["ToolCalled"]
    assert [each.agent for each in batch.talk] == ["scout"]


def test_failures_are_bounded_and_counted() -> None:
    """F-7"""
    intake = Intake()
    for number in range(300):
        intake.put(Failed(START, "server", f"{number}"))
    batch = intake.take()
    assert len(batch.failures) + batch.lost_failures == 300
    assert batch.failures[-1].message == "299"


def test_the_end_is_kept() -> None:
    intake = Intake()
    intake.put(Stopped(START, "quit"))
    assert intake.take().stopped == Stopped(START, "quit")
