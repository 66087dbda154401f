"""What a provider's prompt cache would read back of each request, counted as the Messages API documents it.

A cache entry is a prefix of tools, system and messages that ended at a marker. A later request reads the longest
entry that equals its own prefix at a marker or up to twenty blocks before one (semantics.md V-7).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256

from cockpit.core.message import Json
from cockpit.core.records import Usage

LOOKBACK = 20
"""Blocks, the marker's own included, at which an earlier entry is looked for."""

MINIMUM_TOKENS = 1024
"""A shorter prefix is not cached."""


@dataclass(frozen=True, slots=True)
class _Block:
    written: str
    marked: bool


class PromptCache:
    """Counts over requests, oldest first. `minimum`: tokens below which a prefix is not cached. Nothing expires."""

    def __init__(self, minimum: int = MINIMUM_TOKENS) -> None:
        self._minimum = minimum
        self._entries: set[str] = set()

    def count(self, body: Mapping[str, Json]) -> Usage:
        """Input tokens of `body`, four characters each: those read from the cache, written to it, and neither. Writes
        what its markers say."""
        prefixes: list[str] = []
        sizes: list[int] = []
        marked: list[int] = []
        hashed, size = sha256(), 0
        for at, block in enumerate(_blocks(body)):
            hashed.update(block.written.encode("utf-8", "surrogatepass") + b"\0")
            size += len(block.written)
            prefixes.append(hashed.hexdigest())
            sizes.append(-(-size // 4))
            if block.marked:
                marked.append(at)
        read = max((sizes[at] for marker in marked for at in self._found(prefixes, marker)), default=0)
        cacheable = [at for at in marked if sizes[at] >= self._minimum]
        written = max((sizes[at] for at in cacheable), default=0)
        self._entries.update(prefixes[at] for at in cacheable)
        total = sizes[-1] if sizes else 0
        cached = max(read, written)
        return Usage(input=total - cached, cache_read=read, cache_write=cached - read)

    def _found(self, prefixes: list[str], marker: int) -> Iterator[int]:
        near = range(marker, max(-1, marker - LOOKBACK), -1)
        return (at for at in near if prefixes[at] in self._entries)


def _blocks(body: Mapping[str, Json]) -> Iterator[_Block]:
    """The blocks in the order of the prefix, each with all that a change of it would change for the cache."""
    yield _Block(json.dumps(["model", body.get("model")]), marked=False)
    for name in ("tools", "system"):
        for part in _listed(body.get(name)):
            yield _block(name, part)
    # A change of these keeps what is cached of tools and system, and nothing of the messages.
    yield _Block(json.dumps([body.get("thinking"), body.get("tool_choice")]), marked=False)
    for message in _listed(body.get("messages")):
        for part in _listed(message.get("content")):
            yield _block(str(message.get("role")), part)


def _block(place: str, part: Mapping[str, Json]) -> _Block:
    bare = {name: value for name, value in part.items() if name != "cache_control"}
    return _Block(json.dumps([place, bare], sort_keys=True), part.get("cache_control") is not None)


def _listed(value: Json) -> list[Mapping[str, Json]]:
    if isinstance(value, str):
        return [{"type": "text", "text": value}]
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list | tuple) else []
