"""The SELECTs that views, history and backlogs are read by, each bound to the index that was made for it.

The planner keeps no statistics here, and takes a walk over the whole log for as cheap as an index; `INDEXED BY` makes
the choice ours, and fails loudly where an index went missing.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from cockpit.core.target import Target
from cockpit.store.pages import Source
from cockpit.store.protocol import Filter

_BETWEEN = "sequence > :after AND sequence < :before"
_VIEWS: dict[Filter, tuple[str, ...]] = {
    "heard": ("stamp IS NULL",),
    "unmuted": ("stamp IS NULL", "stamp IS NOT NULL AND muted = 0"),
    "all": ("stamp IS NULL", "stamp IS NOT NULL AND muted = 0", "stamp IS NOT NULL AND muted = 1"),
}
_RESIDUE: dict[Filter, str] = {"heard": "AND stamp IS NULL", "unmuted": "AND muted = 0", "all": ""}


def messages(
    slots: Collection[str], *, view: Filter, newest: bool, target: str | None, stamp: str | None, edits: bool
) -> Source:
    """Messages of some slots. A backlog is found by its stamp, a channel's history by its target, a view by its slots."""
    values = {f"slot{number}": slot for number, slot in enumerate(slots)}
    if stamp is not None:
        values["stamp"] = stamp
    if target is not None:
        values["target"] = target
    select = _messages(len(slots), view, newest, target is not None, stamp is not None, edits)
    return Source(select, newest, values)


@lru_cache(maxsize=256)
def _messages(slots: int, view: Filter, newest: bool, by_target: bool, by_stamp: bool, edits: bool) -> str:
    order = "DESC" if newest else "ASC"
    plain = "" if edits else "AND edits IS NULL"
    names = [f":slot{number}" for number in range(slots)]
    if by_stamp or by_target:
        found = " AND ".join(
            [*(["stamp = :stamp"] if by_stamp else []), *(["target = :target AND kind = 'message'"] if by_target else [])]
        )
        index = "record_diverted" if by_stamp else "record_target"
        return (
            f"SELECT sequence, body FROM record INDEXED BY {index} WHERE {found} AND {_BETWEEN}"  # noqa: S608  # constants
            f" AND slot IN ({', '.join(names)}) {_RESIDUE[view]} {plain} ORDER BY sequence {order} LIMIT :rows"
        )
    arms = [
        f"SELECT * FROM (SELECT sequence, body FROM record INDEXED BY {_index(part)} WHERE slot = {name} AND {part}"  # noqa: S608
        f" AND {_BETWEEN} {plain} ORDER BY sequence {order} LIMIT :rows)"
        for name in names
        for part in _VIEWS[view]
    ]
    return f"{' UNION ALL '.join(arms)} ORDER BY sequence {order} LIMIT :rows"


def _index(part: str) -> str:
    return "record_heard" if part == "stamp IS NULL" else "record_held"


def backlog(stamp: str, target: str) -> Source:
    """What carries a stamp, newest first, each with its newest edit on a second line; edits are no lines of their own
    (A-8). The span of a server stamps its channels too, and each has a dump of its own (M-11)."""
    values: dict[str, str | int] = {"stamp": stamp}
    narrowed = ""
    if target.startswith(("mcp:", "channel:")):
        narrowed, values["target"] = "AND target = :target", target
    select = (
        "SELECT sequence, body || coalesce((SELECT char(10) || edit.sequence || ' ' || edit.body FROM record AS edit"  # noqa: S608
        " INDEXED BY record_edits WHERE edit.edits = record.sequence AND edit.sequence < :before"
        " ORDER BY edit.sequence DESC LIMIT 1), '') AS body FROM record INDEXED BY record_diverted"
        f" WHERE stamp = :stamp AND {_BETWEEN} {narrowed} AND edits IS NULL ORDER BY sequence DESC LIMIT :rows"
    )
    return Source(select, True, values)


def records(kind: str, target: str | None) -> Source:
    """Records of one kind that are no messages, newest first, of one channel or of all."""
    index, narrowed = ("record_kind", "slot IS NULL") if target is None else ("record_target", "target = :target")
    select = (
        f"SELECT sequence, body FROM record INDEXED BY {index} WHERE kind = :kind AND {narrowed} AND {_BETWEEN}"  # noqa: S608
        " ORDER BY sequence DESC LIMIT :rows"
    )
    values: dict[str, str | int] = {"kind": kind}
    if target is not None:
        values["target"] = target
    return Source(select, True, values)
