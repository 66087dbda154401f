"""Strict reading of JSON that came from a file: each field has the shape that was written, or ValueError says which
has not, so that one malformed record is skipped and named instead of ending a replay (R-4)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TypeAlias, TypeVar

from pydantic_core import PydanticSerializationError, to_json

from cockpit.core.message import Json

Body: TypeAlias = Mapping[str, Json]
Word = TypeVar("Word", bound=str)

_encoder = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)


def write(body: Body) -> str:
    """The body as one line of JSON. Raises TypeError, ValueError or RecursionError where it holds what is none."""
    try:
        return to_json(body, inf_nan_mode="constants").decode()
    except PydanticSerializationError:  # a lone surrogate, which the caller deals with, or what is no JSON
        return _encoder.encode(body)


def read(text: str) -> Body:
    """The JSON object in `text`. Raises ValueError on anything else, JSON nested without end included."""
    try:
        value: Json = json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    return as_object(value)


def as_object(value: Json) -> Body:
    """`value` where it is an object."""
    if not isinstance(value, Mapping):
        raise ValueError("not an object")  # one error for all that is malformed
    return value


def text(body: Body, name: str) -> str:
    """A string that must be there."""
    value = body.get(name)
    if not isinstance(value, str):
        raise _wrong(name, value, "a string")
    return value


def optional_text(body: Body, name: str) -> str | None:
    """A string, or None where it is absent."""
    return text(body, name) if body.get(name) is not None else None


def texts(body: Body, name: str) -> tuple[str, ...]:
    """A list of strings; empty where it is absent."""
    found = items(body, name)
    words = tuple(word for word in found if isinstance(word, str))
    if len(words) != len(found):
        raise _wrong(name, body.get(name), "a list of strings")
    return words


def items(body: Body, name: str) -> tuple[Json, ...]:
    """A list of anything; empty where it is absent."""
    value = body.get(name, ())
    if not isinstance(value, list | tuple):
        raise _wrong(name, value, "a list")
    return tuple(value)


def number(body: Body, name: str) -> float:
    """A finite number that must be there."""
    value = body.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _wrong(name, value, "a number")
    return value


def whole(body: Body, name: str, default: int | None = None) -> int:
    """A whole number; `default` where it is absent, and where there is none it must be there."""
    value = body.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(name, value, "a whole number")
    return value


def flag(body: Body, name: str) -> bool:
    """A truth value; false where it is absent."""
    value = body.get(name, False)
    if not isinstance(value, bool):
        raise _wrong(name, value, "true or false")
    return value


def choice(body: Body, name: str, allowed: tuple[Word, ...]) -> Word:
    """One of these words."""
    value = body.get(name)
    for word in allowed:
        if word == value:
            return word
    raise _wrong(name, value, " or ".join(allowed))


def _wrong(name: str, value: Json, wanted: str) -> ValueError:
    return ValueError(f"{name} is {str(value)[:40]!r}, not {wanted}")
