"""The offline model behind the local server: so that a whole cockpit can be tried on a provider without one."""

from __future__ import annotations

import json
from collections.abc import Mapping

from cockpit.core.message import Block, Json, Media, Text, Thinking, ToolResult, ToolUse
from cockpit.core.request import Request, SystemText, Tool, Turn
from cockpit.model.offline import draft_for
from cockpit.testing.script import Answer, Call


def by_rule(body: Mapping[str, Json]) -> Answer:
    """What the offline model says to a body that the checker has passed."""
    draft = draft_for(request_of(body))
    return Answer(draft.text, tuple(Call(call.tool, call.input) for call in draft.calls))


def request_of(body: Mapping[str, Json]) -> Request:
    """A checked body read back as the request that it was made from, as far as an answer needs it."""
    tools = tuple(
        Tool(str(tool.get("name")), str(tool.get("description", "")), schema if isinstance(schema, Mapping) else {})
        for tool in _listed(body.get("tools"))
        for schema in [tool.get("input_schema")]
    )
    turns = tuple(
        Turn(
            "assistant" if part.get("role") == "assistant" else "user", tuple(map(_block, _listed(part.get("content"))))
        )
        for part in _listed(body.get("messages"))
    )
    system = tuple(SystemText(str(part.get("text", ""))) for part in _listed(body.get("system")))
    limit = body.get("max_tokens")
    return Request("", system, tools, turns, limit if isinstance(limit, int) else 1, seen=0)


def _block(block: Mapping[str, Json]) -> Block:
    match block:
        case {"type": "tool_use", "id": str(use), "name": str(name), "input": Mapping() as values}:
            return ToolUse(use, name, values)
        case {"type": "tool_result", "tool_use_id": str(use), **rest}:
            inner = [_block(part) for part in _listed(rest.get("content"))]
            shown = tuple(part for part in inner if isinstance(part, Text | Media))
            return ToolResult(use, shown, bool(rest.get("is_error")))
        case {"type": "text", "text": str(text)}:
            return Text(text)
        case {"type": "image", "source": {"media_type": str(mime), "data": str(data)}}:
            return Media("image", mime, data)
        case {"type": "thinking"} | {"type": "redacted_thinking"}:
            return Thinking(block)
        case _:
            return Text(json.dumps(block, default=dict))


def _listed(value: Json) -> list[Mapping[str, Json]]:
    if isinstance(value, str):
        return [{"type": "text", "text": value}]
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list | tuple) else []
