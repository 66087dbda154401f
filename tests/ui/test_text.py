"""The one door for foreign text: what comes through is inert and as wide as every terminal takes it to be."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len
from wcwidth import wcwidth

from cockpit.ui import text as door
from cockpit.ui.text import block, cells, clip, clip_middle, fit, line, typed, wrap

UI = Path(door.__file__).parent
HOSTILE = "x\x1b]52;c;cHduZWQ=\x07\x1b[2J\u202ereversed\u2066\x00\x9b31m\x7f"
ANY = st.text(alphabet=st.characters(exclude_categories=[]), max_size=40)
EMOJI = st.text(
    alphabet=st.sampled_from([
        "👨", "👩", "👧", "\U0001f3fd", "✔", "\ufe0f", "\u200d", "\U0001f1e9", "\U0001f1ea", "1", "\u20e3", "é", "日",
        "각", "क", "्", "ष", "ि", "\u0301", "\u0300", "\u200f", "\u200b",
    ]),
    max_size=24,
)  # fmt: skip


@pytest.mark.parametrize("through", [line, block, typed])
def test_no_control_sequence_or_bidi_override_comes_through(through: object) -> None:
    """R-6, F-4, K-130"""
    assert callable(through)
    shown = through(HOSTILE)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)
    assert "]52;c;cHduZWQ=" in shown  # visible, and only that


@pytest.mark.parametrize("through", [line, typed])
def test_markup_is_ordinary_text(through: object) -> None:
    """F-1, F-2"""
    assert callable(through)
    for raw in ("[/", "see [/etc/x]", '{"a": ["[b]x[/b]"]}', "\\[/]", "[link=http://x]y[/link]"):
        assert through(raw) == raw


@given(ANY)
@example("\U00018e00\U0001f1e9\U0001f3fd")  # newer than Textual's table; half a flag; a tone of nothing
def test_anything_is_as_wide_as_all_terminals_take_it(raw: str) -> None:
    """F-49: Textual's measure and the sum that a terminal without clusters makes are the same."""
    for shown in (line(raw), *block(raw).split("\n")):
        assert cell_len(shown) == sum(wcwidth(letter) for letter in shown)


@given(EMOJI)
def test_emoji_flags_and_marks_are_too(raw: str) -> None:
    """F-49"""
    shown = line(raw)
    assert cell_len(shown) == sum(wcwidth(letter) for letter in shown)


@given(ANY)
def test_no_lone_surrogate_reaches_the_terminal(raw: str) -> None:
    """R-6"""
    line(raw + "\ud800").encode()
    block(raw + "\udfff").encode()
    typed(raw + "\ud800").encode()


@given(ANY)
def test_a_line_being_edited_keeps_its_length(raw: str) -> None:
    """One code point for one, so that the cursor's place holds."""
    assert len(typed(raw)) == len(raw)


@given(ANY, st.integers(0, 30))
def test_clipping_and_filling_hold_their_width(raw: str, most: int) -> None:
    safe = line(raw)
    assert cells(clip(safe, most)) <= most
    assert cells(clip_middle(safe, most)) <= most
    assert cells(fit(safe, most)) == most
    assert cells(fit(safe, most, "right")) == most


@given(ANY, st.integers(2, 30))
def test_wrapped_lines_fit_and_lose_no_letter(raw: str, width: int) -> None:
    safe = block(raw)
    wrapped = wrap(safe, width, width)
    assert all(cells(part) <= width for part in wrapped)
    assert re.sub(r"\s", "", "".join(wrapped)) == re.sub(r"\s", "", safe)


def test_a_line_has_no_break_and_a_block_only_newlines() -> None:
    raw = "a\r\nb\rc\u2028d\x0be\tf"
    assert line(raw) == "a b c d e f"
    assert block(raw) == "a\nb\nc\nd\ne    f"


def test_a_very_long_text_says_how_much_is_left_out() -> None:
    shown = block("x" * 30_000, 20_000)
    assert len(shown) < 20_100
    assert "10000 more characters" in shown


def test_a_pile_of_marks_is_cut() -> None:
    assert len(line("e" + "\u0301" * 500)) <= 5


def test_names_keep_the_end_that_tells_them_apart() -> None:
    shown = clip_middle(line("channel:disc/disc:guild:noisy"), 20)
    assert shown.startswith("chan")
    assert shown.endswith("guild:noisy")


def _imports(tree: ast.AST) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def test_nothing_in_ui_goes_round_the_door() -> None:
    """style.md 7: no markup, no toast, no widget of Textual's that takes a string, anywhere in ui/."""
    banned = {
        "textual.widgets.Static", "textual.widgets.Label", "textual.widgets.DataTable", "textual.widgets.RichLog",
        "textual.widgets.Log", "textual.widgets.Markdown", "textual.widgets.TextArea", "textual.content.Content",
        "rich.markup.render", "rich.markup.escape",
    }  # fmt: skip
    for path in UI.rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        assert not _imports(tree) & banned, path
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                assert node.func.attr not in {"notify", "from_markup"}, path
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Safe":
                assert path.name in {"text.py", "paint.py"}, f"{path} makes Safe text of its own"
