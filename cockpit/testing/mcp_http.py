"""A real MCP server behind a URL: the official SDK's server under uvicorn on loopback, in the test's own process.

It keeps every request that reaches it, so that a test can say that none did; it can be taken away and come back at
the same address; and it can be told what to send of itself. `row` is the cockpit's side of it, supervised.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, MutableMapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

import uvicorn
from mcp import types
from mcp.server import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.session import ServerSession

from cockpit.connect.config import Limits, ServerConfig
from cockpit.connect.supervisor import SupervisedServer, supervise
from cockpit.testing.host import RecordingHost
from cockpit.testing.served import WatchedClock

_PATIENCE = 20.0

_Message = MutableMapping[str, object]
_Asgi = Callable[[_Message, Callable[[], Awaitable[_Message]], Callable[[_Message], Awaitable[None]]], Awaitable[None]]
_Context = ServerRequestContext[dict[str, object], object]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request that reached the server. Names of headers are in lower case."""

    method: str
    path: str
    headers: dict[str, str]


class _Uvicorn(uvicorn.Server):
    """uvicorn without its signal handlers, which are the test runner's. `up` once it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.up.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


class HttpTools:
    """Serves `tools` at `url` while it is entered; where there is a token it answers 401 to whoever lacks it.

    `echo` answers its arguments, `wait` answers once `release` is called, and the rest answer their names.
    asked: every request. sessions: the SDK's session of each client that listed the tools, the newest last.
    """

    def __init__(self, *, token: str | None = None, tools: Sequence[str] = ("echo", "wait")) -> None:
        self.tools = list(tools)
        self.asked: list[Asked] = []
        self.sessions: list[ServerSession] = []
        self.calling = asyncio.Event()
        self._token = token
        self._released = asyncio.Event()
        self._port = 0
        self._uvicorn: _Uvicorn | None = None
        self._serving: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/mcp"

    @property
    def session(self) -> ServerSession:
        """That of the client which came last, by which the server speaks of itself."""
        return self.sessions[-1]

    def methods(self) -> list[str]:
        """The HTTP methods so far, in order."""
        return [each.method for each in self.asked]

    def release(self) -> None:
        """Let every call of `wait` answer, now and later."""
        self._released.set()

    async def start(self) -> None:
        """Listen, at the address that it had before where it had one."""
        listening = socket.create_server(("127.0.0.1", self._port))
        self._port = listening.getsockname()[1]
        self._uvicorn = _Uvicorn(uvicorn.Config(self._counted(self._app()), log_config=None, ws="none"))
        self._serving = asyncio.create_task(self._uvicorn.serve([listening]), name="uvicorn")
        async with asyncio.timeout(_PATIENCE):
            await self._uvicorn.up.wait()

    async def stop(self) -> None:
        """Go away as a server does that died: every connection breaks, and nobody listens."""
        if self._uvicorn is None or self._serving is None:
            return
        for server in self._uvicorn.servers:
            server.close()
        for connection in tuple(self._uvicorn.server_state.connections):
            transport = getattr(connection, "transport", None)
            if isinstance(transport, asyncio.Transport):
                transport.abort()
        self._uvicorn.should_exit = True
        await self._serving
        self._uvicorn = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
        await self.stop()

    def _app(self) -> _Asgi:
        server: Server[dict[str, object]] = Server(
            "http-fixture",
            version="1",
            on_list_tools=self._list,
            on_call_tool=self._call,
        )
        return server.streamable_http_app()

    async def _list(self, context: _Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        self.sessions.append(context.session)
        listed = [types.Tool(name=name, description="", input_schema={"type": "object"}) for name in self.tools]
        return types.ListToolsResult(tools=listed)

    async def _call(self, context: _Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name == "wait":
            self.calling.set()
            await self._released.wait()
        said = json.dumps(params.arguments) if params.name == "echo" else params.name
        return types.CallToolResult(content=[types.TextContent(type="text", text=said)])

    def _counted(self, app: _Asgi) -> _Asgi:
        """`app` behind the door: each request is kept, and one without the token goes no further."""

        async def door(
            scope: _Message, receive: Callable[[], Awaitable[_Message]], send: Callable[[_Message], Awaitable[None]]
        ) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            given = scope["headers"]
            pairs = given if isinstance(given, list) else []
            headers = {name.decode(): value.decode() for name, value in pairs}
            self.asked.append(Asked(str(scope["method"]), str(scope["path"]), headers))
            if self._token is not None and headers.get("authorization") != f"Bearer {self._token}":
                refused = f"not your token: {headers.get('authorization')}".encode()
                await send({"type": "http.response.start", "status": 401, "headers": []})
                await send({"type": "http.response.body", "body": refused})
                return
            await app(scope, receive, send)

        return door


@dataclass
class Row:
    """One supervised URL and what it told its host."""

    server: SupervisedServer
    host: RecordingHost = field(default_factory=RecordingHost)
    clock: WatchedClock = field(default_factory=WatchedClock)


@asynccontextmanager
async def row(
    url: str,
    logs: Path,
    *,
    token: str | None = None,
    ping: float = 0,
    limits: Limits | None = None,
    killed: bool = False,
) -> AsyncIterator[Row]:
    """Supervise what is at `url`, as `web`, for the length of a block, and see it end cleanly."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    config = ServerConfig("web", "mcp", (), url=url, headers=headers, ping=ping, limits=limits or Limits())
    host, clock = RecordingHost(), WatchedClock()
    server = supervise(config, host, logs=logs, clock=clock, killed=killed, chance=lambda: 0.0)
    task = asyncio.create_task(server.run(), name="supervised")
    try:
        yield Row(server, host, clock)
    finally:
        task.cancel()
        await asyncio.wait({task})
    if not task.cancelled() and (error := task.exception()) is not None:
        raise error
