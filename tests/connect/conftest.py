"""What the tests of the connectors share: a fixture server of one's own choice, supervised for one test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import pytest

from cockpit.connect.config import ServerConfig
from cockpit.testing.host import RecordingHost
from cockpit.testing.served import Served, remote, running


class Serve(Protocol):
    def __call__(
        self,
        *options: str,
        config: ServerConfig | None = None,
        host: RecordingHost | None = None,
        killed: bool = False,
        until: str = "online",
    ) -> Awaitable[Served]: ...


@pytest.fixture
async def serve(tmp_path: Path) -> AsyncIterator[Serve]:
    """Start a supervised fixture with these options; it ends with the test. `until` what to wait for: "online",
    "connected" (its control socket), or "nothing"."""
    async with AsyncExitStack() as stack:

        async def start(
            *options: str,
            config: ServerConfig | None = None,
            host: RecordingHost | None = None,
            killed: bool = False,
            until: str = "online",
        ) -> Served:
            listening = await stack.enter_async_context(remote())
            given = config or ServerConfig("fix", "mcpl", (), ping=0)
            served = Served(listening, tmp_path / "logs", options, given, host or RecordingHost(), killed=killed)
            await stack.enter_async_context(running(served))
            if until == "online":
                await served.online()
            elif until == "connected":
                await listening.connected()
            return served

        yield start


@pytest.fixture
def config() -> Callable[..., ServerConfig]:
    """The fixture's configuration with some fields changed; it is not pinged unless said."""

    def changed(**changes: object) -> ServerConfig:
        return replace(ServerConfig("fix", "mcpl", (), ping=0), **changes)  # type: ignore[arg-type]  # a test's own

    return changed
