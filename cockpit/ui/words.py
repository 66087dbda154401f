"""How values read on the screen: clock times, tokens, time left, a channel's short name, what a row says of itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from cockpit.core.events import ChannelChanged, EpochView
from cockpit.core.message import Json
from cockpit.core.notices import count
from cockpit.core.records import ReportKind, TurnReason, Usage
from cockpit.core.target import KINDS
from cockpit.ui.text import Safe, cells, clip_middle, line, own

DOING: Mapping[TurnReason, str] = {
    "prompt": "answering you",
    "message": "reading",
    "push": "reading an event",
    "intercom": "reading the intercom",
    "cancel": "reading the backlog",
    "wake": "reading",
    "cadence": "looking",
    "report": "reporting",
    "summary": "reading a report",
}
"""What an agent does in a turn, for the top line."""

REPORT_TAGS: Mapping[ReportKind, str] = {
    "summary": "",
    "note": "note",
    "disposition": "disposition",
    "wake": "",
    "cadence": "",
    "cancel": "",
    "prose": "aside",
    "failure": "failed",
}
"""The word before a report's text; the trigger lines (wake, cadence, cancel) are set off by dots instead."""

SHORT = 24
"""Cells of a channel's name where it stands beside what is said of it."""


def clock(at: float) -> Safe:
    """Seconds since 1970 as the operator's own HH:MM."""
    return own(datetime.fromtimestamp(at, UTC).astimezone().strftime("%H:%M"))


def day_clock(at: float) -> Safe:
    """The same with its date, for lists that reach back."""
    return own(datetime.fromtimestamp(at, UTC).astimezone().strftime("%m-%d %H:%M:%S"))


def short(target: str, room: int = SHORT) -> Safe:
    """A channel beside what is said of it: `#noisy` where its id is one word (cockpit.md, Screen), else its name as
    the table's row has it in so many cells, so that one channel goes by one name."""
    kind, _, name = target.partition(":")
    ident = name.partition("/")[2] or name
    if kind == "channel" and ident and not set(ident) & {":", "/"}:
        return clip_middle(line(f"#{ident.removeprefix('#')}", 200), room)
    return named(target, room)


def doing(activity: str) -> Safe:
    """What an agent does, a channel in it by its short name: `reading #noisy`."""
    does, _, what = activity.partition(" ")
    known = what.partition(":")[0] in KINDS
    return line(f"{does} {short(what)}" if known else activity, 40)


def named(target: str, room: int) -> Safe:
    """A target in so many cells. Of a chat channel's, the end of its id says most: `…disc:guild:noisy`, `…noisy`."""
    whole = line(target, 400)
    kind, _, name = whole.partition(":")
    if cells(whole) > room and kind == "channel":
        ident = name.partition("/")[2] or name
        tails = [ident, *(ident[found.end() :] for found in re.finditer("[:/]", ident))]
        shown = next((own(f"…{tail}") for tail in tails if tail and cells(own(f"…{tail}")) <= room), None)
        if shown is not None:
            return shown
    return clip_middle(whole, room)


def amount(number: int) -> str:
    """Tokens and other large counts: `812`, `12.4k`, `1.2M`."""
    for size, unit in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:.1f}{unit}"
    return str(number)


def tokens(usage: Usage) -> Safe:
    """`in 12.4k (cache 91 %) out 1.1k`; input counts what was read from the cache and written to it as well."""
    given = usage.input + usage.cache_read + usage.cache_write
    share = f" (cache {100 * usage.cache_read // given} %)" if given else ""
    return own(f"in {amount(given)}{share} out {amount(usage.output)}")


def minutes(seconds: float) -> str:
    """A span in whole minutes, rounded up: what changes at most once a minute."""
    whole = max(0, -int(-seconds // 60))
    days, rest = divmod(whole, 1440)
    hours, minute = divmod(rest, 60)
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minute} min" if hours else f"{minute} min"


def spans(seconds: float) -> str:
    """A parameter as it is written in a verb: `30m`, `2h`, `90s`."""
    whole = int(seconds)
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if whole and whole % size == 0:
            return f"{whole // size}{unit}"
    return f"{whole}s"


def state(row: ChannelChanged, room: int) -> Safe:
    """The label, with the clock time of the last proof of life on a dead row where there is room (K-127)."""
    label = line(row.label)
    seen = f" {clock(row.proof)}" if row.proof is not None and row.presence != "online" else ""
    if len(label) + len(seen) <= room:
        return own(f"{label}{seen}")
    return label if len(label) <= room else own(label.replace(" · ", "·"))


def remark(row: ChannelChanged, now: float) -> Safe:
    """What a wide row says in words: wakes used and time left, who muted it, why it is gone."""
    said: list[str] = []
    if row.epoch is not None:
        said.append(f"wake {row.epoch.wakes}/{row.epoch.max_wakes}")
        if row.epoch.deadline is not None:
            said.append(f"{minutes(row.epoch.deadline - now)} left")
    if row.muted_by:
        said.append(f"by {' and '.join(row.muted_by)}")
    if row.presence != "online" and row.reason:
        said.append(line(row.reason, 80))
    return own(" · ".join(said))


def epoch(view: EpochView, now: float) -> Safe:
    """An epoch's parameters, wakes used and time left, in one line."""
    words = [
        f"every {spans(view.cadence)}",
        f"at most {count(view.cap, 'message')}" if view.cap else "summary only",
        f"wake {view.wakes} of {view.max_wakes}",
    ]
    if view.deadline is not None:
        words.append(f"{minutes(view.deadline - now)} left")
    return own(" · ".join(words))


def totals(values: Mapping[str, Json]) -> Safe:
    """The totals of M-14 in one line, what is nought left out."""
    words: list[str] = []
    for name, value in values.items():
        if not isinstance(value, int | float) or not value:
            continue
        if name.startswith("seconds_"):
            words.append(f"{name.removeprefix('seconds_').replace('_', ' ')} {minutes(value)}")
        else:
            one = name.removesuffix("es" if name == "crashes" else "s")
            words.append(f"{int(value)} {(one if value == 1 else name).replace('_', ' ')}")
    return line(" · ".join(words) or "nothing counted yet")
