"""What the cockpit tells unasked stands until the operator says that it was seen."""

from __future__ import annotations

import pytest

from cockpit.core.events import Failed
from cockpit.testing.driven_screen import driven
from cockpit.testing.fake_link import START, FakeLink, demo_view

ASKED = Failed(START, "mute_asked", "scout asks to mute user:you. go=mute target=user:you soft=yes is a yes")
CEILING = Failed(START, "tool_rounds", "scout reached its ceiling of 25 tool rounds")


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (40, 12)])
async def test_it_stands_whatever_has_the_focus_and_whatever_is_answered(size: tuple[int, int]) -> None:
    """N-1, M-7"""
    async with driven(FakeLink(demo_view()), size=size) as screen:
        await screen.tell(CEILING)
        for keys in (("tab",), ("tab",), ("tab", "x", "ctrl+c"), ("tab",), ("m",), ("s",), ("z",), ("z",)):
            await screen.press(*keys)
            assert "reached its ceiling" in screen.text
            screen.hands.run += 10
        assert screen.link.ran == ["go=mute target=mcp:git", "go=stats"]


async def test_esc_or_the_log_says_that_it_was_seen() -> None:
    async with driven() as screen:
        await screen.tell(CEILING)
        assert screen.told.endswith("(Esc: seen)")
        await screen.press("escape")
        assert not screen.told
        assert "ceiling" not in screen.text
        await screen.tell(CEILING)
        await screen.press("l")
        assert "scout reached its ceiling of 25 tool rounds" in screen.text
        await screen.press("escape")
        assert not screen.told


async def test_a_question_is_not_covered_by_what_comes_after_it() -> None:
    """M-7"""
    async with driven() as screen:
        await screen.tell(ASKED)
        await screen.tell(CEILING, Failed(START, "server", "lost disc"))
        assert screen.told.startswith("scout asks to mute user:you")
        assert "and 2 more (l lists them)" in screen.told
        await screen.press("escape")
        await screen.tell(CEILING)
        assert screen.told.startswith("scout reached")


async def test_what_does_not_fit_says_where_the_rest_is() -> None:
    async with driven(size=(40, 12)) as screen:
        await screen.tell(Failed(START, "mute_asked", "words that go on " * 20))
        lines = screen.text.split("\n")
        assert lines[-4].endswith("… l")
        assert "mcp:git" in screen.text
        assert max(len(line) for line in lines) <= 40


async def test_it_is_inert() -> None:
    """F-1, F-2, F-4"""
    async with driven() as screen:
        await screen.tell(Failed(START, "server", 'path [/etc/x] {"a": ["b"]} \x1b]52;c;cHduZWQ=\x07[/'))
        assert screen.told.startswith('path [/etc/x] {"a": ["b"]}')
        assert "\x1b]52" not in screen.raw


async def test_a_sheet_over_it_says_that_there_is_something() -> None:
    async with driven() as screen:
        await screen.press("question_mark")
        await screen.tell(CEILING)
        assert "told meanwhile: close to read" in screen.text.split("\n")[0]
        await screen.press("escape")
        assert "reached its ceiling" in screen.text
