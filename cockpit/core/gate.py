"""The resident's wake gate: whether it would be woken for a message. It decides waking, never seeing.

Ordered rules, the first match wins; what no rule matches is the default's, or `always` for a privileged author.
Without a gate: addressed messages, direct messages, push events and Intercom messages to it wake it (N-6). Patterns
are matched in linear time (RE2), so that no text and no rule can stall the engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Literal, Protocol, assert_never

import re2

from cockpit.core.inputs import Arrived
from cockpit.core.message import Text
from cockpit.core.value import value

Word = Literal["always", "defer", "mute"]
"""always: wakes. defer: does not. mute: does not either, and says of the author that nothing of theirs does (T-6)."""


class Pattern(Protocol):
    """What is used of a compiled pattern."""

    def search(self, text: str) -> object | None: ...

    def fullmatch(self, text: str) -> object | None: ...


MOST_HOPS = 4
"""How many agents' turns in a row may wake the next; then a message between agents wakes nobody (K-37)."""

SCANNED = 100_000
"""Characters of a text that a pattern looks at."""

HOUR = 3600.0

WAKES_PER_HOUR = "limits:wakes_per_hour"
"""What `go=why` names where a server's own limit decided."""

KEPT = 1_000
"""Channels, authors or servers that the limits remember; beyond it, who was let through longest ago is forgotten."""


@dataclass(frozen=True, slots=True)
class Debounce:
    """Wakes once the channel has been quiet for so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class RateLimit:
    """`tokens` wakes at once, then one more each `refill` seconds, apart for each channel, author or server."""

    tokens: int
    refill: float
    by: Literal["channel", "author", "server"] = "channel"


@dataclass(frozen=True, slots=True)
class Sample:
    """Every n-th wakes."""

    every: int


Behavior = Word | Debounce | RateLimit | Sample


@dataclass(frozen=True, slots=True)
class Match:
    """What a message must have, all of it; globs (`*`, `?`), one of several is enough except in tags_all. A field
    without any asks nothing. kind: of its target. regex: searched in its text."""

    kind: tuple[str, ...] = ()
    server: tuple[str, ...] = ()
    channel: tuple[str, ...] = ()
    author: tuple[str, ...] = ()
    tags_any: tuple[str, ...] = ()
    tags_all: tuple[str, ...] = ()
    tags_none: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    regex: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    match: Match
    behavior: Behavior


@dataclass(frozen=True, slots=True)
class Gate:
    """privileged: ids of authors."""

    rules: tuple[Rule, ...] = ()
    default: Behavior = "defer"
    privileged: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Bucket:
    """left: whole and part tokens at the wall-clock moment `at`."""

    left: float
    at: float


@dataclass(frozen=True, slots=True)
class GateState:
    """What limits and samples remember, by rule and key."""

    buckets: Mapping[tuple[str, str], Bucket] = field(default_factory=lambda: MappingProxyType({}))
    seen: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))


@value
class Verdict:
    """passes: the gate would wake the resident now. debounce: it will, once the channel was quiet for so many
    seconds. rule: the name of what decided, for `go=why`. privileged: the author is one whom the gate privileges."""

    passes: bool
    rule: str
    privileged: bool = False
    debounce: float | None = None


def judge(given: Arrived, gate: Gate | None, state: GateState, now: float) -> tuple[Verdict, GateState]:
    """The verdict, and what the limits remember after it. `now` is wall clock, in seconds since 1970."""
    privileged = gate is not None and given.author_id is not None and given.author_id in gate.privileged
    if given.own:
        return Verdict(False, "gate:own", privileged), state
    if given.hops >= MOST_HOPS:
        return Verdict(False, "gate:hops", privileged), state
    if gate is None:
        return _without(given), state
    rule = next((rule for rule in gate.rules if matches(rule.match, given)), None) if gate.rules else None
    if rule is None and privileged:
        return Verdict(True, "gate:privileged", privileged), state
    name = "gate:default" if rule is None else f"gate:{rule.name}"
    return _behave(name, gate.default if rule is None else rule.behavior, given, state, privileged=privileged, now=now)


def limited(
    verdict: Verdict, given: Arrived, per_hour: int | None, state: GateState, now: float
) -> tuple[Verdict, GateState]:
    """The verdict under its server's `wakes_per_hour` (mcpl.md 14): what would be a wake too many is admitted and wakes
    nobody. None for no limit; what waits for quiet takes nothing from it."""
    if per_hour is None or not verdict.passes:
        return verdict, state
    limit = RateLimit(per_hour, HOUR / max(1, per_hour), "server")
    within, after = _behave(WAKES_PER_HOUR, limit, given, state, privileged=verdict.privileged, now=now)
    return (verdict if within.passes else within), after


def matches(match: Match, given: Arrived) -> bool:
    """Whether a message has all that is asked."""
    target = given.target
    server = target.server or ""
    fields = (
        (match.kind, (target.kind,)),
        (match.server, (server,)),
        (match.channel, (str(target), target.id, target.name)),
        (match.author, (given.author, given.author_id or given.author)),
    )
    if not all(not globs or _any(globs, values) for globs, values in fields):
        return False
    if match.tags_any and not _any(match.tags_any, given.tags):
        return False
    if any(not _any((glob,), given.tags) for glob in match.tags_all) or _any(match.tags_none, given.tags):
        return False
    if not match.text and match.regex is None:
        return True
    text = "\n".join(block.text for block in given.blocks if isinstance(block, Text))[:SCANNED]
    if match.text and not _any(match.text, (text,)):
        return False
    return match.regex is None or pattern(match.regex).search(text) is not None


def unreachable(gate: Gate) -> tuple[tuple[str, str], ...]:
    """The rules that can never match, each with the reason."""
    found: list[tuple[str, str]] = []
    for place, rule in enumerate(gate.rules):
        match = rule.match
        both = set(match.tags_all) & set(match.tags_none)
        if both:
            found.append((rule.name, f"it asks for the tag {min(both)} and forbids it"))
            continue
        before = next((each for each in gate.rules[:place] if _covers(each.match, match)), None)
        if before is not None:
            found.append((rule.name, f"whatever it matches, {before.name} has matched before it"))
    return tuple(found)


@lru_cache(maxsize=1024)
def pattern(text: str) -> Pattern:
    """A compiled pattern. Raises ValueError, one line, where RE2 cannot read it."""
    try:
        compiled: Pattern = re2.compile(text, _options())
    except re2.error as error:
        said = error.args[0] if error.args else ""
        words = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        raise ValueError(f"is no regular expression: {words}") from None
    return compiled


def _without(given: Arrived) -> Verdict:
    """N-6. An edit or deletion of what was said wakes nobody again."""
    if given.change:
        return Verdict(False, "gate:change")
    if given.addressed or "chat:dm" in given.tags:
        return Verdict(True, "gate:addressed")
    if given.push:
        return Verdict(True, "gate:push")
    if given.intercom:
        return Verdict(True, "gate:intercom")
    return Verdict(False, "gate:default")


def _behave(
    name: str, behavior: Behavior, given: Arrived, state: GateState, *, privileged: bool, now: float
) -> tuple[Verdict, GateState]:
    match behavior:
        case "always":
            return Verdict(True, name, privileged), state
        case "defer" | "mute":
            return _deferred(name, privileged), state
        case Debounce(seconds):
            return Verdict(False, name, privileged, debounce=seconds), state
        case RateLimit():
            bucket, passes = _take(behavior, old := state.buckets.get(key := (name, _key(behavior, given))), now)
            after = state if bucket == old else GateState(_kept(state.buckets, key, bucket), state.seen)
            return Verdict(passes, name, privileged), after
        case Sample(every):
            count = (state.seen.get(name, 0) + 1) % every
            return Verdict(count == 0, name, privileged), GateState(state.buckets, {**state.seen, name: count})
        case _ as never:
            assert_never(never)


@lru_cache(maxsize=256)
def _deferred(name: str, privileged: bool) -> Verdict:
    return Verdict(False, name, privileged)


def _take(limit: RateLimit, bucket: Bucket | None, now: float) -> tuple[Bucket, bool]:
    """One token, if there is one; a bucket that gives none stays as it was. A clock that steps back refills nothing and
    takes nothing away."""
    if bucket is None:
        bucket = Bucket(limit.tokens, now)
    gained = max(0.0, now - bucket.at) / limit.refill if limit.refill > 0 else float(limit.tokens)
    left = min(float(limit.tokens), bucket.left + gained)
    if left >= 1:
        return Bucket(left - 1, now), True
    return (bucket if now >= bucket.at else Bucket(left, now)), False


def _kept(
    buckets: Mapping[tuple[str, str], Bucket], key: tuple[str, str], bucket: Bucket
) -> Mapping[tuple[str, str], Bucket]:
    found = {**buckets, key: bucket}
    if len(found) > KEPT:
        del found[min(found, key=lambda each: found[each].at)]
    return found


def _key(limit: RateLimit, given: Arrived) -> str:
    match limit.by:
        case "channel":
            return str(given.target)
        case "author":
            return given.author_id or given.author
        case "server":
            return given.target.server or str(given.target)
        case _ as never:
            assert_never(never)


def _any(globs: tuple[str, ...], values: tuple[str, ...]) -> bool:
    return any(_glob(glob).fullmatch(value) is not None for glob in globs for value in values)


@lru_cache(maxsize=4096)
def _glob(glob: str) -> Pattern:
    parts = (".*" if letter == "*" else "." if letter == "?" else re2.escape(letter) for letter in glob)
    compiled: Pattern = re2.compile(f"(?s){''.join(parts)}", _options())
    return compiled


def _options() -> object:
    options = re2.Options()
    options.log_errors = False
    return options


def _covers(wide: Match, narrow: Match) -> bool:
    """Whether all that `narrow` matches, `wide` matches too, as far as their words alone can tell."""
    if wide.regex is not None and wide.regex != narrow.regex:
        return False
    any_of = ("kind", "server", "channel", "author", "tags_any", "text")
    for name in any_of:
        asked, given = getattr(wide, name), getattr(narrow, name)
        if name == "tags_any":
            given = given if given and set(given) <= set(asked) else tuple(set(narrow.tags_all) & set(asked)) or given
        if asked and "*" not in asked and not (given and all(each in asked for each in given)):
            return False
    return set(wide.tags_all) <= set(narrow.tags_all) and set(wide.tags_none) <= set(narrow.tags_none)
