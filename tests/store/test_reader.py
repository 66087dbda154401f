"""A reader sees what is committed and nothing else, beside the writer of this process or of another."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from cockpit.core.message import RESIDENTS, Message
from cockpit.core.records import Audit, Batch, Report
from cockpit.store.chronicle import SqliteChronicle, open_chronicle
from cockpit.store.reader import Reader, open_reader

Said = Callable[..., Message]


async def heard(reader: Reader) -> list[int]:
    return [message.sequence for message in await reader.messages([RESIDENTS], view="heard", limit=99)]


async def test_what_is_not_committed_is_not_seen(chronicle: SqliteChronicle, path: Path, said: Said) -> None:
    await chronicle.append(Batch((said(1),)))
    async with open_reader(path) as beside:
        await chronicle._writing.execute("BEGIN IMMEDIATE")
        await chronicle._writing.execute("INSERT INTO record (sequence, kind, body) VALUES (2, 'report', '{}')")
        assert [(await reader.opened()).head for reader in (chronicle, beside)] == [1, 1]
        await chronicle._writing.commit()
        assert [(await reader.opened()).head for reader in (chronicle, beside)] == [2, 2]


async def test_reading_goes_on_while_another_reader_and_the_writer_are_at_work(
    chronicle: SqliteChronicle, path: Path, said: Said
) -> None:
    async with open_reader(path) as beside:
        for number in range(1, 20):
            await chronicle.append(Batch((said(number),)))
            assert await heard(beside) == await heard(chronicle) == list(range(1, number + 1))


async def test_a_reader_has_the_same_reads(chronicle: SqliteChronicle, path: Path, said: Said) -> None:
    row = Audit(1.0, "operator", "screen", "mute", "mcp:git", "open", "muted", "", None, False, 2)
    report = Report("watcher", "summary", "quiet", 1.0, "", 3)
    await chronicle.append(Batch((said(1), row, report)))
    async with open_reader(path) as beside:
        assert await beside.message("disc/m1") == said(1)
        assert await beside.known(["disc/disc:guild:noisy/m1", "x"]) == {"disc/disc:guild:noisy/m1"}
        assert list(await beside.audit(limit=9)) == [row]
        assert list(await beside.reports(limit=9)) == [report]
        assert list(await beside.lifecycle(target="mcp:git", limit=9)) == []
        assert await beside.opened() == await chronicle.opened()


async def test_a_store_that_no_cockpit_holds_can_be_read(path: Path, said: Said) -> None:
    async with open_chronicle(path) as chronicle:
        await chronicle.append(Batch((said(1),)))
    async with open_reader(path) as reader:
        assert await heard(reader) == [1]
    plain = sqlite3.connect(path)
    assert plain.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    plain.close()
