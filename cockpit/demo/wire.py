"""JSON-RPC 2.0, a line each, on this process's standard streams: all that an MCPL server needs of a transport."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence

from cockpit.core.message import Json

Object = Mapping[str, Json]
LONGEST_LINE = 16 * 1024 * 1024


class Refused(Exception):
    """A request that is answered by an error. `code` is JSON-RPC's or MCPL's."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Peer:
    """The other end of the standard streams. Our own requests have string ids; theirs are echoed as they came."""

    def __init__(self) -> None:
        self._sent = 0
        self._waiting: dict[str, asyncio.Future[Object]] = {}

    async def run(self, handle: Callable[[str, Object], Awaitable[Json]]) -> None:
        """Answer each request with what `handle` returns or refuses, in line order, until standard input ends.

        Lines that are no JSON object are skipped. What `handle` leaves to another task goes out after its answer.
        """
        while line := await asyncio.to_thread(sys.stdin.buffer.readline, LONGEST_LINE):
            try:
                message = json.loads(line)
            except ValueError:
                continue
            match message:
                case {"method": str(method), "id": int() | str() as request}:
                    await self._answer(request, handle(method, _params(message)))
                case {"method": str(method)}:
                    await self._ignore(handle(method, _params(message)))
                case {"id": str(ours)} if ours in self._waiting:
                    result = message.get("result")
                    self._settle(ours, result if isinstance(result, dict) else {})
                case _:
                    continue

    def request(self, method: str, params: Object) -> asyncio.Future[Object]:
        """Send a request now. The future holds its result; an error counts as an empty one."""
        self._sent += 1
        ours = f"chat-{self._sent}"
        waiting = self._waiting[ours] = asyncio.get_running_loop().create_future()
        send({"jsonrpc": "2.0", "id": ours, "method": method, "params": params})
        return waiting

    def _settle(self, ours: str, result: Object) -> None:
        waiting = self._waiting.pop(ours)
        if not waiting.done():
            waiting.set_result(result)

    async def _answer(self, request: int | str, work: Awaitable[Json]) -> None:
        try:
            send({"jsonrpc": "2.0", "id": request, "result": await work})
        except Refused as error:
            send({"jsonrpc": "2.0", "id": request, "error": {"code": error.code, "message": str(error)}})

    async def _ignore(self, work: Awaitable[Json]) -> None:
        try:
            await work
        except Refused:
            return


def send(message: Object) -> None:
    """Write one line whole. Raises BrokenPipeError where nobody reads any more."""
    data = memoryview(json.dumps(message, separators=(",", ":")).encode() + b"\n")
    while data:
        data = data[os.write(sys.stdout.fileno(), data) :]


def texts(value: Json) -> tuple[str, ...]:
    """The strings of a JSON array; nothing for anything else."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return ()
    return tuple(each for each in value if isinstance(each, str))


def _params(message: Object) -> Object:
    params = message.get("params")
    return params if isinstance(params, Mapping) else {}
