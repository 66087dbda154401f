"""One batch is one transaction: all of it or nothing, durable when it returns, and told in clear words where not."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from cockpit.core.channel import Channel
from cockpit.core.message import RESIDENTS, Message, Text
from cockpit.core.records import Audit, Batch, DumpOf, Lifecycle, Notice, Record, Report, Snapshot, WakeRequest
from cockpit.core.target import Target
from cockpit.errors import StoreError
from cockpit.store.chronicle import SqliteChronicle, open_chronicle

Said = Callable[..., Message]
GIT = Target("mcp", "git")


async def heard(chronicle: SqliteChronicle) -> list[int]:
    return [message.sequence for message in await chronicle.messages([RESIDENTS], view="all", limit=10_000)]


def replace_file(path: Path) -> None:
    path.rename(path.with_name("moved.db"))
    path.write_bytes(b"")


class TestAllOrNothing:
    async def test_a_batch_is_there_whole_when_append_returns(self, chronicle: SqliteChronicle, said: Said) -> None:
        records = (said(1), said(2), Report("watcher", "summary", "all is well", 1.0, sequence=3))
        assert await chronicle.append(Batch(records)) == records
        assert await heard(chronicle) == [1, 2]
        assert [report.sequence for report in await chronicle.reports(limit=5)] == [3]

    async def test_a_batch_of_more_rows_than_one_statement_binds_is_there_whole(
        self, chronicle: SqliteChronicle, said: Said
    ) -> None:
        await chronicle.append(Batch(tuple(said(number) for number in range(1, 4_002))))
        assert await heard(chronicle) == list(range(1, 4_002))

    @pytest.mark.parametrize(
        ("sequence", "key"),
        [(1, "new"), (40, "disc/disc:guild:noisy/m1"), (21, "new")],
        ids=["a known sequence", "a known key", "the sequence of a dump's report"],
    )
    async def test_a_failing_batch_leaves_nothing(
        self, chronicle: SqliteChronicle, said: Said, ends: Callable[..., DumpOf], sequence: int, key: str
    ) -> None:  # T-16: the state, the dump, the notices and the wake requests, or none of them
        await chronicle.append(Batch((said(1),), (Channel(GIT, wait=1),)))
        before = await chronicle.opened()
        owed = WakeRequest("scout", "cancel", 1.0, sequence=30)
        kept = Snapshot("dispositions", {"a": "b"}, 1.0, sequence=31)
        records = (said(10, epoch="epoch-1"), ends(20, 1), owed, kept, said(sequence, key=key))
        with pytest.raises(StoreError, match="holds a record with this sequence or key already"):
            await chronicle.append(Batch(records, (Channel(GIT, wait=2),)))
        assert await chronicle.opened() == before
        assert await heard(chronicle) == [1]

    async def test_the_next_batch_after_a_failing_one_is_written(self, chronicle: SqliteChronicle, said: Said) -> None:
        await chronicle.append(Batch((said(1),)))
        with pytest.raises(StoreError):
            await chronicle.append(Batch((said(1),)))
        await chronicle.append(Batch((said(2),)))
        assert await heard(chronicle) == [1, 2]

    async def test_a_cancelled_append_is_whole_or_absent(self, chronicle: SqliteChronicle, said: Said) -> None:
        task = asyncio.ensure_future(chronicle.append(Batch(tuple(said(number) for number in range(1, 3_001)))))
        for _ in range(4):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(await heard(chronicle)) in {0, 3_000}
        await chronicle.append(Batch((said(5_000),)))
        assert (await heard(chronicle))[-1] == 5_000

    async def test_appends_at_once_take_turns(self, chronicle: SqliteChronicle, said: Said) -> None:
        batches = [Batch((said(number), said(number + 1))) for number in range(1, 41, 2)]
        await asyncio.gather(*map(chronicle.append, batches))
        assert await heard(chronicle) == list(range(1, 41))

    async def test_an_empty_batch_writes_nothing(self, chronicle: SqliteChronicle) -> None:
        assert await chronicle.append(Batch(())) == ()
        assert (await chronicle.opened()).fresh


class TestOneSequence:
    async def test_every_kind_of_record_has_its_place_in_one_order(
        self, chronicle: SqliteChronicle, path: Path, said: Said
    ) -> None:
        records: tuple[Record, ...] = (
            said(1),
            Lifecycle("mcp:git", "muted", 1.0, sequence=2),
            WakeRequest("scout", "message", 1.0, sequence=5),
            Audit(1.0, "operator", "screen", "mute", "mcp:git", "open", "muted", "", None, True, sequence=6),
            Notice(Message("agent/scout", "system", "system", (Text("[x]"),), 1.0, sequence=9), "gate", "scout"),
            Snapshot("anchor", 7, 1.0, sequence=12),
        )
        await chronicle.append(Batch(records))
        with sqlite3.connect(path) as plain:
            order = plain.execute("SELECT sequence, kind FROM record ORDER BY sequence").fetchall()
        plain.close()
        assert order == [
            (1, "message"), (2, "lifecycle"), (5, "wake"), (6, "audit"), (9, "message"), (12, "snapshot"),
        ]  # fmt: skip
        assert (await chronicle.opened()).head == 12

    async def test_a_sequence_is_never_given_twice(self, chronicle: SqliteChronicle, said: Said) -> None:
        await chronicle.append(Batch((Lifecycle("mcp:git", "muted", 1.0, sequence=1),)))
        with pytest.raises(StoreError):
            await chronicle.append(Batch((said(1),)))


class TestWhatTheDiskRefuses:
    async def test_a_full_disk_is_said_and_costs_nothing_that_was_written(
        self, chronicle: SqliteChronicle, path: Path, said: Said
    ) -> None:  # R-8, F-41
        await chronicle.append(Batch((said(1),)))
        [(pages,)] = await chronicle._writing.execute_fetchall("PRAGMA page_count")
        await chronicle._writing.execute_fetchall(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(StoreError, match=rf"^the store {path} cannot be written: the disk is full"):
            await chronicle.append(Batch((said(2, "x" * 100_000),), (Channel(GIT, wait=9),)))
        opened = await chronicle.opened()
        assert (opened.head, opened.channels) == (1, ())
        await chronicle._writing.execute_fetchall("PRAGMA max_page_count = 100000")
        await chronicle.append(Batch((said(2),)))
        assert await heard(chronicle) == [1, 2]

    async def test_a_read_only_store_is_said(self, chronicle: SqliteChronicle, said: Said) -> None:
        await chronicle._writing.execute_fetchall("PRAGMA query_only = ON")
        with pytest.raises(StoreError, match="cannot be written: it is read-only"):
            await chronicle.append(Batch((said(1),)))

    @pytest.mark.parametrize("suffix", ["", "-wal"])
    async def test_a_store_that_was_removed_is_said_instead_of_written_into_the_void(
        self, chronicle: SqliteChronicle, path: Path, said: Said, suffix: str
    ) -> None:
        await chronicle.append(Batch((said(1),)))
        path.with_name(path.name + suffix).unlink()
        with pytest.raises(StoreError, match="removed or replaced while in use"):
            await chronicle.append(Batch((said(2),)))

    async def test_a_store_that_was_replaced_is_said(
        self, chronicle: SqliteChronicle, path: Path, said: Said
    ) -> None:
        replace_file(path)
        with pytest.raises(StoreError, match="removed or replaced while in use"):
            await chronicle.append(Batch((said(1),)))

    async def test_a_lock_of_another_program_is_said(
        self, chronicle: SqliteChronicle, path: Path, said: Said
    ) -> None:  # F-41
        await chronicle._writing.execute_fetchall("PRAGMA busy_timeout = 1")
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="another process holds it locked"):
            await chronicle.append(Batch((said(1),)))
        other.close()
        await chronicle.append(Batch((said(1),)))
        assert await heard(chronicle) == [1]


class TestWhatOthersSend:
    async def test_a_lone_surrogate_costs_one_character_and_not_the_log(
        self, chronicle: SqliteChronicle, said: Said
    ) -> None:  # D-7, R-3
        broken = "a\ud800b"
        channel = Channel(GIT, reason=broken)
        await chronicle.append(Batch((said(1, broken, key=broken, author=broken), said(2)), (channel,)))
        first, second = await chronicle.messages([RESIDENTS], view="all", limit=5)
        assert (first.text, first.author, second.text) == ("a\ufffdb", "a\ufffdb", "number 2")
        assert await chronicle.known([broken, "other"]) == {broken}
        assert (await chronicle.opened()).channels[0].reason == "a\ufffdb"

    @pytest.mark.parametrize("text", ["a\x00b", "line\r\nline\u2028line", "\x1b[2J", "💡" * 50, ""])
    async def test_any_text_comes_back_as_it_was(self, chronicle: SqliteChronicle, said: Said, text: str) -> None:
        sent = said(1, text, key=f"key {text}", author=text, id=text)
        await chronicle.append(Batch((sent,)))
        assert list(await chronicle.messages([RESIDENTS], view="heard", limit=5)) == [sent]
        assert await chronicle.known([f"key {text}", text]) == {f"key {text}"}

    async def test_what_is_no_json_is_refused_and_harms_nothing_else(
        self, chronicle: SqliteChronicle, said: Said
    ) -> None:
        nested: list[object] = []
        for _ in range(100_000):
            nested = [nested]
        for value in (nested, object()):
            with pytest.raises(StoreError, match="a record is no JSON"):
                await chronicle.append(Batch((Snapshot("x", value, 1.0, sequence=1),)))  # type: ignore[arg-type]
        await chronicle.append(Batch((said(1),)))
        assert await heard(chronicle) == [1]


async def test_what_was_appended_is_there_after_a_restart(path: Path, said: Said) -> None:
    async with open_chronicle(path) as first:
        await first.append(Batch((said(1), said(2, epoch="epoch-1"))))
        written = await first.messages([RESIDENTS], view="all", limit=5)
    async with open_chronicle(path) as second:
        assert await second.messages([RESIDENTS], view="all", limit=5) == written
        assert (await second.opened()).head == 2
