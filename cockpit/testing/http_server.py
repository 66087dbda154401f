"""The least of an HTTP/1.1 server: loopback only, one handler, and every way to treat a client badly.

A framework would put its own care between a test and the socket; here a response can be cut in the middle of a
chunk, left hanging, or ended too early, and the server sees at once when its client goes away.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from types import TracebackType
from typing import Self

BODY_LIMIT = 64 * 1024 * 1024
"""Bytes of a request's body that are read at all."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request. Names of headers are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class ClientLeft(Exception):
    """The client closed the connection before its response was whole."""


class Exchange:
    """One request and the response to it: either `respond`, or `begin`, any number of `send`, and `finish`."""

    def __init__(self, request: HttpRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.request = request
        self.whole = False
        self._reader = reader
        self._writer = writer

    async def respond(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        """A whole response at once."""
        await self._head(status, {**headers, "content-length": str(len(body))})
        await self._write(body)
        self.whole = True

    async def begin(self, status: int, headers: Mapping[str, str]) -> None:
        """The head of a response that is sent in chunks."""
        await self._head(status, {**headers, "transfer-encoding": "chunked"})

    async def send(self, piece: bytes) -> None:
        """One chunk. Raises ClientLeft where nobody takes it any more."""
        await self._write(b"%x\r\n%s\r\n" % (len(piece), piece))

    async def finish(self) -> None:
        await self._write(b"0\r\n\r\n")
        self.whole = True

    async def client_left(self) -> None:
        """Return once the client has closed the connection."""
        try:
            while await self._reader.read(1024):
                pass
        except ConnectionError:
            return

    def cut(self) -> None:
        """Break the connection off, in the middle of whatever was being sent."""
        self._writer.transport.abort()

    async def _head(self, status: int, headers: Mapping[str, str]) -> None:
        phrases = {one.value: one.phrase for one in HTTPStatus}
        lines = [f"HTTP/1.1 {status} {phrases.get(status, 'Unknown')}", *(f"{k}: {v}" for k, v in headers.items())]
        await self._write("\r\n".join([*lines, "", ""]).encode("latin-1"))

    async def _write(self, data: bytes) -> None:
        if self._writer.is_closing():
            raise ClientLeft
        try:
            self._writer.write(data)
            await self._writer.drain()
        except ConnectionError as error:
            raise ClientLeft from error


class HttpServer:
    """Serves `handle` on 127.0.0.1 while it is entered; `port` 0 takes any that is free."""

    def __init__(self, handle: Callable[[Exchange], Awaitable[None]], *, port: int = 0) -> None:
        self._handle = handle
        self._port = port
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        if self._server is None:
            raise RuntimeError("the server has not been entered")
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self._port)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._connections.add(task)
            task.add_done_callback(self._connections.discard)
        try:
            while (request := await _request(reader)) is not None:
                exchange = Exchange(request, reader, writer)
                await self._handle(exchange)
                if not exchange.whole:
                    break
        except (ClientLeft, ConnectionError, asyncio.CancelledError):
            pass  # a cancelled connection is the server's own end
        finally:
            writer.transport.abort()


async def _request(reader: asyncio.StreamReader) -> HttpRequest | None:
    """The next request of a connection; None where it ended, or where what came is not HTTP as it is spoken here."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.rstrip("\r\n").split("\r\n")
        method, path, _ = first.split(" ", 2)
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = int(headers.get("content-length", "0"))
        if not 0 <= length <= BODY_LIMIT:
            return None
        return HttpRequest(method, path, headers, await reader.readexactly(length))
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
        return None
