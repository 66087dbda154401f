"""A model that needs no key and no network: deterministic, and honest about being rule-based.

It plays whichever role its tools give it: with `deliver_summary` among them it is the subconscious, otherwise a
resident. It streams as a provider does, so that screens and logs are exercised alike, but never waits for anything.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Iterator
from hashlib import sha256

from cockpit.core.message import Block, Media, Text, ToolUse, encode
from cockpit.core.records import Usage
from cockpit.core.request import Chunk, Completed, Request, TextDelta, ToolInputDelta
from cockpit.model.answering import answer
from cockpit.model.draft import Draft
from cockpit.model.watching import SUMMARY, watch

_LONG = 50_000  # characters
_PIECE = re.compile(r"\S+\s*|\s+")


class OfflineModel:
    """A `Model` by rule. The same request gives the same chunks, ids of tool uses included."""

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Answer `request` a word at a time. Never raises; cancelling it between two words is safe."""
        size = _size(request)
        # A full window takes half a second of plain computing: in a thread, the screen goes on being painted.
        draft = await asyncio.to_thread(draft_for, request) if size > _LONG else draft_for(request)
        for word in _PIECE.findall(draft.text):
            yield TextDelta(word)
            await asyncio.sleep(0)
        uses = _uses(draft, request)
        for use in uses:
            written = use.input.get("text")
            for word in _PIECE.findall(written) if isinstance(written, str) else ():
                yield ToolInputDelta(use.name, use.id, word)
                await asyncio.sleep(0)
        blocks: tuple[Block, ...] = (*((Text(draft.text),) if draft.text else ()), *uses)
        usage = Usage(input=_tokens(size), output=_tokens(sum(map(_block_size, blocks))))
        yield Completed(blocks, "tool_use" if uses else "end_turn", usage)

    async def warm(self) -> None:
        """Nothing is loaded later."""

    async def aclose(self) -> None:
        """It holds nothing."""


def draft_for(request: Request) -> Draft:
    """What the model answers, before streaming."""
    if any(tool.name == SUMMARY for tool in request.tools):
        return watch(request)
    return answer(request)


def _uses(draft: Draft, request: Request) -> tuple[ToolUse, ...]:
    """The calls with ids of their own: the digest is of a request that holds every earlier call, so none comes back."""
    if not draft.calls:
        return ()
    seed = _digest(request)
    return tuple(
        ToolUse(f"toolu_offline_{seed}_{number}", call.tool, dict(call.input))
        for number, call in enumerate(draft.calls)
    )


def _digest(request: Request) -> str:
    hashed = sha256(request.agent.encode())
    for text in _texts(request):
        hashed.update(text.encode("utf-8", "surrogatepass"))
        hashed.update(b"\0")
    return hashed.hexdigest()[:20]


def _texts(request: Request) -> Iterator[str]:
    for part in request.system:
        yield part.text
    for tool in request.tools:
        yield tool.name
    for turn in request.messages:
        yield turn.role
        for block in turn.blocks:
            yield json.dumps(encode(block), default=dict)


def _size(request: Request) -> int:
    texts = sum(len(part.text) for part in request.system)
    tools = sum(
        len(tool.name) + len(tool.description) + len(json.dumps(tool.input_schema, default=dict))
        for tool in request.tools
    )
    return texts + tools + sum(_block_size(block) for turn in request.messages for block in turn.blocks)


def _block_size(block: Block) -> int:
    if isinstance(block, Text):
        return len(block.text)
    if isinstance(block, Media):
        return len(block.data or "")
    return len(json.dumps(encode(block), ensure_ascii=False, default=dict))


def _tokens(characters: int) -> int:
    """Four characters a token, rounded up."""
    return -(-characters // 4)
