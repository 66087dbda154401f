"""Content blocks as servers send them (mcpl.md 7.10, and MCP's own) into ours, within the limits of mcpl.md 14.

Nothing here fails a message: what is unknown or too large becomes a placeholder, and no uri is ever fetched.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Mapping, Sequence

from cockpit.connect.config import Limits
from cockpit.core.message import Json, Media, Text
from cockpit.core.text import clip

_CUT = "\n[cut: the message was longer than the host takes]"
_LONGEST_NAME = 2048
_MIME = re.compile(r"[A-Za-z0-9!#$&^_.+-]{1,127}/[A-Za-z0-9!#$&^_.+-]{1,127}")


def blocks(content: Json, limits: Limits) -> tuple[Text | Media, ...]:
    """The blocks of one message. A plain string equals one text block. Texts and media are bounded together."""
    if isinstance(content, str):
        return (Text(content if len(content) <= limits.text else clip(content, limits.text) + _CUT),)
    if not isinstance(content, list):
        return ()
    budget = _Budget(limits)
    return tuple(part for each in content for part in budget.take(each))


class _Budget:
    """What is left of one message's limits."""

    def __init__(self, limits: Limits) -> None:
        self._text = limits.text
        self._media = limits.media

    def take(self, block: Json) -> Sequence[Text | Media]:
        if isinstance(block, str):
            return self._texts(block)
        if not isinstance(block, dict):
            return (Media("unknown"),)
        match block:
            case {"type": "text", "text": str(text)}:
                return self._texts(text)
            case {"type": "resource", "resource": Mapping() as inner}:
                return self._resource(inner)
            case {"type": str(kind), "data": str(data)}:
                return (self._inline(kind, block.get("mimeType"), data, _name(block)),)
            case {"type": str(kind)}:
                return (Media(kind[:_LONGEST_NAME], _mime(block.get("mimeType")), names=_name(block)),)
            case _:
                return (Media("unknown"),)

    def _texts(self, text: str) -> Sequence[Text]:
        if len(text) <= self._text:
            self._text -= len(text)
            return (Text(text),)
        room, self._text = self._text, -1
        return () if room < 0 else (Text(clip(text, room) + _CUT),)

    def _resource(self, inner: Mapping[str, Json]) -> Sequence[Text | Media]:
        """MCP's embedded resource: what it names, and its text where it has one."""
        kind, names = inner.get("mimeType"), _name(inner)
        match inner:
            case {"text": str(text)}:
                return (Media("resource", _mime(kind), names=names), *self._texts(text))
            case {"blob": str(data)}:
                return (self._inline("resource", kind, data, names),)
            case _:
                return (Media("resource", _mime(kind), names=names),)

    def _inline(self, kind: str, mime: Json, data: str, names: str | None) -> Media:
        size = len(data) * 3 // 4
        kind = kind[:_LONGEST_NAME]
        if size > self._media:
            return Media(kind, _mime(mime), names=f"{_of(names)}of {-(-size // 1000)} kB, more than the host takes")
        if not _is_base64(data):
            return Media(kind, _mime(mime), names=f"{_of(names)}that could not be read")
        self._media -= size
        return Media(kind, _mime(mime), data, names)


def _is_base64(data: str) -> bool:
    try:
        binascii.a2b_base64(data, strict_mode=True)
    except ValueError:
        return False
    return True


def _of(names: str | None) -> str:
    """What it names before what is said of it, so that a placeholder reads `[image cat.png that could not be read]`."""
    return f"{names} " if names else ""


def _mime(value: Json) -> str | None:
    """A media type without its parameters; None where it is none, so that nothing else is shown in its place."""
    named = value.partition(";")[0].strip() if isinstance(value, str) else ""
    return named if _MIME.fullmatch(named) else None


def _name(block: Mapping[str, Json]) -> str | None:
    return _text(block.get("uri")) or _text(block.get("name"))


def _text(value: Json) -> str | None:
    return value[:_LONGEST_NAME] if isinstance(value, str) and value else None
