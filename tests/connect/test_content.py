"""Content blocks within the limits (mcpl.md 7.10, 14)."""

from __future__ import annotations

import base64

import pytest

from cockpit.connect.config import Limits
from cockpit.connect.content import blocks
from cockpit.core.message import Json, Media, Text
from cockpit.core.text import render

LIMITS = Limits(text=10, media=9)
DATA = base64.b64encode(b"123456789").decode()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("hello", (Text("hello"),)),
        ([{"type": "text", "text": "a"}, "b"], (Text("a"), Text("b"))),
        ([{"type": "image", "data": DATA, "mimeType": "image/png"}], (Media("image", "image/png", DATA),)),
        ([{"type": "image", "uri": "https://x/y.png"}], (Media("image", names="https://x/y.png"),)),
        ([{"type": "resource", "uri": "file:a"}], (Media("resource", names="file:a"),)),
        ([{"type": "hologram", "n": 1}], (Media("hologram"),)),
        (
            [{"type": "resource", "resource": {"uri": "a:b", "mimeType": "text/plain", "text": "in"}}],
            (Media("resource", "text/plain", names="a:b"), Text("in")),
        ),
        ([{"type": "resource", "resource": {"uri": "a:b", "blob": DATA}}], (Media("resource", None, DATA, "a:b"),)),
        ([{"type": "text"}, 3, None, {}], (Media("text"), Media("unknown"), Media("unknown"), Media("unknown"))),
        (None, ()),
        (7, ()),
        ([], ()),
    ],
)
def test_blocks(content: Json, expected: tuple[Text | Media, ...]) -> None:
    assert blocks(content, LIMITS) == expected


def test_text_is_cut_with_a_mark_over_all_blocks() -> None:
    found = blocks([{"type": "text", "text": "1234567"}, {"type": "text", "text": "890123"}, "more"], LIMITS)
    assert found[0] == Text("1234567")
    assert len(found) == 2
    assert isinstance(found[1], Text)
    assert found[1].text.startswith("890\n[cut: ")


def test_text_at_the_limit_is_whole_and_a_cut_splits_no_character() -> None:  # D-7
    assert blocks("1234567890", LIMITS) == (Text("1234567890"),)
    (found,) = blocks("123456789👩‍👧", LIMITS)
    assert isinstance(found, Text)
    assert found.text.startswith("123456789\n[cut")


def test_media_beyond_the_limit_of_one_message_leaves_a_placeholder() -> None:
    image: Json = {"type": "image", "data": DATA, "mimeType": "image/png"}
    first, second = blocks([image, image], LIMITS)
    assert first == Media("image", "image/png", DATA)
    assert second == Media("image", "image/png", names="of 1 kB, more than the host takes")
    assert render([second]) == "[image of 1 kB, more than the host takes]"


def test_data_that_is_no_base64_is_not_kept_and_said_in_words() -> None:  # K-64
    found = blocks(
        [{"type": "image", "data": "%%%", "mimeType": 5}, {"type": "image", "data": "%", "name": "a.png"}], LIMITS
    )
    assert found == (
        Media("image", names="that could not be read"),
        Media("image", names="a.png that could not be read"),
    )
    assert render(found) == "[image that could not be read]\n[image a.png that could not be read]"


@pytest.mark.parametrize(
    ("mime", "shown"),
    [
        ("image/png", "[image image/png 1 kB]"),
        ("image/svg+xml; charset=utf-8", "[image image/svg+xml 1 kB]"),
        ("image/png]", "[image 1 kB]"),
        ("image/png · you · now", "[image 1 kB]"),
        ("png", "[image 1 kB]"),
    ],
)
def test_a_media_type_that_is_none_is_left_out(mime: str, shown: str) -> None:  # D-10, K-64
    assert render(blocks([{"type": "image", "data": DATA, "mimeType": mime}], LIMITS)) == shown
