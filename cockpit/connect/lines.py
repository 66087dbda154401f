"""Lines out of a byte stream, in linear time and bounded memory, and JSON out of lines, whatever was sent.

A server may send one line of gigabytes, invalid UTF-8, or JSON nested ten thousand deep: the first ends its
connection, the others cost it a line.
"""

from __future__ import annotations

import json
import re
from typing import NoReturn

from pydantic_core import from_json

from cockpit.core.message import Json
from cockpit.core.text import sanitise
from cockpit.errors import ConnectorError

_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")


class LineTooLong(ConnectorError):
    """A line exceeded the limit; what follows cannot be told apart from it."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"sent a line longer than {limit // 1024} KiB")


class LineSplitter:
    """Cuts what arrives at each `\\n`. Holds at most `limit` bytes of an unfinished line."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that `data` completes, without their newlines. Raises LineTooLong."""
        head, *rest = data.split(b"\n")
        self._parts.append(head)
        self._size += len(head)
        if self._size > self._limit:
            raise LineTooLong(self._limit)
        if not rest:
            return []
        first = b"".join(self._parts)
        tail = rest.pop()
        self._parts = [tail]
        self._size = len(tail)
        if self._size > self._limit or any(len(line) > self._limit for line in rest):
            raise LineTooLong(self._limit)
        return [first, *rest]


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


_decode = json.JSONDecoder(parse_constant=_refuse).decode


def parse(line: bytes) -> Json:
    """The JSON value of one line. Invalid UTF-8 and lone surrogates become U+FFFD (D-7).

    Raises ValueError where it is no JSON: also NaN, and what is nested too deep or has numbers too long to read.
    """
    try:
        value: Json = from_json(line, allow_inf_nan=False, cache_strings="keys")
    except ValueError:
        return _leniently(line)
    return value


def _leniently(line: bytes) -> Json:
    """What a line that is no strict JSON in UTF-8 is after all. Raises ValueError."""
    try:
        value: Json = _decode(line.decode("utf-8", "replace"))
        return _without_surrogates(value) if _SURROGATE_ESCAPE.search(line) else value
    except RecursionError:
        raise ValueError("nested too deep") from None


def _without_surrogates(value: Json) -> Json:
    match value:
        case str():
            return sanitise(value)
        case list():
            return [_without_surrogates(each) for each in value]
        case dict():
            return {sanitise(name): _without_surrogates(each) for name, each in value.items()}
        case _:
            return value


encode = json.JSONEncoder(separators=(",", ":"), default=None).encode
"""JSON in ASCII on one line: nothing in it can be a newline or an unpaired surrogate on the wire."""
