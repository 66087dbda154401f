"""Our own requests to a server, beside those of the SDK's session: string ids, a time limit each, no task each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from cockpit.connect.faults import one_line
from cockpit.core.message import Json
from cockpit.errors import ConnectorError

ID_PREFIX = "c-"
"""Begins the id of each of our requests, so that they never meet the session's, which are numbers."""

Answered = asyncio.Future[Mapping[str, Json]]
"""Done when the server answered with a result, or with Refused or Unanswered."""


class Refused(ConnectorError):
    """The server answered with an error object. `code` as in mcpl.md 13."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Unanswered(ConnectorError):
    """No answer came in time, or the connection ended: what became of the request is unknown."""


class Requests:
    """What was asked on one connection and is not answered yet."""

    def __init__(self, write: Callable[[Mapping[str, Json]], None]) -> None:
        self._write = write
        self._next = 0
        self._open: dict[str, tuple[Answered, asyncio.TimerHandle]] = {}
        self._closed: str | None = None

    def send(self, method: str, params: Mapping[str, Json], seconds: float) -> Answered:
        """Send it now. The future fails with Refused, or with Unanswered after so many seconds."""
        loop = asyncio.get_running_loop()
        future: Answered = loop.create_future()
        if self._closed is not None:
            future.set_exception(Unanswered(self._closed))
            return future
        self._next += 1
        ident = f"{ID_PREFIX}{self._next}"
        late = Unanswered(f"no answer to {method} within {seconds:g} s")
        self._open[ident] = (future, loop.call_later(seconds, self._fail, ident, late))
        self._write({"jsonrpc": "2.0", "id": ident, "method": method, "params": params})
        return future

    def answer(self, ident: str, message: Mapping[str, Json]) -> bool:
        """Take the server's answer. Returns whether anybody asked for it."""
        error = message.get("error")
        if isinstance(error, Mapping):
            return self._fail(ident, refusal(error))
        future = self._forget(ident)
        if future is None:
            return False
        if not future.done():
            if "result" not in message:
                future.set_exception(Unanswered("was answered without a result"))
            else:
                future.set_result(as_object(message["result"]))
        return True

    def close(self, reason: str) -> None:
        """The connection ended: nobody is left waiting."""
        self._closed = reason
        for ident in tuple(self._open):
            self._fail(ident, Unanswered(reason))

    def _fail(self, ident: str, error: ConnectorError) -> bool:
        future = self._forget(ident)
        if future is not None and not future.done():
            future.set_exception(error)
        return future is not None

    def _forget(self, ident: str) -> Answered | None:
        future, timer = self._open.pop(ident, (None, None))
        if timer is not None:
            timer.cancel()
        return future


def refusal(error: Mapping[str, Json]) -> Refused:
    """An error object as it came, whatever is missing in it."""
    code, message = error.get("code"), error.get("message")
    known = code if isinstance(code, int) and not isinstance(code, bool) else -32603
    return Refused(known, one_line(message) if isinstance(message, str) and message else f"error {known}")


def as_object(result: Json) -> Mapping[str, Json]:
    """A result as the object that it should have been: servers in use answer `null`, lists and bare values."""
    if isinstance(result, Mapping):
        return result
    return {} if result is None else {"value": result}
