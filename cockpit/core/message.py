"""What is said, as plain values: content blocks, stamps, and the messages that slots hold.

`encode` and `decode` turn blocks into JSON and back, and are the only place that knows the stored shape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cockpit.core.value import value

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

RESIDENTS = "residents"
"""The slot that all residents share (semantics.md section 1)."""


def agent_slot(agent: str) -> str:
    """The slot of what the host appends for one resident alone (N-8)."""
    return f"agent/{agent}"


def subconscious_slot(primary: str) -> str:
    """The subconscious's isolated slot (S-1)."""
    return f"subconscious/{primary}"


@value
class Text:
    """Plain text, of any length."""

    text: str


@dataclass(frozen=True, slots=True)
class Media:
    """A block that is not text. `type` as its sender gave it (`image`, `audio`, `resource`, or anything else);
    `data` is base64; `names` is what it points at (a uri or file name), never fetched."""

    type: str
    mime: str | None = None
    data: str | None = None
    names: str | None = None


@dataclass(frozen=True, slots=True)
class ToolUse:
    """An agent's call. `input` is the JSON object the model wrote."""

    id: str
    name: str
    input: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to one call; every ToolUse in the log gets exactly one (V-8)."""

    tool_use_id: str
    content: tuple[Text | Media, ...]
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Thinking:
    """A provider's thinking block, kept and replayed exactly as it was given."""

    raw: Mapping[str, Json]


Block = Text | Media | ToolUse | ToolResult | Thinking


@value
class Stamp:
    """Why a message was diverted, decided once at ingestion (A-3). Either id may be absent, not both.

    Its JSON reads `{"tuneOut": {"epochId": …}}`, `{"mute": {"spanId": …}}`, or both (M-12)."""

    epoch: str | None = None
    span: str | None = None

    @property
    def key(self) -> str:
        """The one id by which a backlog is found: the epoch's where there is one (M-12), else the span's."""
        return self.epoch or self.span or ""

    def json(self) -> dict[str, Json]:
        found: dict[str, Json] = {}
        if self.epoch:
            found["tuneOut"] = {"epochId": self.epoch}
        if self.span:
            found["mute"] = {"spanId": self.span}
        return found


MessageKind = Literal["chat", "event", "prompt", "system", "agent", "result", "withheld"]
"""chat: over a channel. event: a push event or MCP notification. prompt: the operator's ignition.
system: system-framed by the host. agent: an agent's own words and calls (the subconscious's summaries and notes
in the residents' slot too). result: the results of an agent's calls. withheld: the true result of a call that a
mute withheld (M-3); stored, stamped, and in no view."""


@value
class Message:
    """One message of one slot. Immutable once stored; `sequence` is 0 until then.

    at: wall clock at ingestion, seconds since 1970 (UTC). target: the channel it came over, as a target.
    channel: that channel's name as notices spell it, fixed at ingestion. id: the server's own message id.
    author_id: the sender's id by its server's word. rules: the admission's rules in the order asked.
    seen, began (agent only): the request that led to it held everything up to sequence `seen`; its turn began at
    sequence `began`. edits: the sequence of the message that this one edits or deletes.
    """

    slot: str
    kind: MessageKind
    author: str
    blocks: tuple[Block, ...]
    at: float
    target: str | None = None
    channel: str | None = None
    id: str | None = None
    author_id: str | None = None
    tags: tuple[str, ...] = ()
    stamp: Stamp | None = None
    key: str | None = None
    rules: tuple[str, ...] = ()
    woke: tuple[str, ...] = ()
    acknowledged: bool = False
    seen: int = 0
    began: int = 0
    edits: int | None = None
    deleted: bool = False
    sequence: int = 0

    @property
    def text(self) -> str:
        """Its text blocks joined by newlines; other blocks are left out."""
        return "\n".join(block.text for block in self.blocks if isinstance(block, Text))


def encode(block: Block) -> dict[str, Json]:
    """One block as JSON, with the field names of the Anthropic API where it has any."""
    match block:
        case Text(text):
            return {"type": "text", "text": text}
        case Media(type=kind, mime=mime, data=data, names=names):
            given: dict[str, Json] = {"type": "media", "of": kind, "mime": mime, "data": data, "names": names}
            return {name: value for name, value in given.items() if value is not None}
        case ToolUse(id=use, name=name, input=values):
            return {"type": "tool_use", "id": use, "name": name, "input": values}
        case ToolResult(tool_use_id=use, content=content, is_error=failed):
            return {
                "type": "tool_result",
                "tool_use_id": use,
                "content": [encode(part) for part in content],
                "is_error": failed,
            }
        case Thinking(raw):
            return {"type": "thinking", "raw": raw}


def decode(value: Json) -> Block:
    """The block that `encode` wrote. Raises ValueError on anything else, so that replay can skip it (R-4)."""
    match value:
        case {"type": "text", "text": str(text)}:
            return Text(text)
        case {"type": "media", "of": str(kind), **rest}:
            return Media(kind, _text(rest.get("mime")), _text(rest.get("data")), _text(rest.get("names")))
        case {"type": "tool_use", "id": str(use), "name": str(name), "input": Mapping() as values}:
            return ToolUse(use, name, values)
        case {"type": "tool_result", "tool_use_id": str(use), "content": [*parts], "is_error": bool(failed)}:
            inner = tuple(part for part in map(decode, parts) if isinstance(part, Text | Media))
            return ToolResult(use, inner, failed)
        case {"type": "thinking", "raw": Mapping() as raw}:
            return Thinking(raw)
        case _:
            raise ValueError(f"not a content block: {str(value)[:80]!r}")


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
