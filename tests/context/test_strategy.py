"""The windowed strategy by itself: a pure function from units to a plan (V-3, V-10)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cockpit.context.budget import Calibration
from cockpit.context.images import ImagePolicy
from cockpit.context.speech import Unit
from cockpit.context.strategy import Anchor, Material
from cockpit.context.windowed import WindowedPassthrough
from cockpit.core.message import Text
from cockpit.errors import OverBudgetError
from cockpit.testing.conversation import use

GIVEN = Material((), (), (), 0, Anchor(), 1_000, Calibration())


def told(sequence: int, tokens: int = 100, *, images: int = 0, framed: bool = False) -> Unit:
    still = tokens - images * 90
    return Unit(sequence, sequence, live_tokens=tokens, still_tokens=still, images=images, framed=framed)


def called(sequence: int, last: int, tokens: int) -> Unit:
    return Unit(sequence, last, (use("c"),), (Text("r"),), (Text("r"),), tokens, tokens)


def test_v3_what_fits_is_shown_as_it_is() -> None:
    given = replace(GIVEN, units=tuple(told(number) for number in range(1, 11)))
    plan = WindowedPassthrough().plan(given)
    assert (plan.units, plan.anchor) == (given.units, Anchor())


def test_v9_a_window_that_does_not_reach_its_anchor_jumps_to_where_it_begins() -> None:
    """V-9, V-3: below the bottom something is missing, so the window may not claim it; what no request has held is
    pinned, and what one has held is left behind."""
    units = (told(3, 10, framed=True), told(4, 10, framed=True), told(5_000), told(5_001))
    plan = WindowedPassthrough().plan(replace(GIVEN, units=units, bottom=4_990, fresh=(3,)))

    assert plan.anchor == Anchor(4_990, (3,))
    assert plan.units == (units[0], *units[2:])


def test_v3_the_cut_stands_between_no_call_and_its_result() -> None:
    """V-3: the window becomes larger than the fraction rather than split them, but not than the budget."""
    units = (told(1, 600), called(10, 20, 450), told(15, 40), told(21, 40))
    assert WindowedPassthrough().plan(replace(GIVEN, units=units)).anchor == Anchor(21)

    last_in_between = (told(1, 600), called(10, 20, 480), told(15, 40))
    assert WindowedPassthrough().plan(replace(GIVEN, units=last_in_between)).anchor == Anchor(10)


def test_v3_where_a_call_cannot_stay_its_results_go_with_it() -> None:
    units = (called(10, 20, 990), told(15, 40))
    plan = WindowedPassthrough().plan(replace(GIVEN, units=units))

    assert plan.anchor == Anchor(15)
    assert plan.units == units[1:]


def test_v3_notices_that_were_never_sent_give_way_only_to_the_newest_message() -> None:
    """V-3, V-6."""
    units = (told(1, 600, framed=True), told(2, 300), told(3, 500))
    plan = WindowedPassthrough().plan(replace(GIVEN, units=units, fresh=(1,)))

    assert plan.units == units[2:]
    assert plan.anchor == Anchor(3)


def test_v6_the_newest_message_is_measured_by_itself() -> None:
    with pytest.raises(OverBudgetError, match="message 2 alone takes about 1001 tokens, and messages may take 1000"):
        WindowedPassthrough().plan(replace(GIVEN, units=(told(1), told(2, 1_001))))


def test_v10_what_is_a_placeholder_already_counts_as_one_and_stays_one() -> None:
    """V-10: images below the anchor's mark are not shown live again, however few there are."""
    units = tuple(told(number, 200, images=1) for number in range(1, 8))
    strategy = WindowedPassthrough(images=ImagePolicy(keep=5, most=5))
    given = replace(GIVEN, units=units, anchor=Anchor(0, (), 5), usable=1_100)
    assert strategy.plan(given).anchor == given.anchor

    jumped = strategy.plan(replace(given, usable=800)).anchor
    assert jumped.images == 5
    assert jumped.sequence > 0


def test_v3_equal_material_gives_an_equal_plan() -> None:
    """A dry run is the same call."""
    given = replace(GIVEN, units=tuple(told(number) for number in range(1, 30)), calibrated=Calibration(1.3))
    assert WindowedPassthrough().plan(given) == WindowedPassthrough().plan(given)
