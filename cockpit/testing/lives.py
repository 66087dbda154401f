"""One store through many processes, for a test that is no coroutine itself, such as a state machine of hypothesis: each
life is a whole engine on the files that the last one left, by a clean end or by a `kill -9`.

A kill is a copy of the store's files as one transaction left them, with the log that was not yet merged: exactly what
the disk holds of a process that is gone. Messages are known by a number in their text: `#12;`.
"""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Collection, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from cockpit.core.inputs import Arrived, Receipt
from cockpit.core.message import RESIDENTS, Message
from cockpit.core.records import Batch, Lifecycle, Record
from cockpit.core.request import Request
from cockpit.testing.clock import FakeClock
from cockpit.testing.rig import Rig, rig
from cockpit.testing.script import Answer, Gate
from cockpit.testing.stage import CuedModel, shown

T = TypeVar("T")

NUMBER = re.compile(r"#(\d+);")
HEADED = re.compile(r"\] #(\d+);|· remover(\d+) ·")
"""A message as a channel's header shows it, a deletion by its author; in a dump it stands behind its author."""


@dataclass
class Life:
    """One process on one folder. before: how many answers of `scout` were stored when it began. held: where its turn
    stands still."""

    folder: Path
    cockpit: Rig
    model: CuedModel
    over: asyncio.Event
    task: asyncio.Task[None]
    before: int
    held: Gate | None = None

    @property
    def waiting_for(self) -> Collection[str]:
        return {"scout"} if self.held is not None else ()


@dataclass
class Kill:
    """The files as they are before the transaction after the next `left`. acknowledged: how many of what was asked, up
    to the last one that was answered by then."""

    left: int
    source: Path
    goal: Path
    asked: list[asyncio.Future[object]] = field(default_factory=list)
    acknowledged: int | None = None

    def take(self) -> None:
        if self.acknowledged is None:
            for file in self.source.glob("rig.db*"):
                shutil.copy(file, self.goal)
            done = (place for place, each in enumerate(self.asked, 1) if each.done() and each.exception() is None)
            self.acknowledged = max(done, default=0)


class Lives:
    """Of a recipe with the resident `scout` and the chat server `disc`. read: the numbers of what was in a request of
    scout's whose end is stored, of all lives before this one. Close it at the end."""

    def __init__(self, recipe: str, channels: Sequence[str]) -> None:
        self._recipe, self._channels = recipe, channels
        self._runner, self._scratch = asyncio.Runner(), TemporaryDirectory()
        self._count = 0
        self.clock = FakeClock()
        self.read: set[int] = set()
        self.life = self.run(self._begin(self._folder(), down=False))

    @property
    def cockpit(self) -> Rig:
        return self.life.cockpit

    def run(self, work: Coroutine[object, object, T]) -> T:
        return self._runner.run(work)

    def settle(self) -> None:
        self.run(self.cockpit.settle(held=self.life.waiting_for))

    def advance(self, seconds: float, wall: float | None = None) -> None:
        self.run(self.cockpit.advance(seconds, wall=wall, held=self.life.waiting_for))

    def send(self, given: Arrived) -> Receipt:
        """A message of `disc`, until it is durable."""
        return self.run(self.sending(given))

    async def sending(self, given: Arrived) -> Receipt:
        return await (await self.cockpit.servers["disc"].host.arrived(given))

    def verb(self, line: str) -> bool:
        """Whether it was done."""
        return self.run(self.cockpit.run(line, held=self.life.waiting_for)).ran.ok

    def toggle_busy(self) -> None:
        """Let scout's turn stand still in the middle of an answer, or let it go on."""
        if self.life.held is None:
            self.life.held = gate = Gate()
            self.life.model.cue("scout", Answer("Hm.", gate=gate))
            self.run(self.cockpit.link.ask("Go on."))
            self.run(gate.reached())
        else:
            self.life.held.open()
            self.life.held = None
        self.settle()

    def end(self) -> None:
        """Cleanly."""

        async def ending() -> None:
            self.life.over.set()
            await self.life.task

        self.run(ending())

    def reopen(self, folder: Path | None = None, *, down: bool) -> None:
        """The next life, on the last one's files or on those of a kill. down: `disc` does not come up by itself."""
        old = self.life
        self.life = self.run(self._begin(folder or old.folder, down=down))
        self.read |= _held(old, self.life.before - old.before)

    def kill(self, asking: Iterable[Coroutine[object, object, object]], after: int, seconds: float) -> tuple[Path, int]:
        """Ask for all of it at once, let time pass, and keep the files as so many transactions left them, before this
        life ends; gives their folder, and how many were acknowledged by then."""
        kill = Kill(after, self.life.folder, self._folder())
        self.run(self._watched(kill, asking, seconds))
        return kill.goal, kill.acknowledged or 0

    def read_by_now(self, stored: Sequence[Message]) -> set[int]:
        """What ended requests of scout's held, in this life too."""
        return self.read | _held(self.life, _answers(stored) - self.life.before)

    def stored(self) -> Sequence[Message]:
        return self.run(self.cockpit.stored(RESIDENTS))

    def lifecycle(self, target: str, what: str) -> list[Lifecycle]:
        """The records of one change of a channel, oldest first."""
        chronicle = self.cockpit.session.engine.ledger.chronicle
        found = self.run(chronicle.lifecycle(target=target, limit=10_000))
        return sorted((each for each in found if each.what == what), key=lambda each: each.sequence)

    def close(self) -> None:
        try:
            self.end()
        finally:
            self._runner.close()
            self._scratch.cleanup()

    def _folder(self) -> Path:
        self._count += 1
        folder = Path(self._scratch.name) / f"life{self._count}"
        folder.mkdir()
        return folder

    async def _begin(self, folder: Path, *, down: bool) -> Life:
        model, over = CuedModel(), asyncio.Event()
        started: asyncio.Future[tuple[Rig, int]] = asyncio.get_running_loop().create_future()
        channels, away = {"disc": self._channels}, ("disc",) if down else ()

        async def live() -> None:
            async with rig(folder, self._recipe, channels=channels, model=model, clock=self.clock, down=away) as one:
                answers = _answers(await one.stored(RESIDENTS))
                started.set_result((one, answers - len(model.requests_of("scout"))))
                await over.wait()

        task = asyncio.create_task(live())
        task.add_done_callback(lambda _: started.cancel())  # whatever it died of, below
        try:
            cockpit, before = await started
        except asyncio.CancelledError:
            task.result()
            raise
        return Life(folder, cockpit, model, over, task, before)

    async def _watched(self, kill: Kill, asking: Iterable[Coroutine[object, object, object]], seconds: float) -> None:
        chronicle = self.cockpit.session.engine.ledger.chronicle
        append = chronicle.append

        async def appending(batch: Batch) -> tuple[Record, ...]:
            if kill.left == 0:
                kill.take()
            kill.left -= 1
            return await append(batch)

        chronicle.append = appending  # type: ignore[method-assign]  # only looks on
        for each in asking:
            asked: asyncio.Future[object] = asyncio.ensure_future(each)
            asked.add_done_callback(lambda done: done.exception())
            kill.asked.append(asked)
            await asyncio.sleep(0)
        self.clock.advance(seconds)
        await self.cockpit.settle(held=self.life.waiting_for)
        kill.take()


def number_of(message: Message) -> int:
    return int(NUMBER.findall(message.text)[0])


def headed(request: Request) -> set[int]:
    """The numbers of the messages that a request shows under a channel's header."""
    return {int(text or author) for text, author in HEADED.findall(shown(request))}


def _held(life: Life, ended: int) -> set[int]:
    return {number for request in life.model.requests_of("scout")[:ended] for number in headed(request)}


def _answers(stored: Sequence[Message]) -> int:
    return sum(one.kind == "agent" and one.author == "scout" for one in stored)
