"""What the offline model wants to say before it is streamed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cockpit.core.message import Json


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call without its id, which depends on the whole request."""

    tool: str
    input: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Draft:
    """Prose and calls; never both empty. An answer with calls waits for their results."""

    text: str = ""
    calls: tuple[Call, ...] = ()
