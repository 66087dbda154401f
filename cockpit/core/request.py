"""What an agent is sent and what it answers, as plain values: the border between `context`, `model` and `engine`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from cockpit.core.message import Block, Json
from cockpit.core.records import Usage

StopReason = Literal["end_turn", "tool_use", "max_tokens", "refusal", "stop_sequence", "pause_turn"]


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool as a model sees it. `input_schema` is a JSON schema of type object."""

    name: str
    description: str
    input_schema: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a request. `cached` places a cache marker after its last block (V-7)."""

    role: Literal["user", "assistant"]
    blocks: tuple[Block, ...]
    cached: bool = False


@dataclass(frozen=True, slots=True)
class SystemText:
    """One system block, with or without a cache marker after it."""

    text: str
    cached: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """A whole request. Roles alternate, begin with `user`, nothing is empty, each tool use has its result (V-8).

    seen: the highest sequence it holds or could have held. tokens: its estimated size; budget: the usable one.
    """

    agent: str
    system: tuple[SystemText, ...]
    tools: tuple[Tool, ...]
    messages: tuple[Turn, ...]
    max_tokens: int
    seen: int
    tokens: int = 0
    budget: int = 0
    tools_cached: bool = False


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of text as it is written."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolInputDelta:
    """A piece of a tool call's arguments as they are written. `text` is the part of the string value of `text`
    in that call's input that this piece completes, so that a report streams while it is being written (S-9)."""

    tool: str
    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Retrying:
    """The provider asked to wait or broke off, and the request is tried again. `delay` in seconds."""

    reason: str
    delay: float


@dataclass(frozen=True, slots=True)
class Completed:
    """The whole answer. `blocks` as they are to be stored and replayed."""

    blocks: tuple[Block, ...]
    stop: StopReason
    usage: Usage = field(default_factory=Usage)


Chunk = TextDelta | ToolInputDelta | Retrying | Completed
"""A stream of these ends with exactly one Completed, or raises ModelError."""
