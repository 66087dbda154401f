"""A request in the shape of the Anthropic API, cache markers included: what `go=context` shows of it."""

from __future__ import annotations

from typing import assert_never

from cockpit.core.message import Block, Json, Media, Text, Thinking, ToolResult, ToolUse
from cockpit.core.request import Request, Turn

_MARKER: dict[str, Json] = {"type": "ephemeral"}


def request_json(request: Request) -> dict[str, Json]:
    """`max_tokens`, `system`, `tools` and `messages`; what is empty is left out, as the API wants it."""
    shape: dict[str, Json] = {"max_tokens": request.max_tokens}
    if request.system:
        shape["system"] = [_marked({"type": "text", "text": block.text}, block.cached) for block in request.system]
    if request.tools:
        last = len(request.tools) - 1
        shape["tools"] = [
            _marked(
                {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema},
                request.tools_cached and at == last,
            )
            for at, tool in enumerate(request.tools)
        ]
    shape["messages"] = [_turn(turn) for turn in request.messages]
    return shape


def _turn(turn: Turn) -> dict[str, Json]:
    last = len(turn.blocks) - 1
    content = [_marked(block_json(block), turn.cached and at == last) for at, block in enumerate(turn.blocks)]
    return {"role": turn.role, "content": content}


def block_json(block: Block) -> dict[str, Json]:
    """One block; a compile leaves no media but images with data."""
    match block:
        case Text(text):
            return {"type": "text", "text": text}
        case Media(mime=mime, data=data):
            return {"type": "image", "source": {"type": "base64", "media_type": mime, "data": data}}
        case ToolUse(id=use, name=name, input=values):
            return {"type": "tool_use", "id": use, "name": name, "input": values}
        case ToolResult(tool_use_id=use, content=content, is_error=failed):
            shape: dict[str, Json] = {"type": "tool_result", "tool_use_id": use}
            shape["content"] = [block_json(part) for part in content]
            return {**shape, "is_error": True} if failed else shape
        case Thinking(raw):
            return {**raw}
        case _:
            assert_never(block)


def _marked(shape: dict[str, Json], marked: bool) -> dict[str, Json]:
    return {**shape, "cache_control": _MARKER} if marked else shape
