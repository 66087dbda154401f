"""What the shell commands on a running cockpit do: each takes a link and two writers, and returns the exit code.

`write` takes one line of standard output, which is data; `tell` one line of standard error, which is talk. A `write`
that raises BrokenPipeError (`| head`) ends the command without a word.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Protocol

from cockpit.control import shown
from cockpit.control.client import GONE, Stream
from cockpit.control.headless import as_line
from cockpit.control.plain import flat
from cockpit.core.events import Answer, Event, Ready, Reported, Stopped, VerbRan, View
from cockpit.core.message import Json
from cockpit.errors import VerbError

DONE, FAILED, WRONG_USE = 0, 1, 2

LOOKS = 1.0
"""Seconds between two looks into an inbox that is followed."""

Writer = Callable[[str], object]

_WRONG = frozenset({"unknown_verb", "missing_value", "bad_value"})


class Remote(Protocol):
    """A link from outside, whose streams can be left (client.SocketLink)."""

    def events(self) -> Stream: ...

    async def snapshot(self) -> View: ...

    async def run(self, line: str) -> Answer: ...

    async def send(self, handle: str, token: str, to: str | None, text: str) -> VerbRan: ...

    async def inbox(self, handle: str, token: str, after: int | None = None) -> list[Mapping[str, Json]]: ...


async def go(link: Remote, line: str, *, write: Writer, tell: Writer, as_json: bool = False) -> int:
    """`cockpit go LINE`: one verb. What it shows and says goes out, a refusal to standard error."""
    given = await link.run(line)
    try:
        if as_json:
            _lines([*given.shown, given.ran], write)
        else:
            for each in given.shown:
                _all(shown.shown(each), write)
            _all(shown.outcome(given.ran), write if given.ran.ok else tell)
    except BrokenPipeError:
        pass
    return _code(given.ran)


async def channels(link: Remote, *, write: Writer, as_json: bool = False) -> int:
    """`cockpit channels [--json]`: every row, as a table or as headless lines."""
    rows = [row for row in (await link.snapshot()).rows if not row.gone]
    try:
        if as_json:
            _lines(rows, write)
        else:
            _all(shown.rows(rows), write)
    except BrokenPipeError:
        pass
    return DONE


async def reports(link: Remote, *, write: Writer, tell: Writer, follow: bool = False, as_json: bool = False) -> int:
    """`cockpit reports [--follow] [--json]`: the newest, oldest first; with follow each one as it is finished, until
    the cockpit ends (0) or goes without a word (1)."""
    stream = link.events() if follow else None
    seen: set[str] = set()

    def put(each: Reported) -> None:
        if each.id not in seen:
            seen.add(each.id)
            if as_json:
                _lines([each], write)
            else:
                _all(shown.report(each), write)

    try:
        for each in (await link.snapshot()).reports:
            put(each)
        if stream is None:
            return DONE
        async for event in stream:
            if isinstance(event, Reported):
                put(event)
            elif isinstance(event, Stopped):
                return _stopped(event, tell)
    except BrokenPipeError:
        pass
    finally:
        if stream is not None:
            stream.close()
    return DONE


async def events(link: Remote, *, write: Writer, tell: Writer, wall: Callable[[], float] = time.time) -> int:
    """`cockpit events`: the headless lines of a running cockpit, `ready` and one line a channel first, until it ends
    (0) or goes without a word (1). wall: seconds since 1970, for the `ready`."""
    stream = link.events()
    try:
        view = await link.snapshot()
        agents = tuple(agent.name for agent in view.agents)
        rows = [row for row in view.rows if not row.gone]
        _lines([Ready(wall(), view.recipe, view.store, agents, len(rows)), *rows], write)
        async for event in stream:
            if not isinstance(event, Ready):
                _lines([event], write)
            if isinstance(event, Stopped):
                return _stopped(event, tell)
    except BrokenPipeError:
        pass
    finally:
        stream.close()
    return DONE


async def send(link: Remote, handle: str, text: str, *, token: str, to: str | None, write: Writer, tell: Writer) -> int:
    """`cockpit send --as HANDLE [--to feed:NAME|RESIDENT] TEXT`; the token comes from COCKPIT_TOKEN."""
    if not token:
        tell("send needs the participant's token in COCKPIT_TOKEN")
        return WRONG_USE
    if not text.strip():
        tell("send needs a text that says something")
        return WRONG_USE
    ran = await link.send(handle, token, to, text)
    _all(shown.outcome(ran), write if ran.ok else tell)
    return _code(ran)


async def inbox(
    link: Remote,
    handle: str,
    *,
    token: str,
    write: Writer,
    tell: Writer,
    follow: bool = False,
    as_json: bool = False,
    pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> int:
    """`cockpit inbox --as HANDLE [--follow] [--json]`: what was said to it and in the feeds, and not yet read.

    What was written out is told as read with the next question: a command that dies says it again, and loses nothing.
    With follow it asks once a second, until the cockpit goes (1).
    """
    after: int | None = None
    try:
        while True:
            found = await link.inbox(handle, token, after)
            for each in found:
                _all([shown.message_line(each)] if as_json else shown.message(each), write)
            if found:
                after = int(str(found[-1]["id"]))
            elif not follow:
                return DONE
            else:
                await pause(LOOKS)
    except BrokenPipeError:
        return DONE
    except VerbError as error:
        tell(flat(str(error)))
        return FAILED


def over(ended: Stopped | None, tell: Writer) -> int:
    """What is said after a screen was closed: nothing where the cockpit lives, else how it ended; the exit code."""
    if ended is None:
        return DONE
    if ended.reason == GONE:
        tell(flat(GONE))
        return FAILED
    tell(f"the cockpit has ended: {flat(ended.reason)}")
    return DONE


def _code(ran: VerbRan) -> int:
    if ran.ok:
        return DONE
    return WRONG_USE if ran.code in _WRONG else FAILED


def _stopped(event: Stopped, tell: Writer) -> int:
    if event.reason != GONE:
        return DONE
    tell(f"{flat(event.reason)}, or it dropped this reader as too slow")
    return FAILED


def _lines(given: Iterable[Event], write: Writer) -> None:
    for event in given:
        line = as_line(event)
        if line is not None:
            write(line)


def _all(lines: Iterable[str], write: Writer) -> None:
    for line in lines:
        write(line)
