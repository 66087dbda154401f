"""The page that says which test pins which rule is the one that the tests make."""

from __future__ import annotations

from pathlib import Path

import pytest

from cockpit.testing.rules import every, named, page

TESTS = Path(__file__).parent


def test_the_page_is_not_stale() -> None:
    """`python -m cockpit.testing.rules` writes it anew."""
    assert (TESTS / "RULES.md").read_text(encoding="utf-8") == page(TESTS)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("pins " + "T-" + "1 to " + "T-" + "3", {"T-1", "T-2", "T-3"}),
        ("K-" + "1, 4 and 9", {"K-1", "K-4", "K-9"}),
        ("M-" + "2, " + "T-" + "5", {"M-2", "T-5"}),
        ("V-" + "8: 90 s", {"V-8"}),
        ("UTF-8 and COVID-19", set()),
    ],
)
def test_numbers_are_read_as_people_write_them(text: str, found: set[str]) -> None:
    assert named(text) == found


def test_every_rule_of_the_contract_is_known() -> None:
    assert len(every()) == 11 + 11 + 14 + 9 + 8 + 9 + 22 + 10 + 96 + 38
