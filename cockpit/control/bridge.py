"""`cockpit mcp`: an MCP server on stdio, by the official SDK, that bridges to the running cockpit.

Each call makes its own connection, so a cockpit that was not there, or has been started anew, is simply found. The
client acts under its own name, which the cockpit checks; only a recipe's `bridge_as_operator` makes it the operator.
The SDK takes a second to import, so nothing here imports it before the bridge runs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from cockpit import __version__
from cockpit.control import shown
from cockpit.control.bridge_tools import REPORTS, BridgeTool, checked, count, line, tool, tools
from cockpit.control.client import SocketLink
from cockpit.control.finding import connect
from cockpit.control.names import client_name
from cockpit.core.events import Answer, Failed, Lined
from cockpit.core.message import Json
from cockpit.core.verbs import BY_NAME
from cockpit.errors import CockpitError, VerbError

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server
    from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams, Tool

_INSTRUCTIONS = (
    "A cockpit over an LLM agent's attention. `channels` lists what the agent listens to. Muting or tuning out a "
    "channel kills nothing and loses nothing: what is diverted is held, and `backlog` shows it. A tune-out has the "
    "subconscious watch the channel and report; `cancel` ends it and gives the agent what it missed."
)

_OUTPUT: dict[str, Json] = {
    "type": "object",
    "properties": {"lines": {"type": "array", "items": {"type": "object"}}},
    "required": ["lines"],
}


@dataclass(frozen=True, slots=True)
class Reply:
    """What a call gives back: text for people and models, and the headless lines of the same."""

    text: Sequence[str]
    lines: Sequence[Mapping[str, Json]]
    ok: bool = True


@dataclass(frozen=True, slots=True)
class Bridge:
    """Calls by name. db: the store whose cockpit is meant, the only one that runs unless said. handle: whose token
    COCKPIT_TOKEN holds, in the Intercom; the client's own name unless said."""

    db: Path | None = None
    handle: str | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)

    async def call(self, name: str, arguments: Mapping[str, Json], client: str) -> Reply:
        """One call by the client of that name. Never raises for what was asked, nor where no cockpit runs."""
        try:
            used = tool(name)
            given = checked(used, arguments)
            async with connect(self.db, origin="bridge", actor=client, environment=self.environment) as link:
                return await self._called(used, given, link, client)
        except VerbError as error:
            return _refused(error.code, str(error), error.hint)
        except CockpitError as error:
            return _refused("refused", str(error))

    async def _called(self, used: BridgeTool, given: Mapping[str, str], link: SocketLink, client: str) -> Reply:
        if used.verb is not None:
            return _answered([await link.run(line(used.verb, given))])
        match used.name:
            case "channels":
                rows = [row for row in (await link.snapshot()).rows if not row.gone]
                return Reply(shown.rows(rows), [row.line() for row in rows])
            case "backlog":
                return await _backlog(given, link)
            case "reports":
                return await _reports(given, link)
            case "inbox":
                return await self._inbox(given, link, client)
            case _:
                ran = await link.send(self._who(client), self._token, given.get("to"), given["text"])
                return _answered([Answer(ran)])

    async def _inbox(self, given: Mapping[str, str], link: SocketLink, client: str) -> Reply:
        """What the client's own name has not read yet."""
        after = None if "after" not in given else count(given, "after", 0, least=0)
        found = await link.inbox(self._who(client), self._token, after)
        text = [text for each in found for text in shown.message(each)]
        return Reply(text or ["there is nothing new"], [{"event": "message", **each} for each in found])

    def _who(self, client: str) -> str:
        return self.handle or client_name(client)

    @property
    def _token(self) -> str:
        return self.environment.get("COCKPIT_TOKEN", "")


async def run_bridge(db: Path | None = None, handle: str | None = None) -> int:
    """Serve MCP on standard input and output until the input ends; returns the exit code. See Bridge."""
    from mcp.server.stdio import stdio_server  # noqa: PLC0415  # see the module's head

    server = build(Bridge(db, handle))
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
    return 0


def build(bridge: Bridge) -> Server[dict[str, object]]:
    """The SDK's server over a bridge."""
    from mcp.server.lowlevel import Server  # noqa: PLC0415
    from mcp.types import CallToolResult, ListToolsResult, TextContent  # noqa: PLC0415

    async def list_tools(
        context: ServerRequestContext[dict[str, object]], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        del context, params
        return ListToolsResult(tools=[_listed(each) for each in tools()])

    async def call_tool(
        context: ServerRequestContext[dict[str, object]], params: CallToolRequestParams
    ) -> CallToolResult:
        told = context.session.client_params
        client = "" if told is None else told.client_info.name
        reply = await bridge.call(params.name, params.arguments or {}, client)
        return CallToolResult(
            content=[TextContent(type="text", text="\n".join(reply.text))],
            structured_content={"lines": list(reply.lines)},
            is_error=not reply.ok,
        )

    server: Server[dict[str, object]] = Server(
        "cockpit",
        version=__version__,
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    return server


def _listed(each: BridgeTool) -> Tool:
    from mcp.types import Tool, ToolAnnotations  # noqa: PLC0415

    return Tool(
        name=each.name,
        description=each.description,
        input_schema=dict(each.schema),
        output_schema=_OUTPUT,
        annotations=ToolAnnotations(
            read_only_hint=each.read_only, destructive_hint=each.destructive, open_world_hint=False
        ),
    )


async def _backlog(given: Mapping[str, str], link: SocketLink) -> Reply:
    """One channel's, or that of each channel which holds something."""
    last = {"last": given["last"]} if "last" in given else {}
    if "target" in given:
        targets = [given["target"]]
    else:
        targets = [row.target for row in (await link.snapshot()).rows if row.held and not row.gone]
    if not targets:
        return Reply(["nothing is held"], [])
    return _answered([await link.run(line(BY_NAME["peek"], {"target": each, **last})) for each in targets])


async def _reports(given: Mapping[str, str], link: SocketLink) -> Reply:
    """The newest, oldest first."""
    last, about = count(given, "last", REPORTS), given.get("channel")
    found = [each for each in (await link.snapshot()).reports if about is None or _names(about, each.channel)][-last:]
    text = [text for each in found for text in shown.report(each)]
    return Reply(text or ["there are no reports"], [each.line() for each in found])


def _names(given: str, target: str) -> bool:
    """Whether `given` is the target, or the id or name that is left without its kind or its server."""
    kindless = target.partition(":")[2]
    return given in {target, kindless, kindless.partition("/")[2]}


def _answered(answers: Sequence[Answer]) -> Reply:
    text = [text for each in answers for text in shown.answer(each)]
    events: list[Lined] = [event for each in answers for event in (*each.shown, each.ran)]
    return Reply(text, [event.line() for event in events], all(each.ran.ok for each in answers))


def _refused(code: str, message: str, hint: str = "") -> Reply:
    """A call that reached no cockpit, as the headless twin would say it."""
    text = [message, *([hint] if hint and hint not in message else [])]
    return Reply(text, [Failed(time.time(), code, message).line()], ok=False)
