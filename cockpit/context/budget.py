"""How large a request is, in tokens, and how much of it messages may take (semantics.md V-3, V-5, V-6).

Estimates count four code points a token and correct themselves by what the provider reports. The correction serves
the budget alone: where V-5 cuts never depends on it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import assert_never

from cockpit.core.message import Block, Media, Text, Thinking, ToolResult, ToolUse
from cockpit.core.request import SystemText, Tool

POINTS_A_TOKEN = 4
"""Code points a token, as V-5 counts and as estimates begin."""

IMAGE_TOKENS = 1_600
"""What a live image is taken to cost, whatever its size: providers scale it down to about this."""

_WEIGHT = 0.3  # of the newest observation: a few requests are enough, one odd answer is not
_LEAST, _MOST = 0.75, 4.0  # the least bounds how much of our own count can fit; `Window.overfull` relies on it


def tokens_of(length: int) -> int:
    """Tokens of so many code points, rounded up."""
    return -(-length // POINTS_A_TOKEN)


def estimate(blocks: Iterable[Block]) -> int:
    """Tokens of these blocks by default."""
    return sum(map(_one, blocks))


def _one(block: Block) -> int:
    match block:
        case Text(text):
            return tokens_of(len(text))
        case Media():
            return IMAGE_TOKENS
        case ToolUse(name=name, input=values):
            return tokens_of(len(name) + _json_length(values))
        case ToolResult(content=content):
            return estimate(content)
        case Thinking(raw):
            return tokens_of(_json_length(raw))
        case _:
            assert_never(block)


def _json_length(value: Mapping[str, object]) -> int:
    return len(json.dumps(value, ensure_ascii=False, default=str))


@dataclass(frozen=True, slots=True)
class Prelude:
    """What stands before the messages. tools keep the caller's order (N-4). dispositions: the subconscious's
    standing notes by key (S-7)."""

    system_prompt: str = ""
    tools: tuple[Tool, ...] = ()
    dispositions: Mapping[str, str] = field(default_factory=dict)

    def system(self) -> tuple[SystemText, ...]:
        """The prompt, then the standing notes as a block of their own in the order of their keys, newlines
        flattened: their bytes change only when a note does, and never the prompt's. Nothing empty."""
        texts = [self.system_prompt, standing(self.dispositions)]
        return tuple(SystemText(text) for text in texts if text.strip())

    def tokens(self) -> int:
        """An estimate of all of it; tools count by their JSON."""
        texts = sum(tokens_of(len(block.text)) for block in self.system())
        return texts + sum(map(_tool_tokens, self.tools))


def standing(dispositions: Mapping[str, str]) -> str:
    """The text of S-7; empty where there are no notes."""
    lines = [f"- {_flat(key)}: {_flat(text)}" for key, text in sorted(dispositions.items()) if text.strip()]
    return "\n".join(["[Standing dispositions]", *lines]) if lines else ""


def _flat(text: str) -> str:
    return " ".join(text.splitlines())


def _tool_tokens(tool: Tool) -> int:
    shape = {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
    return tokens_of(_json_length(shape))


@dataclass(frozen=True, slots=True)
class Calibration:
    """ratio: the provider's tokens for one of ours."""

    ratio: float = 1.0

    def __call__(self, estimated: int) -> int:
        """The provider's tokens, as far as they are known, for so many of our own."""
        return ceil(estimated * self.ratio)

    def observed(self, calibrated: int, actual: int) -> Calibration:
        """After a request taken to be `calibrated` tokens turned out to be `actual`; 0 or less tells nothing."""
        if calibrated <= 0 or actual <= 0:
            return self
        ratio = self.ratio * (1 + _WEIGHT * (actual / calibrated - 1))
        return Calibration(min(max(ratio, _LEAST), _MOST))


def usable(context_tokens: int, max_tokens: int, prelude_tokens: int) -> int:
    """The usable budget of V-3: what is left for messages; never below 0."""
    return max(0, context_tokens - max_tokens - prelude_tokens)
