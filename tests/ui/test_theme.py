"""Themes: read whole, told apart without colour, legible."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cockpit.core.channel import Attention, Presence
from cockpit.errors import UsageError
from cockpit.testing.driven_screen import THEMES, driven
from cockpit.testing.fake_link import FakeLink, demo_view, row, view
from cockpit.ui.paint import in_ascii
from cockpit.ui.text import own
from cockpit.ui.theme import STATES, Theme, ascii_wanted, load, names
from cockpit.ui.traffic import ASCII_BARS, BARS

SHIPPED = ("colour-vision-safe", "dark", "high-contrast", "light", "mono")
GOOD = (THEMES / "dark.toml").read_text("utf-8")


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_five_ship() -> None:
    """cockpit.md, Themes"""
    assert names(THEMES) == SHIPPED


@pytest.mark.parametrize("name", SHIPPED)
def test_all_that_is_read_stands_out_from_what_is_behind_it(name: str) -> None:
    """WCAG 2.2, 1.4.3: 4.5:1, and 1.4.6: 7:1 in the theme that is for that."""
    theme = load(name, THEMES)
    least = 7.0 if name == "high-contrast" else 4.5
    behind = [theme.colours[place] for place in ("background", "raised", "cursor") if theme.colours]
    words = [theme.colours[role] for role in ("text", "dim", "accent", "need", "error", "warn", "ok") if theme.colours]
    words += [theme.states[state].colour for state in STATES if theme.colours]
    assert all(contrast(word, back) >= least for word in words for back in behind)


@pytest.mark.parametrize("name", SHIPPED)
def test_states_are_told_apart_without_colour(name: str) -> None:
    """F-46: by word and glyph; offline and killed share the dead glyph and differ in word and weight."""
    theme = load(name, THEMES)
    glyphs = {state: theme.states[state].glyph for state in STATES if state != "killed"}
    assert len(set(glyphs.values())) == len(glyphs)
    assert theme.states["killed"].glyph == theme.states["offline"].glyph
    plain = {state: theme.states[state].ascii for state in STATES if state != "killed"}
    assert len(set(plain.values())) == len(plain)


@pytest.mark.parametrize("name", SHIPPED)
async def test_every_theme_shows_the_same_words(name: str) -> None:
    """F-46: nothing is said by colour alone."""
    async with driven(FakeLink(demo_view()), theme="dark") as screen:
        wanted = screen.text
    async with driven(FakeLink(demo_view()), theme=name) as screen:
        assert screen.text == wanted


def test_muted_is_never_a_kind_of_dead() -> None:
    """semantics.md section 1: both glyphs where both hold."""
    theme = load("dark", THEMES)
    both: list[tuple[Presence, Attention, str]] = [
        ("online", "open", "●"), ("online", "muted", "⊘"), ("offline", "open", "✕"), ("offline", "muted", "⊘✕"),
        ("killed", "tuned-out", "◐✕"), ("connecting", "muted", "⊘◌"), ("offline", "closed", "○✕"),
    ]  # fmt: skip
    for presence, attention, glyphs in both:
        assert "".join(glyph for glyph, _ in theme.marks(presence, attention)) == glyphs


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ('accent = "#7aa2f7"\n', "colours.accent is missing"),
        ('accent = "#7aa2f7"', "colours.accent is 'blue', not #rrggbb"),
        ("[weights]", "no field 'wieghts'"),
        ("title-focus", "no field weights.titel"),
        ('strong = "bold"', "weights.strong is 'loud'"),
        ('glyph = "◐"', "states.tuned-out.glyph is 'xx', not one character"),
        ('ascii = "t"', "states.tuned-out.ascii is 'é', not one ASCII character"),
    ],
)
def test_a_wrong_theme_names_the_file_and_the_field(tmp_path: Path, changed: str, says: str) -> None:
    """R-5"""
    replaced = {
        'accent = "#7aa2f7"': 'accent = "blue"', "[weights]": "[wieghts]", "title-focus": "titel",
        'strong = "bold"': 'strong = "loud"', 'glyph = "◐"': 'glyph = "xx"', 'ascii = "t"': 'ascii = "é"',
    }  # fmt: skip
    (tmp_path / "mine.toml").write_text(GOOD.replace(changed, replaced.get(changed, "")), "utf-8")
    with pytest.raises(UsageError, match=re.escape(says)) as caught:
        load("mine", tmp_path)
    assert "mine.toml" in str(caught.value)


def test_an_unknown_theme_is_refused_with_the_nearest(tmp_path: Path) -> None:
    """R-5"""
    with pytest.raises(UsageError, match="no theme 'drak': did you mean dark"):
        load("drak", THEMES)
    with pytest.raises(UsageError, match="there are none"):
        load("x", tmp_path)


def test_a_theme_of_ones_own_is_named_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(GOOD, "utf-8")
    assert load(str(tmp_path / "mine.toml"), THEMES).name == "mine"


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [
        ({}, False),
        ({"LANG": "de_DE.UTF-8"}, False),
        ({"LC_ALL": "C"}, True),
        ({"LC_ALL": "C.UTF-8", "LANG": "C"}, False),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, True),
        ({"LANG": "POSIX"}, True),
        ({"LC_CTYPE": "C"}, True),
    ],
)
def test_which_locales_get_ascii(environ: dict[str, str], wanted: bool) -> None:
    assert ascii_wanted(environ) is wanted


async def test_a_c_locale_is_written_in_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    """cockpit.md, Themes"""
    monkeypatch.setenv("LC_ALL", "C")
    rows = (*demo_view().rows, row("mcp:日本"))
    async with driven(FakeLink(view(rows))) as screen:
        assert screen.text.isascii()
        assert screen.row("mcp:db").startswith(" mx mcp:db")
        assert "mcp:????" in screen.text
        await screen.press("i")
        await screen.write("é日")
        assert screen.text.isascii()
        await screen.press("escape", "p")
        assert screen.text.isascii()


@pytest.mark.parametrize("name", SHIPPED)
def test_no_two_states_or_marks_are_one_sign_in_ascii(name: str) -> None:
    """F-46, cockpit.md, Themes: what reads as two things in Unicode does so in a C locale."""
    theme = load(name, THEMES, ascii_only=True)
    states = [theme.glyph(state) for state in STATES if state != "killed"]
    marks = [in_ascii(own(mark)) for mark in ("…", "·", "▸", "✓", "!", "?", "+", "↑")]
    signs = [*states, *marks, *ASCII_BARS]
    assert len({*signs}) == len(signs)
    assert len(ASCII_BARS) == len(BARS)


async def test_no_color_means_none_not_even_grey(monkeypatch: pytest.MonkeyPatch) -> None:
    """F-47"""
    monkeypatch.setenv("NO_COLOR", "1")
    async with driven(FakeLink(demo_view()), theme="dark") as screen:
        for keys in ([], ["p"], ["escape", "K"], ["n", "i"], ["escape", "T"]):
            await screen.press(*keys)
            strips = screen.app.screen._compositor.render_strips()
            filters = screen.app.get_line_filters()
            for strip in strips:
                for each in filters:
                    strip = strip.apply_filter(each, screen.app.screen.background_colors[1])  # noqa: PLW2901
                for segment in strip:
                    for colour in (segment.style.color, segment.style.bgcolor) if segment.style else ():
                        assert colour is None or colour.is_default, (keys, segment)
        assert "NO_COLOR is set" in screen.said


async def test_t_wears_the_next_theme() -> None:
    """cockpit.md, Themes: switchable live"""
    async with driven(FakeLink(demo_view())) as screen:
        seen = []
        for _ in SHIPPED:
            await screen.press("T")
            seen.append(screen.app.look.name)
            assert "mcp:git" in screen.text
            for name in SHIPPED:
                text = load(name, THEMES).colours.get("text")
                assert text is None or (text in screen.colours) is (name == seen[-1])
        assert sorted(seen) == list(SHIPPED)
        assert screen.said == "theme: Dark"


def test_a_theme_without_colours_is_plain() -> None:
    theme = load("mono", THEMES)
    assert isinstance(theme, Theme)
    assert theme.plain
    assert all(style.color is None and style.bgcolor is None for style in theme.styles.values())
