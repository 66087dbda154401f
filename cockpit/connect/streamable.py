"""MCP over streamable HTTP, by the official SDK's client, as the lines that the splitter takes.

So that a server behind a URL lives under the same supervisor, splitter and session as one behind a pipe, what its
HTTP endpoint says becomes a line, and each line that is written becomes a POST. What HTTP alone knows, a status that
refuses or a session that is gone, ends the connection with a reason.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator
from http import HTTPStatus
from typing import Protocol

from cockpit.connect import sdk
from cockpit.connect.config import ServerConfig
from cockpit.connect.faults import Faults, one_line
from cockpit.connect.lines import encode, parse
from cockpit.connect.transport import Crashed
from cockpit.core.message import Json
from cockpit.errors import ConnectorError

_CONNECTING = 10.0  # seconds; afterwards pings and the requests' own limits watch
_SENDING = 30.0
_MOST_CONNECTIONS = 100  # each request that is not answered holds one
_REUSED_FOR = 2.0  # seconds: below what servers keep an idle connection for, so that none dies in our hands
_WAITING = 64  # lines, each way
_WITHOUT_EVENTS = 30.0  # seconds without the event stream that there was, after which what it would say is missed
_VERSION = "mcp-protocol-version"
_JSON, _EVENTS = "application/json", "text/event-stream"


class _Writing(Protocol):
    async def send(self, item: sdk.message.SessionMessage, /) -> None: ...


class HttpStream:
    """One session with one endpoint. `run` serves it until `end` is called or it ends by itself."""

    def __init__(self, config: ServerConfig, faults: Faults) -> None:
        self._url = config.url or ""
        self._headers = dict(config.headers)
        self._longest = config.limits.line
        self._grace = config.limits.grace
        self._faults = faults
        self._heard: deque[bytes] = deque()
        self._readable, self._taken = asyncio.Event(), asyncio.Event()
        self._unsent: deque[sdk.message.SessionMessage] = deque()
        self._to_send, self._room = asyncio.Event(), asyncio.Event()
        self._closing, self._ended = asyncio.Event(), asyncio.Event()
        self._failure: ConnectorError | None = None
        self._established = False
        self._version: str | None = None
        self._never_answered: set[Json] = set()
        self._missing: asyncio.TimerHandle | None = None

    # What a connection uses.

    async def read(self) -> bytes:
        """The next line. What is not read makes the server wait: the SDK hands on one message at a time."""
        while not self._heard:
            if self._ended.is_set():
                return b""
            self._readable.clear()
            await self._readable.wait()
        self._taken.set()
        return self._heard.popleft()

    def write(self, data: bytes) -> None:
        for line in data.splitlines():
            message = parse(line)
            if not isinstance(message, dict):
                continue
            typed = sdk.types.jsonrpc_message_adapter.validate_python(message, by_name=False)
            stamp = None if self._version is None else {_VERSION: self._version}
            self._unsent.append(sdk.message.SessionMessage(typed, sdk.message.ClientMessageMetadata(headers=stamp)))
            self._to_send.set()

    @property
    def congested(self) -> bool:
        return len(self._unsent) > _WAITING

    async def drain(self) -> None:
        while self.congested and not self._ended.is_set():
            self._room.clear()
            await self._room.wait()

    async def fate(self) -> ConnectorError:
        return self._failure or Crashed("broke the session off")

    async def end(self) -> None:
        """Tell the server that its session is over, and wait for that, though not for long. Afterwards nothing more
        is sent, provided that whoever owns the task of `run` cancels it."""
        self._closing.set()
        try:
            async with asyncio.timeout(2 * self._grace):
                await self._ended.wait()
        except TimeoutError:
            self._faults.add("did not take the end of its session in time")

    # Its life.

    async def run(self) -> None:
        """Until `end`, or until the endpoint cannot be reached or refuses: then `fate` says why."""
        try:
            client = await asyncio.to_thread(self._client)
            async with (
                client,
                sdk.streamable_http.streamable_http_client(
                    self._url, http_client=client, max_sse_event_size=self._longest
                ) as (said, writing),
                sdk.anyio.create_task_group() as tasks,
            ):
                tasks.start_soon(self._hear, said, name="hear")
                tasks.start_soon(self._say, writing, name="say")
                await self._closing.wait()
                tasks.cancel_scope.cancel()
        except* (sdk.httpx2.TransportError, sdk.httpx2.InvalidURL) as group:
            self._fail(self._unreachable(next(_leaves(group))))
        except* ConnectorError as group:
            self._fail(next(each for each in _leaves(group) if isinstance(each, ConnectorError)))
        finally:
            if self._missing is not None:
                self._missing.cancel()
            self._ended.set()
            self._room.set()
            self._readable.set()

    def _client(self) -> sdk.httpx2.AsyncClient:
        return sdk.httpx2.AsyncClient(
            # A compressed body could grow a thousandfold once it is here.
            headers={**self._headers, "accept-encoding": "identity"},
            timeout=sdk.httpx2.Timeout(_SENDING, connect=_CONNECTING, read=None),
            limits=sdk.httpx2.Limits(max_connections=_MOST_CONNECTIONS, keepalive_expiry=_REUSED_FOR),
            event_hooks={"request": [self._requested], "response": [self._responded]},
        )

    def _fail(self, error: ConnectorError) -> None:
        """Keep the first reason, and end."""
        self._failure = self._failure or error
        self._closing.set()

    def _unreachable(self, error: Exception) -> ConnectorError:
        said = one_line(str(error)) or type(error).__name__
        if isinstance(error, sdk.httpx2.ConnectError | sdk.httpx2.ConnectTimeout | sdk.httpx2.InvalidURL):
            return self._died(f"cannot be reached: {said}")
        return self._died(f"broke the connection off: {said}")

    def _died(self, how: str) -> ConnectorError:
        return Crashed(how) if self._established else ConnectorError(how)

    async def _hear(self, said: AsyncIterable[sdk.message.SessionMessage | Exception]) -> None:
        """Make a line of each message that comes; the end of them is the end of the session."""
        async for item in said:
            if isinstance(item, Exception):
                self._faults.add("sent an event that is no message", type(item).__name__)
                continue
            message = item.message.model_dump(mode="json", by_alias=True, exclude_unset=True)
            if self._is_void(message):
                continue
            self._heard.append((encode(message) + "\n").encode())
            self._readable.set()
            while len(self._heard) >= _WAITING:
                self._taken.clear()
                await self._taken.wait()
        self._closing.set()

    def _is_void(self, message: dict[str, Json]) -> bool:
        """Whether it only stands for an answer to a ping that HTTP never gave: that proves no life (F-15)."""
        result = message.get("result")
        if not self._established and isinstance(result, dict):
            version = result.get("protocolVersion")
            self._version = version if isinstance(version, str) and version.isprintable() else None
            self._established = True
        if "error" not in message or message["id"] not in self._never_answered:
            return False
        self._never_answered.discard(message["id"])
        return True

    async def _say(self, writing: _Writing) -> None:
        while True:
            while self._unsent:
                try:
                    await writing.send(self._unsent.popleft())
                except (sdk.anyio.BrokenResourceError, sdk.anyio.ClosedResourceError):
                    self._closing.set()
                    return
                if not self.congested:
                    self._room.set()
            self._to_send.clear()
            await self._to_send.wait()

    # What HTTP alone knows.

    async def _requested(self, request: sdk.httpx2.Request) -> None:
        if self._closing.is_set():
            request.extensions["timeout"] = sdk.httpx2.Timeout(self._grace).as_dict()

    async def _responded(self, response: sdk.httpx2.Response) -> None:
        """Look at a head before the SDK does. Raises ConnectorError where it ends the connection."""
        method, status, kind = response.request.method, response.status_code, _kind(response)
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise self._failed(ConnectorError("compressed its answer, though it was asked not to"))
        if method == "GET" and status == HTTPStatus.OK and kind == _EVENTS:
            if self._missing is not None:
                self._missing.cancel()
            response.stream = _watched(response.stream, None, self._events_ended)
        elif kind != _EVENTS:
            response.stream = _watched(response.stream, self._longest, None)
        if method == "POST" and not self._closing.is_set():
            if self._is_strange(status, kind):
                self._note_ping(response.request.content)
            self._judge(status, kind)

    def _is_strange(self, status: int, kind: str) -> bool:
        """Whether it is no answer of an MCP server's, but a gateway's or anybody's."""
        return status >= HTTPStatus.BAD_REQUEST or kind not in {"", _JSON, _EVENTS}

    def _note_ping(self, body: bytes) -> None:
        asked = parse(body)
        if isinstance(asked, dict) and asked.get("method") == "ping":
            self._never_answered.add(asked.get("id"))

    def _judge(self, status: int, kind: str) -> None:
        """What the answer to a POST means for the session."""
        said = _spelled(status)
        if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            raise self._failed(ConnectorError(f"answered {said}: look at the headers in the recipe"))
        if status == HTTPStatus.NOT_FOUND and self._established:
            raise self._failed(Crashed(f"no longer knows the session: answered {said}"))
        if status >= HTTPStatus.BAD_REQUEST:
            if not self._established and kind != _JSON:
                raise self._failed(ConnectorError(f"answered {said}"))
            self._faults.add("answered with an HTTP error", said)
        elif self._is_strange(status, kind):
            self._faults.add("answered with something else than the protocol says", kind)

    def _failed(self, error: ConnectorError) -> ConnectorError:
        self._fail(error)
        return error

    def _events_ended(self) -> None:
        """The SDK opens another event stream twice and then no more, in silence: that would be missed."""
        if not self._closing.is_set():
            lost = Crashed("closed its event stream and gave no other")
            self._missing = asyncio.get_running_loop().call_later(_WITHOUT_EVENTS, self._fail, lost)


def _kind(response: sdk.httpx2.Response) -> str:
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()


def _spelled(status: int) -> str:
    known = next((each.phrase for each in HTTPStatus if each.value == status), "")
    return f"{status} {known}".strip()


def _watched(stream: object, limit: int | None, ended: Callable[[], None] | None) -> sdk.httpx2.AsyncByteStream:
    """A body that is read up to `limit` bytes, and that tells when it was closed. Raises ConnectorError beyond it."""

    class Watched(sdk.httpx2.AsyncByteStream):
        def __init__(self, body: sdk.httpx2.AsyncByteStream) -> None:
            self._body = body

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for chunk in self._body:
                size += len(chunk)
                if limit is not None and size > limit:
                    raise ConnectorError(f"sent a body longer than {limit // 1024} KiB")
                yield chunk

        async def aclose(self) -> None:
            await self._body.aclose()
            if ended is not None:
                ended()

    if not isinstance(stream, sdk.httpx2.AsyncByteStream):
        raise TypeError(f"a response's body is {type(stream).__name__}")
    return Watched(stream)


def _leaves(group: BaseExceptionGroup[Exception]) -> Iterator[Exception]:
    """The failures in a group, the first one first."""
    for each in group.exceptions:
        if isinstance(each, BaseExceptionGroup):
            yield from _leaves(each)
        elif isinstance(each, Exception):
            yield each
