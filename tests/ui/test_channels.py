"""The channel table: rows keyed by target, painted by line."""

from __future__ import annotations

import pytest
from textual.geometry import Region

from cockpit.testing.driven_screen import driven
from cockpit.testing.fake_link import START, FakeLink, demo_rows, epoch, row, view
from cockpit.ui.board import FOLDS_AT


async def test_each_row_has_glyph_target_word_and_three_counts() -> None:
    async with driven() as screen:
        assert screen.row("general ").split() == ["●", "…disc:guild:general", "online", "3", "1", "0"]
        assert screen.row("guild:noisy").split() == ["◐", "…disc:guild:noisy", "tuned-out", "0", "2", "41"]
        assert screen.row("mcp:git").split() == ["●", "mcp:git", "online", "0", "0", "0"]
        assert screen.row("guild:games").split()[2:] == ["closed", "0", "0", "0"]
        assert screen.row("mcp:time").split() == ["◌", "mcp:time", "connecting", "0", "0", "0"]


async def test_a_dead_row_carries_the_dead_glyph_muted_or_not() -> None:
    """K-127, cockpit.md Channels"""
    async with driven() as screen:
        assert screen.row("mcp:db").startswith(" ⊘✕ mcp:db")
        assert "muted · offline" in screen.row("mcp:db")
        assert screen.row("mcp:web").startswith(" ✕  mcp:web")
        assert screen.row("user:hedgehog").startswith(" ⊘  user:hedgehog")


async def test_a_dead_row_gives_the_clock_time_of_its_last_proof() -> None:
    """K-127, F-15"""
    rows = (row("mcp:web", "offline", proof=START - 240.0), row("mcp:git", proof=START - 240.0))
    async with driven(FakeLink(view(rows))) as screen:
        assert "offline 08:56" in screen.row("mcp:web")
        assert "08:56" not in screen.row("mcp:git")


async def test_a_toggled_row_stays_in_place_with_its_new_state() -> None:
    """K-126"""
    async with driven() as screen:
        place = next(n for n, line in enumerate(screen.text.split("\n")) if "mcp:git" in line)
        await screen.press("m")
        assert screen.link.ran == ["go=mute target=mcp:git"]
        assert screen.text.split("\n")[place].split()[:3] == ["⊘", "mcp:git", "muted"]


async def test_moving() -> None:
    async with driven() as screen:
        channels = screen.app.main.panes.channels
        seen = []
        for key in ("j", "down", "k", "G", "up", "g", "end", "home", "pagedown", "pageup"):
            await screen.press(key)
            seen.append(channels.cursor)
        order = [each.target for each in demo_rows()]
        assert seen == [order[n] for n in (1, 2, 1, 9, 8, 0, 9, 0, 9, 0)]


async def test_the_cursor_keeps_its_target_when_rows_come_before_it() -> None:
    async with driven() as screen:
        await screen.press("j", "j", "j", "j", "j")  # mcp:db
        await screen.tell(row("channel:disc/new"), row("channel:disc/newer"))
        assert screen.app.main.panes.channels.cursor == "mcp:db"
        await screen.press("m")
        assert screen.link.ran == ["go=unmute target=mcp:db"]


async def test_a_key_never_hits_the_row_that_moved_up() -> None:
    """F-38: the channel under the cursor left; the next key acts on nothing and says so."""
    async with driven() as screen:
        await screen.press("j")
        await screen.tell(row("mcp:disc", gone=True))
        await screen.press("m")
        assert screen.link.ran == []
        assert "mcp:disc is gone" in screen.said
        await screen.press("j", "m")
        assert screen.link.ran == ["go=mute target=channel:disc/disc:guild:general"]


async def test_a_channel_may_leave_while_its_count_changes() -> None:
    """F-38"""
    async with driven() as screen:
        await screen.tell(row("mcp:web", wait=1), row("mcp:web", gone=True), row("mcp:web", wait=2, gone=True))
        assert not screen.row("mcp:web")


@pytest.mark.parametrize("keys", ["mtcopKuasxnyzPl[]", "jkgG"])
async def test_no_key_minds_an_empty_table(keys: str) -> None:
    """F-38"""
    async with driven(FakeLink(view(()))) as screen:
        await screen.press(*keys, "enter", "space", "left", "right", "slash", "escape")
        assert screen.app.is_running
        assert not any("target=" in line for line in screen.link.ran)


async def test_passing_over_a_row_reads_nothing() -> None:
    """F-21"""
    async with driven() as screen:
        before = [screen.row(f"guild:{name}").split()[2:] for name in ("general", "noisy")]
        await screen.press("G", "g")
        assert screen.link.ran == []
        assert [screen.row(f"guild:{name}").split()[2:] for name in ("general", "noisy")] == before


async def test_rows_out_of_view_are_counted_and_only_then() -> None:
    """cockpit.md, Screen: what does not fit is never a secret."""
    async with driven(size=(80, 20)) as screen:
        assert "5 more ↓" in screen.text.split("\n")[1]
        await screen.press(*"jjjjj")
        assert "5 more ↑↓" in screen.text.split("\n")[1]
        await screen.press("G")
        assert "5 more ↑ " in screen.text.split("\n")[1]
        await screen.tell(*(row(each.target, gone=True) for each in demo_rows()[5:]))
        assert "more" not in screen.text.split("\n")[1]
        await screen.tell(row("mcp:new"))
        assert "1 more ↑" in screen.text.split("\n")[1]
        await screen.pilot.resize_terminal(120, 40)
        assert "more" not in screen.text.split("\n")[1]


async def test_a_filter_says_how_many_rows_it_hides() -> None:
    """K-132"""
    async with driven() as screen:
        await screen.press("slash")
        await screen.write("guild")
        assert "/guild · 7 hidden" in screen.text
        assert not screen.row("mcp:git")
        await screen.press("enter")
        assert screen.app.main.panes.channels.has_focus
        assert screen.row("guild:noisy")
        await screen.press("escape")
        assert screen.row("mcp:git")
        assert "hidden" not in screen.text


async def test_a_filter_that_matches_nothing_says_so() -> None:
    """K-132"""
    async with driven() as screen:
        await screen.press("slash")
        await screen.write("zzz")
        assert "no channel matches" in screen.text
        assert "10 hidden" in screen.text


async def test_marked_rows_are_acted_on_together_and_answered_in_one_line() -> None:
    """F-7"""
    async with driven() as screen:
        await screen.press("space", "space", "m")
        assert screen.link.ran == ["go=mute target=mcp:git", "go=mute target=mcp:disc"]
        assert screen.said == "2 done: mute"
        assert screen.row("mcp:git").startswith("▸⊘")
        assert "2 marked" in screen.text.split("\n")[1]
        await screen.press("escape")
        assert "marked" not in screen.text
        assert screen.row("mcp:git").startswith(" ⊘")


async def test_n_goes_to_the_next_that_needs_someone() -> None:
    async with driven() as screen:
        await screen.press("n")
        assert screen.app.main.panes.channels.cursor == "channel:disc/disc:guild:general"
        await screen.press("n")
        assert screen.app.main.panes.channels.cursor == "channel:disc/disc:guild:noisy"
        await screen.press("n")
        assert screen.app.main.panes.channels.cursor == "channel:disc/disc:guild:general"


async def test_quiet_channels_fold_and_open() -> None:
    quiet = [row(f"channel:disc/q{n}") for n in range(FOLDS_AT + 8)]
    async with driven(FakeLink(view((row("mcp:disc"), *quiet)))) as screen:
        assert "+20 quiet of disc" in screen.text
        await screen.press("j", "enter")
        assert screen.row("channel:disc/q19")
        await screen.press("left")
        assert "+20 channels of disc" in screen.text
        await screen.press("right")
        assert screen.row("channel:disc/q19")


async def test_only_the_cells_that_read_otherwise_are_refreshed(monkeypatch: pytest.MonkeyPatch) -> None:
    """architecture.md, Libraries; F-43, F-44"""
    async with driven() as screen:
        channels = screen.app.main.panes.channels
        asked: list[Region] = []
        monkeypatch.setattr(channels, "refresh", lambda *regions, **_: asked.extend(regions))
        await screen.tell(row("mcp:git", held=7))
        assert [(region.y, region.width, region.height) for region in asked] == [(1, 5, 1)]
        asked.clear()
        await screen.tell(row("mcp:git", held=7, at=START + 60))
        assert asked == []


async def test_a_minute_repaints_only_what_reads_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    """architecture.md, Performance; F-43"""
    rows = (row("mcp:git"), row("channel:disc/a", attention="tuned-out", epoch=epoch()))
    async with driven(FakeLink(view(rows)), size=(200, 40)) as screen:
        assert "wake 2/5 · 24 min left" in screen.row("channel:disc/a")
        channels = screen.app.main.panes.channels
        asked: list[Region] = []
        monkeypatch.setattr(channels, "refresh", lambda *regions, **_: asked.extend(regions))
        channels.tick()
        assert asked == []
        screen.hands.wall += 60
        channels.tick()
        assert len(asked) == 1
        assert asked[0].height == 1


async def test_a_wide_row_says_who_muted_it_and_why_it_is_gone() -> None:
    rows = (
        row("mcp:git", attention="muted", muted_by=("operator", "resident")),
        row("mcp:web", "offline", reason="exited with 1"),
    )
    async with driven(FakeLink(view(rows)), size=(200, 40)) as screen:
        assert "by operator and resident" in screen.row("mcp:git")
        assert "exited with 1" in screen.row("mcp:web")


async def test_counts_too_wide_for_their_column_are_shortened() -> None:
    """F-27: a flood stays legible."""
    async with driven(FakeLink(view((row("mcp:git", wait=999, need=12_345, held=4_000_000),)))) as screen:
        assert screen.row("mcp:git").split()[-3:] == ["999", "12k", "4.0M"]


async def test_hostile_names_keep_the_columns_straight() -> None:
    """K-130, F-4, F-49"""
    names = (
        "mcp:[/",
        "mcp:日本語のサーバー名がとても長い場合",
        "mcp:👨‍👩‍👧✔️🇩🇪",
        "mcp:a\x1b[2J\u202eb\x00",
        "mcp:e\u0301\u0301",
    )
    async with driven(FakeLink(view([row(name) for name in names]))) as screen:
        lines = [line for line in screen.text.split("\n") if "online" in line]
        assert len(lines) == len(names)
        strips = screen.app.screen._compositor.render_strips()
        assert {strip.cell_length for strip in strips} == {120}


async def test_a_click_moves_the_cursor() -> None:
    async with driven() as screen:
        await screen.pilot.click("#channels", offset=(5, 3))
        assert screen.app.main.panes.channels.cursor == "channel:disc/disc:guild:general"
