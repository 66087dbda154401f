"""What each actor has done and may take back: verbs as they were said, a glob with all that it did (`go=undo`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from cockpit.core.events import Result
from cockpit.core.target import Target
from cockpit.errors import VerbError

UNDOABLE = frozenset({"mute", "unmute", "open", "close", "tune-out"})
REMEMBERED = 50
"""Verbs that each actor may take back, one after the other."""

_parts: ContextVar[list[Done] | None] = ContextVar("parts", default=None)
"""What the glob, or the undo, that this task runs has done so far."""


@dataclass(frozen=True, slots=True)
class Done:
    """One change of one channel. epoch: the one that a tune-out began, or that a close has ended."""

    verb: str
    target: Target
    epoch: str | None


@dataclass(frozen=True, slots=True)
class Said:
    """One verb with all that it did. glob: it is answered with the results of each, and so is its undo."""

    parts: tuple[Done, ...]
    glob: bool = False


@dataclass(frozen=True, slots=True)
class Undone:
    """What came of taking back one verb. results: of a glob, one for each target. error: the first refusal."""

    message: str
    results: tuple[Result, ...] = ()
    error: VerbError | None = None


@dataclass(slots=True)
class Memory:
    """By actor's name, oldest first."""

    _said: dict[str, list[Said]] = field(default_factory=dict)

    def add(self, actor: str, done: Done) -> None:
        """One change was made: a part of the verb that `one_verb` is open for, else a verb of its own."""
        open_parts = _parts.get()
        if open_parts is None:
            self._keep(actor, Said((done,)))
        else:
            open_parts.append(done)

    @contextmanager
    def one_verb(self, actor: str, *, kept: bool = True) -> Iterator[None]:
        """All that this task does inside was said at once. kept: False for what takes something back."""
        parts: list[Done] = []
        token = _parts.set(parts)
        try:
            yield
        finally:
            _parts.reset(token)
            if parts and kept:
                self._keep(actor, Said(tuple(parts), glob=True))

    def take(self, actor: str) -> Said | None:
        """The last verb, which nobody else can take back from now on."""
        said = self._said.get(actor)
        return said.pop() if said else None

    def put_back(self, actor: str, said: Said, parts: Sequence[Done]) -> None:
        """What of it was refused and may be tried again."""
        if parts:
            self._keep(actor, Said(tuple(parts), said.glob))

    def _keep(self, actor: str, said: Said) -> None:
        mine = self._said.setdefault(actor, [])
        mine.append(said)
        del mine[:-REMEMBERED]
