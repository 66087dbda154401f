"""The screen's twin for scripts: one verb a line on standard input, JSON Lines and nothing else on standard output."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable

from cockpit.core.events import Event, Link, Progressed, Prompted, Stopped, ToolCalled, Writing

IDLE = 1.0
"""Seconds without a turn, call or pending wake that `--until-idle` waits for."""

LOOKS = 20
"""Looks a second."""


def as_line(event: Event) -> str | None:
    """The event's headless line; None for what only a screen shows."""
    if isinstance(event, Writing | ToolCalled | Prompted | Progressed):
        return None
    return json.dumps(event.line(), ensure_ascii=False, separators=(", ", ": "))


async def pump(events: AsyncIterator[Event], write: Callable[[str], None]) -> str:
    """Write every event's line until the engine has stopped; returns why it did."""
    async for event in events:
        line = as_line(event)
        if line is not None:
            write(line)
        if isinstance(event, Stopped):
            return event.reason
    return "ended"


async def feed(link: Link, lines: AsyncIterator[str]) -> None:
    """Run one verb a line, in order; blank lines and those that begin with `#` get no answer."""
    async for line in lines:
        text = line.strip()
        if text and not text.startswith("#"):
            await link.run(line.rstrip("\r\n"))


async def until_idle(idle: Callable[[], bool], wait: Callable[[float], Awaitable[object]]) -> None:
    """Return once `idle` has held for a second on end, looked at twenty times a second."""
    quiet = 0
    while quiet < IDLE * LOOKS:
        await wait(1 / LOOKS)
        quiet = quiet + 1 if idle() else 0
