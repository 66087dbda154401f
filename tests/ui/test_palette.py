"""The palette: everything by name, and what is highlighted is what happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from cockpit.core.verbs import VERBS
from cockpit.testing.driven_screen import driven
from cockpit.testing.fake_link import START, FakeLink, row, view
from cockpit.ui.keymap import remapped
from cockpit.ui.keys import BY_ID, KEYS, Scope, of_scope
from cockpit.ui.palette import Around, choices, matching
from cockpit.ui.screens.confirm import Confirm
from cockpit.ui.screens.palette import Palette, Wanted


def names(words: str, *targets: str) -> list[str]:
    return [each.name for each in matching(choices(Around(KEYS, "table", targets)), words)]


def test_it_offers_every_verb_and_every_key_of_the_place() -> None:
    offered = choices(Around(KEYS, "table", ("mcp:git",)))
    assert [each.verb for each in offered if each.verb is not None] == list(VERBS)
    moves = {each.id.removeprefix("key ") for each in offered if each.verb is None}
    known = {key.id for key in of_scope("table", "anywhere") if key.id not in BY_ID}
    assert moves == known - {"go.palette", "table.peek"}
    assert [each.key for each in offered if each.name == "peek"] == ["p Enter"]
    scopes: tuple[Scope, ...] = ("table", "reports", "resident")
    for scope in scopes:
        listed = [each.name for each in choices(Around(KEYS, scope, ("mcp:git",)))]
        assert len({*listed}) == len(listed), scope
    assert len({each.id for each in offered}) == len(offered)


def test_words_narrow_by_name_first_and_by_what_is_done() -> None:
    assert names("mute")[:2] == ["mute", "unmute"]
    assert names("TUNE out")[0] == "tune-out"
    assert names("un")[:3] == ["unmute", "undo", "unfold"]
    assert "start" in names("process")
    assert names("end process") == ["kill"]
    assert names("zzz") == []


async def test_enter_does_exactly_what_is_highlighted_on_the_row_under_the_cursor() -> None:
    async with driven() as screen:
        await screen.press("j", "v")
        assert "on mcp:disc" in screen.text.split("\n")[0]
        await screen.write("mut")
        await screen.press("down")
        assert "runs: go=unmute target=mcp:disc" in screen.text
        await screen.press("enter")
        assert screen.link.ran == ["go=unmute target=mcp:disc"]
        assert screen.app.screen is screen.app.main


async def test_it_acts_on_the_marked_rows() -> None:
    async with driven() as screen:
        await screen.press("space", "space", "v")
        assert "on 2 marked rows" in screen.text.split("\n")[0]
        await screen.press("enter")
        assert screen.link.ran == ["go=mute target=mcp:git", "go=mute target=mcp:disc"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("say", "go=say text="),
        ("why", "go=why message="),
        ("tune", "go=tune-out target=channel:d/a cadence=30m cap=200 wakes=5"),
    ],
)
async def test_what_needs_a_value_goes_to_the_composer(words: str, line: str) -> None:
    async with driven(FakeLink(view((row("channel:d/a"),)))) as screen:
        await screen.press("v")
        await screen.write(words)
        assert f"to the composer: {line}" in screen.text
        await screen.press("enter")
        assert screen.link.ran == []
        assert screen.app.main.composer.value == line
        assert screen.app.main.composer.has_focus


async def test_without_a_row_a_verb_asks_for_its_target() -> None:
    async with driven(FakeLink(view(()))) as screen:
        await screen.press("v", "enter")
        assert screen.app.main.composer.value == "go=mute target="


async def test_kill_still_asks_and_quit_still_quits() -> None:
    """K-125"""
    async with driven() as screen:
        await screen.press("v")
        await screen.write("kill")
        await screen.press("enter")
        assert isinstance(screen.app.screen, Confirm)
        await screen.press("enter")
        assert screen.link.ran == []
        await screen.press("v")
        await screen.write("quit")
        await screen.press("enter")
        assert screen.app.return_value == 0


async def test_a_key_that_is_no_verb_is_done_where_one_came_from() -> None:
    async with driven() as screen:
        await screen.press("v")
        await screen.write("mark")
        await screen.press("enter")
        assert screen.app.main.panes.channels.board.marked == {"mcp:git"}
        await screen.press("tab", "v")
        await screen.write("zoom")
        await screen.press("enter")
        assert screen.app.main.zoomed
        assert "mcp:git" not in screen.text


async def test_esc_closes_and_does_nothing() -> None:
    async with driven() as screen:
        await screen.press("v")
        await screen.write("mute")
        await screen.press("escape")
        assert screen.app.screen is screen.app.main
        assert screen.link.ran == []
        assert screen.app.main.panes.channels.has_focus


async def test_enter_on_nothing_does_nothing() -> None:
    async with driven() as screen:
        await screen.press("v")
        await screen.write("zzz")
        assert "nothing matches" in screen.text
        await screen.press("enter")
        assert isinstance(screen.app.screen, Palette)


async def test_read_only_refuses_what_writes_with_the_same_words() -> None:
    """F-26: by palette too, whether it would run or go to the composer."""
    async with driven(read_only=True) as screen:
        for verb in ("mute", "say"):
            await screen.press("v")
            screen.app.screen.query_one(Wanted).put(verb)
            await screen.settle()
            assert f"read-only: {verb} is refused here" in screen.text
            await screen.press("enter")
            assert screen.said == f"read-only: {verb} is refused here"
        for choice in choices(Around(KEYS, "table", ("mcp:git",), read_only=True)):
            if choice.verb is not None and choice.verb.writes:
                screen.app.main.acts.choose(choice, ("mcp:git",))
                assert screen.said == f"read-only: {choice.name} is refused here"
        await screen.settle()
        assert screen.link.ran == []
        assert not screen.app.main.composer.value


async def test_read_only_lets_read() -> None:
    """F-26"""
    async with driven(read_only=True) as screen:
        await screen.press("v")
        await screen.write("stats")
        await screen.press("enter")
        assert screen.link.ran == ["go=stats"]


async def test_a_double_click_does_it_and_read_only_refuses_that_too() -> None:
    """F-26: by mouse."""
    for read_only in (False, True):
        async with driven(read_only=read_only) as screen:
            await screen.press("v")
            await screen.pilot.click("Reader", offset=(4, 0), times=2)
            await screen.settle()
            assert screen.link.ran == ([] if read_only else ["go=mute target=mcp:git"])


async def test_names_and_words_from_outside_are_inert() -> None:
    """F-1, F-4, R-6"""
    evil = "mcp:[/ \x1b]52;c;cHduZWQ=\x07\x1b[2J\u202e"
    async with driven(FakeLink(view((row(evil),)))) as screen:
        await screen.press("v")
        assert "on mcp:[/ ␛]52" in screen.text
        assert "\x1b]52" not in screen.raw
        assert "\x1b[2J" not in screen.raw
        assert "\u202e" not in screen.raw
        screen.app.screen.query_one(Wanted).paste("[/x] \x1b[2J")
        await screen.settle()
        assert "\x1b[2J" not in screen.raw


async def test_the_targets_are_those_it_was_opened_on() -> None:
    """K-39: rows that come and go meanwhile do not change what is acted on."""
    async with driven() as screen:
        await screen.press("j", "v")
        await screen.tell(row("mcp:git", gone=True), row("channel:disc/new", need=3, at=START + 1))
        assert "on mcp:disc" in screen.text.split("\n")[0]
        await screen.press("enter")
        assert screen.link.ran == ["go=mute target=mcp:disc"]


async def test_it_shows_the_keys_as_the_operator_has_them(tmp_path: Path) -> None:
    """F-32"""
    path = tmp_path / "keys.toml"
    path.write_text('verb.mute = "M"\ngo.palette = "f2"\n', "utf-8")
    async with driven(keys=remapped(path)[0]) as screen:
        await screen.press("v")
        assert screen.app.screen is screen.app.main
        await screen.press("f2")
        assert screen.text.split("\n")[2].split()[:2] == ["mute", "M"]


async def test_textuals_own_palette_is_off() -> None:
    async with driven() as screen:
        await screen.press("ctrl+p", "ctrl+backslash")
        assert screen.app.screen is screen.app.main
        assert not screen.app.ENABLE_COMMAND_PALETTE


async def test_in_the_composer_its_key_is_a_letter() -> None:
    async with driven() as screen:
        await screen.press("i")
        await screen.write("very")
        assert screen.app.main.composer.value == "very"


async def test_the_tune_out_of_several_rows_asks_as_its_key_does() -> None:
    rows = (row("channel:d/a"), row("channel:d/b"))
    async with driven(FakeLink(view(rows))) as screen:
        await screen.press("space", "space", "v")
        await screen.write("tune")
        await screen.press("enter")
        assert isinstance(screen.app.screen, Confirm)
        assert "target=channel:d/b" in screen.text
        await screen.press("y")
        assert len(screen.link.ran) == 2
