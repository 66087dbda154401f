"""Images: live until an anchor jump, and then placeholders for good (V-10, D-10)."""

from __future__ import annotations

import base64

import pytest

from cockpit.context.agent_context import AgentContext, Ceilings
from cockpit.context.budget import IMAGE_TOKENS, Prelude
from cockpit.context.images import IMAGES, LARGEST, ImagePolicy, live
from cockpit.context.request_json import request_json
from cockpit.context.windowed import WindowedPassthrough
from cockpit.core.message import Media, Message, Stamp, Text, ToolResult
from cockpit.core.request import Request
from cockpit.core.text import placeholder
from cockpit.testing.conversation import SUBCONSCIOUS, Conversation, flat, texts, use

BARE = Prelude("")
KEEP_TWO = WindowedPassthrough(images=ImagePolicy(keep=2, most=5, digits=10_000))


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def png(number: int = 0, size: int = 0) -> Media:
    return Media("image", "image/png", encoded(b"\x89PNG\r\n\x1a\n" + bytes([number]) + b"\0" * size))


def shown(request: Request) -> list[Media]:
    found = []
    for _, block in flat(request.messages):
        inner = block.content if isinstance(block, ToolResult) else (block,)
        found += [part for part in inner if isinstance(part, Media)]
    return found


@pytest.mark.parametrize(
    ("head", "mime"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
    ],
)
def test_an_image_goes_out_as_what_its_bytes_are(head: bytes, mime: str) -> None:
    """A provider refuses the whole request where the type is wrong."""
    assert live(Media("image", "image/unheard-of", encoded(head + b"\0" * 90))) == Media(
        "image", mime, encoded(head + b"\0" * 90)
    )


@pytest.mark.parametrize(
    "media",
    [
        Media("image", "image/png"),
        Media("image", "image/png", "no base64 at all"),
        Media("image", "image/png", encoded(b"\x89PNG\r\n\x1a\n")[:-1]),
        Media("image", "image/png", encoded(b"<svg/>")),
        Media("audio", "audio/wav", encoded(b"RIFF\0\0\0\0WEBP")),
        Media("image", "image/png", encoded(b"\x89PNG\r\n\x1a\n" + b"\0" * (LARGEST * 3 // 4))),
    ],
)
def test_what_no_provider_can_read_is_a_placeholder_from_the_start(media: Media) -> None:
    """D-10, V-8: bad data is tolerated, K-64."""
    talk = Conversation()
    talk.resident()
    talk.chat("look:", media)
    sent = talk.ask().request

    assert shown(sent) == []
    assert texts(sent)[0].endswith(f"look:\n  {placeholder(media)}")


def test_v10_a_live_image_stands_in_its_place_between_its_texts() -> None:
    """V-10, K-64, N-3: what follows it cannot pose as another message."""
    talk = Conversation()
    talk.resident()
    talk.chat("look:", png(), "[x · y · z]\nthere")
    talk.chat(png(1), author="bob")
    header = "[disc:guild:noisy · {} · 2026-11-30 09:00Z]"

    assert [block for _, block in flat(talk.ask().request.messages)] == [
        Text(f"{header.format('ada')} look:"),
        png(),
        Text("  [x · y · z]\n  there"),
        Text(header.format("bob")),
        png(1),
    ]


def test_v10_an_image_counts_a_fixed_figure() -> None:
    talk = Conversation()
    talk.resident()
    talk.prompt(png(size=50_000))
    assert talk.ask(prelude=BARE).statistics.messages == IMAGE_TOKENS


def test_v10_images_turn_into_placeholders_at_a_jump_and_never_in_between() -> None:
    """V-10, V-3: the newest two stay live."""
    talk = Conversation()
    scout = talk.resident(ceilings=Ceilings(10_100, 100), strategy=KEEP_TWO)
    before = flat(talk.ask(prelude=BARE).request.messages)
    jumps = 0
    for number in range(40):
        talk.chat("image:", png(number)) if number % 2 else talk.prompt("." * 3_000)
        done = talk.ask(prelude=BARE)
        now = flat(done.request.messages)
        if done.moved:
            jumps += 1
            assert len(shown(done.request)) == 2
            assert done.statistics.images == 2
        else:
            assert now[: len(before)] == before
        before = now
    assert jumps >= 3
    assert scout.anchor.images > 0


def test_v10_more_images_than_a_request_may_hold_make_the_window_jump() -> None:
    """V-10: the budget has room, but the anchor moves, since only a jump may turn an image."""
    talk = Conversation()
    scout = talk.resident(ceilings=Ceilings(1_000_000, 100), strategy=KEEP_TWO)
    for number in range(5):
        talk.chat(png(number))
    assert not talk.ask(prelude=BARE).moved
    talk.chat(png(5))
    done = talk.ask(prelude=BARE)

    assert done.moved
    assert scout.anchor.sequence > 1
    assert shown(done.request) == [png(4), png(5)]


def test_v10_more_image_data_than_a_request_may_hold_does_too() -> None:
    talk = Conversation()
    talk.resident(strategy=KEEP_TWO)
    for number in range(3):
        talk.chat(png(number, size=3_000))

    assert shown(talk.ask(prelude=BARE).request) == [png(2, size=3_000)]


def test_v10_one_message_with_more_images_than_a_request_may_hold_shows_placeholders() -> None:
    """V-8: or no request could be sent again."""
    talk = Conversation()
    talk.resident(strategy=KEEP_TWO)
    talk.prompt("hi")
    talk.chat(*(png(number) for number in range(6)))
    done = talk.ask(prelude=BARE)

    assert shown(done.request) == []
    assert texts(done.request)[-1].count("[image image/png 1 kB]") == 6
    assert not talk.ask(prelude=BARE).moved


async def test_v10_what_is_a_placeholder_stays_one_after_a_restart_and_a_move_back() -> None:
    """V-10, V-4."""
    talk = Conversation()
    scout = talk.resident(strategy=KEEP_TWO)
    for number in range(6):
        talk.chat(png(number))
    sent = talk.ask(prelude=BARE).request
    talk.chat(png(7))
    again = AgentContext("scout", scout.view, scout.ceilings, talk.chronicle, KEEP_TWO)
    await again.load(talk.chronicle.head, scout.snapshot(0.0).value)
    assert flat(again.compile(BARE).request.messages) == flat(talk.ask(prelude=BARE).request.messages)
    assert shown(sent) == [png(4), png(5)]

    await scout.set_anchor(0)
    assert shown(talk.ask(prelude=BARE).request) == [png(4), png(5), png(7)]


def test_v10_the_data_of_what_became_a_placeholder_is_let_go_of() -> None:
    """What can never be sent again is not kept in memory, nor read into it."""
    talk = Conversation()
    scout = talk.resident(strategy=KEEP_TWO)
    for number in range(6):
        talk.chat(png(number, size=600))
    talk.prompt("look")
    talk.begin()
    for number in range(6):
        talk.ask(prelude=BARE)
        talk.answer(use(f"c{number}"))
        talk.result(ToolResult(f"c{number}", (png(number, size=600),)))
    talk.ask(prelude=BARE)
    assert scout._window.images <= 5

    talk.whole_turn()
    assert scout._window.images <= 5


async def test_v10_nor_read_into_memory_again() -> None:
    talk = Conversation()
    scout = talk.resident(strategy=KEEP_TWO)
    for number in range(6):
        talk.chat(png(number))
    talk.ask(prelude=BARE)
    await scout.set_anchor(0)
    assert (scout._window.images, scout._window.digits) == (2, 2 * len(png().data or ""))


def test_v10_an_image_in_a_result_follows_the_same_policy() -> None:
    talk = Conversation()
    talk.resident(strategy=KEEP_TWO)
    talk.prompt("look")
    talk.begin()
    for number in range(6):
        talk.ask(prelude=BARE)
        talk.answer(use(f"c{number}"))
        talk.result(ToolResult(f"c{number}", (Text("seen:"), png(number))))
    sent = talk.ask(prelude=BARE).request

    assert shown(sent) == [png(4), png(5)]
    assert texts(sent)[-3:] == ["seen:\n[image image/png 1 kB]", "seen:", "seen:"]
    source = {"type": "base64", "media_type": "image/png", "data": png(5).data}
    assert request_json(sent)["messages"][-1]["content"][0]["content"][1] == {  # type: ignore[index,call-overload]
        "type": "image",
        "source": source,
    }


def test_v10_the_subconscious_has_the_residents_image_policy() -> None:
    """V-10."""
    talk = Conversation()
    scout, watching = talk.resident(), talk.subconscious()
    talk.chat(png(1))
    talk.chat(png(2), stamp=Stamp(epoch="e1"))

    for context in (scout, watching):
        assert isinstance(context.strategy, WindowedPassthrough)
        assert context.strategy.images == IMAGES
    assert shown(talk.ask(SUBCONSCIOUS).request) == [png(1), png(2)]
    assert shown(talk.ask().request) == [png(1)]


def test_another_agents_images_are_placeholders() -> None:
    talk = Conversation()
    talk.resident()
    talk.commit(Message("residents", "agent", "ranger", (Text("see"), png()), 0.0))
    assert texts(talk.ask().request) == ["ranger: see\nranger: [image image/png 1 kB]"]
