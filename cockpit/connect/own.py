"""What we published ourselves, so that its echo answers nobody and wakes nobody (semantics.md N-5).

It outlives a connection: a server may echo after it came back. A server that answers a publish with no id, or
echoes before it answers, is known by the words, for a minute.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

_REMEMBERED = 1_000
_WORDS_HOLD = 60.0  # seconds


class Own:
    """Bounded memory of our own messages on one server. `elapsed` is a clock in seconds."""

    def __init__(self, elapsed: Callable[[], float]) -> None:
        self._elapsed = elapsed
        self._ids: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._words: OrderedDict[tuple[str, str], float] = OrderedDict()

    def said(self, channel: str, text: str) -> None:
        """A publish is on its way."""
        self._words[channel, text] = self._elapsed()
        _trim(self._words)

    def published(self, channel: str, text: str, ident: str) -> None:
        """It has this id, by which its echo is known from now on."""
        self._words.pop((channel, text), None)
        self._ids[channel, ident] = None
        _trim(self._ids)

    def failed(self, channel: str, text: str) -> None:
        """It was refused: whoever says these words now is somebody else."""
        self._words.pop((channel, text), None)

    def holds(self, channel: str, ident: str, text: str) -> bool:
        """Whether this message is ours. Words match once."""
        if (channel, ident) in self._ids:
            return True
        at = self._words.get((channel, text))
        if at is None:
            return False
        del self._words[channel, text]
        if self._elapsed() - at > _WORDS_HOLD:
            return False
        self._ids[channel, ident] = None
        _trim(self._ids)
        return True

    def __bool__(self) -> bool:
        return bool(self._ids or self._words)


def _trim(memory: OrderedDict[tuple[str, str], None] | OrderedDict[tuple[str, str], float]) -> None:
    if len(memory) > _REMEMBERED:
        memory.popitem(last=False)
