"""Runs one tool call: the host's own, or a server's, with the mute heeded before it and after it (M-2, M-3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from cockpit.connect.ports import Called, Server
from cockpit.core import notices
from cockpit.core.channel import Channel
from cockpit.core.message import RESIDENTS, Json, Media, Message, Stamp, Text, ToolResult, ToolUse
from cockpit.core.request import Tool
from cockpit.core.step import Withheld
from cockpit.core.target import Target
from cockpit.core.target import server as mcp
from cockpit.core.text import sanitise
from cockpit.core.verbs import nearest
from cockpit.engine import arguments
from cockpit.engine.catalogue import Catalogue
from cockpit.engine.ledger import Draft
from cockpit.engine.toolbox import SUBCONSCIOUS_ONLY
from cockpit.errors import CockpitError, ConnectorError, ToolError

Finish = Callable[[Draft], ToolResult]
"""The result of a call, decided inside the transaction that stores it."""

Own = Callable[[str, Mapping[str, Json]], Awaitable[str]]
"""The host's own tools of one agent: name and arguments to the text it reads."""


@dataclass(slots=True)
class Calls:
    """Dispatch. channels: the live values, for whether a server is muted now."""

    catalogue: Catalogue
    servers: Mapping[str, Server]
    channels: Mapping[Target, Channel]

    async def run(self, use: ToolUse, own: Own, tools: tuple[Tool, ...], *, resident: bool) -> Finish:
        """Run it to its end. `own` and `tools` are the host's own for this agent. Never raises what a tool says."""
        spec = next((tool for tool in tools if tool.name == use.name), None)
        try:
            if spec is not None:
                arguments.check(spec, use.input)
                return _said(use, await own(use.name, use.input))
            owner = self.catalogue.owner(use.name) if resident else None
            if owner is None:
                raise ToolError(_unknown(use.name, tools, resident=resident))
            return await self._server_call(use, *owner)
        except CockpitError as error:
            return _said(use, str(error), failed=True)

    async def _server_call(self, use: ToolUse, name: str, tool: str) -> Finish:
        target = mcp(name)
        channel = self.channels.get(target)
        if channel is not None and channel.span is not None:
            return _said(use, notices.not_called(target), failed=True)
        try:
            called = await self.servers[name].call(tool, use.input)
        except (ToolError, ConnectorError) as error:
            called = Called((Text(str(error)),), is_error=True)
        content = tuple(_clean(block) for block in called.content) or (Text("(no output)"),)
        return lambda draft: _heeded(draft, target, use, content, failed=called.is_error)


def _heeded(
    draft: Draft, target: Target, use: ToolUse, content: tuple[Text | Media, ...], *, failed: bool
) -> ToolResult:
    """The result, or, where the mute landed meanwhile, the notice in its place and the result stored apart (M-3)."""
    channel = draft.channel(target)
    if channel is None or channel.span is None:
        return ToolResult(use.id, content, failed)
    stamp = Stamp(span=channel.span.id)
    name = str(target)
    draft.write(Message(RESIDENTS, "withheld", use.name, content, draft.wall, name, name, stamp=stamp))
    draft.step(target, Withheld())
    return ToolResult(use.id, (Text(notices.withheld(target)),), is_error=False)


def _said(use: ToolUse, text: str, *, failed: bool = False) -> Finish:
    result = ToolResult(use.id, (Text(sanitise(text) or "(nothing)"),), failed)
    return lambda _: result


def _clean(block: Text | Media) -> Text | Media:
    return Text(sanitise(block.text) or "(empty)") if isinstance(block, Text) else block


def _unknown(name: str, tools: tuple[Tool, ...], *, resident: bool) -> str:
    if resident and name in SUBCONSCIOUS_ONLY:
        return f"{name} is the subconscious's tool, not yours"
    close = nearest(name, [tool.name for tool in tools])
    return f"you have no tool {name!r}" + (f"; did you mean {' or '.join(close)}?" if close else "")
