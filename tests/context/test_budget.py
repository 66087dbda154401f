"""Estimates and their correction by what the provider counted (V-3, V-5)."""

from __future__ import annotations

import pytest

from cockpit.context.agent_context import Ceilings
from cockpit.context.budget import Calibration, Prelude, estimate, tokens_of, usable
from cockpit.core.message import Media, Text, Thinking, ToolResult
from cockpit.core.request import Tool
from cockpit.testing.conversation import Conversation, texts, use


def test_a_token_is_four_code_points_rounded_up() -> None:
    """V-5."""
    assert [tokens_of(length) for length in (0, 1, 4, 5, 8)] == [0, 1, 1, 2, 2]
    assert estimate((Text("👍" * 5),)) == 2


def test_each_kind_of_block_has_its_size() -> None:
    assert estimate((use("c", "look", where="up"),)) == tokens_of(len('look{"where": "up"}'))
    assert estimate((Thinking({"signature": "s"}),)) == tokens_of(len('{"signature": "s"}'))
    assert estimate((ToolResult("c", (Text("abcd"), Text("abcd"))),)) == 2
    assert estimate((Media("image"),)) == 1_600


def test_tools_count_by_their_json() -> None:
    """V-3."""
    small, large = (
        Prelude("p", (Tool("look", "Look.", {"type": "object", "properties": {"x": {"description": "d" * size}}}),))
        for size in (0, 4_000)
    )
    assert large.tokens() - small.tokens() == 1_000


def test_the_usable_budget_is_never_negative() -> None:
    assert usable(1_000, 200, 300) == 500
    assert usable(1_000, 900, 300) == 0


def test_calibration_closes_in_on_what_the_provider_counts() -> None:
    calibration = Calibration()
    for _ in range(20):
        calibration = calibration.observed(calibration(1_000), 1_400)

    assert calibration(1_000) == pytest.approx(1_400, abs=3)


@pytest.mark.parametrize(("estimated", "actual"), [(0, 100), (100, 0), (-1, 5)])
def test_calibration_learns_nothing_from_nothing(estimated: int, actual: int) -> None:
    assert Calibration(1.2).observed(estimated, actual) == Calibration(1.2)


def test_one_odd_answer_moves_it_little_and_never_out_of_bounds() -> None:
    assert Calibration().observed(1_000, 2_000).ratio == pytest.approx(1.3)
    wild = Calibration()
    for _ in range(50):
        wild = wild.observed(10, 1_000_000)
    assert wild.ratio == 4
    for _ in range(50):
        wild = wild.observed(1_000_000, 1)
    assert wild.ratio == 0.75


def test_v3_a_provider_that_counts_more_makes_the_window_jump_earlier() -> None:
    talk = Conversation()
    scout = talk.resident(ceilings=Ceilings(1_100, 100, None))
    for _ in range(8):
        talk.prompt("." * 400)
    done = talk.ask(prelude=Prelude(""))
    assert not done.moved
    for _ in range(10):
        scout.calibrate(scout.preview(Prelude("")).request.tokens, 1_300)

    assert talk.ask(prelude=Prelude("")).moved


def test_v5_calibration_serves_the_budget_only() -> None:
    """V-5: where a text is cut does not depend on it."""
    talk = Conversation()
    scout = talk.resident(ceilings=Ceilings(max_message_tokens=10))
    for _ in range(20):
        scout.calibrate(100, 400)
    talk.chat("x" * 41)

    assert scout.calibration.ratio == 4
    assert texts(talk.ask().request)[0].endswith("x" * 40 + "[truncated — original was 11 tokens]")
