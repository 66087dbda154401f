"""A `Model` that says what a test tells it to, and remembers every request it was sent."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing
from hashlib import sha256

from cockpit.core.message import Block, Text, Thinking, ToolUse, encode
from cockpit.core.records import Usage
from cockpit.core.request import Chunk, Completed, Request, TextDelta, ToolInputDelta
from cockpit.errors import ModelError
from cockpit.testing.anthropic_check import problem_of_request
from cockpit.testing.script import Answer, Call, Gate, Steps

__all__ = ["Answer", "Call", "Gate", "ScriptedModel", "Step"]

Step = Answer | ModelError
"""What one request gets: an answer, or an error before anything was said."""

_PIECE = re.compile(r"\S+\s*|\s+")


class ScriptedModel:
    """Plays `script`: a list of steps in the order of the requests, a list for each agent, or a function of the
    request. Past its end it plays `otherwise`.

    One instance may serve any number of agents. strict: a request that the Messages API would refuse raises
    ModelError with the API's words (V-8). `requests` holds what it was sent, oldest first; `closed` whether `aclose`
    was called; `stopped` counts the streams that were closed or cancelled before their end.
    """

    def __init__(
        self,
        script: Iterable[Step] | Mapping[str, Iterable[Step]] | Callable[[Request], Step] = (),
        *,
        otherwise: Step = Answer("Done."),  # noqa: B008  (a frozen value)
        strict: bool = True,
    ) -> None:
        self._steps: Steps[Request, Step] = Steps(script, otherwise=otherwise)
        self._strict = strict
        self._arrived = asyncio.Condition()
        self._calls = 0
        self.requests: list[Request] = []
        self.stopped = 0
        self.closed = False

    def requests_of(self, agent: str) -> list[Request]:
        """What one agent sent, oldest first."""
        return [request for request in self.requests if request.agent == agent]

    async def received(self, count: int, agent: str | None = None) -> Request:
        """Wait until `count` requests came, of `agent` or of anybody, and return the last of those."""

        def found() -> list[Request]:
            return self.requests if agent is None else self.requests_of(agent)

        async with self._arrived:
            await self._arrived.wait_for(lambda: len(found()) >= count)
        return found()[count - 1]

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Play the next step for this request, a word at a time."""
        async with self._arrived:
            self.requests.append(request)
            self._arrived.notify_all()
        wrong = problem_of_request(request) if self._strict else None
        if wrong is not None:
            raise ModelError(f"the provider answered 400 (invalid_request_error): {wrong}")
        step = self._steps.next(request, request.agent)
        if isinstance(step, ModelError):
            raise step
        ended = False
        try:
            async with aclosing(self._play(step, request)) as chunks:
                async for chunk in chunks:
                    ended = isinstance(chunk, Completed)
                    yield chunk
        except ModelError:
            ended = True
            raise
        finally:
            self.stopped += not ended

    async def warm(self) -> None:
        """Nothing is loaded later."""

    async def aclose(self) -> None:
        self.closed = True

    async def _play(self, answer: Answer, request: Request) -> AsyncGenerator[Chunk, None]:
        for retry in answer.retries:
            yield retry
        uses = tuple(self._use(call) for call in answer.calls)
        for at, chunk in enumerate(_pieces(answer, uses)):
            yield chunk
            if at == 0 and answer.gate is not None:
                await answer.gate.passes()
            await asyncio.sleep(0)
        if answer.fails is not None:
            raise answer.fails
        thought = (_thinking(answer.thinking),) if answer.thinking else ()
        said = (Text(answer.text),) if answer.text else ()
        blocks: tuple[Block, ...] = (*thought, *said, *uses)
        yield Completed(blocks, answer.reason, answer.usage or _usage(request, blocks))

    def _use(self, call: Call) -> ToolUse:
        self._calls += 1
        return ToolUse(call.id or f"toolu_scripted_{self._calls}", call.tool, call.input)


def _pieces(answer: Answer, uses: Iterable[ToolUse]) -> Iterator[Chunk]:
    """What is streamed before the whole answer; an empty text piece where there is nothing, for a gate to hold."""
    words = _PIECE.findall(answer.text) or ([""] if answer.gate else [])
    yield from map(TextDelta, words)
    for use in uses:
        text = use.input.get("text")
        for word in _PIECE.findall(text) if isinstance(text, str) else ():
            yield ToolInputDelta(use.name, use.id, word)


def _thinking(text: str) -> Thinking:
    signature = sha256(text.encode()).hexdigest()
    return Thinking({"type": "thinking", "thinking": text, "signature": signature})


def _usage(request: Request, blocks: Iterable[Block]) -> Usage:
    return Usage(
        input=sum(_tokens(block) for turn in request.messages for block in turn.blocks),
        output=sum(map(_tokens, blocks)),
    )


def _tokens(block: Block) -> int:
    return -(-len(json.dumps(encode(block), default=dict)) // 4)
