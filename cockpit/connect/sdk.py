"""The parts of the official MCP SDK that connectors use, imported when one is first used and not before.

Importing the SDK costs a second. `load` spends it in a thread; whoever comes earlier spends it in place.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
from types import ModuleType
from typing import TYPE_CHECKING

_LOGGERS = ("mcp", "client")


class _Later(ModuleType):
    """Stands for a module until something of it is used."""

    def __getattr__(self, name: str) -> object:
        found: object = getattr(importlib.import_module(self.__name__), name)
        setattr(self, name, found)
        return found


if TYPE_CHECKING:
    import anyio
    import httpx2
    from mcp import types
    from mcp.client import session, streamable_http
    from mcp.shared import exceptions, message
else:
    anyio = _Later("anyio")
    httpx2 = _Later("httpx2")
    types = _Later("mcp.types")
    session = _Later("mcp.client.session")
    streamable_http = _Later("mcp.client.streamable_http")
    exceptions = _Later("mcp.shared.exceptions")
    message = _Later("mcp.shared.message")

__all__ = ["anyio", "exceptions", "httpx2", "load", "message", "session", "streamable_http", "types"]


async def load() -> None:
    """Import it off the loop, and keep its warnings from logging's last resort, which is the terminal (F-11)."""
    await asyncio.to_thread(importlib.import_module, session.__name__)
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
