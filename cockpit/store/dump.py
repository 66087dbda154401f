"""A DumpOf becomes what the residents and the subconscious get, inside the transaction that ends the epoch (T-16).

The backlog is read newest first and no further than the fit wants: what a dump costs follows what it shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace

import aiosqlite

from cockpit.core import notices
from cockpit.core.backlog import Dump, Fit
from cockpit.core.message import Message, Text
from cockpit.core.records import DumpOf, Notice, Report, ReportTurn, WakeRequest
from cockpit.core.text import render
from cockpit.store.codec import Stored
from cockpit.store.pages import Line, pages
from cockpit.store.sources import backlog

_FIRST = 64  # lines that are read before it is known whether any more are wanted

Decode = Callable[[Line], Message | None]
"""Gives None for a malformed line, once it has been reported."""


async def expand(connection: aiosqlite.Connection, dump: DumpOf, decode: Decode) -> tuple[Stored, ...]:
    """The dump's notice, and where there is a report turn (T-19) its notice, its line and its wake request."""
    fit = Fit(
        notice=dump.notice,
        channel=dump.channel,
        tag=dump.tag,
        messages=dump.messages,
        cap=dump.cap,
        bound=dump.bound,
    )
    await _offer(connection, dump, fit, decode)
    done = fit.finish()
    notice = Notice(_framed(dump, dump.slot, done.text, dump.sequence), dump.kind, dump.owner)
    report = dump.report
    if report is None or (report.only_if_truncated and not done.truncated):
        return (notice,)
    return (notice, *_report(dump, report, done))


async def _offer(connection: aiosqlite.Connection, dump: DumpOf, fit: Fit, decode: Decode) -> None:
    if not fit.wants:
        return
    source = backlog(dump.stamp, dump.target, dump.sequence)
    async with aclosing(pages(connection, source, before=dump.sequence, first=min(_FIRST, dump.cap))) as read:
        async for page in read:
            for message in _amended(page, decode):
                if not fit.offer(message.author, render(message.blocks, deleted=message.deleted)):
                    return


def _amended(page: Sequence[Line], decode: Decode) -> Iterator[Message]:
    """The diverted messages of a page, newest first, each as its newest edit left it (A-8)."""
    read = [message for message in map(decode, page) if message is not None]
    edits = {message.edits: message for message in read if message.edits is not None}
    for message in read:
        if message.edits is None:
            edit = edits.get(message.sequence)
            yield message if edit is None else replace(message, blocks=edit.blocks, deleted=edit.deleted)


def _report(dump: DumpOf, report: ReportTurn, done: Dump) -> tuple[Stored, ...]:
    text = notices.cancelled_report(dump.channel, report.reason, done.truncated, done.messages)
    message = _framed(dump, report.slot, text, dump.sequence + 1)
    return (
        Notice(message, "tune-out-cancel-report", report.agent),
        Report(report.agent, "cancel", text, dump.at, dump.target, dump.sequence + 2),
        WakeRequest(report.agent, "report", dump.at, dump.target, report.epoch, dump.sequence + 3),
    )


def _framed(dump: DumpOf, slot: str, text: str, sequence: int) -> Message:
    """A system-framed message: the host's, under the participant `system`."""
    return Message(
        slot=slot,
        kind="system",
        author="system",
        blocks=(Text(text),),
        at=dump.at,
        target=dump.target,
        channel=dump.channel,
        sequence=sequence,
    )
