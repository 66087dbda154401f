"""What a server is as an MCP server: its tools, its log and its resources, over the official SDK's session.

An MCPL server has this side too. What it wants of us beyond that is declined politely, never left hanging (M-2).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from cockpit.connect.config import Clock, ServerConfig
from cockpit.connect.content import blocks
from cockpit.connect.faults import Faults, one_line
from cockpit.connect.outbox import Wire
from cockpit.connect.ports import Called, Host
from cockpit.connect.sdk import exceptions, session, types
from cockpit.core.inputs import Arrived, Receipt
from cockpit.core.message import Json, Text
from cockpit.core.request import Tool
from cockpit.core.target import server as server_target
from cockpit.errors import ToolError

R = TypeVar("R", bound=BaseModel)

LOG = "notifications/message"
PROGRESS = "notifications/progress"
RESOURCE_UPDATED = "notifications/resources/updated"
TOOLS_CHANGED = "notifications/tools/list_changed"
NOTIFICATIONS = frozenset({LOG, PROGRESS, RESOURCE_UPDATED, TOOLS_CHANGED})

_TOLD_LEVELS = frozenset({"warning", "error", "critical", "alert", "emergency"})
_MOST_TOOLS = 2_000
_MOST_SUBSCRIPTIONS = 100
_BETWEEN_LISTINGS = 1.0  # seconds: a server that changes its list without end is asked no faster
_BETWEEN_PROGRESS = 0.1


class McpSide:
    """One connection's tools and notifications. `allowed`: whether its tools are granted."""

    def __init__(
        self, config: ServerConfig, host: Host, session: session.ClientSession, faults: Faults, clock: Clock
    ) -> None:
        self.allowed = True
        self._server = config.name
        self._host = host
        self._session = session
        self._faults = faults
        self._limits = config.limits
        self._clock = clock
        self._tools: tuple[Tool, ...] = ()
        self._changed = asyncio.Event()
        self._progressed = float("-inf")

    def tools(self) -> tuple[Tool, ...]:
        return self._tools if self.allowed else ()

    def changed(self) -> None:
        """The list may be another one: `keep_listed` is to ask."""
        self._changed.set()

    async def list_tools(self) -> bool:
        """Ask for the tools, all pages. Returns whether they are others now; a list that fails changes nothing."""

        found: list[Tool] = []
        cursor: str | None = None
        try:
            while True:
                params = None if cursor is None else types.PaginatedRequestParams(cursor=cursor)
                page = await self._session.send_request(
                    types.ListToolsRequest(params=params), types.ListToolsResult, self._limits.request
                )
                found.extend(Tool(each.name, each.description or "", each.input_schema) for each in page.tools)
                if len(found) > _MOST_TOOLS or not page.next_cursor or page.next_cursor == cursor:
                    break
                cursor = page.next_cursor
        except _session_errors() as error:
            self._faults.add("did not list its tools", _said(error))
            return False
        named = {tool.name: tool for tool in found[:_MOST_TOOLS]}
        before, self._tools = self._tools, tuple(named.values())
        return before != self._tools

    async def keep_listed(self) -> None:
        """Ask again whenever the server says that its list changed, and tell the host. Ends by being cancelled."""
        never = asyncio.Event()
        asked = float("-inf")
        while True:
            await self._changed.wait()
            if (pause := asked + _BETWEEN_LISTINGS - self._clock.elapsed()) > 0:
                await self._clock.wait(never, pause)
            self._changed.clear()
            asked = self._clock.elapsed()
            if self.allowed and await self.list_tools():
                await self._host.tools_changed(self._server)

    async def subscribe(self, capabilities: Mapping[str, Json]) -> None:
        """Ask for what becomes a message (M-2): log lines from `warning` on, and updates of the listed resources.

        A server that does not know one of these methods has nothing to offer there, which is no fault.
        """
        if "logging" in capabilities:
            level = types.SetLevelRequest(params=types.SetLevelRequestParams(level="warning"))
            await self._wanted(level, types.EmptyResult)
        resources = capabilities.get("resources")
        if isinstance(resources, Mapping) and resources.get("subscribe") is True:
            listed = await self._wanted(types.ListResourcesRequest(), types.ListResourcesResult)
            for resource in [] if listed is None else listed.resources[:_MOST_SUBSCRIPTIONS]:
                one = types.SubscribeRequest(params=types.SubscribeRequestParams(uri=str(resource.uri)))
                if await self._wanted(one, types.EmptyResult) is None:
                    break

    async def _wanted(self, request: types.ClientRequest, result: type[R]) -> R | None:
        """The answer; None where there is none, which is told unless the server says that it has no such method."""
        try:
            return await self._session.send_request(request, result, self._limits.request)
        except _session_errors() as error:
            if not (isinstance(error, exceptions.MCPError) and error.code == types.METHOD_NOT_FOUND):
                self._faults.add("did not take a subscription", _said(error))
            return None

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> Called:
        """Call a tool. Raises ToolError where the server refused, or the outcome is unknown."""

        if not self.allowed:
            raise ToolError(f"{self._server} is not granted tools")
        request = types.CallToolRequest(params=types.CallToolRequestParams(name=tool, arguments=dict(arguments)))
        try:
            result = await self._session.send_request(
                request, types.CallToolResult, self._limits.call, progress_callback=_seen_by_splitter
            )
        except _session_errors() as error:
            raise ToolError(f"{self._server}: {self._faults.line(_said(error))}") from error
        return self._called(result)

    def _called(self, result: types.CallToolResult) -> Called:
        parts = [part.model_dump(mode="json", by_alias=True, exclude_none=True) for part in result.content]
        content = blocks(parts, self._limits)
        structured: Json = result.structured_content
        if structured is not None and not any(isinstance(part, Text) and part.text for part in content):
            content = (*content, *blocks(json.dumps(structured, ensure_ascii=False), self._limits))
        return Called(content, result.is_error)

    async def notified(self, message: Wire) -> None:
        """Take one of NOTIFICATIONS."""
        given = message.get("params")
        params = given if isinstance(given, Mapping) else {}
        match message["method"]:
            case "notifications/tools/list_changed":
                self._changed.set()
            case "notifications/progress":
                self._progress(params)
            case "notifications/message":
                if params.get("level") in _TOLD_LEVELS:
                    await self._tell(_log_line(params))
            case _:
                uri = params.get("uri")
                await self._tell(f"resource updated: {uri if isinstance(uri, str) else 'unknown'}")

    async def _tell(self, text: str) -> None:
        arrived = await self._host.arrived(
            Arrived(server_target(self._server), "event", self._server, blocks(text, self._limits))
        )
        arrived.add_done_callback(_forget)

    def _progress(self, params: Mapping[str, Json]) -> None:
        now = self._clock.elapsed()
        if now - self._progressed < _BETWEEN_PROGRESS:
            return
        self._progressed = now
        said, done, total = params.get("message"), params.get("progress"), params.get("total")
        measure = f"{done}" if total is None else f"{done}/{total}"
        self._host.progressed(self._server, one_line(said if isinstance(said, str) and said else measure))


def _log_line(params: Mapping[str, Json]) -> str:
    data, logger = params.get("data"), params.get("logger")
    said = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    source = f" {one_line(logger, 80)}" if isinstance(logger, str) and logger else ""
    return f"{params.get('level')}{source}: {said}"


def _forget(receipt: asyncio.Future[Receipt]) -> None:
    """Nobody is answered: look at a failure, so that asyncio does not report it as never seen."""
    if not receipt.cancelled():
        receipt.exception()


async def _seen_by_splitter(progress: float, total: float | None, message: str | None) -> None:
    """Given only so that the call carries a progress token; the splitter keeps progress from the session."""


def _session_errors() -> tuple[type[Exception], ...]:

    return exceptions.MCPError, ValidationError, RuntimeError, ValueError


def _said(error: Exception) -> str:

    if (
        isinstance(error, exceptions.MCPError)
        and error.code == types.CONNECTION_CLOSED
        and error.message == "Connection closed"
    ):
        return "it ended before it answered; what became of the request is unknown"
    if (
        isinstance(error, exceptions.MCPError)
        and error.code == types.REQUEST_TIMEOUT
        and error.message.endswith("timed out")
    ):
        return "it did not answer in time; what became of the request is unknown"
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"][-3:])
        return f"its answer is not what the protocol says ({where}: {first['msg']})"
    return str(error)


async def decline_sampling(
    context: session.ClientRequestContext, params: types.CreateMessageRequestParams
) -> types.ErrorData:
    """No server gets inference from us."""

    return types.ErrorData(code=types.INVALID_REQUEST, message="This host does not offer sampling")


async def decline_elicitation(
    context: session.ClientRequestContext, params: types.ElicitRequestParams
) -> types.ElicitResult:
    """No server asks the operator through us."""

    return types.ElicitResult(action="decline")


async def no_roots(context: session.ClientRequestContext) -> types.ListRootsResult:

    return types.ListRootsResult(roots=[])
