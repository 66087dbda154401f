"""A local server that speaks the Messages API: streams as it does, checks as strictly, counts its prompt cache.

Tests script its answers and its failures. `python -m cockpit.testing.anthropic_server` prints its URL and answers by
the offline model's rules, so that the whole product can be tried on a provider without one.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Literal, Self

import click

from cockpit.core.message import Json
from cockpit.core.records import Usage
from cockpit.testing.anthropic_check import problem
from cockpit.testing.anthropic_rules import by_rule
from cockpit.testing.anthropic_stream import events, signature_of, sse, whole
from cockpit.testing.http_server import ClientLeft, Exchange, HttpServer
from cockpit.testing.prompt_cache import MINIMUM_TOKENS, PromptCache
from cockpit.testing.script import Answer, Call, Gate, Steps

__all__ = ["Answer", "AnthropicServer", "Break", "Call", "Fail", "Gate", "Served", "Step"]

_LIMIT = 32 * 1024 * 1024  # bytes of a body, as the API has it
_SECRET = "local"  # noqa: S105  (signs thinking of this server; protects nothing)
_KINDS: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}


@dataclass(frozen=True, slots=True)
class Fail:
    """An error instead of an answer. `retry_after` in seconds, as its header."""

    status: int
    message: str = "told to fail"
    retry_after: float | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Break:
    """An answer that goes wrong after `after` events: `cut` drops the connection, `end` ends the stream as if it
    were whole, `hang` sends nothing more, `error` sends the event `overloaded_error`, `garbage` what is no JSON."""

    answer: Answer = Answer("This is said in part only.")  # noqa: RUF009  (a frozen value)
    after: int = 5
    how: Literal["cut", "end", "hang", "error", "garbage"] = "cut"


Step = Answer | Fail | Break


@dataclass(slots=True)
class Served:
    """One request and what became of it. problem: why it was refused with 400. left: the client went away before
    its response was whole."""

    body: Mapping[str, Json]
    headers: Mapping[str, str]
    status: int = 0
    problem: str | None = None
    usage: Usage = field(default_factory=Usage)
    left: asyncio.Event = field(default_factory=asyncio.Event)


class AnthropicServer:
    """Serves `script` while it is entered: a list of steps in the order of requests that pass the checks, or a
    function of the body; past its end `otherwise`.

    key: the only one that is let in, or None for any. minimum: tokens below which nothing is cached. `requests`
    holds what came, refused or not, oldest first.
    """

    def __init__(
        self,
        script: Iterable[Step] | Callable[[Mapping[str, Json]], Step] = (),
        *,
        otherwise: Step = Answer("Done."),  # noqa: B008  (a frozen value)
        key: str | None = None,
        minimum: int = MINIMUM_TOKENS,
        port: int = 0,
    ) -> None:
        self._steps: Steps[Mapping[str, Json], Step] = Steps(script, otherwise=otherwise)
        self._key = key
        self._cache = PromptCache(minimum)
        self._http = HttpServer(self._handle, port=port)
        self._arrived = asyncio.Condition()
        self.requests: list[Served] = []

    @property
    def url(self) -> str:
        """What goes into `base_url`."""
        return self._http.url

    @property
    def usage(self) -> Usage:
        """Of all answers together."""
        return sum((served.usage for served in self.requests), Usage())

    async def received(self, count: int) -> Served:
        """Wait until `count` requests came and return the last of those."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.requests) >= count)
        return self.requests[count - 1]

    async def __aenter__(self) -> Self:
        await self._http.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.__aexit__(kind, error, trace)

    async def _handle(self, exchange: Exchange) -> None:
        path = exchange.request.path.partition("?")[0]
        if path != "/v1/messages" or exchange.request.method != "POST":
            await _fail(exchange, Fail(404, f"Not found: {exchange.request.method} {path}"))
            return
        served, refusal = self._admit(exchange)
        async with self._arrived:
            self.requests.append(served)
            self._arrived.notify_all()
        try:
            if refusal is not None:
                served.status = refusal.status
                await _fail(exchange, refusal)
            else:
                await self._answer(exchange, served)
        except ClientLeft:
            served.left.set()
            raise

    def _admit(self, exchange: Exchange) -> tuple[Served, Fail | None]:
        """The request, and why it is refused where it is."""
        request = exchange.request
        served = Served({}, request.headers)
        given = request.headers.get("authorization", "").removeprefix("Bearer ") or request.headers.get("x-api-key", "")
        if not given or (self._key is not None and given != self._key):
            return served, Fail(401, "invalid x-api-key")
        if "anthropic-version" not in request.headers:
            return served, Fail(400, "anthropic-version: header is required")
        if len(request.body) > _LIMIT:
            return served, Fail(413, "Request exceeds the maximum size")
        try:
            body = json.loads(request.body)
        except ValueError as error:
            return served, Fail(400, f"The request body is not valid JSON: {error}")
        served.problem = problem(body, signed=lambda text, proof: proof == signature_of(_SECRET, text))
        served.body = body if isinstance(body, dict) else {}
        return served, None if served.problem is None else Fail(400, served.problem)

    async def _answer(self, exchange: Exchange, served: Served) -> None:
        step = self._steps.next(served.body)
        if isinstance(step, Fail):
            served.status = step.status
            await _fail(exchange, step)
            return
        served.status = 200
        answer = _thought(step.answer if isinstance(step, Break) else step, served.body)
        usage = self._cache.count(served.body)
        sent = list(
            events(
                answer,
                message=f"msg_local_{len(self.requests)}",
                model=str(served.body.get("model")),
                usage=usage,
                sign=lambda thinking: signature_of(_SECRET, thinking),
            )
        )
        served.usage = Usage(usage.input, _output(sent), usage.cache_read, usage.cache_write)
        if not served.body.get("stream"):
            await exchange.respond(200, json.dumps(whole(sent)).encode(), _headers("application/json"))
            return
        await exchange.begin(200, _headers("text/event-stream; charset=utf-8"))
        gate = answer.gate
        for at, event in enumerate(sent):
            if isinstance(step, Break) and at == step.after:
                await _break(exchange, step)
                return
            await exchange.send(sse(event))
            if gate is not None and event["type"] == "content_block_delta":
                await _stand(exchange, gate)
                gate = None
        await exchange.finish()


async def _stand(exchange: Exchange, gate: Gate) -> None:
    """Wait at the gate, or until the client has gone."""
    waits = [asyncio.ensure_future(gate.passes()), asyncio.ensure_future(exchange.client_left())]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        if not waits[0].done():
            raise ClientLeft
    finally:
        for wait in waits:
            wait.cancel()
        await asyncio.gather(*waits, return_exceptions=True)


def _thought(answer: Answer, body: Mapping[str, Json]) -> Answer:
    """With manual thinking switched on the API always thinks first."""
    mode = body.get("thinking")
    if answer.thinking or not isinstance(mode, Mapping) or mode.get("type") != "enabled":
        return answer
    return replace(answer, thinking="Let me see.")


def _output(sent: Iterable[Mapping[str, Json]]) -> int:
    for event in sent:
        match event:
            case {"type": "message_delta", "usage": {"output_tokens": int(count)}}:
                return count
    return 0


async def _fail(exchange: Exchange, failure: Fail) -> None:
    headers = {**_headers("application/json"), **failure.headers}
    if failure.retry_after is not None:
        headers["retry-after"] = f"{failure.retry_after:g}"
    kind = _KINDS.get(failure.status, "api_error")
    shape = {"type": "error", "error": {"type": kind, "message": failure.message}, "request_id": headers["request-id"]}
    await exchange.respond(failure.status, json.dumps(shape).encode(), headers)


async def _break(exchange: Exchange, step: Break) -> None:
    match step.how:
        case "cut":
            exchange.cut()
        case "end":
            await exchange.finish()
        case "hang":
            await exchange.client_left()
            raise ClientLeft
        case "error":
            error: dict[str, Json] = {"type": "overloaded_error", "message": "Overloaded"}
            await exchange.send(sse({"type": "error", "error": error}))
            await exchange.finish()
        case "garbage":
            await exchange.send(b"event: content_block_delta\ndata: {not json\n\n")
            await exchange.finish()


def _headers(content: str) -> dict[str, str]:
    return {"content-type": content, "request-id": "req_local"}


_PLAN: Mapping[str, Step] = {
    "429": Fail(429, "Number of requests has exceeded your rate limit", retry_after=1),
    "529": Fail(529, "Overloaded"),
    "500": Fail(500, "Internal server error"),
    "400": Fail(400, "told to fail"),
    "cut": Break(how="cut"),
    "end": Break(how="end"),
    "hang": Break(how="hang"),
    "error": Break(how="error"),
    "garbage": Break(how="garbage"),
    "refusal": Answer(stop="refusal"),
    "max_tokens": Answer("This is where it", stop="max_tokens"),
}


@click.command()
@click.option("--port", default=0, help="The port; any free one unless said.")
@click.option("--key", default=None, help="The only key to let in; any unless said.")
@click.option("--plan", default="", help=f"What the first requests get, by commas: {', '.join(_PLAN)} or ok.")
def main(port: int, key: str | None, plan: str) -> None:
    """Serve until interrupted, answering by the offline model's rules once the plan is used up."""
    words = [word.strip() for word in plan.split(",") if word.strip()]
    unknown = [word for word in words if word not in {*_PLAN, "ok"}]
    if unknown:
        raise click.BadParameter(f"{unknown[0]!r} is none of {', '.join(_PLAN)} or ok", param_hint="--plan")
    asyncio.run(_serve(port, key, words))


async def _serve(port: int, key: str | None, words: list[str]) -> None:
    left = iter(words)

    def play(body: Mapping[str, Json]) -> Step:
        return _PLAN.get(next(left, "ok")) or by_rule(body)

    stop = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    async with AnthropicServer(play, key=key, port=port) as server:
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        await stop.wait()


if __name__ == "__main__":
    main()
