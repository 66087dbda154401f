"""The protocol that every provider satisfies: a stream of text and tool calls, ended by the whole answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from cockpit.core.request import Chunk, Request


class Model(Protocol):
    """One provider with its configuration. Stateless between requests as far as the caller can tell."""

    def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Send the request. Yields as the answer is written, and ends with one Completed.

        Cancelling the iteration cancels the request. Raises ModelError when the provider fails for good.
        """
        ...

    async def warm(self) -> None:
        """Load what a first request needs, without holding up the loop; nothing is sent."""
        ...

    async def aclose(self) -> None:
        """Release what it holds (connections)."""
        ...
