"""Answers to a server's requests: in the order of the requests, each once everything in it is durable.

No task waits for a commit: each future counts its answer down, and all answers that a commit completes leave in one
write.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping

from cockpit.connect.lines import encode
from cockpit.core.inputs import Receipt
from cockpit.core.message import Json

_AT_A_STRETCH = 64  # answers, about a millisecond: then others have their turn on the loop
RequestId = str | int | float
Wire = Mapping[str, Json]


class _Answer:
    __slots__ = ("after", "outbox", "render", "waiting")

    def __init__(self, outbox: Outbox, render: Callable[[], Wire], after: Callable[[], None] | None) -> None:
        self.outbox = outbox
        self.render = render
        self.after = after
        self.waiting = 0

    def durable(self, _: asyncio.Future[Receipt]) -> None:
        self.waiting -= 1
        if not self.waiting:
            self.outbox.ready()


class Outbox:
    """The answers of one connection that are owed."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._owed: deque[_Answer] = deque()
        self._scheduled = False

    def result(
        self,
        ident: RequestId,
        build: Callable[[], Wire],
        futures: Iterable[asyncio.Future[Receipt]] = (),
        after: Callable[[], None] | None = None,
    ) -> None:
        """Answer with what `build` returns, asked once all `futures` are done. `after` runs when it is written."""
        self._add(lambda: {"jsonrpc": "2.0", "id": ident, "result": build()}, futures, after)

    def error(self, ident: RequestId | None, code: int, message: str, data: Json = None) -> None:
        """Answer with an error object."""
        error: dict[str, Json] = {"code": code, "message": message}
        if data is not None:
            error["data"] = data
        self._add(lambda: {"jsonrpc": "2.0", "id": ident, "error": error}, (), None)

    def ready(self) -> None:
        """Something may be complete: look once the loop has come round, when more may be."""
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._flush)

    def _add(
        self,
        render: Callable[[], Wire],
        futures: Iterable[asyncio.Future[Receipt]],
        after: Callable[[], None] | None,
    ) -> None:
        answer = _Answer(self, render, after)
        for future in futures:
            if not future.done():
                answer.waiting += 1
                future.add_done_callback(answer.durable)
        self._owed.append(answer)
        if not answer.waiting:
            self.ready()

    def _flush(self) -> None:
        self._scheduled = False
        lines: list[str] = []
        afterwards: list[Callable[[], None]] = []
        owed = self._owed
        while owed and not owed[0].waiting:
            if len(lines) == _AT_A_STRETCH:
                self.ready()
                break
            answer = owed.popleft()
            lines.append(encode(answer.render()))
            if answer.after is not None:
                afterwards.append(answer.after)
        if lines:
            lines.append("")
            self._write("\n".join(lines).encode())
        for act in afterwards:
            act()
