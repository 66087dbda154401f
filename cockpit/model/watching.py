"""The offline model as the subconscious: one report for each channel that set off its turn.

It ends a tune-out by a single rule of words, never by judgement, and says so in its note (semantics.md S-4, T-13,
T-19). What it has looked at is read from its own earlier calls in the request, so it keeps no state.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from cockpit.core.request import Request
from cockpit.model.draft import Call, Draft
from cockpit.model.extract import LIMIT, STOP_WORDS, Look, Sentence, addressed, report, sentences
from cockpit.model.heard import Answered, Heard, Item, Notice, Own, Told, Voice, quote_of, read

SUMMARY, CANCEL, END = "deliver_summary", "cancel_tuneout", "end_turn"

_WAKE = re.compile(r"\[Tune-out wake: (.*) — (\d+) addressed messages?\]")
_CADENCE = re.compile(r"\[Tune-out cadence: (.*) — (\d+) diverted messages? since your last look\]")
_ENDED = re.compile(
    r"\[Tune-out cancelled: ([^\]]*?) — [^\]]*?\.(?: (\d+) of (\d+) diverted messages?, the oldest, .*)?\]"
)

_URGENT = re.compile(
    r"(?<!not )(?<!non-)(?<!n't )\b(?:urgent|urgently|emergency|outage|data loss|security incident"
    r"|(?:production|prod|everything|the site) is down)\b",
    re.IGNORECASE,
)
_MENTION = re.compile(r"@([\w-]{1,40})")
_OPENING = re.compile(r"^\s*([\w-]{1,40})\s*[:,]")
_EVERYBODY = frozenset({"here", "everyone", "all", "channel"})


@dataclass(frozen=True, slots=True)
class Trigger:
    """What set off a turn for one channel. number: of messages, as its notice says (0 where it says none).
    left, of: the dump left out `left` of `of` messages. at: where its newest notice stands among the items."""

    channel: str
    kind: Literal["wake", "cadence", "ended"]
    number: int
    at: int
    left: int = 0
    of: int = 0
    woken: bool = False


@dataclass(slots=True)
class _Seen:
    """How far it has looked at one channel: the place of its last call that went through, and what that said."""

    at: int = -1
    texts: tuple[str, ...] = ()


def watch(request: Request) -> Draft:
    """Its next answer: the reports that are due, or the end of the turn."""
    items = read(request)
    failed = {item.tool_use_id: item.text for item in items if isinstance(item, Answered) and item.failed}
    due: dict[str, Trigger] = {}
    seen: dict[str, _Seen] = {}
    for at, item in enumerate(items):
        if isinstance(item, Notice) and (trigger := _trigger(item.text, at)):
            earlier = due.get(trigger.channel)
            due[trigger.channel] = replace(trigger, woken=trigger.woken or (earlier is not None and earlier.woken))
        elif isinstance(item, Own):
            _looked(item, at, failed, due, seen)
    tools = frozenset(tool.name for tool in request.tools)
    calls = tuple(_attend(one, items, seen.get(one.channel, _Seen()), tools, request) for one in due.values())
    return Draft(calls=calls) if calls else _rest(items, failed, tools)


def _trigger(notice: str, at: int) -> Trigger | None:
    if wake := _WAKE.fullmatch(notice):
        return Trigger(wake[1], "wake", int(wake[2]), at, woken=True)
    if cadence := _CADENCE.fullmatch(notice):
        return Trigger(cadence[1], "cadence", int(cadence[2]), at)
    if ended := _ENDED.fullmatch(notice):
        return Trigger(ended[1], "ended", 0, at, int(ended[2] or 0), int(ended[3] or 0))
    return None


def _looked(own: Own, at: int, failed: dict[str, str], due: dict[str, Trigger], seen: dict[str, _Seen]) -> None:
    """A call settles its channel's trigger, refused or not; only one that went through moves what was looked at."""
    for use in own.uses:
        channel = use.input.get("channel")
        if use.name not in {SUMMARY, CANCEL} or not isinstance(channel, str):
            continue
        due.pop(channel, None)
        if use.id not in failed:
            earlier = seen.get(channel, _Seen())
            seen[channel] = _Seen(at, (*earlier.texts, str(use.input.get("text", ""))))


def _attend(trigger: Trigger, items: Sequence[Item], seen: _Seen, tools: frozenset[str], request: Request) -> Call:
    look = _look(trigger, items, seen, request)
    said = report(look)
    if not look.fresh and trigger.number:
        said = f"{trigger.number} of {trigger.channel} came for you, and none is in my view any more.\n{said}"
    alarm = _alarm(look) if trigger.woken and trigger.kind != "ended" and CANCEL in tools else None
    if alarm is None:
        return Call(SUMMARY, {"channel": trigger.channel, "text": said})
    head = (
        f"You are needed in {quote_of(trigger.channel, 80)}. {quote_of(alarm.author, 40)}: “{alarm.text}”\n"
        "I ended the tune-out because that message is addressed to you and reads as urgent, by a list of words."
    )
    return Call(CANCEL, {"channel": trigger.channel, "text": f"{head}\n{report(look, max(300, LIMIT - len(head)))}"})


def _look(trigger: Trigger, items: Sequence[Item], seen: _Seen, request: Request) -> Look:
    placed = [(at, one) for at, one in enumerate(items) if isinstance(one, Heard) and one.channel == trigger.channel]
    start = sum(at <= seen.at for at, _ in placed)
    if trigger.kind == "cadence":
        # What was delivered before the tune-out began is no news; the notice says how many came since.
        start = max(start, sum(at < trigger.at for at, _ in placed) - trigger.number)
    spoken = tuple(one for _, one in placed)
    hidden = max(0, len(spoken) - trigger.of + trigger.left - start) if trigger.left else None
    name = _reader(spoken, items, request, woken=trigger.woken)
    return Look(trigger.channel, spoken[start:], spoken[:start], seen.texts, name, hidden)


def _reader(spoken: Sequence[Heard], items: Sequence[Item], request: Request, *, woken: bool) -> str:
    """How the channel addresses the reader: a mentioned name that belongs to an agent in the log, or else that the
    system prompt tells. A wake says that somebody addressed the reader, so then the name mentioned most will do, or
    one that begins a line. Empty where none of that holds: better no question than another's."""
    told: set[str] = set(re.findall(r"[\w-]+", "\n".join(part.text for part in request.system).casefold()))
    voices = {item.name.casefold() for item in items if isinstance(item, Voice)}
    mentions = Counter(name for message in spoken for name in _found(_MENTION, message.text) - _EVERYBODY)
    openings = Counter(name for message in spoken for name in _found(_OPENING, message.text) - STOP_WORDS)

    def ranked(names: Counter[str]) -> list[str]:
        return sorted(names, key=lambda name: (name not in voices, name not in told, -names[name], name))

    for name in ranked(mentions):
        if woken or name in voices | told:
            return name
    for name in ranked(openings):
        if name in voices or (woken and name in told):
            return name
    return ""


def _found(pattern: re.Pattern[str], text: str) -> set[str]:
    return {found.group(1).casefold() for found in pattern.finditer(text)}


def _alarm(look: Look) -> Sentence | None:
    """The first sentence addressed to the reader that the list of words calls urgent."""
    return next(
        (
            one
            for message in look.fresh
            if addressed(message, look.name)
            for one in sentences(message)
            if _URGENT.search(one.text) and len(one.text) <= 240
        ),
        None,
    )


def _rest(items: Sequence[Item], failed: dict[str, str], tools: frozenset[str]) -> Draft:
    """Nothing is due: end the turn, and say which call was refused where one was."""
    last = next((item for item in reversed(items) if isinstance(item, Own)), Own("", ()))
    refused = [f"{use.name} was refused: {quote_of(failed[use.id], 200)}" for use in last.uses if use.id in failed]
    ended = any(use.name == END for use in last.uses) and not _anything_since(items)
    if refused or ended or END not in tools:
        return Draft("\n".join(refused) or "Nothing is left to report.")
    return Draft(calls=(Call(END, {}),))


def _anything_since(items: Sequence[Item]) -> bool:
    tail = 0
    while tail < len(items) and not isinstance(items[-1 - tail], Own):
        tail += 1
    return any(isinstance(item, Notice | Told) for item in items[len(items) - tail :])
