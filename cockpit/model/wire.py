"""A request as the Anthropic Messages API reads it.

Pure JSON, no SDK: a provider sends it, an inspection shows it, and the test double checks it. What the API would
refuse for ever once it is in a history (a broken image, an empty text, half a surrogate pair) is written so that it
is accepted, since one such message would otherwise end every later turn.
"""

from __future__ import annotations

import binascii
from collections.abc import Mapping, Sequence

from cockpit.core.message import Block, Json, Media, Text, Thinking, ToolResult, ToolUse
from cockpit.core.request import Request, Tool, Turn
from cockpit.core.text import placeholder, sanitise

MARKERS = 4
"""Cache markers that one request may carry (V-7)."""

EMPTY = "[empty]"
"""What stands where a result or a turn says nothing (D-10's word)."""

_EPHEMERAL: Mapping[str, Json] = {"type": "ephemeral"}
_IMAGE_LIMIT = 5 * 1024 * 1024  # characters of base64 that the API takes for one image
_MAGIC = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))


def body(request: Request, *, eager: bool = False) -> dict[str, Json]:
    """`max_tokens`, `system`, `tools` and `messages`, with cache markers; no model, no provider parameters.

    eager: ask for the arguments of tools with a `text` to be streamed as they are written (S-9), not value by value.
    """
    markers = _Markers()
    tools = [_tool(tool, eager=eager) for tool in request.tools]
    if tools and request.tools_cached:
        markers.mark(tools[-1])
    system = _system(request, markers)
    last = len(request.messages) - 1
    messages: list[Json] = [_turn(turn, markers, last=at == last) for at, turn in enumerate(request.messages)]
    parts: dict[str, Json] = {"max_tokens": request.max_tokens, "system": system, "tools": tools, "messages": messages}
    return {name: value for name, value in parts.items() if value != []}


class _Markers:
    """The markers still to be given; who claims first keeps (V-7)."""

    def __init__(self) -> None:
        self._left = MARKERS

    def mark(self, block: dict[str, Json]) -> None:
        if self._left > 0:
            self._left -= 1
            block["cache_control"] = _EPHEMERAL


def plain(value: Json) -> Json:
    """The same JSON of plain dicts and lists, its strings whole, so that any encoder takes it."""
    if isinstance(value, str):
        return sanitise(value)
    if isinstance(value, Mapping):
        return {sanitise(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, Sequence):
        return [plain(inner) for inner in value]
    return value


def streams_text(tool: Tool) -> bool:
    """Whether the tool takes a string named `text`: such calls are shown while they are written (S-9)."""
    properties = tool.input_schema.get("properties")
    schema = properties.get("text") if isinstance(properties, Mapping) else None
    return isinstance(schema, Mapping) and schema.get("type") == "string"


def _tool(tool: Tool, *, eager: bool) -> dict[str, Json]:
    written: dict[str, Json] = {
        "name": tool.name,
        "description": sanitise(tool.description),
        "input_schema": plain(tool.input_schema),
    }
    if eager and streams_text(tool):
        written["eager_input_streaming"] = True
    return written


def _system(request: Request, markers: _Markers) -> list[Json]:
    written: list[Json] = []
    for part in request.system:
        if not part.text.strip():
            continue
        block: dict[str, Json] = {"type": "text", "text": sanitise(part.text)}
        if part.cached:
            markers.mark(block)
        written.append(block)
    return written


def _turn(turn: Turn, markers: _Markers, *, last: bool) -> dict[str, Json]:
    assistant = turn.role == "assistant"
    content = [written for block in turn.blocks for written in _block(block, assistant=assistant)]
    if not content:
        content = [_text(EMPTY)]
    if last and assistant:
        _strip_end(content[-1])
    if turn.cached:
        holder = next((block for block in reversed(content) if not _is_thinking(block)), None)
        if holder is not None:
            markers.mark(holder)
    return {"role": turn.role, "content": content}


def _block(block: Block, *, assistant: bool) -> list[dict[str, Json]]:
    match block:
        case Text(text):
            return [_text(text)] if text.strip() else []
        case Media():
            return [_media(block, allowed=not assistant)]
        case ToolUse(id=use, name=name, input=values):
            return [{"type": "tool_use", "id": use, "name": name, "input": plain(values)}]
        case ToolResult(tool_use_id=use, content=content, is_error=failed):
            inner: list[Json] = [written for part in content for written in _block(part, assistant=False)]
            result: dict[str, Json] = {"type": "tool_result", "tool_use_id": use, "content": inner or [_text(EMPTY)]}
            return [{**result, "is_error": True}] if failed else [result]
        case Thinking(raw):
            return [dict(raw)]


def _text(text: str) -> dict[str, Json]:
    return {"type": "text", "text": sanitise(text)}


def _media(media: Media, *, allowed: bool) -> dict[str, Json]:
    """An image that the API takes as one; anything else as the placeholder that a dump would show."""
    mime = _image_type(media.data) if allowed and media.data and media.type == "image" else None
    if mime is None:
        return _text(placeholder(media))
    return {"type": "image", "source": {"type": "base64", "media_type": mime, "data": media.data}}


def _image_type(data: str) -> str | None:
    """What the bytes are, whatever their sender called them: the API refuses an image that is not what it says."""
    if len(data) > _IMAGE_LIMIT:
        return None
    try:
        decoded = binascii.a2b_base64(data.encode("ascii"), strict_mode=True)
    except ValueError:
        return None
    if decoded[:4] == b"RIFF" and decoded[8:12] == b"WEBP":
        return "image/webp"
    return next((mime for magic, mime in _MAGIC if decoded.startswith(magic)), None)


def _is_thinking(block: Mapping[str, Json]) -> bool:
    return block.get("type") in {"thinking", "redacted_thinking"}


def _strip_end(block: dict[str, Json]) -> None:
    """The API refuses a last assistant text that ends in white space."""
    if block.get("type") == "text":
        block["text"] = str(block["text"]).rstrip() or EMPTY
