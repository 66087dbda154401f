"""Events, answers and snapshots as JSON and back, whole: an attached screen shows what the first one shows.

Each value says its class, since some of them differ in nothing else. What is JSON already (a request, a stamp, totals)
is wrapped, so that nothing that came from outside is ever read as a value of ours. It stands on the dataclasses alone:
schema classes for these values took half a second to build, before the first frame.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TypeVar, get_args

from cockpit.core.events import AgentView, Answer, EpochView, Event, Held, Result, View
from cockpit.core.message import Json
from cockpit.core.records import Usage

T = TypeVar("T")

_CLASSES: Mapping[str, type] = {
    found.__name__: found for found in (*get_args(Event), Answer, View, AgentView, EpochView, Held, Result, Usage)
}


def encode(value: object) -> Json:
    """A value of these classes, or what one of its fields holds. Raises TypeError on anything else."""
    if is_dataclass(value) and type(value).__name__ in _CLASSES:
        return {"is": type(value).__name__, **{each.name: encode(getattr(value, each.name)) for each in fields(value)}}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple | list):
        return [encode(each) for each in value]
    if isinstance(value, Mapping):
        return {"json": value}
    raise TypeError(f"{type(value).__name__} is no value of the link's")


def decode(value: Json, wanted: type[T]) -> T:
    """The value that `encode` wrote. Raises ValueError where it is another, or lacks a field.

    Fields that this program does not know are left out: the other side may be newer.
    """
    found = _decoded(value)
    if not isinstance(found, wanted):
        raise ValueError(f"{_shown(value)} is no {wanted.__name__}")  # it is data that is wrong
    return found


def decode_event(value: Json) -> Event:
    """One event. Raises ValueError where it is none."""
    found = _decoded(value)
    if not isinstance(found, get_args(Event)):
        raise ValueError(f"{_shown(value)} is no event")
    event: Event = found
    return event


def dumps(value: Json) -> bytes:
    """One line, its newline included. Escaped to ASCII, so that not even a lone surrogate is lost."""
    return json.dumps(value, separators=(",", ":"), default=_plain).encode() + b"\n"


def loads(raw: bytes | bytearray) -> dict[str, Json]:
    """One line as a JSON object. Raises ValueError with a sentence that repeats nothing of it."""
    try:
        value: Json = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"a line is one JSON object, and this is no JSON ({type(error).__name__})") from error
    if not isinstance(value, dict):
        raise ValueError("a line is one JSON object, and this is another JSON value")
    return value


def _decoded(value: Json) -> object:
    if isinstance(value, list):
        return tuple(_decoded(each) for each in value)
    if not isinstance(value, Mapping):
        return value
    if "json" in value:
        return value["json"]
    known = _CLASSES.get(str(value.get("is")))
    if known is None:
        raise ValueError(f"{_shown(value)} is no value that this program knows")
    names = {each.name for each in fields(known)}
    try:
        return known(**{name: _decoded(each) for name, each in value.items() if name in names})
    except TypeError as error:
        raise ValueError(f"{known.__name__} lacks a field: {error}") from error


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON")


def _shown(value: object) -> str:
    name = value.get("is") if isinstance(value, Mapping) else None
    return repr(name if isinstance(name, str) else type(value).__name__)[:60]
