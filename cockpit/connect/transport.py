"""What a connection reads from and writes to, whatever carries it: the pipes of a process, or HTTP."""

from __future__ import annotations

from typing import Protocol

from cockpit.errors import ConnectorError


class Crashed(ConnectorError):
    """The server died by itself: its process ended, it closed its output, or it left a session that it had begun."""


class Transport(Protocol):
    """Newline-delimited JSON-RPC in both directions. Whoever made it ends it."""

    async def read(self) -> bytes:
        """The next piece of what the server says, empty at its end. What is not read makes the server wait."""
        ...

    def write(self, data: bytes) -> None:
        """Put whole lines on their way. Nothing happens where the server no longer listens."""
        ...

    @property
    def congested(self) -> bool:
        """Whether the server is behind with taking what was written."""
        ...

    async def drain(self) -> None:
        """Wait while it is."""
        ...

    async def fate(self) -> ConnectorError:
        """How it ended, in words, once `read` gave its end. Crashed where the server died by itself."""
        ...
