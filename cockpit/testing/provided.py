"""A whole engine on the real provider: the official SDK over loopback against the local server.

async with AnthropicServer(script) as server, provided(folder, provided_recipe(), server) as cockpit:
    await cockpit.run('go=ask text="Look."')
    assert pairs(server.requests[-1].body)
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from cockpit.core.events import Failed, Reported, Spoke, TurnChanged, Writing
from cockpit.core.message import Json, ToolResult, ToolUse
from cockpit.core.request import Tool
from cockpit.model.anthropic import AnthropicModel
from cockpit.model.config import ModelConfig
from cockpit.model.protocol import Model
from cockpit.testing.anthropic_server import AnthropicServer, Served
from cockpit.testing.clock import FakeClock
from cockpit.testing.rig import Rig, rig
from cockpit.testing.stage import SUBCONSCIOUS, recipe, resident

KEY = "sk-local-secret"
SOON = 0.001
"""Seconds that a scripted server asks to wait."""

STATUS = Tool("status", "Show the state.", {"type": "object", "properties": {}})
COMMIT = Tool("commit", "Commit.", {"type": "object", "properties": {"message": {"type": "string"}}})

Body = Mapping[str, Json]


def provided_recipe(
    *servers: str,
    model: str = "",
    residents: Sequence[str] = (resident(),),
    subconscious: str = SUBCONSCIOUS,
    more: str = "",
) -> str:
    """`stage.recipe` on the provider `anthropic`, its key and endpoint in variables of their own."""
    own = f'id = "claude-local"\napi_key_env = "LOCAL_KEY"\nbase_url_env = "LOCAL_URL"\n{model}'
    text = recipe(*servers, model=own, residents=residents, subconscious=subconscious, more=more)
    return text.replace('provider = "offline"', 'provider = "anthropic"', 1)


def provided(
    folder: Path,
    text: str,
    server: AnthropicServer,
    *,
    channels: Mapping[str, Sequence[str]] | None = None,
    clock: FakeClock | None = None,
) -> AbstractAsyncContextManager[Rig]:
    """A rig on `server`. A stream that broke off is tried again without a wait. `git` has `status` and `commit`."""

    async def at_once(_: float) -> None:
        """Stands in for the wait."""

    def make(config: ModelConfig) -> Model:
        return AnthropicModel(config, sleep=at_once)

    return rig(
        folder,
        text,
        channels=channels or {"disc": ("noisy", "quiet")},
        tools={"git": (STATUS, COMMIT)},
        clock=clock,
        environment={"LOCAL_KEY": KEY, "LOCAL_URL": server.url},
        make_model=make,
    )


def bodies(server: AnthropicServer, system: str = "") -> list[Body]:
    """The bodies that came, of the agent whose system prompt begins so, oldest first."""
    return [served.body for served in server.requests if system_of(served.body).startswith(system)]


def refused(server: AnthropicServer) -> list[str]:
    """Why the server refused what it was sent; empty where every request satisfied it (V-8)."""
    return [served.problem for served in server.requests if served.problem]


def system_of(body: Body) -> str:
    """Its system blocks, joined by newlines."""
    return "\n".join(str(block["text"]) for block in listed(body.get("system")))


def blocks_of(body: Body, role: str | None = None) -> list[Body]:
    """The content blocks of its messages in order, of one role or of both."""
    turns = [turn for turn in listed(body.get("messages")) if role in {None, turn["role"]}]
    return [block for turn in turns for block in listed(turn.get("content"))]


def said(body: Body, role: str | None = None) -> str:
    """Everything its messages hold, as JSON."""
    return json.dumps(blocks_of(body, role), ensure_ascii=False)


def prefix(body: Body) -> list[str]:
    """What a provider's cache compares: tools, system and blocks in order, without markers."""
    parts: list[list[Json]] = [["tool", tool] for tool in listed(body.get("tools"))]
    parts += [["system", block] for block in listed(body.get("system"))]
    parts += [[turn["role"], block] for turn in listed(body.get("messages")) for block in listed(turn.get("content"))]
    return [json.dumps([place, _bare(part)], sort_keys=True) for place, part in parts]


def read_back(requests: Sequence[Served]) -> float:
    """The share of all prompts that came from the cache, as the server counted it."""
    used = [served.usage for served in requests]
    total = sum(one.input + one.cache_read + one.cache_write for one in used)
    return sum(one.cache_read for one in used) / max(1, total)


async def unpaired(cockpit: Rig, *slots: str) -> list[str]:
    """The ids of calls that the log does not answer exactly once, and of results without a call."""
    uses: Counter[str] = Counter()
    results: Counter[str] = Counter()
    for message in await cockpit.stored(*slots):
        uses.update(block.id for block in message.blocks if isinstance(block, ToolUse))
        results.update(block.tool_use_id for block in message.blocks if isinstance(block, ToolResult))
    return sorted(use for use in {*uses, *results} if uses[use] != 1 or results[use] != 1)


def unended(cockpit: Rig) -> list[str]:
    """The streams that a screen would show as being written for ever, or that ended more than once."""
    pieces = cockpit.of(Writing)
    ends = Counter(piece.stream for piece in pieces if piece.done)
    return [stream for stream in dict.fromkeys(piece.stream for piece in pieces) if ends[stream] != 1]


def spoken(cockpit: Rig) -> list[str]:
    """The residents' prose so far, whole."""
    return [event.text for event in cockpit.of(Spoke)]


def told(cockpit: Rig, code: str) -> list[str]:
    """What the operator was told of one kind."""
    return [event.message for event in cockpit.of(Failed) if event.code == code]


def failures(cockpit: Rig) -> list[str]:
    """The subconscious's failures, as the side pane has them."""
    return [event.text for event in cockpit.of(Reported) if event.kind == "failure"]


def states(cockpit: Rig, agent: str = "scout") -> list[str]:
    """The states of an agent's turns so far."""
    return [event.state for event in cockpit.of(TurnChanged) if event.agent == agent]


def listed(value: Json) -> list[Body]:
    """The objects of a list; empty where it is none."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list | tuple) else []


def _bare(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {name: _bare(inner) for name, inner in value.items() if name != "cache_control"}
    return [_bare(one) for one in value] if isinstance(value, list | tuple) else value
