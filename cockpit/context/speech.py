"""How one message reads to one agent: headers that the host writes, other agents' words, and the cut of V-5.

The result depends on the message and the reader alone, so it is made once and its bytes never change; only an image
has two forms, live and as its placeholder (V-10). An edit reads as a message of its own, `edited: <text>`, and a
deletion as `[deleted]`, since what was sent to a model is never rewritten (A-8).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import assert_never

from cockpit.context.budget import POINTS_A_TOKEN, estimate, tokens_of
from cockpit.context.images import live
from cockpit.core.message import Block, Media, Message, Text, Thinking, ToolResult, ToolUse
from cockpit.core.text import clip, header_field, inert_name, placeholder
from cockpit.core.value import value

EMPTY = "[empty]"
EDITED = "edited: "
DELETED = "[deleted]"


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads. own: the slot it writes to. cap: its `max_message_tokens`, None for none (V-5)."""

    agent: str
    own: str
    cap: int | None = None


@value
class Unit:
    """What stands or falls together in a window: one message, or an own message and all results of its calls.

    sequence and last: of its first and last message. asked: the assistant's blocks; live and still: the user's, with
    images as they are and as placeholders; the estimates in tokens are of all blocks. digits: base64 digits of its
    images. framed: the host wrote it, so it waits for the end of a running turn (N-8).
    """

    sequence: int
    last: int
    asked: tuple[Block, ...] = ()
    live: tuple[Block, ...] = ()
    still: tuple[Block, ...] = ()
    live_tokens: int = 0
    still_tokens: int = 0
    images: int = 0
    digits: int = 0
    framed: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """An own message before its results are known. Its blocks may be none: then only its place in time counts.

    seen and began as its message has them, 0 where it has none.
    """

    sequence: int
    seen: int
    began: int
    blocks: tuple[Block, ...]
    uses: tuple[ToolUse, ...]


@dataclass(frozen=True, slots=True)
class Answered:
    """Results of own calls, with live images and with placeholders."""

    sequence: int
    live: tuple[ToolResult, ...]
    still: tuple[ToolResult, ...]


Part = Unit | Asked | Answered


def read(message: Message, reader: Reader) -> Part | None:
    """What `message` is to `reader`; None where it is nothing: another agent's results or bare thinking, the copy of
    its own words that one of its calls delivered to another slot (the call itself says them), blank text."""
    match message.kind:
        case "chat" | "event":
            return _unit(message, lambda still: _headed(message, reader, still=still))
        case "system" | "prompt":
            capped = message.blocks if message.kind == "prompt" else cap(message.blocks, reader.cap)
            return _unit(message, lambda still: _plain(capped, still=still))
        case "agent":
            if message.author != reader.agent:
                return _unit(message, lambda _: _told(message, reader))
            return None if _delivered(message, reader) else _asked(message, reader)
        case "result":
            return _answered(message, reader) if message.author == reader.agent else None
        case "withheld":
            return None
        case _:
            assert_never(message.kind)


def cap(blocks: Sequence[Block], tokens: int | None) -> tuple[Block, ...]:
    """The blocks with their text cut at `tokens` × 4 code points, blocks of text counted as joined by newlines, and
    the mark with the whole text's size (V-5). Blocks that are not text pass."""
    if tokens is None:
        return tuple(blocks)
    texts = [block.text for block in blocks if isinstance(block, Text)]
    whole = sum(map(len, texts)) + max(0, len(texts) - 1)
    if whole <= tokens * POINTS_A_TOKEN:
        return tuple(blocks)
    mark = f"[truncated — original was {tokens_of(whole)} tokens]"
    room, kept = tokens * POINTS_A_TOKEN, list[Block]()
    over = False
    for block in blocks:
        if not isinstance(block, Text):
            kept.append(block)
        elif over:
            continue
        elif len(block.text) <= room:
            kept.append(block)
            room -= len(block.text) + 1
        else:
            over = True
            last = kept[-1] if kept else None
            if room <= 0 and isinstance(last, Text):
                kept[-1] = Text(last.text + mark)
            else:
                kept.append(Text(clip(block.text, room) + mark))
    return tuple(kept)


@lru_cache(maxsize=512)
def _names(channel: str, author: str) -> str:
    return f"{header_field(channel)} · {header_field(inert_name(author))}"


def header(message: Message) -> str:
    """`[<channel> · <author> · <time>]`, all of it fixed at ingestion (N-3)."""
    names = _names(message.channel or message.target or "", message.author)
    return f"[{names} · {_time(int(message.at // 60))}]"


@lru_cache(maxsize=512)
def _time(minute: int) -> str:
    return datetime.fromtimestamp(minute * 60, UTC).strftime("%Y-%m-%d %H:%MZ")


def _headed(message: Message, reader: Reader, *, still: bool) -> tuple[Block, ...]:
    """Its content under its header. Every line after the first is indented, so that none can pose as a header."""
    if message.deleted:
        parts: list[Text | Media] = [Text(DELETED)]
    else:
        parts = _content(cap(message.blocks, reader.cap), still=still) or [Text(EMPTY)]
    change = EDITED if message.edits is not None and not message.deleted else ""
    first, rest = (parts[0].text, parts[1:]) if isinstance(parts[0], Text) else ("", parts)
    said = f"{change}{_indented(first)}"
    opening = Text(f"{header(message)} {said}" if said else header(message))
    return (opening, *(Text(f"  {_indented(part.text)}") if isinstance(part, Text) else part for part in rest))


def _indented(text: str) -> str:
    return "\n  ".join(text.splitlines())


def _plain(blocks: Iterable[Block], *, still: bool) -> tuple[Block, ...]:
    return tuple(part for part in _content(blocks, still=still) if isinstance(part, Media) or part.text.strip())


def _content(blocks: Iterable[Block], *, still: bool) -> list[Text | Media]:
    """Text and live images in their order; what can't be live is a placeholder, and neighbouring texts are one,
    joined by newlines (D-10). Empty where nothing is said."""
    parts: list[Text | Media] = []
    for block in blocks:
        shown: Text | Media
        if isinstance(block, Media):
            shown = (None if still else live(block)) or Text(placeholder(block))
        elif isinstance(block, Text):
            shown = block
        else:
            continue
        if isinstance(shown, Text) and parts and isinstance(parts[-1], Text):
            parts[-1] = Text(f"{parts[-1].text}\n{shown.text}")
        else:
            parts.append(shown)
    return [] if all(isinstance(part, Text) and not part.text for part in parts) else parts


def _told(message: Message, reader: Reader) -> tuple[Block, ...]:
    """Another agent's message: its words under its name, one line a call (N-3)."""
    lines: list[str] = []
    for block in cap(message.blocks, reader.cap):
        if isinstance(block, Text) and block.text.strip():
            lines.append(f"{message.author}: {block.text}")
        elif isinstance(block, ToolUse):
            lines.append(f"{message.author} used {block.name}")
        elif isinstance(block, Media):
            lines.append(f"{message.author}: {placeholder(block)}")
    return (Text("\n".join(lines)),) if lines else ()


def _delivered(message: Message, reader: Reader) -> bool:
    """Whether it is the reader's own words, but no answer to a request: a summary or note that a call of its own
    put into another slot."""
    return message.slot != reader.own and message.seen == 0


def _asked(message: Message, reader: Reader) -> Asked:
    """Its native blocks without blank text, and without thinking that led to nothing, which no provider takes back
    at the end of a turn."""
    kept = [
        block
        for block in cap(message.blocks, reader.cap)
        if (isinstance(block, Text) and block.text.strip()) or isinstance(block, ToolUse | Thinking)
    ]
    while kept and isinstance(kept[-1], Thinking):
        kept.pop()
    uses = tuple(block for block in kept if isinstance(block, ToolUse))
    return Asked(message.sequence, message.seen, message.began, tuple(kept), uses)


def _answered(message: Message, reader: Reader) -> Answered:
    results = [block for block in message.blocks if isinstance(block, ToolResult)]
    return Answered(
        message.sequence,
        tuple(_result(result, reader, still=False) for result in results),
        tuple(_result(result, reader, still=True) for result in results),
    )


def _result(result: ToolResult, reader: Reader, *, still: bool) -> ToolResult:
    """Each result is a text of its own under V-5, however many one message stores."""
    parts = [
        part
        for part in _content(cap(result.content, reader.cap), still=still)
        if isinstance(part, Media) or part.text.strip()
    ]
    return replace(result, content=tuple(parts) or (Text(EMPTY),))


def _unit(message: Message, write: Callable[[bool], tuple[Block, ...]]) -> Unit | None:
    """`write` says the message with live images, or, given True, with placeholders."""
    shown = write(False)
    if not shown:
        return None
    still = write(True) if images(shown) else shown
    return unit(message.sequence, message.sequence, (), shown, still, framed=message.kind == "system")


def unit(
    sequence: int,
    last: int,
    asked: tuple[Block, ...],
    shown: tuple[Block, ...],
    still: tuple[Block, ...],
    *,
    framed: bool = False,
) -> Unit:
    """A unit with its sizes reckoned from its blocks."""
    found = images(shown)
    fixed, showing = estimate(asked), estimate(shown)
    return Unit(
        sequence=sequence,
        last=last,
        asked=asked,
        live=shown,
        still=still,
        live_tokens=fixed + showing,
        still_tokens=fixed + (estimate(still) if found else showing),
        images=len(found),
        digits=sum(len(image.data or "") for image in found),
        framed=framed,
    )


def images(blocks: Iterable[Block]) -> list[Media]:
    """The live images of these blocks, those in results too."""
    found: list[Media] = []
    for block in blocks:
        if isinstance(block, Media):
            found.append(block)
        elif isinstance(block, ToolResult):
            found.extend(part for part in block.content if isinstance(part, Media))
    return found
