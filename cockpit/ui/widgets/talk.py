"""The resident's pane: what the operator said, what it answers as it is written, its calls as one line each.

Each resident's conversation is kept apart, bounded, so that changing residents shows the other one whole (K-129).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import assert_never

from cockpit.core.events import Noticed, Prompted, Spoke, ToolCalled, TurnChanged, Writing
from cockpit.ui import words
from cockpit.ui.intake import TalkItem
from cockpit.ui.keys import bindings
from cockpit.ui.paint import Line, Part
from cockpit.ui.text import LONGEST, Safe, block, line, own
from cockpit.ui.theme import Role
from cockpit.ui.widgets.entry import Entry
from cockpit.ui.widgets.journal import KEEP, Journal

EVERYONE = "residents"
"""The owner of a notice that all residents share."""


@dataclass(slots=True, eq=False)
class Piece:
    """One entry of a conversation, with its widget while its resident is the one that is shown.

    stream: the text that is still being written, or (done) whose whole has not come. call: a tool call that has not
    ended.
    """

    head: Line
    body: Safe
    role: Role = "text"
    raw: str = ""
    stream: str = ""
    done: bool = False
    call: tuple[str, str] | None = None
    one_line: bool = False
    entry: Entry | None = None

    def shown(self) -> Entry:
        self.entry = Entry(self.head, self.body, self.role, raw=self.raw, one_line=self.one_line)
        return self.entry

    def write(self, body: Safe, role: Role = "text", raw: str = "") -> None:
        self.body, self.role, self.raw = body, role, raw
        if self.entry is not None:
            self.entry.write(body, role=role if role != "text" else None, raw=raw)


class Talk(Journal):
    """The conversation with one resident at a time."""

    BINDINGS = bindings("move", "resident")

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self.agent = ""
        self._operator = own("you")
        self._pieces: dict[str, deque[Piece]] = {}
        self._seen: set[tuple[str, float, str, str]] = set()

    def begin(self, agents: Sequence[str], operator: str, items: Sequence[TalkItem]) -> None:
        """Begin anew with a snapshot: the residents, and what they said, newest last."""
        self._pieces = {agent: deque(maxlen=KEEP) for agent in agents}
        self._operator = line(operator, 24) or own("you")
        self._seen = set()
        for item in items:
            self._take(item)
            self._seen.add(_key(item))  # events from before the snapshot may come again
        if self.agent not in self._pieces:
            self.agent = agents[0] if agents else ""
        self.switch(self.agent)

    def switch(self, agent: str) -> None:
        """Show another resident's conversation, at its end."""
        for pieces in self._pieces.values():
            for piece in pieces:
                piece.entry = None
        self.agent = agent
        self.begin_with([piece.shown() for piece in self._pieces.get(agent, ())])

    def apply(self, items: Iterable[TalkItem], lost: int) -> None:
        """Show what came since the last paint."""
        new: list[Piece] = []
        for item in items:
            if isinstance(item, ToolCalled) or self._anew(item):
                self._spent(item.agent, new)
            if isinstance(item, Writing) or _key(item) not in self._seen:
                new += self._take(item)
        self.add([piece.shown() for piece in new], lost)

    def _anew(self, item: TalkItem) -> bool:
        """Whether a text begins: what was written before and has no whole was cut, and is written again."""
        known = self._pieces.get(item.agent, ())
        return isinstance(item, Writing) and bool(item.text) and all(p.stream != item.stream for p in known)

    def _spent(self, agent: str, new: list[Piece]) -> None:
        """A call ended, or a text began: what was written to its end is no prose, or void."""
        for piece in [p for p in self._pieces.get(agent, ()) if p.stream and p.done]:
            self._pieces[agent].remove(piece)
            if piece in new:
                new.remove(piece)
            if piece.entry is not None:
                self.drop(piece.entry)

    def _take(self, item: TalkItem) -> list[Piece]:
        """Put it where it belongs; what is returned is new in the conversation that is shown."""
        if item.agent == EVERYONE:
            copies = [(agent, self._piece(item)) for agent in self._pieces]
        else:
            piece = self._follow_up(item) or self._piece(item)
            copies = [(item.agent, piece)]
        new: list[Piece] = []
        for agent, piece in copies:
            pieces = self._pieces.get(agent)
            if piece is not None and pieces is not None and piece not in pieces:
                pieces.append(piece)
                new += [piece] if agent == self.agent else []
        return new

    def _follow_up(self, item: TalkItem) -> Piece | None:
        """The piece that this one carries on or ends, brought up to date."""
        pieces = self._pieces.get(item.agent, ())
        match item:
            case Writing():
                piece = next((p for p in pieces if p.stream == item.stream), None)
                if piece is not None:
                    piece.raw = (piece.raw + item.text)[: LONGEST + 1]
                    piece.done = item.done
                    piece.write(block(piece.raw), raw=piece.raw)
                return piece
            case Spoke():
                open_ones = [p for p in pieces if p.stream]
                same = [p for p in open_ones if p.raw.strip() == item.text.strip()]
                piece = next(iter([*same, *open_ones]), None)
                if piece is not None:
                    piece.stream = ""
                    piece.write(block(item.text), raw=item.text)
                return piece
            case ToolCalled() if item.ok is not None:
                piece = next((p for p in reversed(pieces) if p.call == (item.tool, item.summary)), None)
                if piece is not None:
                    piece.call = None
                    piece.write(*_call(item))
                return piece
            case ToolCalled() | Prompted() | Noticed() | TurnChanged():
                return None
            case _:
                assert_never(item)

    def _piece(self, item: TalkItem) -> Piece | None:
        match item:
            case Prompted():
                return Piece(_head(item.at, self._operator, "strong"), block(item.text), raw=item.text)
            case Spoke():
                return Piece(_head(item.at, line(item.agent, 24), "accent"), block(item.text), raw=item.text)
            case Writing():
                if not item.text:
                    return None
                head = _head(item.at, line(item.agent, 24), "accent")
                return Piece(head, block(item.text), raw=item.text, stream=item.stream, done=item.done)
            case ToolCalled():
                body, role = _call(item)
                call = (item.tool, item.summary) if item.ok is None else None
                return Piece((Part(own("      ")),), body, role, raw=item.summary, call=call, one_line=True)
            case Noticed():
                return Piece((Part(words.clock(item.at), "dim"), Part(own(" "))), block(item.text), "dim", item.text)
            case TurnChanged():
                return self._turn(item)
            case _:
                assert_never(item)

    def _turn(self, turn: TurnChanged) -> Piece | None:
        """A turn that did not end well says so; what it was writing stays as it is."""
        for piece in self._pieces.get(turn.agent, ()):
            piece.stream = ""
        match turn.state:
            case "failed":
                said = own(f"the turn failed: {line(turn.detail or 'no reason given', 400)}")
                return Piece((Part(words.clock(turn.at), "dim"), Part(own(" "))), said, "error")
            case "stopped":
                return Piece((Part(words.clock(turn.at), "dim"), Part(own(" "))), own("interrupted"), "warn")
            case "started" | "ended":
                return None
            case _:
                assert_never(turn.state)


def _head(at: float, who: Safe, role: Role) -> Line:
    return (Part(words.clock(at), "dim"), Part(own(" ")), Part(own(f"{who}> "), role))


def _call(call: ToolCalled) -> tuple[Safe, Role]:
    mark = {None: "·", True: "✓", False: "!"}[call.ok]
    said = own(f"{mark} {line(call.tool, 64)} {line(call.summary, 200)}")
    return said, "error" if call.ok is False else "dim"


def _key(item: TalkItem) -> tuple[str, float, str, str]:
    """What tells one entry from another where a snapshot and the events overlap."""
    match item:
        case Spoke() | Prompted() | Noticed():
            said = item.text
        case ToolCalled():
            said = f"{item.tool} {item.summary} {item.ok}"
        case Writing() | TurnChanged():
            said = ""
        case _:
            assert_never(item)
    return (type(item).__name__, item.at, item.agent, said)
