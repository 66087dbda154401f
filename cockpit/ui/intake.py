"""Where events wait for the next paint: bounded, coalesced, and counting what it had to drop (cases.md F-27).

A row replaces its older self, a stream's pieces become one, progress replaces progress. What stays a list of its own
(reports, prose, notices, calls) is bounded; the oldest give way and each pane is told how many. Plain values only:
nothing here knows Textual.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import Generic, TypeVar, assert_never

from cockpit.core.events import (
    Audited,
    ChannelChanged,
    ContextShown,
    Counted,
    Event,
    Explained,
    Failed,
    Noticed,
    Peeked,
    Progressed,
    Prompted,
    Ready,
    Reported,
    Spoke,
    Stopped,
    ToolCalled,
    TurnChanged,
    VerbRan,
    Writing,
)
from cockpit.core.records import Usage

MOST = 150
"""Entries of one pane that wait for one paint: fewer than a pane keeps, so that the mark of a gap stays in it."""

LONGEST_PIECE = 65_536
"""Characters of one stream between two paints; the whole text follows as an event of its own."""

ReportItem = Reported | ToolCalled | Writing | TurnChanged
TalkItem = Spoke | Prompted | ToolCalled | Noticed | Writing | TurnChanged
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Batch:
    """What one paint shows, in order. lost_* count what gave way; `usage` is what the turns took that ended."""

    rows: tuple[ChannelChanged, ...] = ()
    reports: tuple[ReportItem, ...] = ()
    talk: tuple[TalkItem, ...] = ()
    turns: tuple[TurnChanged, ...] = ()
    progress: tuple[Progressed, ...] = ()
    failures: tuple[Failed, ...] = ()
    verbs: tuple[VerbRan, ...] = ()
    lost_reports: int = 0
    lost_talk: int = 0
    lost_failures: int = 0
    stopped: Stopped | None = None


class Lane(Generic[Item]):
    """A bounded list that gives up its oldest and counts them."""

    def __init__(self, most: int = MOST) -> None:
        self._items: deque[Item] = deque()
        self._most = most
        self.lost = 0

    def put(self, item: Item) -> None:
        self._items.append(item)
        if len(self._items) > self._most:
            gone = self._items.popleft()
            self.lost += not isinstance(gone, Writing | TurnChanged)  # neither is an entry of its own

    def replace_last(self, item: Item) -> None:
        self._items[-1] = item

    @property
    def last(self) -> Item | None:
        return self._items[-1] if self._items else None

    def take(self) -> tuple[tuple[Item, ...], int]:
        """All that waits and how many gave way, and begin anew."""
        items, lost = tuple(self._items), self.lost
        self._items.clear()
        self.lost = 0
        return items, lost

    def __len__(self) -> int:
        return len(self._items)


class Intake:
    """Fed by the reader of the link's events, emptied by each paint. `subconscious`: whose calls are reports."""

    def __init__(self) -> None:
        self.subconscious = ""
        self._rows: dict[str, ChannelChanged] = {}
        self._progress: dict[str, Progressed] = {}
        self._turns: dict[str, TurnChanged] = {}
        self._reports: Lane[ReportItem] = Lane()
        self._talk: Lane[TalkItem] = Lane()
        self._failures: Lane[Failed] = Lane(50)
        self._verbs: Lane[VerbRan] = Lane(50)
        self._stopped: Stopped | None = None

    def put(self, event: Event) -> None:
        """Take one event in; never waits, never grows without bound."""
        match event:
            case ChannelChanged():
                self._rows.pop(event.target, None)
                self._rows[event.target] = event
            case Reported():
                self._reports.put(event)
            case Writing():
                self._written(event)
            case ToolCalled() if event.agent == self.subconscious:
                self._reports.put(event)
            case Noticed() if event.agent == self.subconscious:
                pass  # what set it off comes as a report too
            case Spoke() | Prompted() | ToolCalled() | Noticed():
                self._talk.put(event)
            case TurnChanged():
                self._turn(event)
            case Progressed():
                self._progress[event.target] = event
            case Failed(code=code):
                if code != "offline":  # its row says it
                    self._failures.put(event)
            case VerbRan():
                self._verbs.put(event)
            case Stopped():
                self._stopped = event
            case Ready() | Peeked() | Explained() | ContextShown() | Audited() | Counted():
                pass  # answers come with their verb; `ready` is what the snapshot says
            case _:
                assert_never(event)

    def take(self) -> Batch:
        """Everything since the last paint."""
        reports, lost_reports = self._reports.take()
        talk, lost_talk = self._talk.take()
        failures, lost_failures = self._failures.take()
        batch = Batch(
            tuple(self._rows.values()), reports, talk, tuple(self._turns.values()), tuple(self._progress.values()),
            failures, self._verbs.take()[0], lost_reports, lost_talk, lost_failures, self._stopped,
        )  # fmt: skip
        self._rows.clear()
        self._progress.clear()
        self._turns.clear()
        self._stopped = None
        return batch

    def _written(self, event: Writing) -> None:
        lane = self._reports if event.report else self._talk
        joined = _joined(lane.last, event)
        if joined is None:
            lane.put(event)
        else:
            lane.replace_last(joined)

    def _turn(self, event: TurnChanged) -> None:
        """The newest state of an agent, with the usage of all its turns that ended since the last paint."""
        before = self._turns.get(event.agent)
        usage = event.usage or Usage()
        if before is not None and before.usage is not None:
            usage = before.usage + usage
        self._turns[event.agent] = replace(event, usage=usage)
        if event.state != "started":
            self._reports.put(event)
            self._talk.put(event)


def _joined(last: object, event: Writing) -> Writing | None:
    """Two pieces of one stream as one, or None where they are not neighbours of one."""
    if not isinstance(last, Writing) or last.stream != event.stream or last.done:
        return None
    return replace(event, text=(last.text + event.text)[-LONGEST_PIECE:])
