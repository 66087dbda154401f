"""The closure of tags (mcpl.md 9.2, 16.6)."""

from __future__ import annotations

import pytest

from cockpit.connect import tags
from cockpit.core.message import Json


@pytest.mark.parametrize(
    ("given", "expanded"),
    [
        (["chat:mention"], {"chat:mention", "chat:addressed"}),
        (["chat:reply"], {"chat:reply", "chat:addressed"}),
        (["chat:dm"], {"chat:dm", "chat:addressed", "chat:private"}),
        (["chat:mention", "chat:ambient"], {"chat:mention", "chat:addressed"}),
        (["chat:ambient"], {"chat:ambient"}),
        (["mention"], set()),
        ([":x", "chat:from-bot", "chat:from-bot"], {"chat:from-bot"}),
        (["vendor:key=value"], {"vendor:key=value"}),
        ([1, None, {"a": 1}], set()),
        ("chat:mention", set()),
        (None, set()),
        (["x:" + "y" * 300], set()),
    ],
)
def test_closure(given: Json, expanded: set[str]) -> None:  # T-7
    assert set(tags.expand(given)) == expanded


def test_tags_are_a_set() -> None:
    assert len(tags.expand(["a:b", "a:b", "a:c"])) == 2


def test_a_server_cannot_send_tags_without_end() -> None:
    assert len(tags.expand([f"a:{n}" for n in range(10_000)])) == 64


def test_life_cycle_and_change() -> None:
    assert tags.life_cycle(("chat:ambient", "chat:edited")) == "chat:edited"
    assert tags.life_cycle(("chat:ambient",)) is None
    assert tags.change(("chat:deleted",)) == "deleted"
    assert tags.change(("chat:edited",)) == "edited"
    assert tags.change(("chat:reaction",)) == ""
