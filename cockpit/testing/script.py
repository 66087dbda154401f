"""What a scripted model or a scripted provider answers, as values that both understand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from cockpit.core.message import Json
from cockpit.core.records import Usage
from cockpit.core.request import Retrying, StopReason
from cockpit.errors import ModelError


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of an answer. An empty `id` is given by whoever plays the script."""

    tool: str
    input: Mapping[str, Json] = field(default_factory=dict)
    id: str = ""


class Gate:
    """Holds an answer after its first piece: `await gate.reached()`, look around, then `gate.open()`."""

    def __init__(self) -> None:
        self._reached = asyncio.Event()
        self._open = asyncio.Event()

    async def reached(self) -> None:
        """Until an answer stands at the gate."""
        await self._reached.wait()

    def open(self) -> None:
        """Let it go on."""
        self._open.set()

    async def passes(self) -> None:
        """For whoever plays the script: stand at the gate until it opens."""
        self._reached.set()
        await self._open.wait()


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer. `stop` is `tool_use` with calls and `end_turn` without, unless said. usage: counted unless given.
    retries: told before anything else. gate: holds it after its first piece. fails: raised at the end of what it
    says, in place of the whole answer."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    thinking: str = ""
    stop: StopReason | None = None
    usage: Usage | None = None
    retries: tuple[Retrying, ...] = ()
    gate: Gate | None = None
    fails: ModelError | None = None

    @property
    def reason(self) -> StopReason:
        return self.stop or ("tool_use" if self.calls else "end_turn")


Asked = TypeVar("Asked")
Step = TypeVar("Step")


class Steps(Generic[Asked, Step]):
    """The next step for whoever asks: of one list, of a list for each name, or as a function says.

    Past the end of a list it is `otherwise`.
    """

    def __init__(
        self,
        script: Iterable[Step] | Mapping[str, Iterable[Step]] | Callable[[Asked], Step],
        *,
        otherwise: Step,
    ) -> None:
        self._otherwise = otherwise
        self._function: Callable[[Asked], Step] | None = None
        self._lists: dict[str, Iterator[Step]] = {}
        self._list: Iterator[Step] = iter(())
        if isinstance(script, Mapping):
            self._lists = {name: iter(steps) for name, steps in script.items()}
        elif callable(script):
            self._function = script
        else:
            self._list = iter(script)

    def next(self, asked: Asked, name: str = "") -> Step:
        if self._function is not None:
            return self._function(asked)
        return next(self._lists.get(name, self._list), self._otherwise)
