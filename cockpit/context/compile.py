"""From ordered units to a request that a provider accepts, with its cache markers (semantics.md V-7, V-8).

Pure, and the same for every strategy: turns alternate and begin with the user, nothing is empty, and each tool use
is followed by its result.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from cockpit.context.budget import Prelude
from cockpit.context.speech import Unit
from cockpit.core.message import Block, Text, ToolResult, ToolUse
from cockpit.core.request import Request, SystemText, Tool, Turn

NOT_SHOWN = "[earlier conversation is not shown]"
"""The user's words where the window, or a gap in it, would put an assistant's turn first or behind another."""

MARKERS = 4
"""Cache markers that a request may carry; half of them are the strategy's (V-7)."""


@dataclass(slots=True)
class _Role:
    role: Literal["user", "assistant"]
    blocks: list[Block]


def turns(units: Iterable[Unit], images_from: int) -> tuple[Turn, ...]:
    """The units as turns: neighbours of one role are one turn, images below `images_from` are placeholders."""
    made: list[_Role] = []
    taken: set[str] = set()
    for unit in units:
        asked, told = unit.asked, unit.live if unit.sequence >= images_from else unit.still
        if asked:  # a window holds thousands of units, and few of them are answers
            asked, told = _distinct(asked, told, taken)
        if asked:
            if not made or made[-1].role == "assistant":
                made.append(_Role("user", [Text(NOT_SHOWN)]))
            made.append(_Role("assistant", list(asked)))
        if told:
            if made and made[-1].role == "user":
                made[-1].blocks.extend(told)
            else:
                made.append(_Role("user", list(told)))
    return tuple(Turn(turn.role, tuple(turn.blocks)) for turn in made)


def sendable(messages: Sequence[Turn]) -> bool:
    """Whether there is something to answer: the last turn is the user's."""
    return bool(messages) and messages[-1].role == "user"


def compiled(
    agent: str,
    prelude: Prelude,
    messages: tuple[Turn, ...],
    *,
    max_tokens: int,
    seen: int,
    tokens: int = 0,
    budget: int = 0,
) -> Request:
    """The whole request. What never changes claims its markers first; the strategy has two of the four."""
    system, tools_cached = _marked_prelude(prelude.system(), prelude.tools)
    return Request(
        agent=agent,
        system=system,
        tools=prelude.tools,
        messages=_marked(messages),
        max_tokens=max_tokens,
        seen=seen,
        tokens=tokens,
        budget=budget,
        tools_cached=tools_cached,
    )


def _marked_prelude(system: tuple[SystemText, ...], tools: tuple[Tool, ...]) -> tuple[tuple[SystemText, ...], bool]:
    """Each system block is marked, so that a changed disposition leaves the prompt's part readable; the tools are
    where a marker is left."""
    room = MARKERS // 2
    marked = tuple(replace(block, cached=at < room) for at, block in enumerate(system))
    return marked, bool(tools) and len(system) < room


def _marked(messages: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Marks the end, where the next request will read from, and the end of the request before, the user's turn ahead
    of the newest answer: a provider looks back only some twenty blocks from a marker, and more may have come since.
    """
    ends = {len(messages) - 1}
    answers = [at for at, turn in enumerate(messages) if turn.role == "assistant"]
    if answers:
        ends.add(answers[-1] - 1)
    return tuple(replace(turn, cached=True) if at in ends else turn for at, turn in enumerate(messages))


def _distinct(
    asked: tuple[Block, ...], told: tuple[Block, ...], taken: set[str]
) -> tuple[tuple[Block, ...], tuple[Block, ...]]:
    """The blocks with call ids that no earlier call of the request has; providers refuse a repeated one."""
    uses = [block for block in asked if isinstance(block, ToolUse)]
    ids = [_free(use.id, taken) for use in uses]
    if ids == [use.id for use in uses]:
        return asked, told
    fresh = iter(ids)
    renamed = tuple(replace(block, id=next(fresh)) if isinstance(block, ToolUse) else block for block in asked)
    results = (block for block in told if isinstance(block, ToolResult))
    answers = tuple(replace(result, tool_use_id=use) for use, result in zip(ids, results, strict=True))
    return renamed, answers


def _free(wanted: str, taken: set[str]) -> str:
    found, number = wanted, 1
    while found in taken:
        number += 1
        found = f"{wanted}-{number}"
    taken.add(found)
    return found
