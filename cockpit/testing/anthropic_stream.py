"""A scripted answer as the events that the Messages API streams for it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256

from cockpit.core.message import Json
from cockpit.core.records import Usage
from cockpit.testing.script import Answer, Call

Event = dict[str, Json]

_PIECE = re.compile(r"\S+\s*|\s+")
_JSON_PIECE = 7  # characters: small and odd, so that pieces end inside words and escapes


def events(answer: Answer, *, message: str, model: str, usage: Usage, sign: Callable[[str], str]) -> Iterator[Event]:
    """The stream of one answer. `message` is its id, from which those of its calls are made where they have none.

    An answer that stops for `max_tokens` or `refusal` breaks off inside its last call, as the API does.
    """
    output = answer.usage.output if answer.usage else _tokens(answer)
    yield _start(message, model, usage)
    yield {"type": "ping"}
    index = 0
    if answer.thinking:
        yield from _thinking(index, answer.thinking, sign)
        index += 1
    if answer.text:
        deltas = [{"type": "text_delta", "text": word} for word in _PIECE.findall(answer.text)]
        yield from _block(index, {"type": "text", "text": ""}, deltas)
        index += 1
    cut = answer.reason in {"max_tokens", "refusal"}
    for at, call in enumerate(answer.calls):
        use = call.id or f"toolu_{message.removeprefix('msg_')}_{at}"
        yield from _call(index, use, call, cut=cut and at == len(answer.calls) - 1)
        index += 1
    ending: Event = {"stop_reason": answer.reason, "stop_sequence": None}
    if answer.reason == "refusal":
        ending["stop_details"] = {"type": "refusal", "category": None, "explanation": None}
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": output}}
    yield {"type": "message_stop"}


def whole(found: Iterable[Event]) -> Event:
    """The same answer as the one object that a request without `stream` gets."""
    message: Event = {}
    blocks: list[Event] = []
    for event in found:
        match event:
            case {"type": "message_start", "message": Mapping() as start}:
                message = dict(start)
            case {"type": "content_block_start", "content_block": Mapping() as block}:
                blocks.append(dict(block))
            case {"type": "content_block_delta", "delta": Mapping() as delta}:
                _apply(blocks[-1], delta)
            case {"type": "message_delta", "delta": Mapping() as ending, "usage": Mapping() as counts}:
                started = message.get("usage")
                message |= {**ending, "usage": {**(started if isinstance(started, Mapping) else {}), **counts}}
    for block in blocks:
        if isinstance(written := block.get("input"), str):
            block["input"] = json.loads(written) if _complete(written) else {}
    return {**message, "content": blocks}


def sse(event: Mapping[str, Json]) -> bytes:
    """One event as a server sends it."""
    return f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


def signature_of(secret: str, thinking: str) -> str:
    """What proves that a piece of thinking is this server's."""
    return sha256(f"{secret}\0{thinking}".encode("utf-8", "surrogatepass")).hexdigest()


def _start(message: str, model: str, usage: Usage) -> Event:
    counts: Event = {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": 1,
    }
    begun: Event = {"id": message, "type": "message", "role": "assistant", "model": model, "content": []}
    return {"type": "message_start", "message": {**begun, "stop_reason": None, "stop_sequence": None, "usage": counts}}


def _thinking(index: int, text: str, sign: Callable[[str], str]) -> Iterator[Event]:
    deltas: list[Event] = [{"type": "thinking_delta", "thinking": word} for word in _PIECE.findall(text)]
    deltas.append({"type": "signature_delta", "signature": sign(text)})
    yield from _block(index, {"type": "thinking", "thinking": "", "signature": ""}, deltas)


def _call(index: int, use: str, call: Call, *, cut: bool) -> Iterator[Event]:
    written = json.dumps(call.input, ensure_ascii=False, default=dict)
    if cut:
        written = written[: len(written) // 2]
    pieces = ["", *(written[at : at + _JSON_PIECE] for at in range(0, len(written), _JSON_PIECE))]
    deltas: list[Event] = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    yield from _block(index, {"type": "tool_use", "id": use, "name": call.tool, "input": {}}, deltas)


def _block(index: int, start: Event, deltas: Sequence[Event]) -> Iterator[Event]:
    yield {"type": "content_block_start", "index": index, "content_block": start}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _apply(block: Event, delta: Mapping[str, Json]) -> None:
    match delta:
        case {"type": "text_delta", "text": str(text)}:
            block["text"] = str(block["text"]) + text
        case {"type": "thinking_delta", "thinking": str(text)}:
            block["thinking"] = str(block["thinking"]) + text
        case {"type": "signature_delta", "signature": str(signature)}:
            block["signature"] = signature
        case {"type": "input_json_delta", "partial_json": str(piece)}:
            written = block["input"]
            block["input"] = (written if isinstance(written, str) else "") + piece


def _complete(written: str) -> bool:
    try:
        json.loads(written)
    except ValueError:
        return False
    return True


def _tokens(answer: Answer) -> int:
    calls = sum(len(json.dumps(call.input, default=dict)) + len(call.tool) for call in answer.calls)
    return max(1, -(-(len(answer.text) + len(answer.thinking) + calls) // 4))
