"""The one registry of verbs, and the grammar that reads them.

Keys, verb line, completion, help, footer, README table, `cockpit go`, the headless twin and the read-only gate are
all made from `VERBS`. A line reads `go=VERB target=TARGET [name=value …]`, or `VERB TARGET …` for short.
"""

from __future__ import annotations

import difflib
import math
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from cockpit.core.duration import parse_duration
from cockpit.core.target import KINDS, Kind
from cockpit.core.text import clip
from cockpit.core.words import Word, split
from cockpit.errors import VerbError

ParamKind = Literal["target", "text", "duration", "count", "choice"]
Value = str | int | float

LARGEST = 2**53
"""No count is read as more: JSON and stores hold whole numbers exactly up to here, and nobody means more (K-49)."""

COMPARED = 100
"""Characters of a word that are compared with the known ones, and that a refusal repeats: a line has no bound."""

NUMBER = 400
"""Characters of the longest number or duration that is read."""

NEAR = 0.2
"""How much less alike than the nearest a word may be, to be named beside it."""


@dataclass(frozen=True, slots=True)
class Param:
    """One `name=value`. A duration is read to seconds, a count to a whole number (fractions are floored, T-1)."""

    name: str
    kind: ParamKind
    required: bool = False
    choices: tuple[str, ...] = ()
    example: str = "…"


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb. kinds: what its target may be. writes: refused under --read-only. asks: a key press needs a yes.
    says: its text is somebody's words, kept as they stand and told to nobody else."""

    name: str
    does: str
    key: str | None = None
    params: tuple[Param, ...] = ()
    kinds: tuple[Kind, ...] = KINDS
    writes: bool = True
    asks: bool = False
    says: bool = False
    instead: Mapping[str, str] = field(default_factory=dict)
    """What to say of a parameter that people expect and that it does not have."""

    @property
    def usage(self) -> str:
        """`go=mute target=… [reason=…]`, as help and the README show it."""
        words = [f"go={self.name}"]
        for param in self.params:
            shown = f"{param.name}={'|'.join(param.choices) if param.choices else param.example}"
            words.append(shown if param.required else f"[{shown}]")
        return " ".join(words)

    def param(self, name: str) -> Param | None:
        return next((param for param in self.params if param.name == name), None)


_TARGET = Param("target", "target", required=True)
_REASON = Param("reason", "text")
_SERVER: tuple[Kind, ...] = ("mcp",)
_CHAT: tuple[Kind, ...] = ("channel",)
_TUNABLE: tuple[Kind, ...] = ("channel", "feed")

VERBS: tuple[Verb, ...] = (
    Verb(
        "mute", "mute: nothing from it reaches a model, and nothing is lost", "m",
        (_TARGET, _REASON, Param("override", "text"), Param("soft", "choice", choices=("yes",))),
        instead={"for": "what should end by itself is a tune-out: go=tune-out target=… for=2h"},
    ),
    Verb(
        "unmute", "unmute; with deliver=backlog the agent gets what was withheld", "m",
        (_TARGET, Param("deliver", "choice", choices=("notice", "backlog"))),
    ),
    Verb(
        "tune-out", "tune out: the subconscious watches it and reports", "t",
        (_TARGET, Param("cadence", "duration", example="30m"), Param("cap", "count", example="200"),
         Param("wakes", "count", example="5"), Param("for", "duration", example="2h")),
        _TUNABLE,
    ),
    Verb("cancel", "cancel the tune-out: dump and report", "c", (_TARGET, _REASON), _TUNABLE),
    Verb("open", "open a chat channel", "o", (_TARGET,), _CHAT),
    Verb("close", "close a chat channel", "o", (_TARGET,), _CHAT),
    Verb("kill", "end a server's process", "K", (_TARGET,), _SERVER, asks=True),
    Verb("start", "start a server's process", "K", (_TARGET,), _SERVER),
    Verb("peek", "print its backlog without ending anything", "p",
         (_TARGET, Param("last", "count", example="20")), writes=False),
    Verb("say", "say something over the Intercom, as the operator", None,
         (Param("to", "text", example="feed:NAME|RESIDENT"), Param("text", "text", required=True, example='"…"')),
         says=True),
    Verb("ask", "prompt the resident (ignition)", None, (Param("text", "text", required=True, example='"…"'),),
         says=True),
    Verb("stop", "interrupt the running turn", "escape escape", ()),
    Verb("why", "why a message was or wasn't heard", "w",
         (Param("message", "text", required=True, example="ID"),), writes=False),
    Verb("audit", "who did what, when, from where", "a",
         (Param("target", "target"), Param("last", "count", example="50")), writes=False),
    Verb("stats", "totals a channel and an agent", "s", (), writes=False),
    Verb("context", "what an agent would be sent now", "x",
         (Param("agent", "text", example="…"),), writes=False),
    Verb("undo", "take back your last mute, unmute, open, close, or tune-out that diverted nothing", "u", ()),
    Verb("branches", "list the branches of the resident's timeline", None, (), writes=False),
    Verb("rewind", "fork the resident's timeline before a message; mutes, kills and audit stay as they are", None,
         (Param("to", "text", required=True, example="SEQ|MESSAGE"),)),
    Verb("switch", "change to another branch of the resident's timeline", None,
         (Param("branch", "text", required=True, example="NAME"),)),
    Verb("quit", "end cleanly", "q", (), writes=False),
)  # fmt: skip

BY_NAME: Mapping[str, Verb] = {verb.name: verb for verb in VERBS}


@dataclass(frozen=True, slots=True)
class Command:
    """One line, read: durations in seconds, counts as whole numbers; `target` still as typed."""

    verb: Verb
    typed: str
    target: str | None = None
    values: Mapping[str, Value] = field(default_factory=dict)

    def text(self, name: str) -> str | None:
        value = self.values.get(name)
        return value if isinstance(value, str) else None

    def number(self, name: str) -> float | None:
        value = self.values.get(name)
        return value if isinstance(value, int | float) else None


def nearest(word: str, known: Iterable[str], most: int = 3) -> tuple[str, ...]:
    """The known words that begin with `word`, else those that come closest to it, best first."""
    lowered = {item.lower(): item for item in known}
    wanted = word[:COMPARED].lower()
    starts = [item for low, item in lowered.items() if wanted and low.startswith(wanted)]
    if starts:
        return tuple(starts[:most])
    found = difflib.get_close_matches(wanted, list(lowered), most, 0.5)
    alike = {low: difflib.SequenceMatcher(None, low, wanted).ratio() for low in found}
    return tuple(lowered[low] for low in found if alike[low] >= alike[found[0]] - NEAR)


def repeated(word: str) -> str:
    """A word that was not understood, quoted and of bounded length, as a refusal says it."""
    return repr(word if len(word) <= COMPARED else f"{clip(word, COMPARED)}…")


def parse(line: str) -> Command:
    """Read one line. Raises VerbError: `unknown_verb`, `missing_value` or `bad_value`, and nothing else happens."""
    text = line.strip().removeprefix(":").strip()
    spoken = _spoken(text)
    if spoken is not None:
        return Command(spoken[0], line, None, spoken[1])
    words = split(text)
    if not words:
        raise VerbError("missing_value", "an empty line names no verb", "go=VERB target=TARGET")
    verb, words = _verb(words)
    given: dict[str, str] = {}
    bare: list[str] = []
    for word in _joined(words, verb):
        name, value = _named(word, verb)
        if name is None:
            bare.append(value)
        elif name in given:
            raise VerbError("bad_value", f"{name}= is given twice", verb.usage)
        else:
            given[name] = value
    _place(verb, bare, given)
    values: dict[str, Value] = {}
    for param in verb.params:
        said = given.get(param.name)
        if said is not None and said.strip() == "":
            raise VerbError("missing_value", f"{verb.name}: {param.name}= has no value", verb.usage)
        if said is None and param.required:
            raise VerbError("missing_value", f"{verb.name} needs {param.name}=", verb.usage)
        if said is not None and param.kind != "target":
            values[param.name] = _value(verb, param, said)
    target = given.get("target")
    return Command(verb, line, None if target is None else target.strip(), values)


def _spoken(line: str) -> tuple[Verb, Mapping[str, str]] | None:
    """The short form of a verb that says something or names a message (`ask WORDS`, `say to=NAME WORDS`, `why ID`):
    the words just as they stand; what somebody says keeps its quotes too. None where the grammar is to read the line:
    it is of no such verb, or names its text, or quotes it."""
    word, _, rest = line.partition(" ")
    verb = BY_NAME.get(word.lower().removeprefix("go="))
    text = None if verb is None else next((each for each in verb.params if each.kind == "text" and each.required), None)
    if verb is None or text is None or verb.param("target") is not None:
        return None
    given: dict[str, str] = {}
    rest = rest.strip()
    while rest:
        name, equals, tail = rest.partition("=")
        if not equals or verb.param(name.lower()) is None:
            if not verb.says and (rest[:1] in {'"', "'"} or (equals and name.strip().isalpha())):
                return None
            return verb, {**given, text.name: rest}
        value, _, after = tail.partition(" ")
        if name.lower() == text.name or value[:1] in {'"', "'"}:
            return None
        given[name.lower()], rest = value, after.strip()
    return None


def _verb(words: list[Word]) -> tuple[Verb, list[Word]]:
    """The verb: `go=VERB` wherever it stands, else the first word."""
    place = next((n for n, word in enumerate(words) if word.text.lower().startswith("go=")), 0)
    word = words[place].text
    name = (word[3:] if word.lower().startswith("go=") else word).strip()
    verb = BY_NAME.get(name.lower())
    if verb is None:
        close = nearest(name, BY_NAME)
        hint = f"did you mean {' or '.join(close)}?" if close else f"verbs: {', '.join(BY_NAME)}"
        raise VerbError("unknown_verb", f"no verb {repeated(name)}; {hint}", ", ".join(close) or ", ".join(BY_NAME))
    return verb, words[:place] + words[place + 1 :]


def _joined(words: list[Word], verb: Verb) -> list[Word]:
    """The words with `name = value`, `name= value` and `name =value` as the one word `name=value` that is meant."""
    if verb.says:
        return words
    left, found = deque(words), list[Word]()
    while left:
        word = left.popleft()
        name = word.text.removesuffix("=").lower()
        if not word.quoted and verb.param(name) is not None:
            text = word.text
            if text.lower() == name and left and left[0].text.startswith("=") and not left[0].began:
                text += left.popleft().text
            if text.lower() == f"{name}=" and left and not _names(left[0], verb):
                text += left.popleft().text
            word = Word(text)
        found.append(word)
    return found


def _names(word: Word, verb: Verb) -> bool:
    """Whether a word names a parameter of its own, and so is no value of the one before it."""
    name, equals, _ = word.text.partition("=")
    return bool(equals) and not word.began and (not name or verb.param(name.lower()) is not None)


def _named(word: Word, verb: Verb) -> tuple[str | None, str]:
    """A word as (parameter, value), or (None, word) for a bare one. Targets may hold `=`; quoted words are bare."""
    text, quoted, _ = word
    name, equals, value = text.partition("=")
    lowered = name.lower()
    if equals and verb.param(lowered) is not None:
        return lowered, value
    if not equals or quoted or any(text.lower().startswith(f"{kind}:") for kind in KINDS):
        return None, text
    if not name:
        raise VerbError("bad_value", f"{verb.name}: nothing stands before {repeated(text)}", verb.usage)
    known = [param.name for param in verb.params]
    if any(param.kind == "text" and param.required for param in verb.params) and (verb.says or not name.isalpha()):
        return None, text
    if lowered in verb.instead:
        raise VerbError("bad_value", f"{verb.name} has no {lowered}=: {verb.instead[lowered]}", verb.instead[lowered])
    close = nearest(name, known)
    takes = f"it takes {', '.join(f'{each}=' for each in known)}" if known else "it takes nothing"
    raise VerbError(
        "bad_value",
        f"{verb.name} knows no {repeated(name)}; {f'did you mean {close[0]}=?' if close else takes}",
        verb.usage,
    )


def _place(verb: Verb, bare: list[str], given: dict[str, str]) -> None:
    """Put bare words where the short form means them: the target first, or the whole text of a verb that says one."""
    if not bare:
        return
    if verb.param("target") is not None and "target" not in given:
        given["target"] = bare.pop(0)
    text = next((param for param in verb.params if param.kind == "text" and param.required), None)
    if text is None:
        text = next((p for p in verb.params if p.name == "agent"), None)
    if bare and text is not None and text.name not in given:
        given[text.name] = " ".join(bare)
        return
    if bare:
        raise VerbError("bad_value", f"{verb.name} has no place for {repeated(bare[0])}", verb.usage)


def _value(verb: Verb, param: Param, text: str) -> Value:
    said = f"{verb.name}: {param.name}={repeated(text)}"
    if param.kind in {"duration", "count"} and len(text) > NUMBER:
        raise VerbError("bad_value", f"{said} is too long for a number", verb.usage)
    match param.kind:
        case "duration":
            try:
                return parse_duration(text)
            except ValueError as error:
                raise VerbError("bad_value", f"{said}: {error}", verb.usage) from error
        case "count":
            return _count(verb, param, text)
        case "choice":
            if text.lower() not in param.choices:
                raise VerbError("bad_value", f"{said} is none of {', '.join(param.choices)}", verb.usage)
            return text.lower()
        case "text" | "target":
            return text


def _count(verb: Verb, param: Param, text: str) -> int:
    """A whole number of text; fractions are floored, everything else that is no number is refused (T-1, K-48)."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        why = "is below 0" if -math.inf < number < 0 else "is not a whole number"
        raise VerbError("bad_value", f"{verb.name}: {param.name}={repeated(text)} {why}", verb.usage)
    return floored(number)


def floored(number: float) -> int:
    """The whole number below, at most LARGEST."""
    return math.floor(min(number, LARGEST))
