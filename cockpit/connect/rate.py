"""The one inbound limit that a recipe may set: messages a second, in a bucket that holds one second's worth."""

from __future__ import annotations

from collections.abc import Callable


class Rate:
    """None for no limit. A duplicate gives back what it took (semantics.md A-7)."""

    def __init__(self, per_second: float | None, elapsed: Callable[[], float]) -> None:
        self._per_second = per_second
        self._elapsed = elapsed
        self._size = max(1.0, per_second or 1.0)
        self._left = self._size
        self._at = elapsed()

    def take(self) -> bool:
        """Whether one more may pass."""
        if self._per_second is None:
            return True
        now = self._elapsed()
        self._left = min(self._size, self._left + (now - self._at) * self._per_second)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True

    def give_back(self) -> None:
        self._left = min(self._size, self._left + 1)
