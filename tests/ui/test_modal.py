"""While a dialog is open the world goes on behind it, and nothing of that becomes an answer or moves the cursor."""

from __future__ import annotations

import pytest

from cockpit.core.events import Failed, Reported, TurnChanged, Writing
from cockpit.testing.driven_screen import driven
from cockpit.testing.fake_link import START, FakeLink, demo_view, report, row, view
from cockpit.ui.screens.confirm import Confirm
from cockpit.ui.widgets.composer import Composer

NOISY = "channel:disc/disc:guild:noisy"

WAKE = (
    TurnChanged(START + 1, "Subconscious", "started", "wake", detail="reading #noisy"),
    Reported(START + 1, "Subconscious", NOISY, "wake", "y", "w1"),
    Writing(START + 1, "Subconscious", "s1", "y", True, NOISY),
    report("y", id="y"),
    Failed(START + 1, "mute_asked", "y"),
    row("channel:disc/a", need=2, at=START + 1),
    row("mcp:git", need=1, at=START + 1),
    TurnChanged(START + 2, "Subconscious", "ended", "wake"),
)
"""A wake with all that comes of it, every text a `y`; two rows change and one comes above the cursor's."""


async def test_a_wake_is_no_answer_and_moves_nothing() -> None:
    """K-39"""
    async with driven(FakeLink(demo_view())) as screen:
        channels = screen.app.main.panes.channels
        await screen.press(*"jjjjjj")
        assert channels.cursor == "mcp:web"
        await screen.press("k", "K")
        assert "start mcp:db?" not in screen.text  # an offline server is started without a question
        await screen.press("g", "K")
        assert "kill mcp:git?" in screen.text
        await screen.tell(*WAKE)
        assert isinstance(screen.app.screen, Confirm)
        assert "kill mcp:git?" in screen.text
        assert channels.cursor == "mcp:git"
        screen.link.ran.clear()
        await screen.press("y")
        assert screen.link.ran == ["go=kill target=mcp:git"]


@pytest.mark.parametrize("answer", ["n", "escape"])
async def test_a_no_is_still_a_no(answer: str) -> None:
    """K-39, K-125"""
    async with driven() as screen:
        await screen.press("K")
        await screen.tell(*WAKE)
        await screen.press(answer)
        assert screen.link.ran == []
        assert screen.said == "not sent: kill (only y is a yes)"
        await screen.press("m")
        assert screen.link.ran == ["go=mute target=mcp:git"]


async def test_what_was_asked_about_is_what_is_done_whatever_became_of_the_rows() -> None:
    """K-39, K-126: the row went, others took its place; the yes was to the one that was named."""
    async with driven() as screen:
        await screen.press("space", "space", "K")
        assert "kill 2 channels?" in screen.text
        await screen.tell(row("mcp:git", gone=True), row("mcp:disc", "offline", at=START + 1), row("mcp:new"))
        await screen.press("y")
        assert screen.link.ran == ["go=kill target=mcp:git", "go=kill target=mcp:disc"]


async def test_the_line_in_the_composer_is_not_touched() -> None:
    """K-39"""
    async with driven() as screen:
        await screen.press("i")
        await screen.write("wait, I am wri")
        await screen.tell(*WAKE)
        await screen.write("ting")
        assert screen.app.main.composer.value == "wait, I am writing"
        assert screen.app.main.composer.has_focus


async def test_a_sheet_stays_with_what_is_read() -> None:
    """K-39"""
    async with driven() as screen:
        await screen.press("question_mark", "j", "j", "j")
        before = screen.text.split("\n")[1:]
        await screen.tell(*WAKE)
        assert screen.text.split("\n")[1:] == before


async def test_the_row_shown_is_the_row_acted_on_while_rows_come_and_go() -> None:
    """K-126: at every step the key acts on the row that the cursor's line names."""
    rows = [row(f"channel:s/{n:02}", wait=1) for n in range(30)]
    async with driven(FakeLink(view(rows), apply=False), size=(120, 24)) as screen:
        channels = screen.app.main.panes.channels
        for step in range(12):
            await screen.press("j")
            named = channels.cursor
            screen.link.emit(
                row(f"channel:s/new{step}", wait=1, at=START + step),
                row(f"channel:s/{29 - step:02}", gone=True),
                *(row(f"channel:s/{n:02}", wait=step + 2, at=START + step) for n in range(10)),
            )
            screen.link.ran.clear()
            await screen.press("m")
            assert screen.link.ran == [f"go=mute target={named}"]
            assert [line for line in screen.lit if "channel:s/" in line] == [screen.row(str(named))]


async def test_the_window_without_focus_looks_and_acts_the_same() -> None:
    """F-44: a terminal that reports its focus makes the screen paint nothing."""
    from textual import events  # noqa: PLC0415  only here

    async with driven() as screen:
        await screen.press("j")
        before, focused = screen.text, screen.app.focused
        screen.app.post_message(events.AppBlur())
        await screen.settle()
        assert (screen.text, screen.app.focused) == (before, focused)
        screen.app.post_message(events.AppFocus())
        await screen.settle()
        assert (screen.text, screen.app.focused) == (before, focused)


async def test_after_a_keys_line_was_said_letters_are_keys_again() -> None:
    """cockpit.md: `t` puts its line into the composer to be adjusted; once it is said, `k` and `m` act in the table."""
    async with driven(FakeLink(view([row("mcp:git"), row("channel:d/x")]))) as screen:
        await screen.press("j", "t", "enter")
        assert screen.link.ran[-1].startswith("go=tune-out target=channel:d/x")
        await screen.press("g", "m")
        assert screen.link.ran[-1] == "go=mute target=mcp:git"
        assert screen.app.main.composer.value == ""
        await screen.press(":")
        await screen.write("mute mcp:git")
        await screen.press("enter")
        assert isinstance(screen.app.focused, Composer)  # what was typed there goes on there
