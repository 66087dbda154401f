"""A chat message or a push event of a server as the engine takes it: normalised, keyed, its tags expanded. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b

from cockpit.connect import tags
from cockpit.connect.config import Limits
from cockpit.connect.content import blocks
from cockpit.connect.lines import encode
from cockpit.connect.registry import Registered, key
from cockpit.core.inputs import Arrived
from cockpit.core.message import Json
from cockpit.core.target import server as server_target
from cockpit.core.text import clip

_LONGEST_NAME = 512
NOBODY = "unknown"
OURSELVES = "chat:from-self"


@dataclass(frozen=True, slots=True)
class Malformed:
    """An entry that is refused, and why."""

    reason: str


def chat(given: Mapping[str, Json], channel: Registered, limits: Limits) -> Arrived | Malformed:
    """One entry of `channels/incoming` for a registered channel (mcpl.md 7.7)."""
    ident = given.get("messageId")
    if not isinstance(ident, str) or not ident:
        return Malformed("no messageId")
    if len(ident) > limits.id:
        return Malformed("messageId too long")
    author = given.get("author")
    name, author_id = _author(author.get("name"), author.get("id")) if isinstance(author, dict) else (NOBODY, None)
    found = tags.expand(given.get("tags"))
    cycle = tags.life_cycle(found)
    unique = key(ident) if cycle is None else key(ident, cycle, _time(given), _digest(given.get("content")))
    return Arrived(
        target=channel.target,
        kind="chat",
        author=name,
        blocks=blocks(given.get("content"), limits),
        key=channel.prefix + unique,
        id=ident,
        author_id=author_id,
        tags=found,
        change="" if cycle is None else tags.change(found),
        own=OURSELVES in found,
    )


def event(
    given: Mapping[str, Json], server: str, channels: Mapping[str, Registered], limits: Limits
) -> Arrived | Malformed:
    """A `push/event` (mcpl.md 9.1). It is a registered channel's traffic where its origin names one (A-1)."""
    ident = given.get("eventId")
    if not isinstance(ident, str) or not ident:
        return Malformed("no eventId")
    if len(ident) > limits.id:
        return Malformed("eventId too long")
    payload, origin = given.get("payload"), given.get("origin")
    content = payload.get("content") if isinstance(payload, Mapping) else None
    origin = origin if isinstance(origin, Mapping) else {}
    place = origin.get("mcplChannelId")
    channel = channels.get(place) if isinstance(place, str) else None
    name, author_id = _author(origin.get("authorName"), origin.get("authorId"))
    found = tags.expand(given.get("tags"))
    message = origin.get("messageId")
    known = isinstance(message, str) and 0 < len(message) <= limits.id
    source = origin.get("source")
    if name == NOBODY and channel is None:
        name = clip(source, _LONGEST_NAME) if isinstance(source, str) and source else server
    return Arrived(
        target=server_target(server) if channel is None else channel.target,
        kind="event" if channel is None else "chat",
        author=name,
        blocks=blocks(content, limits),
        key=key(server, ident),
        id=str(message) if known and channel is not None else ident if channel is None else None,
        author_id=author_id,
        tags=found,
        change=tags.change(found) if known and channel is not None else "",
        own=OURSELVES in found,
        push=True,
    )


def _author(name: Json, ident: Json) -> tuple[str, str | None]:
    """Claims, not identity: what is missing is filled from the other, or nobody's."""
    author_id = ident[:_LONGEST_NAME] if isinstance(ident, str) and ident else None
    if isinstance(name, str) and name:
        return (name if len(name) <= _LONGEST_NAME else clip(name, _LONGEST_NAME)), author_id
    return author_id or NOBODY, author_id


def _time(given: Mapping[str, Json]) -> str:
    stamp = given.get("timestamp")
    return stamp[:64] if isinstance(stamp, str) else ""


def _digest(content: Json) -> str:
    return blake2b(encode(content).encode(), digest_size=12).hexdigest()
