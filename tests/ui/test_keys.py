"""Every key: bound from the one table, named in help, doing what its verb says."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from cockpit.core.verbs import VERBS, parse
from cockpit.testing.driven_screen import driven
from cockpit.testing.fake_link import FakeLink, report, row, view
from cockpit.ui import lines
from cockpit.ui.keys import KEYS, SCOPES, clashes, legend, of_scope
from cockpit.ui.screens.confirm import Confirm
from cockpit.ui.screens.peek import PeekSheet


def test_no_two_things_of_one_place_want_the_same_key() -> None:
    """F-32"""
    assert clashes() == []
    assert clashes([*KEYS, *of_scope("table")[:1], KEYS[0].__class__("x", "m", "m", "", "x", "table")]) == [
        f"m is both {KEYS[0].id} and x"
    ]


def test_what_moves_in_a_pane_clashes_with_nothing_of_that_pane() -> None:
    """F-32"""
    for scope in ("table", "reports", "resident"):
        names = [name for key in of_scope("move", scope) for name in key.keys.split(",")]
        assert len(names) == len(set(names)), scope


def test_defaults_are_keys_that_no_multiplexer_takes() -> None:
    """F-31: letters, function keys, arrows, Esc; no Ctrl-H, I, J or M, and no Alt."""
    for key in KEYS:
        for name in key.keys.split(","):
            assert not name.startswith("alt+"), key.id
            assert name not in {"ctrl+h", "ctrl+i", "ctrl+j", "ctrl+m", "ctrl+s", "ctrl+q", "ctrl+b"}, key.id


def test_every_key_of_the_registry_is_bound_and_has_its_place() -> None:
    """One registry: what a verb's key is, the screen's is (cockpit.md, Verbs)."""
    bound = {key.shown: key for key in KEYS if key.id.startswith("verb.")}
    wanted = {verb.key for verb in VERBS if verb.key and len(verb.key) == 1}
    assert bound.keys() == wanted
    for key in bound.values():
        assert key.does
        assert key.foot


def test_the_legend_begins_as_the_contract_draws_it() -> None:
    """cockpit.md, Screen"""
    shown = [(key.shown, key.foot) for key in legend(KEYS, "table", "anywhere")]
    assert shown[:9] == [
        ("m", "mute"), ("t", "tune out"), ("c", "cancel"), ("p", "peek"), ("n", "next"), ("/", "filter"),
        (":", "verb"), ("?", "help"), ("q", "quit"),
    ]  # fmt: skip


def test_lines_that_the_screen_writes_are_read_back_as_meant() -> None:
    """F-24: whatever a target is called, the key acts on exactly that one."""
    for name in ("mcp:git", 'mcp:a "b" \\c', "channel:x/has space", "mcp:it's", "mcp:a=b", 'mcp:"'):
        for verbs in lines.KEYED.values():
            for verb in verbs:
                if verb.param("target") is not None:
                    command = parse(lines.verb_line(verb, target=name))
                    assert (command.verb, command.target) == (verb, name)


@pytest.mark.parametrize(
    ("given", "key", "said"),
    [
        (row("mcp:git"), "m", "go=mute target=mcp:git"),
        (row("mcp:git", attention="muted"), "m", "go=unmute target=mcp:git"),
        (row("mcp:git", "offline", "muted"), "m", "go=unmute target=mcp:git"),
        (row("channel:d/a", attention="tuned-out"), "c", "go=cancel target=channel:d/a"),
        (row("channel:d/a"), "o", "go=close target=channel:d/a"),
        (row("channel:d/a", attention="closed"), "o", "go=open target=channel:d/a"),
        (row("mcp:git", "killed"), "K", "go=start target=mcp:git"),
        (row("mcp:git"), "p", "go=peek target=mcp:git last=200"),
        (row("mcp:git"), "enter", "go=peek target=mcp:git last=200"),
        (row("mcp:git"), "a", "go=audit"),
        (row("mcp:git"), "s", "go=stats"),
        (row("mcp:git"), "x", "go=context agent=scout"),
    ],
)
async def test_a_key_says_its_verb_by_the_state_of_the_row(given: object, key: str, said: str) -> None:
    """F-50"""
    async with driven(FakeLink(view((given,)))) as screen:  # type: ignore[arg-type]  # parametrize knows no types
        await screen.press(key)
        assert screen.link.ran == [said]


async def test_the_row_that_is_shown_is_the_row_that_is_acted_on() -> None:
    async with driven() as screen:
        await screen.press("j", "j", "j", "c")
        assert screen.link.ran == ["go=cancel target=channel:disc/disc:guild:noisy"]


async def test_t_shows_the_line_with_the_recipes_defaults_and_runs_what_it_was_made() -> None:
    """cockpit.md: with the recipe's defaults, adjustable before Enter"""
    async with driven(FakeLink(view((row("channel:d/a"),)))) as screen:
        await screen.press("t")
        assert screen.link.ran == []
        assert screen.app.main.composer.has_focus
        assert screen.app.main.composer.value == "go=tune-out target=channel:d/a cadence=30m cap=200 wakes=5"
        await screen.press("backspace", "2", "enter")
        assert screen.link.ran == ["go=tune-out target=channel:d/a cadence=30m cap=200 wakes=2"]


async def test_t_on_what_cannot_be_tuned_out_is_answered_at_once() -> None:
    async with driven() as screen:
        await screen.press("t")
        assert screen.link.ran[0].startswith("go=tune-out target=mcp:git")
        assert not screen.app.main.composer.has_focus


async def test_t_on_marked_rows_shows_the_lines_and_asks() -> None:
    rows = (row("channel:d/a"), row("channel:d/b"))
    async with driven(FakeLink(view(rows))) as screen:
        await screen.press("space", "space", "t")
        assert isinstance(screen.app.screen, Confirm)
        assert "target=channel:d/b" in screen.text
        await screen.press("y")
        assert len(screen.link.ran) == 2


@pytest.mark.parametrize("key", ["n", "enter", "escape", "ctrl+c", "Y", "space", "K", "q"])
async def test_only_y_is_a_yes_and_a_no_says_so(key: str) -> None:
    """K-125"""
    async with driven() as screen:
        await screen.press("K")
        assert isinstance(screen.app.screen, Confirm)
        assert "kill mcp:git?" in screen.text
        await screen.press(key)
        assert screen.link.ran == []
        assert screen.said == "not sent: kill (only y is a yes)"
        assert screen.app.is_running


async def test_what_cannot_be_killed_is_refused_without_a_question() -> None:
    """A question about what cannot be done would be a lie."""
    async with driven(FakeLink(view((row("channel:d/a"),)))) as screen:
        await screen.press("K")
        assert screen.app.screen is screen.app.main
        assert screen.link.ran == ["go=kill target=channel:d/a"]


async def test_y_is_a_yes() -> None:
    """K-125"""
    async with driven() as screen:
        await screen.press("K", "y")
        assert screen.link.ran == ["go=kill target=mcp:git"]
        assert "killed" in screen.row("mcp:git")


async def test_enter_on_a_report_peeks_at_what_it_speaks_of() -> None:
    from cockpit.testing.fake_link import demo_view  # noqa: PLC0415

    async with driven(FakeLink(demo_view())) as screen:
        await screen.press("tab", "enter")
        assert isinstance(screen.app.screen, PeekSheet)
        assert screen.link.ran == ["go=peek target=channel:disc/disc:guild:noisy last=200"]


async def test_tab_goes_through_the_panes_and_the_composer() -> None:
    async with driven() as screen:
        seen = []
        for _ in range(4):
            await screen.press("tab")
            focused = screen.app.focused
            seen.append(type(focused).__name__)
        assert seen == ["Reports", "Talk", "Composer", "Channels"]
        await screen.press("shift+tab")
        assert screen.app.main.composer.has_focus


def written_in(folder: Path) -> tuple[str, int]:
    """The text and the mode of the one file in a folder."""
    (path,) = folder.iterdir()
    return path.read_text("utf-8"), path.stat().st_mode & 0o777


@pytest.mark.parametrize("key", ["i", "colon"])
async def test_i_and_colon_go_to_the_composer(key: str) -> None:
    async with driven() as screen:
        await screen.press(key)
        assert screen.app.main.composer.has_focus
        assert screen.app.main.composer.value == (":" if key == "colon" else "")


async def test_z_shows_the_pane_alone_and_back() -> None:
    async with driven() as screen:
        await screen.press("tab", "z")
        assert "mcp:git" not in screen.text
        assert "Subconscious" in screen.text
        await screen.press("z")
        assert "mcp:git" in screen.text


async def test_y_copies_and_says_where_to() -> None:
    """F-29, F-30"""
    async with driven() as screen:
        await screen.press("y")
        assert screen.app.clipboard == "mcp:git"
        assert "clipboard (OSC 52)" in screen.said


async def test_what_is_copied_is_what_came_and_a_file_is_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-30: no matter what the clipboard does with it"""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    text = "需要 \x1b[2J é \ud800"
    async with driven(FakeLink(view(reports=(report(text),)))) as screen:
        await screen.press("tab", "y")
        assert screen.app.clipboard == "需要 \x1b[2J é ?"
        await screen.press("Y")
        assert written_in(tmp_path) == ("需要 \x1b[2J é ?", 0o600)
        assert f"written to {tmp_path}"[:40] in screen.said


async def test_the_terminals_cursor_follows_the_row() -> None:
    """F-51"""
    async with driven() as screen:
        await screen.press("j", "j")
        assert screen.app.cursor_position == (0, 5)
        await screen.press("i", "x")
        assert screen.app.cursor_position.y == 38


async def test_help_lists_every_key_of_the_pane_and_every_verb() -> None:
    async with driven(size=(140, 160)) as screen:
        await screen.press("question_mark")
        shown = screen.text
        for key in of_scope("table", "anywhere", "move"):
            assert key.does[:40] in shown, key.id
        for verb in VERBS:
            assert f"go={verb.name}" in shown
        assert shown.index(SCOPES["table"]) < shown.index(SCOPES["anywhere"])
        await screen.press("escape")
        assert screen.app.screen is screen.app.main


async def test_the_legend_names_what_m_does_on_this_row() -> None:
    async with driven() as screen:
        assert "m mute" in screen.text.split("\n")[-1]
        await screen.press("m")
        assert "m unmute" in screen.text.split("\n")[-1]
