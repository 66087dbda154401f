"""What a whole cockpit's channels must look like, kept by plain lists beside the engine: who said what under which mute
and tune-out, which dump each epoch and span has ended in, and the counts that follow. It knows no store and no task.

Times are those of the test's clock. Epochs and spans are numbered a target, as they begin.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Literal

Layer = Literal["operator", "resident"]
Change = Literal["", "edited", "deleted"]
SERVER = "mcp:disc"
WINDOW = 2.0
"""Seconds of the wake window (T-8)."""
CALM = 20.0
"""Seconds of quiet for which the gate debounces what `slow` says."""


@dataclass
class Said:
    """One stored message. number: what its text holds; shown: what a dump shows of it now, None where it was deleted.
    epoch: the number of its channel's; span: whose mute and the number of it. amends: it changes another one."""

    number: int
    author: str
    id: str
    shown: int | None
    addressed: bool
    epoch: int | None
    span: tuple[str, int] | None
    amends: bool = False

    @property
    def stamp(self) -> tuple[object, object] | None:
        """What must be stamped on it, None where it is heard."""
        return None if self.epoch is None and self.span is None else (self.epoch, self.span)

    @property
    def line(self) -> str:
        """Its line in a dump."""
        return f"{self.author}: " + ("[deleted]" if self.shown is None else f"#{self.shown};")


@dataclass
class Epoch:
    """closes: when its open window is over, by elapsed time; None while no wake is asked for, or nobody counts."""

    number: int
    cap: int
    budget: int
    deadline: float | None
    charged: int = 0
    asked: int = 0
    closes: float | None = None


@dataclass
class Debounced:
    """What `slow` said in one epoch, or in none: how much of it asks for a wake, and what is to be acknowledged."""

    epoch: int | None
    asks: int = 0
    acks: list[str] = field(default_factory=list)


@dataclass
class Told:
    """One notice that ended an epoch or a span: how its first line ends, and the dump's lines, None without a dump."""

    words: str
    messages: int
    lines: list[str] | None
    frame: str


@dataclass
class Muted:
    """The mutes of one target: its span's number while there is one, by whom, and how many there were."""

    target: str
    layers: set[Layer] = field(default_factory=set)
    spans: int = 0
    adopted: tuple[str, int] | None = None

    @property
    def span(self) -> tuple[str, int] | None:
        return (self.adopted or (self.target, self.spans)) if self.layers else None

    def on(self, layer: Layer, above: tuple[str, int] | None = None) -> bool:
        """above: its server's span while there is one, which goes on as its own (M-9)."""
        if layer in self.layers:
            return False
        if not self.layers:
            self.spans, self.adopted = self.spans + 1, above
        self.layers.add(layer)
        return True


@dataclass
class Room:
    """One channel. said: all that is stored of it; told: the notices of its ended epochs and spans, oldest first.
    calm: when it has been quiet for long enough, by elapsed time, for what waits for that."""

    target: str
    mute: Muted
    said: list[Said] = field(default_factory=list)
    told: list[Told] = field(default_factory=list)
    wanted: bool = True
    epochs: int = 0
    epoch: Epoch | None = None
    debounced: list[Debounced] = field(default_factory=list)
    calm: float = 0.0

    def of_epoch(self, number: int | None) -> list[Said]:
        return [] if number is None else [one for one in self.said if one.epoch == number and not one.amends]

    def of_span(self, span: tuple[str, int] | None) -> list[Said]:
        """What a span withholds that no epoch dumps (M-12)."""
        found = [one for one in self.said if one.span == span and one.epoch is None and not one.amends]
        return [] if span is None else found


@dataclass
class AttentionModel:
    """The server `disc` and its channels. presence: the server's. acks: ids that were to be acknowledged since the
    process began. cap_of_mute: messages at most of a muted backlog."""

    rooms: dict[str, Room] = field(default_factory=dict)
    mute: Muted = field(default_factory=lambda: Muted(SERVER))
    told: list[Told] = field(default_factory=list)
    presence: str = "online"
    acks: list[str] = field(default_factory=list)
    elapsed: float = 0.0
    wall: float = 0.0
    cap_of_mute: int = 200

    @classmethod
    def of(cls, names: Iterable[str], wall: float) -> AttentionModel:
        rooms = {name: Room(f"channel:disc/{name}", Muted(f"channel:disc/{name}")) for name in names}
        return cls(rooms, wall=wall)

    def copy(self) -> AttentionModel:
        return deepcopy(self)

    def muted(self, name: str) -> bool:
        return bool(self.rooms[name].mute.layers or self.mute.layers)

    def attention(self, name: str) -> str:
        room = self.rooms[name]
        if self.muted(name):
            return "muted"
        return "tuned-out" if room.epoch is not None else "open" if room.wanted else "closed"

    def label(self, name: str) -> str:
        """The table of semantics.md section 1."""
        decided = self.attention(name)
        if self.presence == "online":
            return "online" if decided == "open" else decided
        return self.presence if decided == "open" else f"{decided} · {self.presence}"

    def held(self, name: str) -> int:
        room = self.rooms[name]
        mine = room.of_epoch(room.epoch.number if room.epoch else None)
        return len(mine) + len([one for span in {room.mute.span, self.mute.span} for one in room.of_span(span)])

    def waiting(self, name: str, read: set[int]) -> list[Said]:
        """What is delivered, and in no ended request of the primary's (A-11)."""
        return [one for one in self.rooms[name].said if one.stamp is None and one.number not in read]

    def need(self, name: str, read: set[int]) -> int:
        room = self.rooms[name]
        mine = room.of_epoch(room.epoch.number if room.epoch else None)
        asked = sum(one.addressed for one in [*self.waiting(name, read), *mine])
        return 0 if self.muted(name) else asked

    def say(
        self, name: str, number: int, author: str, ident: str, *, addressed: bool, passes: bool, change: Change = ""
    ) -> Said:
        """A message comes. passes: the gate would wake for it; boss is privileged."""
        room = self.rooms[name]
        epoch = room.epoch
        span = room.mute.span or self.mute.span
        shown = None if change == "deleted" else number
        one = Said(number, author, ident, shown, addressed, epoch.number if epoch else None, span)
        if change:
            found = next((each for each in reversed(room.said) if each.id == ident and not each.amends), None)
            if found is not None and found.stamp is not None and self._backlog(found) == self._backlog(one):
                found.shown, one.amends = shown, True
        room.said.append(one)
        room.calm = self.elapsed + CALM
        if author == "slow" and span is None:
            waiting = next((each for each in room.debounced if each.epoch == one.epoch), None)
            if waiting is None:
                waiting = Debounced(one.epoch)
                room.debounced.append(waiting)
            waiting.asks += addressed
            waiting.acks += [ident] if addressed else []
        elif epoch is not None and span is None and passes:
            if addressed:
                self.acks.append(ident)
            self._ask(epoch, int(addressed or author == "boss"))
        return one

    def tune_out(self, name: str, *, cap: int, budget: int, duration: float | None) -> bool:
        room = self.rooms[name]
        if room.epoch is not None:
            return False
        room.epochs += 1
        room.epoch = Epoch(room.epochs, cap, budget, None if duration is None else self.wall + duration)
        return True

    def end(self, name: str, reason: str) -> bool:
        """The epoch ends: its whole backlog is dumped, once (T-16)."""
        room, epoch = self.rooms[name], self.rooms[name].epoch
        if epoch is None:
            return False
        backlog = room.of_epoch(epoch.number)
        lines = [one.line for one in backlog[max(0, len(backlog) - epoch.cap) :]] if epoch.cap else []
        wakes = f"{epoch.charged} wake{'' if epoch.charged == 1 else 's'}"
        words = f"[Tune-out: {name} cancelled — {reason}, {wakes}]"
        room.told.append(Told(words, len(backlog), lines, "tuned-out-backlog"))
        room.epoch = None
        return True

    def want(self, name: str, wanted: bool) -> bool:
        """T-4: an open of a tuned-out channel is refused, a close cancels first."""
        room = self.rooms[name]
        if (room.epoch is not None and wanted) or (room.epoch is None and room.wanted == wanted):
            return False
        self.end(name, "operator request")
        room.wanted = wanted
        return True

    def unmute(self, name: str, layer: Layer, *, deliver: bool) -> bool:
        room = self.rooms[name]
        if self.mute.layers or layer not in room.mute.layers:
            return False
        span = room.mute.span
        room.mute.layers.discard(layer)
        if not room.mute.layers:
            room.told.append(self._withheld(room.target, room.of_span(span), deliver=deliver))
        self._counting()
        return True

    def unmute_server(self, layer: Layer, *, deliver: bool) -> bool:
        """M-11: one notice with the total, and with `deliver` one dump a channel that has something, or the word that
        none has (D-11)."""
        if layer not in self.mute.layers:
            return False
        span = self.mute.span
        self.mute.layers.discard(layer)
        if not self.mute.layers:
            backlogs = {name: room.of_span(span) for name, room in self.rooms.items() if room.mute.span != span}
            total = sum(map(len, backlogs.values()))
            lines: list[str] | None = [] if deliver and not total else None
            self.told.append(Told(_withheld(SERVER, total), total, lines, "muted-backlog"))
            for name, backlog in backlogs.items():
                if deliver and backlog:
                    room = self.rooms[name]
                    room.told.append(self._withheld(room.target, backlog, deliver=True))
        self._counting()
        return True

    def _ask(self, epoch: Epoch, asks: int) -> None:
        epoch.asked += asks
        if asks and epoch.closes is None:
            epoch.closes = self.elapsed + WINDOW

    def pass_time(self, seconds: float, wall: float | None = None) -> None:
        self.elapsed += seconds
        self.wall += seconds if wall is None else wall

    def timers(self, only: Iterable[str] | None = None) -> None:
        """What has fallen due: deadlines, windows, then what the gate debounced; a muted channel's wait (M-12)."""
        for name, room in self.rooms.items():
            epoch = room.epoch
            if epoch is None or self.muted(name) or (only is not None and name not in only):
                continue
            if epoch.deadline is not None and self.wall >= epoch.deadline:
                self.end(name, "duration elapsed")
            elif epoch.closes is not None and self.elapsed >= epoch.closes:
                epoch.charged, epoch.asked, epoch.closes = epoch.charged + 1, 0, None
                if epoch.charged > epoch.budget:
                    self.end(name, f"wake budget exhausted ({epoch.budget})")
        for name, room in self.rooms.items():
            if room.debounced and self.elapsed >= room.calm and not self.muted(name):
                self._calmed(room)

    def _calmed(self, room: Room) -> None:
        """The gate lets it through: it asks in its own epoch, and is consumed where that has ended (T-11)."""
        for each in room.debounced:
            if each.epoch is not None and room.epoch is not None and room.epoch.number == each.epoch:
                self.acks += each.acks if self.presence == "online" else []
                self._ask(room.epoch, each.asks)
        room.debounced = []

    def restart(self, presence: str) -> None:
        """Another process goes on with the store: overdue epochs end, open windows get their two seconds anew."""
        self.presence, self.acks = presence, []
        for name, room in self.rooms.items():
            epoch, room.calm = room.epoch, self.elapsed + CALM
            if epoch is None:
                continue
            epoch.closes = None
            if not self.muted(name) and epoch.deadline is not None and self.wall >= epoch.deadline:
                self.end(name, "duration elapsed")
        self._counting()

    def _counting(self) -> None:
        """A window that nobody counted, under a mute or before a restart, begins to count."""
        for name, room in self.rooms.items():
            if room.epoch is not None and room.epoch.asked and room.epoch.closes is None and not self.muted(name):
                room.epoch.closes = self.elapsed + WINDOW

    @staticmethod
    def _backlog(one: Said) -> object:
        """By what a dump finds it (M-12)."""
        return ("epoch", one.epoch) if one.epoch is not None else one.span

    def _withheld(self, target: str, backlog: list[Said], *, deliver: bool) -> Told:
        lines = [one.line for one in backlog[-self.cap_of_mute :]] if deliver else None
        return Told(_withheld(target, len(backlog)), len(backlog), lines, "muted-backlog")


def _withheld(target: str, count: int) -> str:
    return f"[Mute: {target} unmuted … {count} message{'' if count == 1 else 's'} withheld]"
