"""Reading: a view by what is stamped, everything unfiltered, a channel's history, a backlog; each by its index."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from cockpit.core.message import RESIDENTS, Message
from cockpit.core.records import Audit, Batch, Lifecycle, Report
from cockpit.store import pages, sources
from cockpit.store.chronicle import SqliteChronicle
from cockpit.store.protocol import Filter

Said = Callable[..., Message]
NOISY = "channel:disc/disc:guild:noisy"
QUIET = "channel:disc/disc:guild:quiet"
OWN = "subconscious/scout"


def numbers(messages: Sequence[Message]) -> list[int]:
    return [message.sequence for message in messages]


@pytest.fixture
async def filled(chronicle: SqliteChronicle, said: Said) -> SqliteChronicle:
    """Two slots, two channels, and every kind of stamp."""
    records = (
        said(1),
        said(2, epoch="epoch-1"),
        said(3, span="span-1"),
        said(4, epoch="epoch-1", span="span-1"),
        said(5, target=QUIET),
        said(6, slot=OWN, kind="system"),
        said(7, epoch="epoch-1", edits=2),
        said(8, slot="agent/scout", kind="system"),
        said(9),
    )
    await chronicle.append(Batch(records))
    return chronicle


class TestFilters:
    async def test_a_resident_hears_what_has_no_stamp(self, filled: SqliteChronicle) -> None:
        assert numbers(await filled.messages([RESIDENTS], view="heard", limit=99)) == [1, 5, 9]

    async def test_the_subconscious_reads_what_has_no_mute_stamp(self, filled: SqliteChronicle) -> None:  # S-2, M-12
        assert numbers(await filled.messages([RESIDENTS, OWN], view="unmuted", limit=99)) == [1, 2, 5, 6, 7, 9]

    async def test_a_direct_read_is_unfiltered(self, filled: SqliteChronicle) -> None:
        assert numbers(await filled.messages([RESIDENTS], view="all", limit=99)) == [1, 2, 3, 4, 5, 7, 9]

    async def test_slots_are_merged_by_sequence(self, filled: SqliteChronicle) -> None:  # V-2
        read = await filled.messages([OWN, RESIDENTS, "agent/scout", OWN], view="heard", limit=99)
        assert numbers(read) == [1, 5, 6, 8, 9]

    async def test_no_slots_hold_nothing(self, filled: SqliteChronicle) -> None:
        assert await filled.messages([], view="all", limit=9) == []

    async def test_without_edits_what_amends_a_diverted_message_is_left_out(self, filled: SqliteChronicle) -> None:
        assert numbers(await filled.messages([RESIDENTS], view="unmuted", limit=99, edits=False)) == [1, 2, 5, 9]
        read = await filled.messages([RESIDENTS], view="all", limit=99, stamp="epoch-1", edits=False)
        assert numbers(read) == [2, 4]

    async def test_a_backlog_is_read_by_its_stamp(self, filled: SqliteChronicle) -> None:
        assert numbers(await filled.messages([RESIDENTS], view="all", limit=99, stamp="epoch-1")) == [2, 4, 7]
        assert numbers(await filled.messages([RESIDENTS], view="unmuted", limit=99, stamp="epoch-1")) == [2, 7]
        assert numbers(await filled.messages([RESIDENTS], view="heard", limit=99, stamp="epoch-1")) == []

    async def test_a_history_is_read_by_its_channel(self, filled: SqliteChronicle) -> None:  # N-9
        assert numbers(await filled.messages([RESIDENTS], view="all", limit=99, target=QUIET)) == [5]
        assert numbers(await filled.messages([RESIDENTS], view="heard", limit=99, target=NOISY)) == [1, 9]
        read = await filled.messages([RESIDENTS], view="all", limit=99, target=NOISY, stamp="span-1")
        assert numbers(read) == [3]


class TestRanges:
    @pytest.mark.parametrize("view", ["heard", "all"])
    async def test_the_newest_of_a_range_or_its_oldest(
        self, chronicle: SqliteChronicle, said: Said, view: Filter
    ) -> None:
        await chronicle.append(Batch(tuple(said(number) for number in range(10, 30))))

        async def read(limit: int, *, newest: bool = True, after: int = 0, before: int | None = None) -> list[int]:
            found = await chronicle.messages(
                [RESIDENTS], view=view, limit=limit, newest=newest, after=after, before=before
            )
            return numbers(found)

        assert await read(3) == [27, 28, 29]
        assert await read(3, newest=False) == [10, 11, 12]
        assert await read(3, after=12, newest=False) == [13, 14, 15]
        assert await read(3, before=20) == [17, 18, 19]
        assert await read(99, after=26, before=29) == [27, 28]
        assert await read(0) == []

    @pytest.mark.parametrize("newest", [True, False])
    async def test_more_than_a_page_is_read_whole_and_in_order(
        self, chronicle: SqliteChronicle, said: Said, newest: bool
    ) -> None:
        stamps = [{}, {"epoch": "epoch-1"}, {"span": "span-1"}]
        count = pages.ROWS * 3 + 7
        await chronicle.append(Batch(tuple(said(number, **stamps[number % 3]) for number in range(1, count + 1))))
        read = await chronicle.messages([RESIDENTS], view="all", limit=count + 1, newest=newest)
        assert numbers(read) == list(range(1, count + 1))
        part = await chronicle.messages([RESIDENTS], view="all", limit=pages.ROWS + 3, newest=newest)
        whole = list(range(1, count + 1))
        assert numbers(part) == (whole[-pages.ROWS - 3 :] if newest else whole[: pages.ROWS + 3])


class TestPlans:
    """Each read costs what it gives: an index in order of the sequence, never a walk over the log."""

    @staticmethod
    async def plan(chronicle: SqliteChronicle, source: pages.Source) -> list[str]:
        values = {**source.values, "after": 0, "before": 9, "rows": 5}
        rows = await chronicle._reading.execute_fetchall(f"EXPLAIN QUERY PLAN {source.select}", values)
        return [str(detail) for *_, detail in rows]

    @staticmethod
    def view(name: Filter, **narrowed: str) -> pages.Source:
        given = {"target": None, "stamp": None} | narrowed
        return sources.messages([RESIDENTS], view=name, newest=True, edits=True, **given)

    async def test_what_a_resident_hears_is_read_by_the_index_of_what_has_no_stamp(
        self, chronicle: SqliteChronicle
    ) -> None:
        assert await self.plan(chronicle, self.view("heard")) == [
            "CO-ROUTINE (subquery-1)",
            "SEARCH record USING INDEX record_heard (slot=? AND sequence>? AND sequence<?)",
            "SCAN (subquery-1)",
            "USE TEMP B-TREE FOR ORDER BY",  # of one page, once it was read in order
        ]

    @pytest.mark.parametrize(
        ("source", "index"),
        [
            (view("unmuted"), "record_held (slot=? AND muted=? AND sequence>? AND sequence<?)"),
            (view("all"), "record_held (slot=? AND muted=? AND sequence>? AND sequence<?)"),
            (view("all", target=NOISY), "record_target (target=? AND kind=? AND sequence>? AND sequence<?)"),
            (view("all", stamp="e"), "record_diverted (stamp=? AND sequence>? AND sequence<?)"),
            (sources.backlog("e", NOISY, 9), "record_diverted (stamp=? AND sequence>? AND sequence<?)"),
            (sources.backlog("e", NOISY, 9), "record_edits (edits=? AND sequence<?)"),
            (sources.records("audit", None), "record_kind (kind=? AND sequence>? AND sequence<?)"),
            (sources.records("audit", NOISY), "record_target (target=? AND kind=? AND sequence>? AND sequence<?)"),
        ],
    )
    async def test_every_other_read_has_its_index(
        self, chronicle: SqliteChronicle, source: pages.Source, index: str
    ) -> None:
        plan = await self.plan(chronicle, source)
        assert any(index in step for step in plan)
        assert not any(step.startswith("SCAN record") for step in plan)


class TestOtherRecords:
    async def test_reports_come_back_newest_last(self, chronicle: SqliteChronicle) -> None:
        reports = [Report("watcher", "summary", f"report {number}", 1.0, NOISY, number) for number in range(1, 6)]
        await chronicle.append(Batch(tuple(reports)))
        assert list(await chronicle.reports(limit=2)) == reports[-2:]
        assert list(await chronicle.reports(limit=99)) == reports

    async def test_audit_and_lifecycle_are_read_by_channel(self, chronicle: SqliteChronicle, said: Said) -> None:
        rows = [
            Audit(1.0, "operator", "screen", "mute", target, "open", "muted", "noise", None, True, sequence)
            for sequence, target in ((1, NOISY), (2, QUIET), (3, NOISY))
        ]
        changes = [Lifecycle(NOISY, "muted", 1.0, {"actor": "operator"}, 4), Lifecycle(QUIET, "muted", 1.0, {}, 5)]
        await chronicle.append(Batch((*rows, *changes, said(6), said(7, target=QUIET))))
        assert list(await chronicle.audit(limit=9)) == rows
        assert list(await chronicle.audit(target=NOISY, limit=9)) == [rows[0], rows[2]]
        assert list(await chronicle.audit(target=NOISY, limit=1)) == [rows[2]]
        assert list(await chronicle.lifecycle(target=NOISY, limit=9)) == [changes[0]]
