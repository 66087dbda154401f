"""The extractive report: of many messages, what a reader who heard none of them needs first.

It counts, quotes the questions that were put to the reader, and then quotes whole sentences that carry most that is
new: terms weigh by how many messages use them and by how little was said of them before, and a term that is quoted
already weighs nothing. No sentence is rewritten, so nothing is put in anyone's mouth (semantics.md S-8).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from math import log2, sqrt

from cockpit.core.notices import count
from cockpit.core.text import clip
from cockpit.model.heard import Heard

LIMIT = 900
"""Characters of a report, about: names and channel ids of absurd length are clipped, the rest fits."""

HONEST = "Extracted by rule, not judged."

# Where a sentence ends. A run of stops is tried once, from its start: a flood of them must not cost its square.
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)\]]*+(?=\s|$)|(?<![。！？])[。！？]++")
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_QUESTION = re.compile(r"[?？][\"'”’»)\]]*$")
STOP_WORDS = frozenset(
    re.findall(
        r"\S+",
        "a about after all also am an and any are as at be been but by can could did do does done for from get go "
        "going got had has have he her here him his how i if in into is it its just know let like me more my no "
        "not now of off ok okay on one only or our out over please really she should so some still than thanks "
        "that the their them then there they thing think this those to too up us very was we well were what when "
        "where which who why will with would yes yet you your it's that's i'm don't can't",
    )
)
"""Words that carry nothing new wherever they stand."""

_NAME_ROOM = 40
_QUOTED_LENGTH = 240
_LISTED_AUTHORS = 4
_QUOTED_QUESTIONS = 5
_QUOTED_SENTENCES = 4
_BACKGROUND = 2000  # messages; older ones say little about what is new


@dataclass(frozen=True, slots=True)
class Look:
    """What one report is about.

    fresh: the channel's messages since the last look, oldest first. before: its earlier ones. reported: the texts of
    earlier reports on it. name: how people address the reader, or empty where nobody knows. hidden: how many of
    `fresh`, the oldest, the reader was never given raw, or None where that is not the question.
    """

    channel: str
    fresh: tuple[Heard, ...]
    before: tuple[Heard, ...] = ()
    reported: tuple[str, ...] = ()
    name: str = ""
    hidden: int | None = None


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of one message, verbatim. `index` is its message's place in `fresh`."""

    author: str
    text: str
    index: int


def report(look: Look, limit: int = LIMIT) -> str:
    """The report, addressed to the reader, a fact a line. Deterministic; says that it is made by rule."""
    lines = [_counted(look)]
    if look.fresh:
        put = [index for index, message in enumerate(look.fresh) if addressed(message, look.name)]
        questions = [one for index in put for one in sentences(look.fresh[index], index) if _asks(one)]
        asking = {one.index for one in questions}
        remarks = [one for index in put if index not in asking for one in sentences(look.fresh[index], index)[:1]]
        quoted = _quoting(lines, f"You were asked {_times(len(questions))}", questions, limit * 3 // 4)
        more = " more" if questions else ""
        quoted += _quoting(lines, f"You were named {_times(len(remarks))}{more}", remarks, limit * 3 // 4)
        others = sum(_asks(one) for index, one in _all(look) if index not in put)
        if others:
            lines.append(f"{count(others, 'question')} went to nobody in particular or to others.")
        _quoting(lines, "New", newest_terms(look, quoted), limit - len(HONEST) - 1, counted=False)
    return "\n".join([*lines, HONEST])


def sentences(message: Heard, index: int = 0) -> list[Sentence]:
    """The sentences of one message, each as it stands there; a line's end ends a sentence too."""
    found: list[Sentence] = []
    for line in message.text.split("\n"):
        ends = [end.end() for end in _END.finditer(line)]
        parts = (line[start:end].strip() for start, end in pairwise([0, *ends, len(line)]))
        found.extend(Sentence(message.author, part, index) for part in parts if part)
    return found


def addressed(message: Heard, name: str) -> bool:
    """Whether the text speaks to `name`: by an @mention anywhere, or by the name at its start with `:` or `,`."""
    if not name:
        return False
    word = re.escape(name)
    return re.search(rf"@{word}(?!\w)|^\s*{word}\s*[:,]", message.text, re.IGNORECASE) is not None


def newest_terms(look: Look, quoted: Sequence[Sentence], most: int = _QUOTED_SENTENCES) -> list[Sentence]:
    """Up to `most` sentences that together carry most that is new, in the order they were said.

    Greedy: each choice takes the sentence whose terms, not yet covered by a quoted one, weigh most for its length.
    """
    weights = _weights(look)
    pool = [one for _, one in _all(look) if len(one.text) <= _QUOTED_LENGTH]
    if look.hidden:
        pool = [one for one in pool if one.index < look.hidden] or pool
    terms = {one: frozenset(_terms(one.text, look.name)) for one in pool}
    covered = {term for one in quoted for term in _terms(one.text, look.name)}
    chosen: list[Sentence] = []
    while len(chosen) < most and pool:
        worths = [_worth(terms[one], covered, weights) for one in pool]
        if max(worths) <= 0:
            break
        best = pool[worths.index(max(worths))]
        chosen.append(best)
        covered |= terms[best]
        pool = [one for one in pool if terms[one] - covered]
    return sorted(chosen, key=lambda one: one.index)


def _worth(terms: frozenset[str], covered: set[str], weights: Mapping[str, float]) -> float:
    """What a sentence adds for its length. Summed in a fixed order, since a set's differs from run to run."""
    return sum(weights.get(term, 0.0) for term in sorted(terms - covered)) / sqrt(len(terms) + 2)


def _weights(look: Look) -> dict[str, float]:
    """A term weighs by the messages that use it, less by what was said of it before; one with digits (a date, a
    version, a number of a ticket) half as much again."""
    used = Counter(term for message in look.fresh for term in set(_terms(message.text, look.name)))
    background = [message.text for message in look.before[-_BACKGROUND:]]
    known = Counter(term for text in (*background, *look.reported) for term in set(_terms(text, look.name)))
    return {
        term: (1 + log2(times)) / (1 + known[term]) * (1.5 if any(map(str.isdigit, term)) else 1.0)
        for term, times in used.items()
    }


def _terms(text: str, name: str) -> list[str]:
    own = name.casefold()
    words = (found.group().casefold() for found in _WORD.finditer(text))
    return [word for word in words if word != own and word not in STOP_WORDS and (len(word) > 2 or word.isdigit())]


def _all(look: Look) -> Iterable[tuple[int, Sentence]]:
    return ((index, one) for index, message in enumerate(look.fresh) for one in sentences(message, index))


def _asks(sentence: Sentence) -> bool:
    return _QUESTION.search(sentence.text) is not None


def _counted(look: Look) -> str:
    channel, fresh = _short(look.channel, 80), look.fresh
    if not fresh:
        return f"Nothing of {channel} is in my view that I haven't reported."
    first, last = fresh[0].time, fresh[-1].time
    span = first if first == last else f"{first} to {last}"
    more = "more " if look.reported else ""
    missed = f"{len(fresh)} {more}message{'' if len(fresh) == 1 else 's'}"
    told = f"You missed {missed} in {channel} ({span}): {_authors(fresh)}."
    if look.hidden:
        told += f" {count(look.hidden, 'message')} of these, the oldest, you weren't given raw."
    return told


def _authors(fresh: Sequence[Heard]) -> str:
    by = Counter(message.author for message in fresh).most_common()
    listed = ", ".join(f"{_short(author, _NAME_ROOM)} {times}" for author, times in by[:_LISTED_AUTHORS])
    rest = by[_LISTED_AUTHORS:]
    return f"{listed}, {count(len(rest), 'other')} {sum(times for _, times in rest)}" if rest else listed


def _quoting(
    lines: list[str], head: str, found: Sequence[Sentence], limit: int, *, counted: bool = True
) -> list[Sentence]:
    """Append `head` and as many of these sentences as fit, and return those. With `counted`, say how many don't."""
    if not found:
        return []
    room = limit - sum(len(line) + 1 for line in lines) - len(head) - len(" (and 1000 more)")
    shown: list[Sentence] = []
    parts: list[str] = []
    fitting = (one for one in found if len(one.text) <= _QUOTED_LENGTH)
    for one in islice(fitting, _QUOTED_QUESTIONS):
        part = f"{_short(one.author, _NAME_ROOM)}: “{one.text}”"
        if len(part) + 1 <= room:
            room -= len(part) + 1
            shown.append(one)
            parts.append(part)
    left = len(found) - len(shown)
    more = f" (and {left} more)" if left and shown and counted else ""
    if parts:
        lines.append(f"{head}: {' '.join(parts)}{more}")
    elif counted:
        lines.append(f"{head}, at a length that can't be quoted here.")
    return shown


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


def _short(text: str, room: int) -> str:
    return text if len(text) <= room else f"{clip(text, room - 1)}…"
