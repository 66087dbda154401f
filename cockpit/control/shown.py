"""What a person reads of rows, reports and answers in a shell, and what a bridge's client gets as text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import assert_never

from cockpit.control.plain import block, clock, flat, table
from cockpit.core.duration import spell
from cockpit.core.events import (
    Answer,
    Answered,
    Audited,
    ChannelChanged,
    ContextShown,
    Counted,
    EpochView,
    Explained,
    Peeked,
    Reported,
    VerbRan,
)
from cockpit.core.message import Json

_TOTALS = ("delivered", "diverted", "dumped", "crashes", "kills")
_SPANS = ("seconds_muted", "seconds_tuned_out", "seconds_offline")
_USED = ("turns", "input", "output", "cache_read", "cache_write", "cost")


def answer(given: Answer) -> list[str]:
    """All that a verb showed, and how it went."""
    lines: list[str] = []
    for each in given.shown:
        lines += shown(each)
    return [*lines, *outcome(given.ran)]


def outcome(ran: VerbRan) -> list[str]:
    """The verb's one line, one more for each target of a glob, and what to do instead where it was refused."""
    lines = [flat(ran.message)]
    if ran.results:
        lines += table([["  done" if each.ok else "  not done", each.target, each.message] for each in ran.results])
    if not ran.ok and ran.hint and ran.hint not in ran.message:
        lines.append(f"  {flat(ran.hint)}")
    return lines


def rows(channels: Iterable[ChannelChanged]) -> list[str]:
    """The channel table, its three counts, and what the state alone does not tell."""
    head = ["TARGET", "STATE", "WAIT", "NEED", "HELD", ""]
    body = [
        [row.target, row.label, str(row.wait), str(row.need), str(row.held), _detail(row)]
        for row in channels
        if not row.gone
    ]
    return table([head, *body], right={2, 3, 4}) if body else ["there are no channels"]


def report(each: Reported) -> list[str]:
    """Its time, author, channel and kind on one line, its text indented below."""
    words = [clock(each.at), flat(each.agent), *([flat(each.channel)] if each.channel else []), each.kind]
    return ["  ".join(words), *block(each.text, "  ")]


def message(each: Mapping[str, Json]) -> list[str]:
    """A message of an inbox: its time, author and place on one line, its text indented below."""
    words = (str(each.get("at", "")), flat(str(each.get("author", ""))), f"to {flat(str(each.get('to', '')))}")
    return ["  ".join(words), *block(str(each.get("text", "")), "  ")]


def message_line(each: Mapping[str, Json]) -> str:
    """The same as one JSON line, keys in the order of server.Inboxes."""
    return json.dumps({"event": "message", **each}, ensure_ascii=False, separators=(", ", ": "))


def shown(each: Answered) -> list[str]:
    """What a reading verb shows."""
    match each:
        case Peeked():
            return _peeked(each)
        case Explained():
            return _explained(each)
        case ContextShown():
            head = f"{flat(each.agent)}: {each.tokens} of {each.budget} tokens"
            return [head, *block(json.dumps(each.request, ensure_ascii=False, indent=2, default=dict))]
        case Audited():
            return _audited(each.rows)
        case Counted():
            return _counted(each)
        case _:
            assert_never(each)


def _detail(row: ChannelChanged) -> str:
    words = [f"muted by {' and '.join(row.muted_by)}"] if row.muted_by else []
    if row.epoch is not None:
        words.append(_epoch(row.epoch))
    return "; ".join([*words, *([row.reason] if row.reason else [])])


def _epoch(epoch: EpochView) -> str:
    until = "" if epoch.deadline is None else f", until {clock(epoch.deadline)}"
    return f"cadence {spell(epoch.cadence)}, cap {epoch.cap}, wake {epoch.wakes} of {epoch.max_wakes}{until}"


def _peeked(each: Peeked) -> list[str]:
    lines = [flat(each.target) + ("" if each.epoch is None else f": {_epoch(each.epoch)}")]
    for message in each.messages:
        held = f" ({message.held_by})" if message.held_by else ""
        lines.append(f"{flat(message.id)}  {clock(message.at)}  {flat(message.author)}{held}")
        lines += block(message.text, "  ")
    return lines if each.messages else [*lines, "nothing is held"]


def _explained(each: Explained) -> list[str]:
    told = [
        [each.id, each.decision],
        ["target", each.target],
        ["rules", ", ".join(each.rules) or "none"],
        ["woke", ", ".join(each.woke) or "nobody"],
        ["acknowledged", "yes" if each.acknowledged else "no"],
    ]
    stamp = [] if each.stamp is None else [["stamp", json.dumps(each.stamp, default=dict)]]
    return table([*told, *stamp])


def _audited(found: Sequence[Mapping[str, Json]]) -> list[str]:
    if not found:
        return ["nothing was changed or refused yet"]
    names = ("at", "actor", "origin", "verb", "target", "before", "after", "epoch", "reason")
    body = [["" if row.get("ok") else "refused", *(_cell(row.get(name)) for name in names)] for row in found]
    return table([["", *(name.upper() for name in names)], *body])


def _counted(each: Counted) -> list[str]:
    lines: list[str] = []
    if each.channels:
        head = ["TARGET", *(name.upper() for name in _TOTALS), "MUTED", "TUNED OUT", "OFFLINE"]
        body = [
            [_cell(row.get("target")), *(_cell(row.get(name)) for name in _TOTALS), *(_span(row, n) for n in _SPANS)]
            for row in each.channels
        ]
        lines += table([head, *body], right=range(1, len(head)))
    if each.agents:
        head = ["AGENT", *(name.upper() for name in _USED)]
        body = [[_cell(row.get("agent")), *(_cell(row.get(name)) for name in _USED)] for row in each.agents]
        lines += table([head, *body], right=range(1, len(head)))
    return lines or ["there is nothing to count yet"]


def _span(row: Mapping[str, Json], name: str) -> str:
    value = row.get(name)
    return spell(value) if isinstance(value, int | float) else ""


def _cell(value: Json) -> str:
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
