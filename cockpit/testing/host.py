"""A host that records what connectors tell it, and answers as an engine would."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from cockpit.core.channel import Presence
from cockpit.core.inputs import Arrived, Descriptor, Receipt

_PATIENCE = 20.0  # seconds; what does not come fails its test with a clear word


@dataclass(frozen=True, slots=True)
class Presented:
    """One call of `present`."""

    server: str
    presence: Presence
    reason: str = ""
    crashed: bool = False


@dataclass
class RecordingHost:
    """Satisfies `ports.Host`.

    Everything is durable at once and opened, unless `durable` is False: then `commit` makes what waits durable.
    `wanted` are the ids wanted open, None for all that are registered. `keys` are the keys that were stored; give a
    second host the keys of a first, and it has its store. `full` stands for a queue without room.
    """

    durable: bool = True
    wanted: set[str] | None = None
    keys: set[str] = field(default_factory=set)
    arrivals: list[Arrived] = field(default_factory=list)
    registrations: list[tuple[str, list[Descriptor]]] = field(default_factory=list)
    removals: list[tuple[str, list[str]]] = field(default_factory=list)
    presences: list[Presented] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    progress: list[str] = field(default_factory=list)
    proofs: int = 0
    tool_changes: int = 0

    def __post_init__(self) -> None:
        self._changed = asyncio.Condition()
        self._room = asyncio.Event()
        self._room.set()
        self._waiting: list[tuple[asyncio.Future[Receipt], Receipt]] = []
        self._told: set[asyncio.Task[None]] = set()

    # The protocol.

    async def arrived(self, given: Arrived, *, over: str = "") -> asyncio.Future[Receipt]:
        await self._room.wait()
        duplicate = given.key is not None and given.key in self.keys
        if not over:
            self.arrivals.append(given)
            if given.key is not None:
                self.keys.add(given.key)
        future: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        receipt = Receipt(accepted=True, duplicate=duplicate and not over)
        if over and not duplicate:
            receipt = Receipt(accepted=False, reason=over)
        if self.durable:
            future.set_result(receipt)
        else:
            self._waiting.append((future, receipt))
        self._tell()
        return future

    async def registered(self, server: str, channels: Sequence[Descriptor]) -> Sequence[str]:
        self.registrations.append((server, list(channels)))
        self._tell()
        return [each.id for each in channels if self.wanted is None or each.id in self.wanted]

    async def removed(self, server: str, ids: Sequence[str]) -> None:
        self.removals.append((server, list(ids)))
        self._tell()

    async def present(self, server: str, presence: Presence, reason: str = "", *, crashed: bool = False) -> None:
        self.presences.append(Presented(server, presence, reason, crashed))
        self._tell()

    def proved(self, server: str) -> None:
        self.proofs += 1

    async def tools_changed(self, server: str) -> None:
        self.tool_changes += 1
        self._tell()

    def progressed(self, server: str, text: str) -> None:
        self.progress.append(text)
        self._tell()

    def fault(self, server: str, text: str) -> None:
        self.faults.append(text)
        self._tell()

    # The test's side.

    def commit(self) -> int:
        """Make durable what waits for it; gives how many."""
        waiting, self._waiting = self._waiting, []
        for future, receipt in waiting:
            if not future.done():
                future.set_result(receipt)
        return len(waiting)

    def fail(self, error: Exception) -> None:
        """Let the commit of what waits fail."""
        waiting, self._waiting = self._waiting, []
        for future, _ in waiting:
            future.set_exception(error)

    @property
    def full(self) -> bool:
        return not self._room.is_set()

    @full.setter
    def full(self, without_room: bool) -> None:
        if without_room:
            self._room.clear()
        else:
            self._room.set()

    async def until(self, holds: Callable[[], object]) -> None:
        """Wait until `holds()`, looked at whenever something was recorded."""
        async with asyncio.timeout(_PATIENCE), self._changed:
            await self._changed.wait_for(holds)

    async def until_presence(self, presence: Presence, times: int = 1) -> Presented:
        """Wait until this presence was presented so often in all; gives the last of them."""
        await self.until(lambda: sum(each.presence == presence for each in self.presences) >= times)
        return [each for each in self.presences if each.presence == presence][times - 1]

    def words(self) -> list[Presence]:
        """The presences, in order."""
        return [each.presence for each in self.presences]

    def texts(self) -> list[str]:
        """The texts of all arrivals, in order."""
        return ["\n".join(_texts(each)) for each in self.arrivals]

    def _tell(self) -> None:
        task = asyncio.get_running_loop().create_task(self._notify())
        self._told.add(task)
        task.add_done_callback(self._told.discard)

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()


def _texts(arrived: Arrived) -> Iterable[str]:
    return (text for block in arrived.blocks if isinstance(text := getattr(block, "text", None), str))
