"""The subconscious's pane: its reports as they are written, each with its time and channel (semantics.md S-9)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import assert_never

from textual.message import Message

from cockpit.core.events import Reported, ToolCalled, TurnChanged, Writing
from cockpit.ui import words
from cockpit.ui.intake import ReportItem
from cockpit.ui.keys import bindings
from cockpit.ui.paint import Line, Part
from cockpit.ui.text import LONGEST, Safe, block, line, own
from cockpit.ui.theme import Role
from cockpit.ui.widgets.entry import Entry, Head
from cockpit.ui.widgets.journal import KEEP, Journal

_TRIGGERS = {"wake", "cadence", "cancel"}
_TOLD_OTHERWISE = {"deliver_summary", "note_disposition", "cancel_tuneout", "think", "skip_reply", "end_turn"}
"""Calls of the subconscious (semantics.md S-4) that are reports already, or nothing to read; a failed one is told."""


@dataclass(slots=True)
class Draft:
    """A report that is still being written."""

    entry: Entry
    agent: str
    channel: str
    text: str = ""
    done: bool = False


class Reports(Journal):
    """Reports, newest last. A report that was streamed takes the place of its draft."""

    BINDINGS = bindings("move", "reports")

    class Peeked(Message):
        """Enter on a report that speaks of a channel."""

        def __init__(self, channel: str) -> None:
            self.channel = channel
            super().__init__()

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._drafts: dict[str, Draft] = {}
        self._ids: dict[str, None] = {}

    def begin(self, reports: Sequence[Reported]) -> None:
        """Begin anew with a snapshot's reports."""
        self._drafts.clear()
        self._ids = dict.fromkeys(report.id for report in reports)
        self.begin_with([_entry(report) for report in reports[-KEEP:]])

    def apply(self, items: Iterable[ReportItem], lost: int) -> None:
        """Show what came since the last paint."""
        new: list[Entry] = []
        for item in items:
            match item:
                case Reported():
                    self._reported(item, new)
                case Writing():
                    self._write(item, new)
                case ToolCalled():
                    self._called(item, new)
                case TurnChanged():
                    self._turn_over(item.agent)
                case _:
                    assert_never(item)
        self.add(new, lost)

    def action_enter(self) -> None:
        if self.current is not None and self.current.channel:
            self.post_message(self.Peeked(self.current.channel))

    def _reported(self, report: Reported, new: list[Entry]) -> None:
        if report.id in self._ids:
            return
        self._ids[report.id] = None
        if len(self._ids) > 4 * KEEP:
            del self._ids[next(iter(self._ids))]
        stream = self._draft_of(report)
        if stream is None:
            new.append(_entry(report))
            return
        draft = self._drafts.pop(stream)
        draft.entry.channel = report.channel
        draft.entry.write(_body(report), head=_head(report), role=_role(report), raw=report.text)

    def _draft_of(self, report: Reported) -> str | None:
        """The stream that became this report: the one that says the same, else the oldest of its agent and channel."""
        if report.kind in _TRIGGERS or report.kind == "failure":
            return None
        mine = {stream: draft for stream, draft in self._drafts.items() if draft.agent == report.agent}
        same = [stream for stream, draft in mine.items() if draft.text.strip() == report.text.strip()]
        near = [stream for stream, draft in mine.items() if draft.channel == report.channel]
        return next(iter([*same, *near, *mine]), None)

    def _void(self, agent: str, new: list[Entry]) -> None:
        """What was written to its end and became no report goes."""
        for stream, draft in list(self._drafts.items()):
            if draft.agent == agent and draft.done:
                del self._drafts[stream]
                self.drop(draft.entry)
                if draft.entry in new:
                    new.remove(draft.entry)

    def _called(self, call: ToolCalled, new: list[Entry]) -> None:
        """A call ended: what was written for it was a thought, or a line to a channel."""
        self._void(call.agent, new)
        if call.ok is False or call.tool not in _TOLD_OTHERWISE:
            new.append(_call(call))

    def _write(self, piece: Writing, new: list[Entry]) -> None:
        draft = self._drafts.get(piece.stream)
        if draft is None:
            if not piece.text:
                return
            self._void(piece.agent, new)  # a provider's stream that was cut ends so, and is written anew as another
            head = _head_of(piece.at, piece.channel, "")
            draft = Draft(Entry(head, own(""), channel=piece.channel), piece.agent, piece.channel)
            self._drafts[piece.stream] = draft
            new.append(draft.entry)
        draft.text = (draft.text + piece.text)[: LONGEST + 1]
        draft.done = piece.done
        draft.entry.write(block(draft.text), raw=draft.text)

    def _turn_over(self, agent: str) -> None:
        """A turn ended: what it began to write and did not finish stays, and says so."""
        for stream in [stream for stream, draft in self._drafts.items() if draft.agent == agent]:
            draft = self._drafts.pop(stream)
            draft.entry.write(own(f"{block(draft.text)} — broken off"), role="dim", raw=draft.text)


def _entry(report: Reported) -> Entry:
    return Entry(_head(report), _body(report), _role(report), raw=report.text, channel=report.channel)


def _head(report: Reported) -> Head:
    return _head_of(report.at, report.channel, words.REPORT_TAGS[report.kind])


def _head_of(at: float, channel: str, tag: str) -> Head:
    def head(width: int) -> Line:
        parts = [Part(words.clock(at), "dim"), Part(own(" "))]
        if channel:
            parts.append(Part(own(f"{words.short(channel, min(words.SHORT, width // 3))}  "), "accent"))
        if tag:
            parts.append(Part(own(f"{tag}  "), "dim"))
        return tuple(parts)

    return head


def _body(report: Reported) -> Safe:
    return own(f"· {line(report.text, 400)} ·") if report.kind in _TRIGGERS else block(report.text)


def _role(report: Reported) -> Role:
    if report.kind in _TRIGGERS or report.kind == "prose":
        return "dim"
    return "error" if report.kind == "failure" else "text"


def _call(call: ToolCalled) -> Entry:
    mark = {None: "·", True: "✓", False: "!"}[call.ok]
    said = own(f"{mark} {line(call.tool, 64)} {line(call.summary, 200)}")
    return Entry((Part(own("      ")),), said, "dim" if call.ok is not False else "error", one_line=True)
