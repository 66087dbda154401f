"""One agent's turns, one at a time: compile, stream, store, call tools, again, until it says no more (N-1).

All that it writes goes through the ledger; what arrives during a turn is stored at once and shown at the next
boundary. A failing model ends the turn and nothing else (T-14).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Literal, Protocol

from cockpit.context.layout import NO_RESULT
from cockpit.core.events import Event, Failed, Spoke, ToolCalled, TurnChanged, Writing
from cockpit.core.message import RESIDENTS, Block, Message, Text, ToolResult, ToolUse, subconscious_slot
from cockpit.core.records import Report, TurnEnded, TurnReason, TurnState, Usage, WakeRequest
from cockpit.core.request import Completed, Request, Retrying, TextDelta, ToolInputDelta
from cockpit.engine.calls import Finish
from cockpit.engine.clock import Clock
from cockpit.engine.ledger import Draft, Ledger
from cockpit.engine.toolbox import ENDS_TURN
from cockpit.engine.wakes import Wakes, strongest
from cockpit.errors import CockpitError, ModelError, StoreError
from cockpit.model.protocol import Model


class Surroundings(Protocol):
    """What an agent's turn asks of the engine."""

    def owed(self, agent: str, began: int) -> bool:
        """Whether a turn would have anything to answer."""
        ...

    async def compile(self, agent: str, began: int) -> Request | None:
        """What to send now, or None where there is nothing new to answer. Raises ModelError (OverBudgetError)."""
        ...

    async def call(self, agent: str, use: ToolUse) -> Finish:
        """Run one tool call to its end; never raises for what the tool says."""
        ...

    def asked(self, agent: str) -> Callable[[Draft], None]:
        """Remember what this request holds; the result writes, in the transaction that ends it, that it was read."""
        ...

    def answered(self, agent: str, request: Request, usage: Usage) -> None:
        """The request has ended, at this cost."""
        ...

    def turning(self, agent: str, requests: Sequence[WakeRequest] | None) -> None:
        """A turn of the agent begins, for these; or, given None, it is over."""
        ...

    def looked(self, agent: str, well: bool) -> Callable[[Draft], None]:
        """What a turn's end means for the epochs it looked at; nothing for a resident."""
        ...


@dataclass(slots=True)
class Outcome:
    state: TurnState
    usage: Usage = field(default_factory=Usage)
    detail: str = ""


@dataclass(slots=True)
class Agent:
    """role decides the slot it writes to, and whether its prose is heard. rounds: the ceiling of tool rounds. hops: how
    many agents' turns led to the running one (K-37)."""

    name: str
    role: Literal["resident", "subconscious"]
    primary: str
    model: Model
    rounds: int
    ledger: Ledger
    clock: Clock
    around: Surroundings
    emit: Callable[[Event], None]
    wakes: Wakes
    activity: str = "idle"
    usage: Usage = field(default_factory=Usage)
    turns: int = 0
    hops: int = 0
    _running: asyncio.Task[None] | None = None
    _stopping: bool = False
    _open: tuple[ToolUse, ...] = ()
    _calls: tuple[asyncio.Task[Finish], ...] = ()
    _partial: str = ""
    _channel: str = ""
    _stream: int = 0
    _seen: int = 0

    @property
    def slot(self) -> str:
        return RESIDENTS if self.role == "resident" else subconscious_slot(self.primary)

    @property
    def busy(self) -> bool:
        """Whether a turn runs, or would run now."""
        return self._running is not None or self.wakes.pending

    async def run(self) -> None:
        """Serve what is owed, for ever."""
        while True:
            requests = await self.wakes.take()
            dropped = self.wakes.dropped()
            if dropped:
                await self._drop(dropped)
            if requests:
                await self._serve(requests)

    async def stop(self) -> bool:
        """Interrupt the turn that runs, or call off the one that is owed and has not begun. False where neither is.

        What the turn was asked for stays in the log, for the next one to see. What comes while it runs still gets a
        turn of its own, however often it was stopped (F-35).
        """
        running = self._running
        if running is not None and not running.done():
            self._stopping = True
            if not running.cancelling():  # a second one would break off the clean-up of the first
                running.cancel()
            return True
        if self._stopping:
            return True
        owed = self.wakes.clear()
        if not owed:
            return False
        served = tuple(request.sequence for request in owed)
        try:
            await self._written_off(served, strongest(owed), "stopped")
        except CockpitError:
            for request in owed:
                self.wakes.owe(request)
            raise
        self.emit(TurnChanged(self.clock.wall(), self.name, "stopped", strongest(owed)))
        return True

    async def _serve(self, requests: list[WakeRequest]) -> None:
        began, reason = self.ledger.head, strongest(requests)
        served = tuple(request.sequence for request in requests)
        self._channel = next((request.target for request in requests if request.target), "")
        if not self.around.owed(self.name, began):
            await self._kept(lambda: self._written_off(served, reason))
            return
        self.emit(TurnChanged(self.clock.wall(), self.name, "started", reason))
        self.activity = "working" if self.role == "resident" else f"reading {self._channel}".strip()
        self.hops = max(request.hops for request in requests)
        self.around.turning(self.name, requests)
        outcome, self._partial = Outcome("ended"), ""
        try:
            async with asyncio.TaskGroup() as group:
                self._running = task = group.create_task(self._turn(began, outcome), name=f"turn:{self.name}")
        finally:
            self._running = None
            self.around.turning(self.name, None)
        if task.cancelled():
            outcome.state, outcome.detail = "stopped", ""
            await self._kept(lambda: self._mend(began))
        self.activity = "idle"
        self.usage, self.turns = self.usage + outcome.usage, self.turns + 1
        await self._ended(outcome, reason, served)
        self._stopping = False

    async def _turn(self, began: int, outcome: Outcome) -> None:
        """All rounds of one turn; what comes of it is kept in `outcome`. Raises nothing but cancellation."""
        try:
            for _ in range(self.rounds):
                request = await self.around.compile(self.name, began)
                if request is None:
                    return
                if not await self._round(request, began, outcome):
                    return
            outcome.detail = f"{self.name} reached its ceiling of {self.rounds} tool rounds"
            self.emit(Failed(self.clock.wall(), "tool_rounds", outcome.detail))
        except (ModelError, StoreError) as error:
            outcome.state, outcome.detail = "failed", str(error)

    async def _round(self, request: Request, began: int, outcome: Outcome) -> bool:
        """One request and its tool calls; whether another request is due."""
        read = self.around.asked(self.name)
        completed = await self._stream_of(request)
        outcome.usage = outcome.usage + completed.usage
        blocks = completed.blocks
        if completed.stop == "refusal":
            outcome.state, outcome.detail = "failed", "the model refused to answer"
            blocks = tuple(block for block in blocks if isinstance(block, Text))  # nothing that it asked for is done
        if completed.stop == "max_tokens":
            outcome.detail = f"an answer was cut at its limit of {request.max_tokens} tokens"
            self.emit(Failed(self.clock.wall(), "max_tokens", f"{self.name}: {outcome.detail}"))
        self.around.answered(self.name, request, completed.usage)
        uses = tuple(block for block in blocks if isinstance(block, ToolUse))
        self._open, self._calls, self._partial = uses, (), ""
        await self.ledger.do(lambda draft: self._said(draft, blocks, began, read))
        if not uses:
            return False
        async with asyncio.TaskGroup() as group:
            self._calls = calls = tuple(
                group.create_task(self.around.call(self.name, use), name=f"call:{use.name}") for use in uses
            )
        finishes = [call.result() for call in calls]
        self._open, self._calls = (), ()
        results = await self.ledger.do(lambda draft: self._results(draft, finishes, began))
        self._told(uses, results)
        return not any(use.name in ENDS_TURN and not result.is_error for use, result in zip(uses, results, strict=True))

    async def _stream_of(self, request: Request) -> Completed:
        """Send it, showing what is written as it comes (S-9)."""
        self._stream, self._seen = self._stream + 1, request.seen
        prose = f"{self.name}:{self._stream}"
        streams: dict[str, None] = {}
        self._partial = ""
        completed: Completed | None = None
        try:
            async with aclosing(self.model.stream(request)) as chunks:
                async for chunk in chunks:
                    match chunk:
                        case TextDelta(text):
                            self._partial += text
                            streams[prose] = None
                            self._write(prose, text)
                        case ToolInputDelta(id=use, text=text):
                            streams[f"{prose}:{use}"] = None
                            self._write(f"{prose}:{use}", text)
                        case Retrying(reason, delay):
                            self._partial, prose = "", self._again(streams)
                            said = f"{self.name}: {reason}; again in {delay:.1f} s"
                            self.emit(Failed(self.clock.wall(), "model", said))
                        case Completed():
                            completed = chunk
        finally:
            for stream in streams:
                self._write(stream, "", done=True)
        if completed is None:
            raise ModelError("the provider's answer had no end")
        return completed

    def _again(self, streams: dict[str, None]) -> str:
        """What was written so far is void: end it on the screen, and name the next stream."""
        for stream in streams:
            self._write(stream, "", done=True)
        streams.clear()
        self._stream += 1
        return f"{self.name}:{self._stream}"

    def _write(self, stream: str, text: str, *, done: bool = False) -> None:
        report = self.role == "subconscious"
        self.emit(Writing(self.clock.wall(), self.name, stream, text, report, self._channel, done))

    def _said(self, draft: Draft, blocks: tuple[Block, ...], began: int, read: Callable[[Draft], None]) -> None:
        """The transaction that ends one request: its answer, and what was read by it."""
        if blocks:
            draft.write(Message(self.slot, "agent", self.name, blocks, draft.wall, seen=self._seen, began=began))
        prose = "\n".join(block.text for block in blocks if isinstance(block, Text)).strip()
        if prose and self.role == "subconscious":
            draft.write(Report(self.name, "prose", prose, draft.wall, self._channel))
        read(draft)

    def _results(self, draft: Draft, finishes: Sequence[Finish], began: int) -> list[ToolResult]:
        results = [finish(draft) for finish in finishes]
        self._store_results(draft, results, began)
        return results

    def _store_results(self, draft: Draft, results: Sequence[ToolResult], began: int) -> None:
        draft.write(Message(self.slot, "result", self.name, tuple(results), draft.wall, began=began))

    def _told(self, uses: Sequence[ToolUse], results: Sequence[ToolResult]) -> None:
        for use, result in zip(uses, results, strict=True):
            self.emit(ToolCalled(self.clock.wall(), self.name, use.name, _brief(use), ok=not result.is_error))

    async def _mend(self, began: int) -> None:
        """After a stop: what was said so far is kept, and every call gets its result, so that the log is whole. A call
        that had ended keeps its own."""
        partial, uses, calls = self._partial, self._open, self._calls
        self._partial, self._open, self._calls = "", (), ()
        ended = [None if call.cancelled() else call.result() for call in calls] or [None] * len(uses)
        await self.ledger.drain()

        def write(draft: Draft) -> list[ToolResult]:
            if partial.strip() and not uses:
                blocks = (Text(f"{partial.rstrip()} [interrupted]"),)
                draft.write(Message(self.slot, "agent", self.name, blocks, draft.wall, seen=self._seen, began=began))
            results = [
                ToolResult(use.id, (Text(NO_RESULT),), is_error=True) if finish is None else finish(draft)
                for use, finish in zip(uses, ended, strict=True)
            ]
            if results:
                self._store_results(draft, results, began)
            return results

        self._told(uses, await self.ledger.do(write))

    async def _ended(self, outcome: Outcome, reason: TurnReason, served: tuple[int, ...]) -> None:
        looked = self.around.looked(self.name, outcome.state == "ended")

        def write(draft: Draft) -> None:
            if outcome.state == "failed" and self.role == "subconscious":
                draft.write(Report(self.name, "failure", outcome.detail, draft.wall, self._channel))
            looked(draft)
            draft.write(TurnEnded(self.name, outcome.state, reason, draft.wall, outcome.usage, served))

        await self._kept(lambda: self.ledger.do(write))
        if outcome.state == "failed" and self.role == "resident":
            self.emit(Failed(self.clock.wall(), "model", f"{self.name}: {outcome.detail}"))
        self.emit(TurnChanged(self.clock.wall(), self.name, outcome.state, reason, outcome.usage, outcome.detail))

    async def _drop(self, requests: list[WakeRequest]) -> None:
        served, reason = tuple(request.sequence for request in requests), strongest(requests)
        await self._kept(lambda: self._written_off(served, reason))

    async def _kept(self, write: Callable[[], Awaitable[None]]) -> None:
        """Write what a turn's end leaves behind; where the store fails, the operator is told and the agent lives on."""
        try:
            await write()
        except CockpitError as error:
            self.emit(Failed(self.clock.wall(), "store", str(error)))

    async def _written_off(self, served: tuple[int, ...], reason: TurnReason, state: TurnState = "ended") -> None:
        """No turn is run: an earlier one has shown it already, its channel is heard no more, or the operator stopped it
        before it began."""
        await self.ledger.do(lambda draft: draft.write(TurnEnded(self.name, state, reason, draft.wall, None, served)))


def _brief(use: ToolUse) -> str:
    """A call's arguments on one line."""
    return ", ".join(f"{name}={value!r}" for name, value in use.input.items())[:200]


def spoken(message: Message, agents: Sequence[str]) -> Spoke | None:
    """The `text` line of a resident's own message; None for anything else."""
    if message.kind != "agent" or message.author not in agents or not message.text.strip():
        return None
    return Spoke(message.at, message.author, message.text)
