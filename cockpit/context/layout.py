"""In what order an agent reads its window: the order in which its requests came to hold things.

A request holds all there was when it was made. What came after it stands behind its answer and that answer's
results, so that each request is the one before it and appends (semantics.md V-3), and never between a tool use and
its result (V-8). A system-framed notice that came while a turn ran waits until that turn has ended (N-8).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from cockpit.context.speech import Answered, Asked, Part, Unit, unit
from cockpit.core.message import Text, ToolResult, ToolUse

_ANSWERS = 4
NO_RESULT = "[no result: the turn was interrupted]"


@dataclass(frozen=True, slots=True)
class Sent:
    """A request that was made: it held everything up to `seen`, in a turn that began at sequence `began`."""

    seen: int
    began: int


@dataclass(frozen=True, slots=True)
class Laid:
    """units in reading order. Sequences of the host's notices: waiting, those that the running turn holds back, and
    fresh, those in the units that no request has held yet."""

    units: tuple[Unit, ...]
    waiting: tuple[int, ...] = ()
    fresh: tuple[int, ...] = ()


@dataclass(slots=True)
class _Step:
    """A request with its answer, if it got one, and one place for the result of each of the answer's calls."""

    sent: Sent
    asked: Asked | None = None
    live: list[ToolResult | None] = field(default_factory=list)
    still: list[ToolResult | None] = field(default_factory=list)
    at: list[int] = field(default_factory=list)


def lay_out(parts: Sequence[Part], sent: Iterable[Sent], began: int | None, *, peek: bool = False) -> Laid:
    """Order one agent's window.

    parts: what its messages are to it, in ascending sequence. sent: requests that were made and may have
    stayed without an answer. began: where the turn that is running began, None where none is. peek: while calls of
    that turn are still being made, show the request that led to them, not a guess at their results.
    """
    steps = _steps(parts, sent)
    groups, waiting = _grouped(parts, steps, began)
    units: list[Unit] = []
    for at, step in enumerate(steps):
        units.extend(groups[at])
        if peek and at == len(steps) - 1 and _open(step, began):
            return Laid(tuple(units), tuple(waiting))
        if made := _made(step):
            units.append(made)
    units.extend(groups[-1])
    return Laid(tuple(units), tuple(waiting), tuple(unit.sequence for unit in groups[-1] if unit.framed))


def newest(parts: Sequence[Part]) -> Sequence[Part]:
    """The end of a window, by which its last unit is the same as by all of it: what came since the request of its
    fourth answer from the end was made. There is one request under way, and one may have been interrupted."""
    answers = 0
    for part in reversed(parts):
        answers += isinstance(part, Asked)
        if answers == _ANSWERS and isinstance(part, Asked):
            since = min(part.sequence - 1, part.seen or part.sequence)
            return parts[bisect_left(parts, since, key=_sequence) :]
    return parts


def _sequence(part: Part) -> int:
    return part.sequence


def _steps(parts: Iterable[Part], sent: Iterable[Sent]) -> list[_Step]:
    """The requests in their order, each with its answer and the results that the next request could hold."""
    answered: list[_Step] = []
    for part in parts:
        if isinstance(part, Asked):
            answered.append(_answer(part, answered[-1].asked if answered else None))
        elif isinstance(part, Answered) and answered:
            _fill(answered[-1], part)
    known = {step.sent for step in answered}
    steps = answered + [_Step(request) for request in set(sent) - known]
    steps.sort(key=lambda step: (step.sent.seen, step.sent.began))
    for step, after in pairwise(steps):
        _drop_late(step, after.sent.seen)
    return steps


def _answer(asked: Asked, before: Asked | None) -> _Step:
    """An own message as the answer to its request; bounds that contradict the log are put right."""
    newest = asked.sequence - 1
    seen = min(max(asked.seen or newest, before.sequence if before else 0), newest)
    began = min(asked.began or seen, newest)
    places = len(asked.uses)
    return _Step(Sent(seen, began), asked, [None] * places, [None] * places, [0] * places)


def _fill(step: _Step, answered: Answered) -> None:
    """Put results in the places of their calls. What finds none is an orphan, and dropped."""
    uses = step.asked.uses if step.asked else ()
    for live, still in zip(answered.live, answered.still, strict=True):
        for place, use in enumerate(uses):
            if use.id == live.tool_use_id and step.live[place] is None:
                step.live[place], step.still[place], step.at[place] = live, still, answered.sequence
                break


def _drop_late(step: _Step, seen: int) -> None:
    """A result that the next request could not hold stays out: that request said there was none."""
    for place, sequence in enumerate(step.at):
        if sequence > seen:
            step.live[place] = step.still[place] = None
            step.at[place] = 0


def _grouped(parts: Iterable[Part], steps: Sequence[_Step], began: int | None) -> tuple[list[list[Unit]], list[int]]:
    """For each request what it was the first to hold, and last what is new to the next one."""
    seen = [step.sent.seen for step in steps]
    begun = list(accumulate((step.sent.began for step in steps), max))
    groups: list[list[Unit]] = [[] for _ in range(len(steps) + 1)]
    waiting: list[int] = []
    for part in parts:
        if not isinstance(part, Unit):
            continue
        group = bisect_left(begun if part.framed else seen, part.sequence)
        if part.framed and group == len(steps) and began is not None and part.sequence > began:
            waiting.append(part.sequence)
        else:
            groups[group].append(part)
    return groups, waiting


def _open(step: _Step, began: int | None) -> bool:
    """Whether its calls are still being made: an answer of the running turn, with results to come."""
    return step.asked is not None and step.sent.began == began and None in step.live


def _made(step: _Step) -> Unit | None:
    """The answer with a result for each of its calls; None where it says nothing that can be sent."""
    asked = step.asked
    if asked is None or not asked.blocks:
        return None
    live = tuple(found or _missing(use) for found, use in zip(step.live, asked.uses, strict=True))
    still = tuple(found or _missing(use) for found, use in zip(step.still, asked.uses, strict=True))
    return unit(asked.sequence, max([asked.sequence, *step.at]), asked.blocks, live, still)


def _missing(use: ToolUse) -> ToolResult:
    return ToolResult(use.id, (Text(NO_RESULT),), is_error=True)
