"""The SELECTs that views, history and backlogs are read by, each bound to the index that was made for it.

The planner keeps no statistics here, and takes a walk over the whole log for as cheap as an index; `INDEXED BY` makes
the choice ours, and fails loudly where an index went missing.
"""

from __future__ import annotations

from collections.abc import Collection

from cockpit.store.pages import Source
from cockpit.store.protocol import Filter

_BETWEEN = "sequence > :after AND sequence < :before"
_HEARD = "stamp IS NULL"
_TUNED_OUT = "stamp IS NOT NULL AND muted = 0"
_MUTED = "stamp IS NOT NULL AND muted = 1"

_PARTS: dict[Filter, tuple[str, ...]] = {
    "heard": (_HEARD,),
    "unmuted": (_HEARD, _TUNED_OUT),
    "all": (_HEARD, _TUNED_OUT, _MUTED),
}
_WITHIN: dict[Filter, str] = {"heard": "AND stamp IS NULL", "unmuted": "AND muted = 0", "all": ""}


def messages(
    slots: Collection[str], *, view: Filter, newest: bool, target: str | None, stamp: str | None, edits: bool
) -> Source:
    """Messages of some slots: a backlog is found by its stamp, a channel's history by its target, a view by slot."""
    values: dict[str, str | int] = {f"slot{number}": slot for number, slot in enumerate(dict.fromkeys(slots))}
    names = [f":{name}" for name in values]
    order = "DESC" if newest else "ASC"
    plain = "" if edits else "AND edits IS NULL"
    if stamp is None and target is None:
        return Source(_view(names, view, order, plain), newest, values)
    found: list[str] = []
    if target is not None:
        values["target"] = target
        found.append("target = :target AND kind = 'message'")
    if stamp is not None:
        values["stamp"] = stamp
        found.append("stamp = :stamp")
    index = "record_target" if stamp is None else "record_diverted"
    select = (
        f"SELECT sequence, body FROM record INDEXED BY {index} WHERE {' AND '.join(found)} AND {_BETWEEN}"  # noqa: S608  # constants
        f" AND slot IN ({', '.join(names)}) {_WITHIN[view]} {plain} ORDER BY sequence {order} LIMIT :rows"
    )
    return Source(select, newest, values)


def _view(slots: Collection[str], view: Filter, order: str, plain: str) -> str:
    """A part a slot and index, each in order and no longer than a page, merged."""
    parts = [
        f"SELECT * FROM (SELECT sequence, body FROM record INDEXED BY {index} WHERE slot = {slot} AND {part}"  # noqa: S608  # constants
        f" AND {_BETWEEN} {plain} ORDER BY sequence {order} LIMIT :rows)"
        for slot in slots
        for part in _PARTS[view]
        for index in ("record_heard" if part == _HEARD else "record_held",)
    ]
    return f"{' UNION ALL '.join(parts)} ORDER BY sequence {order} LIMIT :rows"


def backlog(stamp: str, target: str, until: int) -> Source:
    """What carries a stamp, newest first, each with its newest edit on a second line; edits are no lines of their own
    (A-8), and those from the sequence `until` on come too late. The span of a server stamps its channels too, and each
    of them has a dump of its own (M-11)."""
    values: dict[str, str | int] = {"stamp": stamp, "until": until}
    narrowed = ""
    if target.startswith(("mcp:", "channel:")):
        narrowed, values["target"] = "AND target = :target", target
    select = (
        "SELECT sequence, body || coalesce((SELECT char(10) || edit.sequence || ' ' || edit.body FROM record AS edit"  # noqa: S608  # constants
        " INDEXED BY record_edits WHERE edit.edits = record.sequence AND edit.sequence < :until"
        " ORDER BY edit.sequence DESC LIMIT 1), '') AS body FROM record INDEXED BY record_diverted"
        f" WHERE stamp = :stamp AND {_BETWEEN} {narrowed} AND edits IS NULL ORDER BY sequence DESC LIMIT :rows"
    )
    return Source(select, True, values)


def records(kind: str, target: str | None) -> Source:
    """Records of one kind that are no messages, newest first, of one channel or of all."""
    values: dict[str, str | int] = {"kind": kind}
    index, narrowed = "record_kind", "slot IS NULL"
    if target is not None:
        index, narrowed, values["target"] = "record_target", "target = :target", target
    select = (
        f"SELECT sequence, body FROM record INDEXED BY {index} WHERE kind = :kind AND {narrowed} AND {_BETWEEN}"  # noqa: S608  # constants
        " ORDER BY sequence DESC LIMIT :rows"
    )
    return Source(select, True, values)
