"""What reading verbs answer, as items of a sheet: audit, stats, why, context, and the held messages of a peek."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import assert_never

from cockpit.core.events import Answered, Audited, ContextShown, Counted, Explained, Held, Peeked
from cockpit.core.message import Json
from cockpit.ui import words
from cockpit.ui.paint import Line, Part
from cockpit.ui.text import Safe, block, line, own
from cockpit.ui.theme import Role
from cockpit.ui.widgets.reader import Item


def title_of(answered: Answered) -> Safe:
    """What the sheet is called."""
    match answered:
        case Peeked():
            return own(f"peek {words.named(answered.target, 60)}")
        case Explained():
            return own(f"why {line(answered.id, 40)}")
        case ContextShown():
            spent = f"{words.amount(answered.tokens)} of {words.amount(answered.budget)} tokens"
            return own(f"context {line(answered.agent, 24)} · {spent}")
        case Audited():
            return own("audit")
        case Counted():
            return own("stats")
        case _:
            assert_never(answered)


def items_of(answered: Answered) -> list[Item]:
    """What it shows."""
    match answered:
        case Peeked():
            return held_items(answered.messages)
        case Explained():
            return list(_explained(answered))
        case ContextShown():
            return list(_context(answered.request))
        case Audited():
            return [_audited(place, row) for place, row in enumerate(answered.rows)] or [
                _plain("none", "nobody did anything yet")
            ]
        case Counted():
            return list(_counted(answered))
        case _:
            assert_never(answered)


def held_alike(messages: Sequence[Held]) -> Safe:
    """What holds all of them, where that is one thing: the heading says it, and no line repeats it."""
    by = {message.held_by for message in messages}
    return _held_by(by.pop()) if len(by) == 1 else own("")


def _held_by(by: str) -> Safe:
    """`tune-out`, `mute`, or both in words."""
    return own("mute and tune-out") if by == "both" else line(by, 24)


def held_items(messages: Sequence[Held]) -> list[Item]:
    """A channel's messages, oldest first: who, when, what was said, and what held it where they differ in that."""
    apart = not held_alike(messages)
    items = [
        Item(
            message.id or f"{message.at} {message.author}",
            (
                Part(words.clock(message.at), "dim"),
                Part(own(" ")),
                Part(own(f"{line(message.author, 24) or 'unknown'}  "), "accent"),
                *((Part(own(f"held by {_held_by(message.held_by)}  "), "dim"),) if apart and message.held_by else ()),
            ),
            block(message.text),
            raw=message.text,
        )
        for message in messages
    ]
    return items or [_plain("none", "nothing is held here")]


def _explained(answer: Explained) -> Iterator[Item]:
    roles: dict[str, Role] = {"delivered": "ok", "diverted": "tuned-out", "refused": "error"}
    yield Item("decision", _label("decision"), line(answer.decision), roles.get(answer.decision, "text"))
    yield Item("target", _label("channel"), line(answer.target))
    for place, rule in enumerate(answer.rules, 1):
        yield Item(f"rule {place}", _label("asked" if place == 1 else ""), line(f"{place}. {rule}", 400))
    woke = ", ".join(answer.woke) or "nobody"
    yield Item("woke", _label("woke"), line(woke, 400))
    yield Item("acknowledged", _label("acknowledged"), own("yes" if answer.acknowledged else "no"))
    if answer.stamp:
        yield Item("stamp", _label("stamp"), line(json.dumps(answer.stamp, ensure_ascii=False), 400), "dim")


def _audited(place: int, row: Mapping[str, Json]) -> Item:
    said = {name: line(str(value), 200) for name, value in row.items() if value is not None and value != ""}
    change = f"{said.get('before', '')} → {said['after']}" if "after" in said else said.get("before", "")
    reason = f"  “{said['reason']}”" if "reason" in said else ""
    origin = f" by {said['origin']}" if "origin" in said else ""
    fine = row.get("ok") is not False
    return Item(
        f"{place} {row.get('at')}",
        (Part(_when(row.get("at")), "dim"), Part(own(" ")), Part(own(f"{said.get('actor', '?')}{origin}  "), "accent")),
        own(f"{said.get('verb', '')} {said.get('target', '')}  {change}{'' if fine else '  refused'}{reason}"),
        "text" if fine else "error",
    )  # fmt: skip


def _counted(answer: Counted) -> Iterator[Item]:
    for place, agent in enumerate(answer.agents):
        yield Item(f"agent {place}", (Part(line(str(agent.get("name") or agent.get("agent") or "?"), 40), "strong"),
                                      Part(own("  "))), _pairs(agent, ("name", "agent")))  # fmt: skip
    for place, channel in enumerate(answer.channels):
        counted = {name: value for name, value in channel.items() if name != "target"}
        yield Item(f"channel {place}", (Part(line(str(channel.get("target", "?")), 60), "accent"),
                                        Part(own("  "))), words.totals(counted))  # fmt: skip


def _pairs(values: Mapping[str, Json], without: tuple[str, ...]) -> Safe:
    said: list[str] = []
    for name, value in values.items():
        if name in without or value is None:
            continue
        if isinstance(value, Mapping):
            said += [f"{inner} {words.amount(n)}" for inner, n in value.items() if isinstance(n, int)]
        elif isinstance(value, int) and not isinstance(value, bool):
            said.append(f"{name} {words.amount(value)}")
        else:
            said.append(f"{name} {value}")
    return line(" · ".join(said).replace("_", " "), 400)


def _context(request: Mapping[str, Json]) -> Iterator[Item]:
    """Whatever stands in a request, in its order; a cache marker is a line of its own."""
    for part, value in request.items():
        entries = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        yield Item(f"{part}", (Part(own(f"{line(part, 40)} "), "strong"),), own(f"({len(entries)})"), "dim")
        for place, entry in enumerate(entries):
            yield from _request_part(f"{part} {place}", entry)


def _request_part(key: str, entry: Json) -> Iterator[Item]:
    if not isinstance(entry, Mapping):
        yield Item(key, (Part(own("  ")),), block(str(entry)), indent=2)
        return
    name = entry.get("role") or entry.get("name") or entry.get("type") or ""
    text = entry.get("content", entry.get("text", entry.get("description", "")))
    shown = "\n".join(_content(text))
    yield Item(key, (Part(own("  ")), Part(own(f"{line(str(name), 64)}  "), "accent")), block(shown), indent=4)
    if "cache_control" in json.dumps(entry, default=str):
        yield Item(f"{key} cached", (Part(own("  ")),), own("── cache marker ──"), "warn")


def _content(value: Json) -> Iterator[str]:
    """A message's content as people read it: its texts as they are, calls and results by name, all else as JSON."""
    blocks = [value] if isinstance(value, str | Mapping) or not isinstance(value, Sequence) else list(value)
    for each in blocks:
        if isinstance(each, str):
            yield each
        elif isinstance(each, Mapping) and each.get("type") == "text":
            yield str(each.get("text", ""))
        elif isinstance(each, Mapping) and each.get("type") == "tool_use":
            yield f"calls {each.get('name')} {json.dumps(each.get('input'), ensure_ascii=False)}"
        elif isinstance(each, Mapping) and each.get("type") == "tool_result":
            yield "\n".join(["result:", *_content(each.get("content", ""))])
        else:
            yield json.dumps(each, ensure_ascii=False, indent=1)


def _label(name: str) -> Line:
    return (Part(own(f"{name:<14}"), "dim"),)


def _plain(key: str, text: str) -> Item:
    return Item(key, (), own(text), "dim", 0)


def _when(at: Json) -> Safe:
    """A time as audit rows carry it: ISO 8601 or seconds since 1970."""
    if isinstance(at, int | float):
        return words.day_clock(at)
    try:
        return words.day_clock(datetime.fromisoformat(str(at)).timestamp())
    except ValueError:
        return line(str(at), 24)
