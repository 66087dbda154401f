"""Keys as the operator wants them: clashes told at the start, old keys without their old meaning."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cockpit.testing.driven_screen import driven
from cockpit.ui.keymap import changes, remapped
from cockpit.ui.keys import KEYS, Key, clashes


@pytest.fixture
def keys_of(tmp_path: Path) -> Path:
    """A file for keys."""
    return tmp_path / "keys.toml"


def read(path: Path, text: str) -> tuple[Key, ...]:
    path.write_text(text, "utf-8")
    keys, told = remapped(path)
    assert told == ()
    return keys


def test_only_what_the_file_names_changes(keys_of: Path) -> None:
    keys = read(keys_of, '"verb.mute" = "M"\nmove.down = "J,down"\ngo.next = "f6"\n')
    assert changes(keys) == {"verb.mute": "M", "move.down": "J,down", "go.next": "f6"}
    assert changes(KEYS) == {}


@pytest.mark.parametrize(
    ("text", "holds", "says"),
    [
        ('verb.moot = "M"\ngo.next = "f6"\n', {"go.next": "f6"}, "line 1: no key is called 'verb.moot'; did you mean"),
        ('[go]\nnext = "f6"\nzoom = 3\n', {"go.next": "f6"}, "line 3: go.zoom is 3, not a key"),
        ('go.next = "f6"\n"verb.mute" = "c"\n', {"go.next": "f6"}, "line 2: c is both verb.mute and verb.cancel"),
        ('verb.mute = "c"\nverb.cancel = "m"\ngo.zoom = "m"\n', {"verb.mute": "c", "verb.cancel": "m"}, "line 3: m is"),
        ('verb.mute = "f5"\nverb.cancel = "f5"\n', {"verb.mute": "f5"}, "line 2: f5 is both verb.mute and verb.cancel"),
        ('verb.mute = ""', {}, "verb.mute is '', not a key"),
        ('verb.mute = "f5,,x"', {}, "verb.mute is 'f5,,x', not a key"),
        ('move.down = "t"', {}, "t is both verb.tune-out and move.down"),
        ('composer.run = "f5"', {}, "composer.run is a line's own key and stays what it is"),
        ("verb.mute = ", {}, "Invalid value (at"),
    ],
)
def test_what_is_wrong_is_told_and_the_rest_of_the_file_holds(
    keys_of: Path, text: str, holds: dict[str, str], says: str
) -> None:
    """F-32, R-5: the cockpit starts all the same."""
    keys_of.write_text(text, "utf-8")
    keys, told = remapped(keys_of)
    assert changes(keys) == holds
    assert clashes(keys) == []
    assert [says in each and str(keys_of) in each for each in told] == [True]


def test_a_missing_file_is_told(keys_of: Path) -> None:
    """R-5"""
    keys, (told,) = remapped(keys_of)
    assert keys == KEYS
    assert "No such file" in told


async def test_a_remapped_key_does_its_new_thing_and_never_its_old_one(keys_of: Path) -> None:
    """F-32"""
    keys = read(keys_of, 'verb.mute = "M"')
    async with driven(keys=keys) as screen:
        await screen.press("m")
        assert screen.link.ran == []
        await screen.press("M")
        assert screen.link.ran == ["go=mute target=mcp:git"]
        assert "M unmute" in screen.text.split("\n")[-1]
        await screen.press("question_mark")
        assert re.search(r"M +mute: nothing from it", screen.text)


async def test_two_keys_can_be_changed_crosswise(keys_of: Path) -> None:
    """F-32"""
    keys = read(keys_of, 'move.down = "k,down"\nmove.up = "j,up"\n')
    async with driven(keys=keys) as screen:
        channels = screen.app.main.panes.channels
        await screen.press("k", "k", "j")
        assert channels.cursor == "mcp:disc"
        await screen.press("down", "up")
        assert channels.cursor == "mcp:disc"


async def test_a_remapped_letter_is_a_letter_on_a_line(keys_of: Path) -> None:
    keys = read(keys_of, 'go.pane = "o"\nverb.open = "O"\n')
    async with driven(keys=keys) as screen:
        await screen.press("i")
        await screen.write("to go on")
        assert screen.app.main.composer.value == "to go on"
