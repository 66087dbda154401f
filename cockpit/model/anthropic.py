"""The Anthropic Messages API by its official SDK, on Anthropic's own endpoint or any that is compatible.

The SDK waits and tries again before a stream begins; this does so when one breaks off, and tells the operator of
both. A refusal or a full answer is a state of the answer, not an error. Importing this module does not import the
SDK, which takes almost two seconds: that happens in a thread, at the first request or by `warm`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from cockpit.core.message import Json
from cockpit.core.request import Chunk, Request, Retrying
from cockpit.errors import ModelError, RecipeError
from cockpit.model import faults
from cockpit.model.assembly import Assembly
from cockpit.model.config import ModelConfig
from cockpit.model.faults import Broken, Retries
from cockpit.model.wire import body, plain

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic, AsyncStream
    from anthropic.types import (
        MessageParam,
        RawMessageStreamEvent,
        TextBlockParam,
        ThinkingConfigParam,
        ToolUnionParam,
    )

_CONNECT_TIMEOUT = 10.0  # seconds


class AnthropicModel:
    """A `Model` over the Messages API. `sleep` waits between two tries of a broken stream; tests own it."""

    def __init__(self, config: ModelConfig, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """Raises RecipeError, one line, where the key or the model's id is missing or the base URL is none."""
        key = (config.api_key or "").strip()
        if not key:
            raise RecipeError(f"the provider 'anthropic' needs a key: set the variable {config.api_key_env}")
        if not config.id:
            raise RecipeError("the provider 'anthropic' needs a model: set `id` in [model]")
        if config.base_url and urlsplit(config.base_url).scheme not in {"http", "https"}:
            raise RecipeError("the base URL of the provider 'anthropic' must begin with http:// or https://")
        self._config = config
        self._key = key
        self._sleep = sleep
        self._client: AsyncAnthropic | None = None
        self._raised: tuple[type[Exception], ...] = ()  # what the SDK and its transport raise, once they are loaded
        self._loading = threading.Lock()

    async def warm(self) -> None:
        """Load the SDK now, in a thread, so that the first request need not."""
        await self._ready()

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Send `request` and yield the answer as it is written.

        After a `Retrying` the answer begins anew: what was yielded before it is void. Raises ModelError, one line
        without the key in it, when the provider refuses the request or goes on failing. Closing or cancelling the
        iteration closes the connection.
        """
        client = await self._ready()
        retries = Retries(self._config.max_retries)
        while True:
            try:
                async with aclosing(self._attempt(client, request, retries)) as chunks:
                    async for chunk in chunks:
                        yield chunk
                return
            except Broken as broken:
                told = retries.after_break(broken)
            yield told
            await self._sleep(told.delay)

    async def aclose(self) -> None:
        """Close its connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _attempt(self, client: AsyncAnthropic, request: Request, retries: Retries) -> AsyncGenerator[Chunk, None]:
        """One whole try. Raises Broken where the stream ended before the answer did."""
        assembly = Assembly()
        stream: AsyncStream[RawMessageStreamEvent] | None = None
        try:
            async with aclosing(self._open(client, request, retries)) as opening:
                async for step in opening:
                    if isinstance(step, Retrying):
                        yield step
                    else:
                        stream = step
            if stream is None:
                raise ModelError("the provider gave no answer", retryable=True)
            async for event in stream:
                chunk = assembly.feed(_json(event))
                if chunk is not None:
                    yield chunk
        except self._raised as error:
            if not assembly.complete:
                raise faults.told(error, self._secrets(), streaming=stream is not None) from error
        finally:
            if stream is not None:
                await stream.close()
        if not assembly.complete:
            raise Broken("the stream ended before the answer did")
        yield assembly.completed()

    async def _open(
        self, client: AsyncAnthropic, request: Request, retries: Retries
    ) -> AsyncGenerator[Retrying | AsyncStream[RawMessageStreamEvent], None]:
        """Yields a Retrying for each wait of the SDK's, while it waits, and then the stream."""
        told: asyncio.Queue[Retrying | None] = asyncio.Queue()
        watched = client.with_options(max_retries=retries.left, middleware=[faults.watching(retries, told.put_nowait)])
        kept = False
        opening = asyncio.create_task(self._create(watched, request), name=f"model request of {request.agent}")
        opening.add_done_callback(lambda _: told.put_nowait(None))
        try:
            while (step := await told.get()) is not None:
                yield step
            kept = True
            yield opening.result()
        finally:
            opening.cancel()
            await asyncio.wait([opening])
            if not kept and not opening.cancelled() and opening.exception() is None:
                await opening.result().close()

    async def _create(self, client: AsyncAnthropic, request: Request) -> AsyncStream[RawMessageStreamEvent]:
        from anthropic import omit  # noqa: PLC0415  (already loaded by now; at the top it would be too early)

        parts = body(request, eager=self._config.base_url is None)
        thinking = self._config.thinking
        # The casts: `body` writes the JSON that these types of the SDK describe, and the API checks it.
        return await client.messages.create(
            model=self._config.id,
            max_tokens=request.max_tokens,
            messages=cast("Iterable[MessageParam]", parts["messages"]),
            system=cast("Iterable[TextBlockParam]", parts["system"]) if "system" in parts else omit,
            tools=cast("Iterable[ToolUnionParam]", parts["tools"]) if "tools" in parts else omit,
            thinking=cast("ThinkingConfigParam", plain(thinking)) if thinking else omit,
            stream=True,
            extra_body=plain(self._config.parameters) or None,
        )

    async def _ready(self) -> AsyncAnthropic:
        if self._client is None:
            return await asyncio.to_thread(self._load)
        return self._client

    def _load(self) -> AsyncAnthropic:
        with self._loading:
            if self._client is not None:
                return self._client
            import httpx2  # noqa: PLC0415  (the SDK's transport, loaded with it)
            from anthropic import AnthropicError, AsyncAnthropic, Timeout  # noqa: PLC0415  (costs two seconds)

            client = AsyncAnthropic(
                api_key=self._key,
                base_url=self._config.base_url,
                timeout=Timeout(self._config.timeout, connect=_CONNECT_TIMEOUT),
                max_retries=self._config.max_retries,
            )
            client.messages  # noqa: B018  (the SDK loads this part when it is first asked for)
            self._raised = (AnthropicError, httpx2.HTTPError, httpx2.StreamError, ValueError)
            self._client = client
            return client

    def _secrets(self) -> tuple[str, ...]:
        return (self._key, urlsplit(self._config.base_url or "").password or "")


def _json(event: object) -> Mapping[str, Json]:
    """An event as the JSON that it came as; nothing where it was no object."""
    from anthropic import BaseModel  # noqa: PLC0415  (already loaded)

    # The cast: the SDK made the event from JSON, and its models call every value `object`.
    return cast("Mapping[str, Json]", event.to_dict(warnings=False)) if isinstance(event, BaseModel) else {}
