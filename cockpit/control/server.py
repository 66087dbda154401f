"""The cockpit's side of its socket: each client one task, all of them speaking to a `Link`.

What a client does wrong is its own affair: a line that cannot be read is answered, one that never reads is dropped,
and a crash ends that client's task. A verb that was begun is finished though its client is gone.
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, TypeVar, assert_never, runtime_checkable

from cockpit.control import wire
from cockpit.control.names import OPERATOR, client_name
from cockpit.control.paths import listening
from cockpit.control.wire import About, Ask, Id, Inbox, Leave, Origin, Request, Run, Send, Snapshot, Subscribe
from cockpit.core.events import Answer, Event, Link, VerbRan, View
from cockpit.core.message import Json
from cockpit.core.verbs import parse
from cockpit.errors import CockpitError, VerbError

Part = TypeVar("Part")

Asked = Run | Ask | Snapshot | Send | Inbox
"""The requests that have one answer."""

LinkOf = Callable[[str, Origin], Link]
"""The link of an actor by name, for what comes over the socket itself or through the bridge."""

Intercom = Callable[[str, str, str | None, str], Awaitable[VerbRan]]
"""handle, token, to (the primary resident where None), text: says it if the token is that handle's."""

Inboxes = Callable[[str, str, int | None], Awaitable[Sequence[Mapping[str, Json]]]]
"""handle, token, the last message that was read (as stored where None): those after it, `{at, author, to, text,
id}`, oldest first. Raises VerbError where the token is not that handle's."""

Refused = Callable[[str, Origin, str, str], Awaitable[None]]
"""actor, origin, verb, why: puts a refusal in the audit that no link has seen (K-123)."""

MOST_CLIENTS = 64
MOST_AT_ONCE = 32
"""Requests of one client that run at the same time, and subscriptions that it has; what is more waits its turn."""

BEHIND = 2 * wire.LIMIT
"""Bytes that wait for one client; at the next event it is dropped."""

_BREATH = 64  # events that one subscription passes on before it lets others run
_OPERATORS = frozenset({"ask", "say"})  # verbs that put words in the operator's mouth


@runtime_checkable
class Closing(Protocol):
    """A stream of events that takes up room until it is closed."""

    def close(self) -> None: ...


async def serve(
    link_of: LinkOf,
    path: Path,
    *,
    about: About,
    intercom: Intercom | None = None,
    inboxes: Inboxes | None = None,
    failed: Callable[[str], None] = lambda _: None,
    refused: Refused | None = None,
) -> None:
    """Serve the socket at `path` (paths.socket_path) until cancelled; its file is removed at the end.

    intercom, inboxes: None where the recipe has none. failed: told in a line what an operator should know of a client.
    Raises UsageError where it cannot listen there.
    """
    house = House(link_of, about, intercom, inboxes, failed, refused)
    with listening(path) as listener:
        async with asyncio.TaskGroup() as group:

            def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                if server.is_serving():
                    group.create_task(house.attend(reader, writer), name="socket client")
                else:
                    writer.close()

            server = await asyncio.start_unix_server(
                connected, sock=listener, limit=wire.LIMIT, backlog=socket.SOMAXCONN, start_serving=False
            )
            try:
                await server.start_serving()
                await asyncio.Event().wait()
            finally:
                server.close()


def peer_uid(connection: socket.socket) -> int | None:
    """Who is at the other end, by the kernel's word; None where this system has no such word."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return None
    size = struct.calcsize("3i")
    _, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, option, size))
    return int(uid)


@dataclass(slots=True)
class House:
    """What all clients share."""

    link_of: LinkOf
    about: About
    intercom: Intercom | None
    inboxes: Inboxes | None
    failed: Callable[[str], None]
    refused: Refused | None = None
    clients: int = 0

    async def attend(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One client, from its hello to its end."""
        self.clients += 1
        try:
            refusal = self._refused(writer)
            if refusal is not None:
                writer.write(wire.error(None, "refused", refusal))
            else:
                await Client(self, reader, writer).talk()
        except Exception as error:  # noqa: BLE001  # a client's crash ends its task and nobody else's
            self.failed(f"a client of the socket was dropped: {_leaf(error)}")
        finally:
            self.clients -= 1
            writer.close()

    def _refused(self, writer: asyncio.StreamWriter) -> str | None:
        """Why this client is not let in."""
        uid = peer_uid(writer.get_extra_info("socket"))
        if uid is not None and uid != os.getuid():
            self.failed(f"a client of the socket was refused: it belongs to the user with id {uid}")
            return "this cockpit belongs to another user"
        if self.clients > MOST_CLIENTS:
            return f"this cockpit has {MOST_CLIENTS} clients already"
        return None

    def link(self, origin: Origin, actor: str) -> tuple[str, Link]:
        """Who acts, and their link. A bridge's client is itself unless the recipe makes it the operator."""
        name = OPERATOR
        if origin == "bridge" and not self.about.bridge_as_operator:
            name = client_name(actor, self.about.names)
        return name, self.link_of(name, origin)


@dataclass(slots=True)
class Client:
    """One connection. Requests run side by side, up to a bound; events are subscribed to in the order asked."""

    house: House
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    room: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MOST_AT_ONCE))
    streams: dict[Id, asyncio.Task[None]] = field(default_factory=dict)

    async def talk(self) -> None:
        """Until the client has said all; what it began is finished and answered, its subscriptions end."""
        self._say(self.house.about.hello())
        async with asyncio.TaskGroup() as group:
            while (raw := await self._line()) is not None:
                try:
                    request = wire.read_request(raw)
                except wire.Unreadable as error:
                    self._say(wire.error(error.id, "bad_value", str(error)))
                    await self._drained()
                else:
                    await self._take(request, group)
            for stream in self.streams.values():
                stream.cancel()

    async def _take(self, request: Request, group: asyncio.TaskGroup) -> None:
        if isinstance(request, Subscribe):
            self._subscribe(request.id, group)
        elif isinstance(request, Leave):
            if request.of in self.streams:
                self.streams[request.of].cancel()
        else:
            await self.room.acquire()
            group.create_task(self._serve(request), name="socket request")

    async def _serve(self, request: Asked) -> None:
        """Answer one request. Room for the next is made once the client has read what waits for it."""
        try:
            self._say(wire.result(request.id, await self._answer(request)))
        except VerbError as error:
            self._say(wire.error(request.id, error.code, str(error), error.hint))
        except CockpitError as error:
            self._say(wire.error(request.id, "refused", str(error)))
        await self._drained()
        self.room.release()

    async def _answer(self, request: Asked) -> Answer | View | VerbRan | list[Mapping[str, Json]]:
        match request:
            case Run(line=line, origin=origin, actor=actor):
                name, link = self.house.link(origin, actor)
                if name != OPERATOR:
                    await self._own_words(name, origin, _verb(line))
                return await link.run(line)
            case Ask(text=text, agent=agent, origin=origin, actor=actor):
                name, link = self.house.link(origin, actor)
                await self._own_words(name, origin, "ask")
                return await link.ask(text, agent)
            case Snapshot(found):
                return _fitting(found, await self.house.link_of(OPERATOR, "socket").snapshot())
            case Send(handle=handle, token=token, to=to, text=text):
                return await _there(self.house.intercom)(handle, token, to, text)
            case Inbox(handle=handle, token=token, after=after):
                return list(await _there(self.house.inboxes)(handle, token, after))
            case _:
                assert_never(request)

    async def _own_words(self, actor: str, origin: Origin, verb: str) -> None:
        """Raises VerbError where a bridge's client would prompt or speak as the operator."""
        if actor == OPERATOR or verb not in _OPERATORS:
            return
        why = f"{verb} speaks as the operator, and {actor} is another"
        if self.house.refused is not None:
            await self.house.refused(actor, origin, verb, why)
        hint = "send speaks under its own name; bridge_as_operator = true in the recipe's [intercom] allows it"
        raise VerbError("refused", why, hint)

    def _subscribe(self, found: Id, group: asyncio.TaskGroup) -> None:
        """Subscribed at once, so that a snapshot asked for next misses nothing."""
        if found in self.streams or len(self.streams) >= MOST_AT_ONCE:
            self._say(wire.error(found, "refused", f"an id twice, or more than {MOST_AT_ONCE} subscriptions"))
            return
        events = self.house.link_of(OPERATOR, "socket").events()
        stream = group.create_task(self._pass_on(found, events), name="socket events")
        self.streams[found] = stream

        def ended(_: asyncio.Task[None]) -> None:
            self.streams.pop(found, None)
            if isinstance(events, Closing):
                events.close()

        stream.add_done_callback(ended)

    async def _pass_on(self, found: Id, events: AsyncIterator[Event]) -> None:
        """Every event, without ever waiting for the client: one that does not read is dropped."""
        passed = 0
        async for event in events:
            if self.writer.transport.get_write_buffer_size() > BEHIND:
                self.house.failed("a client of the socket was dropped: it did not read what it asked for")
                self.writer.transport.abort()
                return
            raw = wire.event(found, event)
            if raw is None:
                self.house.failed("an event was too long for the socket, and its clients did not get it")
            else:
                self._say(raw)
            passed += 1
            if passed % _BREATH == 0:
                await asyncio.sleep(0)
        self._say(wire.end(found))

    async def _line(self) -> bytes | None:
        """The next line; None where there are no more. The last one may lack its newline."""
        while True:
            try:
                raw = await self.reader.readuntil(b"\n")
            except asyncio.IncompleteReadError as error:
                raw = error.partial
                if not raw:
                    return None
            except asyncio.LimitOverrunError:
                self._say(wire.error(None, "bad_value", f"a line holds at most {wire.LIMIT} bytes"))
                return None
            except ConnectionError:
                return None
            if raw.strip():
                return raw

    def _say(self, raw: bytes) -> None:
        if not self.writer.is_closing():
            self.writer.write(raw)

    async def _drained(self) -> None:
        with suppress(ConnectionError):
            await self.writer.drain()


def _there(part: Part | None) -> Part:
    """Raises VerbError where the recipe has no Intercom."""
    if part is None:
        raise VerbError("refused", "this cockpit's recipe has no [intercom]", "add one to the recipe")
    return part


def _verb(line: str) -> str:
    """The verb of a line; empty where it names none, which the link answers."""
    try:
        return parse(line).verb.name
    except VerbError:
        return ""


def _fitting(found: Id, view: View) -> View:
    """The snapshot without its oldest reports and entries, as far as one line would not hold it."""
    while (view.reports or view.conversation) and wire.too_long(found, view):
        reports, entries = len(view.reports), len(view.conversation)
        view = replace(
            view,
            reports=view.reports[reports - reports // 2 :],
            conversation=view.conversation[entries - entries // 2 :],
        )
    return view


def _leaf(error: BaseException) -> str:
    """The first error inside a group, by its kind and words."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"
