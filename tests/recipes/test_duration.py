"""Durations as they are written and as notices show them (semantics.md section 1; cockpit.md, Verbs)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cockpit.core.duration import finite, parse_duration, spell


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("90s", 90), ("30m", 1800), ("2h", 7200), ("1d", 86400), (" 1.5 H ", 5400), ("0", 0), ("+5", 5)],
)
def test_a_bare_number_is_seconds_and_a_unit_multiplies(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a duration is written 90, 90s, 30m, 2h or 1d"),
        ("30x", "a duration is written 90, 90s, 30m, 2h or 1d"),
        ("1h30", "a duration is written 90, 90s, 30m, 2h or 1d"),
        ("true", "a duration is written 90, 90s, 30m, 2h or 1d"),
        ("٣", "a duration is written 90, 90s, 30m, 2h or 1d"),
        ("1e3", "a duration is written 90, 90s, 30m, 2h or 1d"),
        ("nan", "a duration is a finite number"),
        ("-inf", "a duration is a finite number"),
        ("9" * 400, "a duration is a finite number"),
        ("-5s", "a duration cannot be negative"),
    ],
)
def test_what_is_no_duration_is_refused(text: str, said: str) -> None:  # T-1, K-48, K-80
    with pytest.raises(ValueError, match=f"^{said}$"):
        parse_duration(text)


@pytest.mark.parametrize("number", [True, False, float("nan"), float("inf"), -1])
def test_a_number_that_is_no_duration_is_refused(number: float) -> None:  # T-1
    with pytest.raises(ValueError, match=r"^a duration "):
        finite(number)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0 s"),
        (42, "42 s"),
        (59.9, "59 s"),
        (60, "1 min 0 s"),
        (303, "5 min 3 s"),
        (3600, "1 h 0 min"),
        (3900, "1 h 5 min"),
        (3959, "1 h 5 min"),
        (2 * 86400 + 3 * 3600 + 59 * 60, "2 d 3 h"),
        (-5, "0 s"),
    ],
)
def test_a_span_shows_its_two_largest_units(seconds: float, shown: str) -> None:
    assert spell(seconds) == shown


@given(st.integers(0, 10**9))
def test_a_span_is_never_shown_longer_than_it_was(seconds: int) -> None:
    units = {"s": 1, "min": 60, "h": 3600, "d": 86400}
    words = spell(seconds).split()
    parts = [int(number) * units[unit] for number, unit in zip(words[::2], words[1::2], strict=True)]
    assert sum(parts) <= seconds < sum(parts) + units[words[-1]]
