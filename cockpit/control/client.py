"""A running cockpit as a `Link`, over its socket: what `cockpit attach`, `cockpit go` and the bridge hold."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import TypeVar, get_args

from cockpit.control import wire
from cockpit.control.codec import decode, decode_event, loads
from cockpit.control.wire import About, Ask, Id, Inbox, Leave, Origin, Request, Run, Send, Snapshot, Subscribe
from cockpit.core.events import Answer, Event, Failed, Stopped, VerbRan, View
from cockpit.core.message import Json
from cockpit.errors import VerbCode, VerbError

Read = TypeVar("Read")

GONE = "the cockpit has gone"
"""The reason of the Stopped that ends a stream whose cockpit went without a word."""

BOUND = 20_000
"""Events that wait for one reader; what comes on top takes the oldest one's place, and is counted."""


class Stream(AsyncIterator[Event]):
    """The events of one subscription, until the cockpit stops or the stream is closed.

    leave: called where it is closed. stopped: told of the Stopped that ends it, as soon as it has come.
    """

    def __init__(self, leave: Callable[[], None], stopped: Callable[[Stopped], None] = lambda _: None) -> None:
        self._leave = leave
        self._told = stopped
        self._queue: deque[Event] = deque()
        self._ready = asyncio.Event()
        self._stopped = self._ended = False
        self._dropped = 0

    def put(self, event: Event) -> None:
        if len(self._queue) >= BOUND:
            self._queue.popleft()
            self._dropped += 1
        self._queue.append(event)
        if isinstance(event, Stopped):
            self._stopped = True
            self._told(event)
        self._ready.set()

    def end(self) -> None:
        """No more events come; the last one is a Stopped in any case."""
        if not self._ended and not self._stopped:
            self.put(Stopped(time.time(), GONE))
        self._ended = True
        self._ready.set()

    def close(self) -> None:
        """Nobody reads it any more."""
        if not self._ended:
            self._ended = True
            self._ready.set()
            self._leave()

    def __aiter__(self) -> Stream:
        return self

    async def __anext__(self) -> Event:
        while not self._queue:
            if self._ended:
                raise StopAsyncIteration
            self._ready.clear()
            await self._ready.wait()
        if self._dropped:
            lost, self._dropped = self._dropped, 0
            return Failed(time.time(), "dropped", f"{lost} events were dropped: this reader was too slow")
        return self._queue.popleft()


class SocketLink(asyncio.Protocol):
    """A `Link` over one connection. origin and actor: who acts (the operator, or the bridge's client by its name).

    `run`, `ask` and `send` never raise: once the cockpit has gone they are refused as `not_running`.
    """

    def __init__(self, origin: Origin = "socket", actor: str = "") -> None:
        self._origin: Origin = origin
        self._actor = actor
        self._ids = itertools.count(1)
        self._waiting: dict[Id, asyncio.Future[Json]] = {}
        self._streams: dict[Id, Stream] = {}
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None
        self._about: asyncio.Future[About] = asyncio.get_running_loop().create_future()
        self._closed = asyncio.Event()
        self.ended: Stopped | None = None
        """How the cockpit ended, once a stream of this link was told."""

    async def hello(self) -> About:
        """What the cockpit said of itself. Raises VerbError where it is none, or went before it said anything."""
        return await asyncio.shield(self._about)

    def events(self) -> Stream:
        """Subscribed in the order of the calls, before a snapshot that is asked for afterwards."""
        found = next(self._ids)
        stream = Stream(lambda: self._left(found), self._stopped)
        self._streams[found] = stream
        if not self._send(Subscribe(found)):
            stream.end()
        return stream

    async def snapshot(self) -> View:
        """How things stand. Raises VerbError `not_running` where the cockpit has gone."""
        return _read(await self._asked(Snapshot(next(self._ids))), View)

    async def run(self, line: str) -> Answer:
        return await self._answer(Run(next(self._ids), line, self._origin, self._actor), line, _verb_of(line))

    async def ask(self, text: str, agent: str | None = None) -> Answer:
        return await self._answer(Ask(next(self._ids), text, agent, self._origin, self._actor), text, "ask")

    async def send(self, handle: str, token: str, to: str | None, text: str) -> VerbRan:
        """Say something in the Intercom as `handle`."""
        try:
            return _read(await self._asked(Send(next(self._ids), handle, token, text, to)), VerbRan)
        except VerbError as error:
            return _refused(text, "say", error)

    async def inbox(self, handle: str, token: str, after: int | None = None) -> list[Mapping[str, Json]]:
        """What the Intercom holds for `handle`, oldest first (wire.Inbox). Raises VerbError where it is refused."""
        found = await self._asked(Inbox(next(self._ids), handle, token, after))
        if not isinstance(found, list):
            raise VerbError("not_running", "the cockpit cannot be understood: an inbox is a list")
        return [_mapping(each) for each in found]

    async def aclose(self) -> None:
        """Leave; the cockpit goes on."""
        if self._transport is not None:
            self._transport.abort()
            await self._closed.wait()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not isinstance(transport, asyncio.Transport):
            raise TypeError("a socket's transport reads and writes")
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        searched = len(self._buffer)
        self._buffer += data
        while (at := self._buffer.find(b"\n", searched)) >= 0:
            line = self._buffer[:at]
            del self._buffer[: at + 1]
            searched = 0
            try:
                self._heard(line)
            except ValueError as error:
                self._fail(VerbError("not_running", f"the cockpit cannot be understood: {error}"))
                return
        if len(self._buffer) > wire.LIMIT:
            self._fail(VerbError("not_running", "the cockpit cannot be understood: a line of it does not end"))

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._fail(VerbError("not_running", GONE))
        self._closed.set()

    def _heard(self, raw: bytearray) -> None:
        """One line. Raises ValueError where it is none of the protocol's."""
        if not self._about.done():
            self._about.set_result(_hello(raw))
            return
        said = loads(raw)
        match said:
            case {"id": int() | str() as found, "event": value}:
                stream = self._streams.get(found)
                if stream is not None:
                    stream.put(decode_event(value))
            case {"id": int() | str() as found, "end": True}:
                self._ended(found)
            case {"id": int() | str() as found, "result": value}:
                waiting = self._waiting.get(found)
                if waiting is not None and not waiting.done():
                    waiting.set_result(value)
            case {"id": found, "error": {"code": str(code), "message": str(message), **rest}}:
                self._wrong(found, VerbError(_code(code), message, str(rest.get("hint", ""))))
            case _:
                raise ValueError("a line that is no reply")

    def _wrong(self, found: object, error: VerbError) -> None:
        if not isinstance(found, int | str):
            self._fail(error)
            return
        waiting = self._waiting.get(found)
        if waiting is not None and not waiting.done():
            waiting.set_exception(error)
        self._ended(found)

    def _ended(self, found: Id) -> None:
        stream = self._streams.pop(found, None)
        if stream is not None:
            stream.end()

    def _stopped(self, event: Stopped) -> None:
        self.ended = event

    def _left(self, found: Id) -> None:
        if self._streams.pop(found, None) is not None:
            self._send(Leave(next(self._ids), found))

    def _fail(self, error: VerbError) -> None:
        """The connection is of no more use: whoever waits is told."""
        if self._transport is not None:
            self._transport.abort()
        if not self._about.done():
            self._about.set_exception(error)
            self._about.exception()  # whoever never asks for the hello is not to be warned of it
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(error)
        for found in tuple(self._streams):
            self._ended(found)

    def _send(self, request: Request) -> bool:
        """Whether it could be sent. Raises ValueError where it is too long."""
        raw = wire.write_request(request)
        if self._transport is None or self._transport.is_closing():
            return False
        self._transport.write(raw)
        return True

    async def _asked(self, request: Request) -> Json:
        """Its result. Raises VerbError where it was refused, or the cockpit has gone."""
        waiting: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._waiting[request.id] = waiting
        try:
            if not self._send(request):
                raise VerbError("not_running", GONE)
            return await waiting
        except ValueError as error:
            raise VerbError("bad_value", str(error)) from error
        finally:
            self._waiting.pop(request.id, None)

    async def _answer(self, request: Request, typed: str, verb: str) -> Answer:
        try:
            return _read(await self._asked(request), Answer)
        except VerbError as error:
            return Answer(_refused(typed, verb, error))


async def open_link(path: Path, *, origin: Origin = "socket", actor: str = "", patience: float = 5.0) -> SocketLink:
    """Connect, and wait up to `patience` seconds for the hello. Raises OSError where nobody listens there,
    TimeoutError where whoever listens says nothing, VerbError where that is no cockpit or another version's."""
    async with asyncio.timeout(patience):
        _, link = await asyncio.get_running_loop().create_unix_connection(lambda: SocketLink(origin, actor), str(path))
        try:
            await link.hello()
        except BaseException:
            await link.aclose()
            raise
    return link


def _hello(raw: bytearray) -> About:
    said = loads(raw)
    match said:
        case {"error": {"message": str(message)}}:
            raise ValueError(message)
        case _:
            return wire.read_hello(raw)


def _read(value: Json, wanted: type[Read]) -> Read:
    try:
        return decode(value, wanted)
    except ValueError as error:
        raise VerbError("not_running", f"the cockpit cannot be understood: {error}") from error


def _mapping(value: Json) -> Mapping[str, Json]:
    found = value.get("json") if isinstance(value, Mapping) else None
    if not isinstance(found, Mapping):
        raise VerbError("not_running", "the cockpit cannot be understood: a message is an object")
    return found


def _refused(typed: str, verb: str, error: VerbError) -> VerbRan:
    return VerbRan(time.time(), typed, verb, False, str(error), error.code, error.hint)


def _code(given: str) -> VerbCode:
    """A code of the contract's; `refused` for one that this program does not know."""
    for known in get_args(VerbCode):
        if given == known:
            code: VerbCode = known
            return code
    return "refused"


def _verb_of(line: str) -> str:
    words = line.strip().removeprefix(":").split()
    word = next((each for each in words if each.lower().startswith("go=")), words[0] if words else "")
    return word[3:] if word.lower().startswith("go=") else word
