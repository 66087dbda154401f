"""The test's end of the fixture MCPL server's control socket: where it listens, tells, and is answered."""

from __future__ import annotations

import asyncio
import json
import socket
from itertools import count
from pathlib import Path
from typing import Self

from cockpit.core.message import Json

_PATIENCE = 20.0  # seconds; a fixture that does not answer fails its test with a clear word


class Remote:
    """Listens at `path` (short: a Unix socket's name has about 100 bytes). Each start of the server is one
    connection; `do` speaks to the newest, `connected` waits for the next.

    async with Remote(tmp_path / "c") as remote:
        …start what starts the server with `--control`…
        await remote.connected()
        answer = await remote.do("say", channel="general", text="hello")
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ids = count(1)
        self._arrivals: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None
        self._pending: dict[int, asyncio.Future[Json]] = {}
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        async def arrive(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self._arrivals.put_nowait((reader, writer))

        self._server = await asyncio.start_unix_server(arrive, self.path, limit=64 << 20)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._reading is not None:
            self._reading.cancel()
        while not self._arrivals.empty():
            self._arrivals.get_nowait()[1].close()
        if self._writer is not None:
            self._writer.close()
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    async def connected(self) -> None:
        """Wait for the server's next start."""
        async with asyncio.timeout(_PATIENCE):
            reader, writer = await self._arrivals.get()
        if self._reading is not None:
            self._reading.cancel()
        if self._writer is not None:
            self._writer.close()
        self._writer = writer
        self._reading = asyncio.create_task(self._read(reader), name="fixture answers")

    async def do(self, verb: str, **fields: Json) -> Json:
        """Tell it one command and wait for what comes of it. Raises ValueError where it could not."""
        async with asyncio.timeout(_PATIENCE):
            return await self.tell(verb, **fields)

    def tell(self, verb: str, **fields: Json) -> asyncio.Future[Json]:
        """Tell it one command, at once; the future is what comes of it."""
        future: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        future.add_done_callback(_seen)
        if self._writer is None:
            raise ValueError("the fixture has not connected: await connected() first")
        ident = next(self._ids)
        self._pending[ident] = future
        self._writer.write(json.dumps({**fields, "ref": ident, "do": verb}).encode() + b"\n")
        return future

    async def _read(self, reader: asyncio.StreamReader) -> None:
        while line := await reader.readline():
            said = json.loads(line)
            future = self._pending.pop(said["ref"], None)
            if future is None or future.done():
                continue
            if "error" in said:
                future.set_exception(ValueError(said["error"]))
            else:
                future.set_result(said["answer"])
        for future in self._pending.values():
            if not future.done():
                future.set_exception(ConnectionError("the fixture ended"))
        self._pending.clear()


def _seen(future: asyncio.Future[Json]) -> None:
    """What a test told and does not wait for may fail in silence."""
    if not future.cancelled():
        future.exception()


class BlockingRemote:
    """The same for a test without a loop, such as one that drives a pseudo-terminal."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ids = count(1)
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(path))
        self._listening.listen()
        self._listening.settimeout(_PATIENCE)
        self._connection: socket.socket | None = None

    def connected(self) -> None:
        """Wait for the server's next start."""
        if self._connection is not None:
            self._connection.close()
        self._connection, _ = self._listening.accept()
        self._connection.settimeout(_PATIENCE)

    def do(self, verb: str, **fields: Json) -> Json:
        """Tell it one command and wait for what comes of it. Raises ValueError where it could not."""
        if self._connection is None:
            raise ValueError("the fixture has not connected: call connected() first")
        ident = next(self._ids)
        self._connection.sendall(json.dumps({**fields, "ref": ident, "do": verb}).encode() + b"\n")
        with self._connection.makefile("rb", buffering=0) as answers:
            said: dict[str, Json] = json.loads(answers.readline())
        if "error" in said:
            raise ValueError(said["error"])
        return said["answer"]

    def close(self) -> None:
        """Stop listening; the server's file name is free again."""
        for each in (self._connection, self._listening):
            if each is not None:
                each.close()
        self.path.unlink(missing_ok=True)
