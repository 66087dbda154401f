"""Traffic at a glance: a bar a minute, made once a minute."""

from __future__ import annotations

import pytest
from textual.geometry import Region

from cockpit.testing.driven_screen import driven
from cockpit.testing.fake_link import START, FakeLink, row, view
from cockpit.ui.traffic import MINUTES, Traffic


def test_each_minute_has_its_bar_and_the_loudest_is_full() -> None:
    traffic = Traffic()
    traffic.note(row("mcp:git"), row("mcp:git", held=4), START)
    traffic.note(row("mcp:git", held=4), row("mcp:git", held=6, wait=6), START + 60)
    traffic.turn(START + 120)
    assert traffic.bars("mcp:git") == "       ▄█ "
    assert traffic.bars("mcp:git", ascii_only=True) == "       ;@ "


def test_what_was_read_or_dumped_is_no_traffic() -> None:
    traffic = Traffic()
    traffic.note(row("mcp:git", held=9, wait=9), row("mcp:git"), START)
    traffic.note(None, row("mcp:git", held=100), START)
    assert traffic.bars("mcp:git").strip() == ""


def test_old_minutes_are_forgotten() -> None:
    traffic = Traffic()
    traffic.note(row("mcp:git"), row("mcp:git", held=4), START)
    traffic.turn(START + 60 * MINUTES)
    assert traffic.bars("mcp:git").strip() == ""
    traffic.turn(START - 3600)  # a clock that steps back repeats nothing
    assert traffic.bars("mcp:git").strip() == ""


async def test_bars_move_once_a_minute_and_not_in_between(monkeypatch: pytest.MonkeyPatch) -> None:
    """architecture.md, Performance"""
    async with driven(FakeLink(view((row("mcp:git"), row("mcp:web")))), size=(200, 40)) as screen:
        await screen.tell(row("mcp:git", held=4))
        assert "█" not in screen.row("mcp:git")
        screen.hands.wall += 60
        channels = screen.app.main.panes.channels
        channels.tick()
        await screen.settle()
        assert "█" in screen.row("mcp:git")
        asked: list[Region] = []
        monkeypatch.setattr(channels, "refresh", lambda *regions, **_: asked.extend(regions))
        channels.tick()
        assert asked == []
