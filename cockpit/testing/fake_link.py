"""A link without an engine: rows and answers as a test gives them, calls recorded, events sent by hand.

`python -m cockpit.testing.fake_link` shows the screen over one, with a little life in it.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cockpit.core.channel import Attention, Layer, Presence, label
from cockpit.core.events import (
    AgentView,
    Answer,
    Answered,
    ChannelChanged,
    EpochView,
    Event,
    Held,
    Noticed,
    Peeked,
    Prompted,
    Reported,
    Spoke,
    ToolCalled,
    VerbRan,
    View,
    Writing,
)
from cockpit.core.records import ReportKind, Usage
from cockpit.core.target import parse as parse_target
from cockpit.core.verbs import Command, parse
from cockpit.errors import VerbCode, VerbError
from cockpit.shipped import shipped_dir

START = 1_796_029_200.0
"""2026-11-30 09:00 UTC, as the fake clock has it."""

TOTALS: Mapping[str, int | float] = {
    "seconds_muted": 0.0, "seconds_tuned_out": 720.0, "seconds_offline": 0.0, "crashes": 0, "kills": 0,
    "diverted": 41, "delivered": 12, "dumped": 0,
}  # fmt: skip


def row(
    target: str,
    presence: Presence = "online",
    attention: Attention = "open",
    *,
    wait: int = 0,
    need: int = 0,
    held: int = 0,
    epoch: EpochView | None = None,
    muted_by: tuple[Layer, ...] = (),
    at: float = START,
    reason: str = "",
    proof: float | None = None,
    gone: bool = False,
) -> ChannelChanged:
    """A row whose label follows from its state, as the engine's do. `target` may be any text at all."""
    try:
        parsed = parse_target(target)
        kind, server = parsed.kind, parsed.server or ""
    except VerbError:
        kind, server = "mcp", target
    if attention == "muted" and not muted_by:
        muted_by = ("operator",)
    return ChannelChanged(
        at, target, kind, presence, attention, label(presence, attention), wait, need, held, epoch, muted_by,
        reason, proof, server, "", gone,
    )  # fmt: skip


def epoch(*, wakes: int = 2, deadline: float | None = START + 1440.0) -> EpochView:
    """The epoch of a tuned-out row."""
    return EpochView("e1", 1800.0, 200, 5, wakes, deadline)


def demo_rows() -> tuple[ChannelChanged, ...]:
    """The rows of cockpit.md's picture, and a few of the other states."""
    return (
        row("mcp:git"),
        row("mcp:disc"),
        row("channel:disc/disc:guild:general", wait=3, need=1),
        row("channel:disc/disc:guild:noisy", attention="tuned-out", need=2, held=41, epoch=epoch()),
        row("channel:disc/disc:guild:games", attention="closed"),
        row("mcp:db", "offline", "muted", held=7, reason="exited with 1", proof=START - 240.0),
        row("mcp:web", "killed"),
        row("mcp:time", "connecting"),
        row("user:hedgehog", attention="muted", held=3),
        row("feed:general", wait=1),
    )


def report(text: str, *, kind: ReportKind = "summary", at: float = START, id: str = "",  # noqa: A002
           channel: str = "channel:disc/disc:guild:noisy") -> Reported:  # fmt: skip
    """A report of the subconscious."""
    return Reported(at, "Subconscious", channel, kind, text, id or f"{at}:{text[:20]}")


def view(rows: Sequence[ChannelChanged] | None = None, **changes: object) -> View:
    """A snapshot over these rows (the demo's unless given), with one resident and a subconscious."""
    base = View(
        recipe="demo",
        store="demo.db",
        operator="you",
        model="offline",
        read_only=False,
        agents=(
            AgentView("scout", "resident", "idle", Usage(1_100, 900, 10_800, 500)),
            AgentView("Subconscious", "subconscious", "idle", Usage(0, 200, 0, 0)),
        ),
        rows=demo_rows() if rows is None else tuple(rows),
        reports=(),
        conversation=(),
        defaults={"cadence": "1800", "cap": "200", "wakes": "5"},
    )
    return replace(base, **changes)  # type: ignore[arg-type]  # checked by dataclasses at run time


def demo_view() -> View:
    """A snapshot with something to read in each pane."""
    return view(
        reports=(
            report("You were asked twice about the release date; nobody is blocked. Marten offers to write the notes "
                   "if you say which of the two drafts counts.", at=START - 600.0),
            report("wake 2 of 5", kind="wake", at=START - 300.0),
            report("The thread turned to lunch. Nothing for you.", at=START - 240.0),
        ),
        conversation=(
            Prompted(START - 500.0, "scout", "what did I miss in git this morning?"),
            ToolCalled(START - 498.0, "scout", "git__git_log", "max_count=10", ok=True),
            Spoke(START - 495.0, "scout", "Four commits, all by Ada: the parser reads flags now, and its tests moved "
                                          "out of the package. Nothing is on fire."),
            Noticed(START - 120.0, "residents", "unmute", "mcp:git",
                    "[Mute: mcp:git unmuted after 5 min 3 s — 2 messages withheld]"),
        ),
    )  # fmt: skip


@dataclass(slots=True)
class FakeLink:
    """Answers `snapshot()` with `view`, records what is run and asked, and sends what a test emits.

    answers: what a verb (by name) shows. refusals: why one is refused. `apply`: whether mute, unmute, kill and start
    change the row, as an engine's would. `fail`: raised by the events' next read.
    """

    view: View = field(default_factory=view)
    answers: dict[str, tuple[Answered, ...]] = field(default_factory=dict)
    refusals: dict[str, tuple[VerbCode, str, str]] = field(default_factory=dict)
    apply: bool = True
    now: Callable[[], float] = lambda: START
    ran: list[str] = field(default_factory=list)
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    subscriptions: int = 0
    _queue: deque[Event | BaseException | None] = field(default_factory=deque)
    _ready: asyncio.Event = field(default_factory=asyncio.Event)

    def emit(self, *events: Event) -> None:
        """Send events, in order."""
        self._queue.extend(events)
        self._ready.set()

    @property
    def pending(self) -> int:
        """Events that nobody has read yet."""
        return len(self._queue)

    def break_off(self, error: BaseException | None = None) -> None:
        """End the events, or make the next read raise."""
        self._queue.append(error)
        self._ready.set()

    def events(self) -> AsyncIterator[Event]:
        self.subscriptions += 1
        return self._read()

    async def snapshot(self) -> View:
        return self.view

    async def run(self, line: str) -> Answer:
        self.ran.append(line)
        try:
            command = parse(line)
        except VerbError as error:
            return Answer(VerbRan(self.now(), line, "", False, str(error), error.code, error.hint))
        name = command.verb.name
        if self.view.read_only and command.verb.writes:
            return self._refused(line, name, "read_only", f"read-only: {name} is refused", "")
        if name in self.refusals:
            return self._refused(line, name, *self.refusals[name])
        if self.apply:
            self._apply(command)
        said = f"{name} {command.target or ''}".strip()
        shown = self.answers.get(name, ())
        if name == "peek" and not shown:
            shown = (self._peek(command.target or ""),)
        return Answer(VerbRan(self.now(), line, name, True, f"{said}: done"), shown)

    async def ask(self, text: str, agent: str | None = None) -> Answer:
        self.asked.append((text, agent))
        if self.view.read_only:
            return self._refused(text, "ask", "read_only", "read-only: ask is refused", "")
        self.emit(Prompted(self.now(), agent or "scout", text))
        return Answer(VerbRan(self.now(), text, "ask", True, "asked"))

    def change(self, target: str, **changes: object) -> None:
        """Change one row of the view and send it; its label follows its state."""
        rows = {each.target: each for each in self.view.rows}
        changed = replace(rows[target], at=self.now(), **changes)  # type: ignore[arg-type]  # as above
        changed = replace(changed, label=label(changed.presence, changed.attention))
        rows[target] = changed
        self.view = replace(self.view, rows=tuple(rows.values()))
        self.emit(changed)

    async def _read(self) -> AsyncIterator[Event]:
        while True:
            while not self._queue:
                self._ready.clear()
                await self._ready.wait()
            event = self._queue.popleft()
            if event is None:
                return
            if isinstance(event, BaseException):
                raise event
            yield event

    def _apply(self, command: Command) -> None:
        changes: dict[str, dict[str, object]] = {
            "mute": {"attention": "muted", "muted_by": ("operator",), "need": 0},
            "unmute": {"attention": "open", "muted_by": ()},
            "tune-out": {"attention": "tuned-out", "epoch": epoch(wakes=0, deadline=None)},
            "cancel": {"attention": "open", "epoch": None, "held": 0},
            "open": {"attention": "open"},
            "close": {"attention": "closed"},
            "kill": {"presence": "killed"},
            "start": {"presence": "online"},
        }
        known = {each.target for each in self.view.rows}
        if command.target in known and command.verb.name in changes:
            self.change(command.target or "", **changes[command.verb.name])

    def _peek(self, target: str) -> Peeked:
        found = next((each for each in self.view.rows if each.target == target), None)
        messages = tuple(
            Held(str(n), START - 600.0 + 60.0 * n, ("ada", "marten", "ines")[n % 3], text, "tune-out")
            for n, text in enumerate(
                ("did scout see the draft?", "@scout when is the release?", "lunch at one, as ever",
                 "@scout the second draft or the first?\nI would take the second."), 1,
            )
        )  # fmt: skip
        return Peeked(self.now(), target, messages, None if found is None else found.epoch, TOTALS)

    def _refused(self, line: str, name: str, code: VerbCode, message: str, hint: str) -> Answer:
        return Answer(VerbRan(self.now(), line, name, False, message, code, hint))


async def _live(link: FakeLink) -> None:
    """A report now and then, and counts that move."""
    number = 0
    while True:
        await asyncio.sleep(1.0)
        number += 1
        noisy = "channel:disc/disc:guild:noisy"
        held = next(each.held for each in link.view.rows if each.target == noisy)
        link.change(noisy, held=held + 3)
        if number % 8 == 0:
            text = "Ines asked you about the draft. " * 3
            for word in text.split(" "):
                link.emit(Writing(link.now(), "Subconscious", f"s{number}", f"{word} ", True, noisy))
                await asyncio.sleep(0.05)
            link.emit(replace(report(text.strip(), id=f"r{number}"), at=link.now(), channel=noisy))


async def _demo(theme: str) -> int:
    from cockpit.ui import run_screen_async  # noqa: PLC0415  the double itself needs no screen

    link = FakeLink(demo_view(), now=time.time)
    live = asyncio.create_task(_live(link), name="live")
    try:
        folder = shipped_dir("themes")
        return await run_screen_async(link, theme=theme, themes=folder, mouse=True, read_only=False)
    finally:
        live.cancel()


if __name__ == "__main__":
    raise SystemExit(asyncio.run(_demo(sys.argv[1] if len(sys.argv) > 1 else "dark")))
