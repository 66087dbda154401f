"""The screen under a flood, as `test_screen.py` runs it on a pseudo-terminal: 200 rows, so many changes a second, and
reports and prose that stream. At its end it writes what it sent, showed, dropped and was told to do, as JSON.

`python tests/bench/flooded_screen.py OUT.json RATE SECONDS` (a rate of 0 for a screen on which nothing happens).
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from cockpit.core.events import Event, Reported, Spoke, Writing
from cockpit.testing.fake_link import FakeLink, report, row, view
from cockpit.ui import run_screen_async
from cockpit.ui.intake import ReportItem
from cockpit.ui.widgets import reports

ROWS = 200
TICK = 0.01
"""Seconds between two handfuls of events."""
PIECES = 25
"""Pieces of streamed text a second, in each of the two panes."""


def target(number: int) -> str:
    """The row of that number; the servers have 20 channels each, all of them loud."""
    return f"channel:s{number // 20}/row-{number:03}"


@dataclass(slots=True)
class Tally:
    """reports: those sent. shown: those that reached their pane. lost: those of which it was told that they did not."""

    reports: int = 0
    shown: int = 0
    lost: int = 0
    sent: int = 0


async def flood(link: FakeLink, tally: Tally, rate: int, seconds: float) -> None:
    """Send `rate` changed rows a second, evenly over all rows, for so many seconds; and text in both panes where it
    is a flood."""
    counts = [1] * ROWS
    began, sent, pieces = time.monotonic(), 0, 0
    while rate and (passed := time.monotonic() - began) < seconds:
        await asyncio.sleep(TICK)
        events: list[Event] = []
        while sent < passed * rate:
            place = sent % ROWS
            counts[place] += 1
            known = link.view.rows[place]  # what was muted stays muted
            events.append(replace(known, at=link.now(), wait=counts[place], need=counts[place] // 50))
            sent += 1
        while rate >= ROWS and pieces < passed * PIECES:
            events += text(pieces, tally)
            pieces += 1
        tally.sent = sent
        link.emit(*events)


def text(piece: int, tally: Tally) -> Iterable[Event]:
    """One piece of a report and one of a resident's prose; every fortieth ends both."""
    stream, at = piece // 40, time.time()
    words = f"piece {piece} of what is being written, "
    yield Writing(at, "Subconscious", f"r{stream}", words, True, target(stream % ROWS), piece % 40 == 39)
    yield Writing(at, "scout", f"t{stream}", words, False, "", piece % 40 == 39)
    if piece % 40 == 39:
        tally.reports += 1
        yield replace(report(words, id=f"r{stream}", at=at), channel=target(stream % ROWS))
        yield Spoke(at, "scout", words)
    elif piece % 400 == 5:
        for number in range(300):
            tally.reports += 1
            yield replace(report(f"burst {piece} {number}", id=f"b{piece}-{number}", at=at))


def counting(tally: Tally) -> None:
    """Have the pane of reports count what reaches it."""
    apply = reports.Reports.apply

    def counted(pane: reports.Reports, items: Iterable[ReportItem], lost: int) -> None:
        listed = list(items)
        tally.shown += sum(isinstance(item, Reported) for item in listed)
        tally.lost += lost
        apply(pane, listed, lost)

    setattr(reports.Reports, "apply", counted)  # noqa: B010  the bench's own process; mypy knows no other way


async def main(rate: int, seconds: float) -> tuple[int, dict[str, object]]:
    """The screen until it ends: its exit code, and what to write down."""
    rows = [row(target(number), wait=1) for number in range(ROWS)]
    link = FakeLink(view(rows, model="bench"), now=time.time)
    tally = Tally()
    counting(tally)
    task = asyncio.create_task(flood(link, tally, rate, seconds), name="flood")
    try:
        code = await run_screen_async(
            link, theme="dark", themes=Path(__file__).parents[2] / "themes", mouse=False, read_only=False
        )
    finally:
        task.cancel()
    return code, {
        "sent_rows": tally.sent, "sent_reports": tally.reports, "shown_reports": tally.shown,
        "dropped_reports": tally.lost, "ran": link.ran,
    }  # fmt: skip


if __name__ == "__main__":
    code, told = asyncio.run(main(int(sys.argv[2]), float(sys.argv[3])))
    Path(sys.argv[1]).write_text(json.dumps(told), "utf-8")
    raise SystemExit(code)
