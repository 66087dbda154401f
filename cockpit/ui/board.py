"""Which rows the channel table shows and in what order, as plain values: filter, groups, folds, who needs someone.

Rows stand in the order they first came, a newcomer after the last one of its server (cockpit.md, Many channels), and
a row never moves once it stands: what is toggled stays where it is (K-126).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from cockpit.core.events import ChannelChanged

FOLDS_AT = 12
"""Quiet channels of one server beyond which they fold into one line."""

GroupState = Literal["auto", "open", "collapsed"]


@dataclass(frozen=True, slots=True)
class RowLine:
    """One channel's line."""

    target: str


@dataclass(frozen=True, slots=True)
class FoldLine:
    """What a group does not show: how many channels, and the sums of their counts."""

    server: str
    channels: int
    wait: int
    need: int
    held: int
    quiet: bool

    @property
    def target(self) -> str:
        """A key no channel can have."""
        return f"+{self.server}"


BoardLine = RowLine | FoldLine


@dataclass(slots=True)
class Board:
    """The table's rows. `marked` are those to act on together; `rows` is ordered as shown."""

    rows: dict[str, ChannelChanged] = field(default_factory=dict)
    filter: str = ""
    marked: set[str] = field(default_factory=set)
    groups: dict[str, GroupState] = field(default_factory=dict)
    _loud: set[str] = field(default_factory=set)

    def begin(self, rows: Iterable[ChannelChanged]) -> None:
        """Begin anew with a snapshot's rows; filter and groups stay the operator's."""
        kept = [row for row in rows if not row.gone]
        self.rows = {}
        for place, row in enumerate(kept):
            if row.target in self.rows:
                continue
            kin = [other for other in kept[place:] if row.server and other.server == row.server]
            self.rows |= {each.target: each for each in kin or (row,)}
        self.marked &= self.rows.keys()
        self._loud = {target for target, row in self.rows.items() if not _quiet(row)}

    def update(self, rows: Iterable[ChannelChanged]) -> set[str]:
        """Take in changes; what is returned are the targets whose row may read otherwise now."""
        changed: set[str] = set()
        for row in rows:
            if self.rows.get(row.target) == row:
                continue
            changed.add(row.target)
            if row.gone:
                self.rows.pop(row.target, None)
                self.marked.discard(row.target)
                continue
            if row.target in self.rows:
                self.rows[row.target] = row
            else:
                self._insert(row)
            if not _quiet(row):
                self._loud.add(row.target)
        return changed

    def lines(self) -> tuple[BoardLine, ...]:
        """What the table shows, top to bottom."""
        if self.filter:
            return tuple(RowLine(target) for target in self.rows if self._matches(target))
        return tuple(self._grouped())

    @property
    def hidden(self) -> int:
        """Rows that the filter hides (K-132)."""
        return sum(not self._matches(target) for target in self.rows) if self.filter else 0

    def next_in_need(self, after: str | None) -> str | None:
        """The next channel below `after`, then from the top, that somebody is waiting on."""
        order = list(self.rows)
        place = order.index(after) + 1 if after in self.rows else 0
        turned = [*order[place:], *order[:place]]
        return next((target for target in turned if self.rows[target].need), None)

    def set_group(self, server: str, state: GroupState) -> None:
        """Collapse or open a server's channels."""
        self.groups[server] = state

    def group_of(self, target: str) -> str:
        """The server a line belongs to, or empty."""
        if target.startswith("+"):
            return target[1:]
        row = self.rows.get(target)
        return "" if row is None else row.server

    def _insert(self, row: ChannelChanged) -> None:
        order = list(self.rows)
        kin = [place for place, target in enumerate(order) if row.server and self.rows[target].server == row.server]
        if not kin:
            self.rows[row.target] = row
            return
        items = list(self.rows.items())
        items.insert(kin[-1] + 1, (row.target, row))
        self.rows = dict(items)

    def _matches(self, target: str) -> bool:
        row = self.rows[target]
        wanted = self.filter.casefold()
        return any(wanted in text.casefold() for text in (row.target, row.label, row.given))

    def _grouped(self) -> Iterator[BoardLine]:
        folded: dict[str, list[ChannelChanged]] = {}
        last: dict[str, str] = {}
        for server in dict.fromkeys(row.server for row in self.rows.values()):
            folded[server] = self._folded(server)
        out = {row.target for rows in folded.values() for row in rows}
        for target, row in self.rows.items():
            last[row.server] = target
        for target, row in self.rows.items():
            if target not in out:
                yield RowLine(target)
            if last[row.server] == target and folded[row.server]:
                yield self._fold_line(row.server, folded[row.server])

    def _folded(self, server: str) -> list[ChannelChanged]:
        state = self.groups.get(server, "auto")
        chats = [row for row in self.rows.values() if server and row.server == server and row.kind == "channel"]
        if state == "open" or not chats:
            return []
        if state == "collapsed":
            return [row for row in chats if row.target not in self.marked]
        quiet = [row for row in chats if row.target not in self._loud and row.target not in self.marked]
        return quiet if len(quiet) > FOLDS_AT else []

    def _fold_line(self, server: str, rows: list[ChannelChanged]) -> FoldLine:
        return FoldLine(
            server, len(rows), sum(row.wait for row in rows), sum(row.need for row in rows),
            sum(row.held for row in rows), self.groups.get(server, "auto") == "auto",
        )  # fmt: skip


def _quiet(row: ChannelChanged) -> bool:
    """Nothing to see: heard, alive, and all counts nought."""
    return row.label == "online" and not (row.wait or row.need or row.held)
