"""The stream pair under the SDK's session, which splits what a server writes (mcpl.md 15).

Each line is parsed once. The session gets the answers to its own requests and the few requests that it can answer;
all else, MCPL's methods and the notifications that become messages, goes to one bounded inbox in line order. So no
server starts a task for each of its lines, and reading stops where the host is behind.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, Self, TypeGuard

from cockpit.connect import sdk
from cockpit.connect.faults import Faults
from cockpit.connect.inbox import Inbox
from cockpit.connect.lines import LineSplitter, encode, parse
from cockpit.connect.outbox import Wire
from cockpit.connect.requests import ID_PREFIX, Requests, as_object, refusal
from cockpit.connect.transport import Transport
from cockpit.core.message import Json
from cockpit.errors import ConnectorError

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

NOT_JSON = "wrote a line that is not JSON"
"""The fault of noise on stdout, such as log lines (mcpl.md 2)."""

_ANSWERED_BY_SESSION = frozenset({"ping", "sampling/createMessage", "elicitation/create", "roots/list"})
_MOST_UNANSWERED = 32  # of the server's requests that the session has a task for
_DRAINING = 2.0  # seconds for what a dead server said before it died


class Splitter:
    """One connection's reading and writing. `initialized` is the raw result of `initialize`, empty before it."""

    def __init__(
        self,
        transport: Transport,
        faults: Faults,
        *,
        proved: Callable[[], None],
        capability: Mapping[str, Json] | None,
        privileged: frozenset[str],
        line: int,
        queue: int,
        held: int,
    ) -> None:
        """capability: our `experimental.mcpl`, or None for a plain MCP server. privileged: the methods of which at
        most `held` may come before `release`."""
        self.inbox = Inbox(queue)
        self.requests = Requests(self.write)
        self.initialized: Mapping[str, Json] = {}
        self._transport = transport
        self._faults = faults
        self._proved = proved
        self._capability = capability
        self._privileged = privileged
        self._line = line
        self._held: int | None = held
        self._initialize_id: Json = None
        self._unanswered = 0
        self._ended = "the connection ended"
        self._attached = asyncio.Event()
        self._answerable = asyncio.Event()
        self._to_session: MemoryObjectSendStream[sdk.message.SessionMessage | Exception] | None = None

    def streams(self) -> tuple[MemoryObjectReceiveStream[sdk.message.SessionMessage | Exception], SessionWriter]:
        """The pair for `ClientSession(*streams)`, which closes both ends that it gets."""

        self._to_session, read = sdk.anyio.create_memory_object_stream[sdk.message.SessionMessage | Exception](16)
        self._attached.set()
        return read, SessionWriter(self)

    def release(self) -> None:
        """The server took the policy, or never will: what is privileged is no longer counted."""
        self._held = None

    # Outwards.

    def write(self, message: Wire) -> None:
        self._transport.write((encode(message) + "\n").encode())

    def write_bytes(self, data: bytes) -> None:
        self._transport.write(data)

    @property
    def congested(self) -> bool:
        return self._transport.congested

    async def drain(self) -> None:
        await self._transport.drain()

    async def write_for_session(self, message: sdk.types.JSONRPCMessage) -> None:
        """Write what the session says, `initialize` with what it leaves out."""
        wire = message.model_dump(mode="json", by_alias=True, exclude_unset=True)
        if wire.get("method") == "initialize":
            self._initialize_id = wire["id"]
            wire["params"]["capabilities"] = self._capabilities()
        self.write(wire)
        await self.drain()
        if "method" not in wire and self._unanswered:
            self._unanswered -= 1
            self._answerable.set()

    def _capabilities(self) -> dict[str, Json]:
        # The session would offer sampling and elicitation because it can decline them; roots are answered, if empty.
        ours: dict[str, Json] = {"roots": {}}
        return ours if self._capability is None else ours | {"experimental": {"mcpl": self._capability}}

    # Inwards.

    async def run(self) -> NoReturn:
        """Read until the server ends. Raises ConnectorError: Crashed where it died."""
        splitter = LineSplitter(self._line)
        while chunk := await self._transport.read():
            lines = splitter.feed(chunk)
            if not lines:
                continue
            self._proved()
            for line in lines:
                answer = self._take(line)
                if answer is not None:
                    await self._pass_on(answer)
            await self.inbox.settle()
            await asyncio.sleep(0)  # other servers and the screen have their turn
        fate = await self._transport.fate()
        self._ended = str(fate)
        try:
            async with asyncio.timeout(_DRAINING):
                await self.inbox.dealt_with()
        except TimeoutError:
            self._faults.add("died before all that it had sent was taken")
        raise fate

    def _take(self, line: bytes) -> Wire | None:
        """Deal with one line; returns the message where it is the session's."""
        try:
            message = parse(line)
        except ValueError:
            if line.strip():
                self._faults.add(NOT_JSON, line[:2000].decode("utf-8", "replace"))
            return None
        if not isinstance(message, dict):
            self._faults.add("wrote a JSON line that is no message")
            return None
        method = message.get("method")
        if method is None:
            return self._answer(message)
        if not isinstance(method, str):
            self._faults.add("sent a method that is no text")
            return None
        if method in _ANSWERED_BY_SESSION and _is_plain_id(message.get("id")):
            return message
        if self._held is not None and method in self._privileged:
            self._held -= 1
            if self._held < 0:
                raise ConnectorError("sent too much before it had taken the policy")
        self.inbox.put(message)
        return None

    def _answer(self, message: Wire) -> Wire | None:
        ident = message.get("id")
        if isinstance(ident, str) and ident.startswith(ID_PREFIX):
            if not self.requests.answer(ident, message):
                self._faults.add("answered what was not asked")
            return None
        if not _is_plain_id(ident):
            self._faults.add("answered what was not asked")
            return None
        if ident == self._initialize_id and isinstance(result := message.get("result"), Mapping):
            self.initialized = result
        return message

    async def _pass_on(self, message: Wire) -> None:
        """Give the session one message. Waits until there is one, and while it has too many requests to answer."""
        await self._attached.wait()
        ident = message.get("id")
        if self._to_session is None or not _is_plain_id(ident):
            return
        if "method" in message:
            while self._unanswered >= _MOST_UNANSWERED:
                self._answerable.clear()
                await self._answerable.wait()
            self._unanswered += 1
        await self._to_session.send(sdk.message.SessionMessage(self._typed(message, ident)))

    def _typed(self, message: Wire, ident: str | int) -> sdk.types.JSONRPCMessage:
        params, error = message.get("params"), message.get("error")
        if "method" in message:
            given = dict(params) if isinstance(params, Mapping) else None
            return sdk.types.JSONRPCRequest(jsonrpc="2.0", id=ident, method=str(message["method"]), params=given)
        if isinstance(error, Mapping) or "result" not in message:
            refused = refusal(error if isinstance(error, Mapping) else {"message": "answered without a result"})
            said = sdk.types.ErrorData(code=refused.code, message=str(refused))
            return sdk.types.JSONRPCError(jsonrpc="2.0", id=ident, error=said)
        result = dict(as_object(message["result"]))
        if ident == self._initialize_id and isinstance(capabilities := result.get("capabilities"), Mapping):
            # What is experimental is ours to read, and may have any shape.
            result["capabilities"] = {k: v for k, v in capabilities.items() if k != "experimental"}
        return sdk.types.JSONRPCResponse(jsonrpc="2.0", id=ident, result=result)

    def close(self) -> None:
        """The connection is over: nobody waits for an answer, and the session's end is closed."""
        self.requests.close(self._ended)
        if self._to_session is not None:
            self._to_session.close()


def _is_plain_id(ident: Json) -> TypeGuard[str | int]:
    """Whether the SDK takes it as an id."""
    return isinstance(ident, str | int) and not isinstance(ident, bool)


class SessionWriter:
    """The write half of the pair, as the SDK's session takes it. Closing it closes nothing: the wire is not its own."""

    def __init__(self, splitter: Splitter) -> None:
        self._splitter = splitter

    async def send(self, item: sdk.message.SessionMessage, /) -> None:
        await self._splitter.write_for_session(item.message)

    async def aclose(self) -> None:
        return

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return
