"""An answer put together from the events of the Messages API's stream.

It takes the events as plain JSON, so that it depends on no SDK, and gives what each adds at once. What could not be
replayed later (an unfinished call, an empty text, thinking without its signature) is left out of the whole answer,
so that the log satisfies the provider whatever cut the answer short (semantics.md V-8).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from cockpit.core.message import Block, Json, Text, Thinking, ToolUse
from cockpit.core.records import Usage
from cockpit.core.request import Completed, StopReason, TextDelta, ToolInputDelta
from cockpit.core.text import sanitise
from cockpit.model.partial_json import StringField
from cockpit.model.wire import plain

UNREADABLE = "INVALID_JSON"
"""The one argument of a call whose arguments the model wrote as no JSON object: its text, as it came."""

_STOPS: Mapping[str, StopReason] = {
    "end_turn": "end_turn",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refusal",
    "stop_sequence": "stop_sequence",
    "pause_turn": "pause_turn",
}
_CUT_SHORT = frozenset({"max_tokens", "refusal"})


@dataclass(slots=True)
class _Open:
    """One content block while it arrives: as its start gave it, and the pieces of its string."""

    raw: dict[str, Json]
    pieces: list[str] = field(default_factory=list)
    signature: list[str] = field(default_factory=list)
    text: StringField = field(default_factory=StringField)
    half: str = ""  # the first half of a surrogate pair that two deltas share


class Assembly:
    """Feed it every event in order. `complete` is true once the provider has said why it stopped."""

    def __init__(self) -> None:
        self._blocks: dict[int, _Open] = {}
        self._usage: dict[str, int] = {}
        self._stop: str | None = None

    @property
    def complete(self) -> bool:
        return self._stop is not None

    def feed(self, event: Mapping[str, Json]) -> TextDelta | ToolInputDelta | None:
        """What this event adds for a reader, or None. Events and deltas of unknown types add nothing."""
        match event:
            case {"type": "message_start", "message": {"usage": Mapping() as usage}}:
                self._count(usage)
            case {"type": "content_block_start", "index": int(index), "content_block": Mapping() as block}:
                return self._start(index, block)
            case {"type": "content_block_delta", "index": int(index), "delta": Mapping() as delta}:
                return self._add(index, delta)
            case {"type": "message_delta", "delta": Mapping() as last}:
                reason, counts = last.get("stop_reason"), event.get("usage")
                self._stop = reason if isinstance(reason, str) else self._stop
                self._count(counts if isinstance(counts, Mapping) else {})
        return None

    def completed(self) -> Completed:
        """The whole answer, of what has arrived."""
        stop = _STOPS.get(self._stop or "end_turn")
        cut = stop in _CUT_SHORT
        found = [block for _, one in sorted(self._blocks.items()) if (block := _block(one, cut=cut)) is not None]
        while found and _only_thinks(found[-1]):
            found.pop()  # the API takes no assistant turn that ends in thinking
        calls = any(isinstance(block, ToolUse) for block in found)
        usage = Usage(
            input=self._usage.get("input_tokens", 0),
            output=self._usage.get("output_tokens", 0),
            cache_read=self._usage.get("cache_read_input_tokens", 0),
            cache_write=self._usage.get("cache_creation_input_tokens", 0),
        )
        return Completed(tuple(found), stop or ("tool_use" if calls else "end_turn"), usage)

    def _count(self, usage: Mapping[str, Json]) -> None:
        """Counts are cumulative: a later one replaces an earlier one, and one that is not given stays."""
        self._usage.update({name: value for name, value in usage.items() if isinstance(value, int)})

    def _start(self, index: int, block: Mapping[str, Json]) -> TextDelta | None:
        opened = self._blocks[index] = _Open(dict(block))
        text = block.get("text")
        if block.get("type") == "text" and isinstance(text, str) and text:
            return _said(opened, text)
        return None

    def _add(self, index: int, delta: Mapping[str, Json]) -> TextDelta | ToolInputDelta | None:
        opened = self._blocks.get(index)
        if opened is None:
            return None
        match delta:
            case {"type": "text_delta", "text": str(text)}:
                return _said(opened, text)
            case {"type": "input_json_delta", "partial_json": str(piece)}:
                opened.pieces.append(piece)
                written = opened.text.feed(piece)
                tool, use = str(opened.raw.get("name", "")), str(opened.raw.get("id", ""))
                return ToolInputDelta(tool, use, written) if written else None
            case {"type": "thinking_delta", "thinking": str(thought)}:
                opened.pieces.append(thought)
            case {"type": "signature_delta", "signature": str(signature)}:
                opened.signature.append(signature)
        return None


def _said(opened: _Open, text: str) -> TextDelta | None:
    """The text of a delta, with a surrogate pair that was parted between two of them put together."""
    text = opened.half + text
    opened.half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
    whole = sanitise(text.removesuffix(opened.half) if opened.half else text)
    opened.pieces.append(whole)
    return TextDelta(whole) if whole else None


def _block(opened: _Open, *, cut: bool) -> Block | None:
    """The block as it is stored; None for what can't be replayed. `cut`: the answer was ended before its own end."""
    raw = opened.raw
    match raw.get("type"):
        case "text":
            text = "".join(opened.pieces) + sanitise(opened.half)
            return Text(text) if text.strip() else None
        case "tool_use":
            values = _arguments(opened)
            if values is None:
                if cut:
                    return None
                values = {UNREADABLE: sanitise("".join(opened.pieces))}
            return ToolUse(str(raw.get("id", "")), str(raw.get("name", "")), values)
        case "thinking":
            return _thinking(opened)
        case str():
            return Thinking(raw)  # redacted thinking, and a provider's own blocks: replayed as they came
        case _:
            return None


def _arguments(opened: _Open) -> Mapping[str, Json] | None:
    """The arguments of a call; None where what arrived is no JSON object."""
    written = "".join(opened.pieces)
    if not written.strip():
        given = plain(opened.raw.get("input") or {})
        return given if isinstance(given, Mapping) else None
    try:
        values = plain(json.loads(written))
    except ValueError:
        return None
    return values if isinstance(values, Mapping) else None


def _thinking(opened: _Open) -> Thinking | None:
    raw = dict(opened.raw)
    raw["thinking"] = sanitise(str(raw.get("thinking") or "") + "".join(opened.pieces))
    raw["signature"] = "".join(opened.signature) or str(raw.get("signature") or "")
    return Thinking(raw) if raw["signature"] else None


def _only_thinks(block: Block) -> bool:
    return isinstance(block, Thinking) and block.raw.get("type") in {"thinking", "redacted_thinking"}
