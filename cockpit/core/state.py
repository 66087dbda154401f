"""A channel's value as JSON and back: what the store keeps of it, and what a lifecycle record carries."""

from __future__ import annotations

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from cockpit.core.channel import Channel
from cockpit.core.message import Json
from cockpit.core.records import Lifecycle
from cockpit.core.world import Actor, Now

_CHANNEL = TypeAdapter(Channel)


def encode_channel(channel: Channel) -> dict[str, Json]:
    """Every field of it as JSON."""
    encoded: dict[str, Json] = _CHANNEL.dump_python(channel, mode="json")
    return encoded


def channel_line(channel: Channel) -> str | None:
    """The same as one line of JSON; None where it holds what no file can (a lone surrogate)."""
    try:
        return _CHANNEL.dump_json(channel).decode()
    except PydanticSerializationError:
        return None


def decode_channel(value: Json) -> Channel:
    """The channel that `encode_channel` wrote. Raises ValueError on anything else (R-4, K-81)."""
    try:
        return _CHANNEL.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ValueError(f"not a channel: {where}: {first['msg']}") from error


def lifecycle(channel: Channel, what: str, now: Now, actor: Actor | None, **more: Json) -> Lifecycle:
    """The record of one change: what it is called, the whole channel after it, and who asked for it."""
    body: dict[str, Json] = {"channel": encode_channel(channel), **more}
    if actor is not None:
        body |= {"actor": actor.name, "origin": actor.origin}
    return Lifecycle(str(channel.target), what, now.wall, body)
