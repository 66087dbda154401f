"""D-10: what is not text shows as a placeholder in its place, and nothing that a block holds makes it raise."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cockpit.core.message import Media, Text, Thinking, ToolResult, ToolUse
from cockpit.core.text import placeholder, render


def encoded(size: int) -> str:
    return base64.b64encode(b"\xff" * size).decode()


@pytest.mark.parametrize(
    ("media", "shown"),
    [
        (Media("image", "image/png", encoded(34_000)), "[image image/png 34 kB]"),
        (Media("image", "image/png", encoded(33_001)), "[image image/png 34 kB]"),
        (Media("image", "image/png", encoded(34_001)), "[image image/png 35 kB]"),
        (Media("image", "image/png", encoded(1)), "[image image/png 1 kB]"),
        (Media("audio", None, encoded(999)), "[audio 1 kB]"),
        (Media("image", "image/png", encoded(1000).rstrip("=")), "[image image/png 1 kB]"),
        (Media("image", "image/png", "____\n--__"), "[image image/png 1 kB]"),
        (Media("image", "image/png"), "[image]"),
        (Media("image", "image/png", ""), "[image]"),
        (Media("resource", names="notes.txt"), "[resource notes.txt]"),
        (Media("resource_link", names="file:///a b.txt"), "[resource_link file:///a b.txt]"),
        (Media("hologram"), "[hologram]"),
        (Media(""), "[unknown]"),
    ],
)
def test_a_block_shows_its_type_and_its_size_or_what_it_names(media: Media, shown: str) -> None:
    """D-10: 1 kB is 1,000 bytes of decoded data, rounded up."""
    assert placeholder(media) == shown


@pytest.mark.parametrize(
    ("media", "shown"),
    [
        (Media("image", "image/png", "not base64!"), "[image image/png]"),
        (Media("image", "image/png", "\ud800日本"), "[image image/png]"),
        (Media("image", "image/png", "AAAAA"), "[image image/png]"),
        (Media("image", "x\ny] [z", encoded(5)), "[image x y&#93; [z 1 kB]"),
        (Media("image", "\u202e", encoded(5)), "[image unknown 1 kB]"),
        (Media("resource", names="data:" + "A" * 1_000_000), "[resource data:" + "A" * 195 + "]"),
    ],
)
def test_bad_data_and_bad_mime_are_tolerated(media: Media, shown: str) -> None:
    """K-64"""
    assert placeholder(media) == shown


def test_mixed_content_keeps_its_order() -> None:
    """D-10, K-64: image bytes do not blow the cap."""
    blocks = (
        Text("look:"),
        Media("image", "image/png", encoded(34_000)),
        Text("and\nread"),
        Media("resource", names="notes.txt"),
    )
    assert render(blocks) == "look:\n[image image/png 34 kB]\nand\nread\n[resource notes.txt]"


def test_an_empty_and_a_deleted_message_say_so() -> None:
    """D-10"""
    assert render(()) == render([Text("")]) == render([Text(""), Text("")]) == "[empty]"
    assert render([Text("secret")], deleted=True) == render((), deleted=True) == "[deleted]"
    assert render([Text(" ")]) == " "


def test_an_agents_blocks_have_placeholders() -> None:
    """D-10: of a call its tool, of a result what it holds, of thinking nothing."""
    assert render([ToolUse("t1", "git__log", {"n": 1})]) == "[tool_use git__log]"
    assert render([ToolResult("t1", (Text("log"), Media("image")))]) == "log\n[image]"
    assert render([ToolResult("t1", ())]) == "[tool_result]"
    assert render([ToolResult("t1", (Text("no such ref"),), is_error=True)]) == "[tool_result error]\nno such ref"
    assert render([Thinking({"thinking": "hm"})]) == "[thinking]"


ANY = st.text(st.characters(codec=None), max_size=12)


@given(ANY, st.none() | ANY, st.none() | ANY, st.none() | ANY)
@settings(max_examples=300, deadline=None)
def test_a_placeholder_is_one_bracketed_line_whatever_it_is_given(
    kind: str, mime: str | None, data: str | None, names: str | None
) -> None:
    """D-10, K-64"""
    shown = placeholder(Media(kind, mime, data, names))
    assert shown.startswith("[")
    assert shown.index("]") == len(shown) - 1
    assert len(shown.splitlines()) == 1
