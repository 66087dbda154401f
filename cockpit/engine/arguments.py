"""Reads a tool call's arguments: each error names the parameter, and is what the agent is told."""

from __future__ import annotations

import math
from collections.abc import Mapping

from cockpit.core.message import Json
from cockpit.core.request import Tool
from cockpit.core.verbs import floored, nearest
from cockpit.errors import ToolError


def text(arguments: Mapping[str, Json], name: str) -> str:
    """A required, non-empty string."""
    value = arguments.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ToolError(f"{name} is required, as text")
    return value


def optional_text(arguments: Mapping[str, Json], name: str) -> str | None:
    value = arguments.get(name)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise ToolError(f"{name}={value!r} is no text")
    return value


def whole(arguments: Mapping[str, Json], name: str, default: int, most: int | None = None) -> int:
    """A whole number of 0 or more; fractions are floored, more than `most` is `most`, and no store could hold more
    than `floored` leaves."""
    value = arguments.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ToolError(f"{name}={value!r} is not a whole number")
    return floored(value) if most is None else min(floored(value), most)


def check(tool: Tool, arguments: Mapping[str, Json]) -> None:
    """Refuse what the tool's schema does not name, with the nearest that it does."""
    properties = tool.input_schema.get("properties")
    known = list(properties) if isinstance(properties, Mapping) else []
    for name in arguments:
        if name not in known:
            close = nearest(name, known)
            raise ToolError(f"{tool.name} has no parameter {name!r}" + (f"; did you mean {close[0]}?" if close else ""))
