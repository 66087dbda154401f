"""A DumpOf is expanded inside its transaction: newest first, as edits left it, no further than the fit wants (T-16)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cockpit.core.backlog import compose
from cockpit.core.message import RESIDENTS, Media, Message, Stamp, Text
from cockpit.core.records import Batch, DumpOf, Notice, Record, Report, ReportTurn, WakeRequest
from cockpit.store import pages
from cockpit.store.chronicle import SqliteChronicle

Said = Callable[..., Message]
Ends = Callable[..., DumpOf]
SLOT = "subconscious/scout"


def dumped(records: tuple[Record, ...]) -> str:
    """The text of the one dump among what was written."""
    [notice] = [record for record in records if isinstance(record, Notice) and record.owner == "residents"]
    return notice.message.text


def lines(records: tuple[Record, ...]) -> list[str]:
    return dumped(records).splitlines()[3:-1]


class TestWhatItBecomes:
    async def test_a_notice_for_the_residents_and_a_report_turn(
        self, chronicle: SqliteChronicle, said: Said, ends: Ends
    ) -> None:  # T-18, T-19, D-1, D-2
        await chronicle.append(Batch((said(1, "first", epoch="epoch-1"), said(2, "second", epoch="epoch-1"))))
        dump = ends(3, 2)
        written = await chronicle.append(Batch((dump,)))
        text = (
            "[Tune-out: disc:guild:noisy cancelled — agent request, 0 wakes]\n\n"
            '<tuned-out-backlog channel="disc:guild:noisy" messages=2>\n'
            "hedgehog: first\nhedgehog: second\n</tuned-out-backlog>"
        )
        framed = Message(
            RESIDENTS, "system", "system", (Text(text),), dump.at, dump.target, dump.channel, sequence=3
        )  # fmt: skip
        told = "[Tune-out cancelled: disc:guild:noisy — agent request.]"
        assert written == (
            Notice(framed, "tune-out-cancel", "residents"),
            Notice(replace(framed, slot=SLOT, blocks=(Text(told),), sequence=4), "tune-out-cancel-report", "watcher"),
            Report("watcher", "cancel", told, dump.at, dump.target, 5),
            WakeRequest("watcher", "report", dump.at, dump.target, "epoch-1", 6),
        )
        assert list(await chronicle.messages([RESIDENTS, SLOT], view="heard", limit=9)) == [
            record.message for record in written if isinstance(record, Notice)
        ]
        assert list(await chronicle.reports(limit=9)) == [written[2]]
        assert (await chronicle.opened()).pending == (written[3],)

    async def test_what_was_left_out_is_told_to_the_subconscious(
        self, chronicle: SqliteChronicle, said: Said, ends: Ends
    ) -> None:  # T-19, D-8
        await chronicle.append(Batch(tuple(said(number, epoch="epoch-1") for number in range(1, 7))))
        written = await chronicle.append(Batch((ends(10, 6, cap=2),)))
        told = (
            "[Tune-out cancelled: disc:guild:noisy — agent request. 4 of 6 diverted messages, the oldest, weren't"
            " delivered raw to the resident.]"
        )
        assert [record.text for record in written if isinstance(record, Report)] == [told]
        assert lines(written) == ["hedgehog: number 5", "hedgehog: number 6"]

    @pytest.mark.parametrize(("cap", "turn"), [(200, False), (1, True)])
    async def test_a_cancel_of_its_own_gets_a_turn_only_where_something_was_left_out(
        self, chronicle: SqliteChronicle, said: Said, ends: Ends, cap: int, turn: bool
    ) -> None:  # T-19
        await chronicle.append(Batch((said(1, epoch="epoch-1"), said(2, epoch="epoch-1"))))
        own = ReportTurn("watcher", SLOT, "epoch-1", "subconscious judgment", only_if_truncated=True)
        written = await chronicle.append(Batch((ends(3, 2, cap=cap, report=own),)))
        assert len(written) == (4 if turn else 1)

    async def test_without_a_report_turn_there_is_the_dump_alone(
        self, chronicle: SqliteChronicle, ends: Ends
    ) -> None:  # T-20, D-11
        written = await chronicle.append(Batch((ends(1, 0, report=None),)))
        assert len(written) == 1
        assert dumped(written).endswith("0 wakes]\n\nNo messages were diverted.")

    async def test_it_stands_where_it_stood_among_the_other_records(
        self, chronicle: SqliteChronicle, said: Said, ends: Ends
    ) -> None:
        written = await chronicle.append(Batch((said(1, epoch="epoch-1"), ends(2, 1, report=None), said(6))))
        assert [type(record) for record in written] == [Message, Notice, Message]


class TestWhatItShows:
    async def test_what_was_diverted_in_the_same_batch_is_in_it(
        self, chronicle: SqliteChronicle, said: Said, ends: Ends
    ) -> None:  # K-40
        await chronicle.append(Batch((said(1, "before", epoch="epoch-1"),)))
        written = await chronicle.append(Batch((said(2, "along", epoch="epoch-1"), ends(3, 2))))
        assert lines(written) == ["hedgehog: before", "hedgehog: along"]

    async def test_what_stands_after_it_in_the_log_is_not_in_it(
        self, chronicle: SqliteChronicle, said: Said, ends: Ends
    ) -> None:  # T-16
        late = said(9, "late", span="span-1")
        first = ends(2, 2, stamp="span-1", report=None)
        written = await chronicle.append(Batch((said(1, "in time", span="span-1"), first, late)))
        assert lines(written) == ["hedgehog: in time"]

    async def test_it_holds_nothing_of_another_epoch_and_nothing_that_was_heard(
        self, chronicle: SqliteChronicle, said: Said, ends: Ends
    ) -> None:
        batch = (said(1, "heard"), said(2, epoch="epoch-0"), said(3, "mine", epoch="epoch-1"), said(4, span="span-9"))
        await chronicle.append(Batch(batch))
        assert lines(await chronicle.append(Batch((ends(5, 1),)))) == ["hedgehog: mine"]

    async def test_what_an_epoch_diverted_under_a_mute_is_in_its_dump(
        self, chronicle: SqliteChronicle, said: Said, ends: Ends
    ) -> None:  # M-12
        await chronicle.append(Batch((said(1, epoch="epoch-1", span="span-1"), said(2, span="span-1"))))
        assert lines(await chronicle.append(Batch((ends(3, 1),)))) == ["hedgehog: number 1"]
        muted = ends(10, 1, stamp="span-1", kind="unmute", tag="muted-backlog", report=None)
        assert lines(await chronicle.append(Batch((muted,)))) == ["hedgehog: number 2"]

    async def test_each_channel_of_a_muted_server_gets_its_own(
        self, chronicle: SqliteChronicle, said: Said, ends: Ends
    ) -> None:  # M-11
        quiet = "channel:disc/disc:guild:quiet"
        await chronicle.append(Batch((said(1, "loud", span="span-1"), said(2, "soft", span="span-1", target=quiet))))
        written = await chronicle.append(Batch((ends(3, 1, stamp="span-1", report=None),)))
        assert lines(written) == ["hedgehog: loud"]
        written = await chronicle.append(Batch((ends(7, 1, stamp="span-1", target=quiet, report=None),)))
        assert lines(written) == ["hedgehog: soft"]

    async def test_a_muted_participant_is_in_the_dump_wherever_they_spoke(
        self, chronicle: SqliteChronicle, said: Said, ends: Ends
    ) -> None:  # M-5, M-11
        direct, topic = "user:hedgehog", "feed:general"
        await chronicle.append(
            Batch((said(1, "to you", span="span-1", target=direct), said(2, "to all", span="span-1", target=topic)))
        )
        written = await chronicle.append(Batch((ends(3, 2, stamp="span-1", target=direct, report=None),)))
        assert lines(written) == ["hedgehog: to you", "hedgehog: to all"]

    async def test_blocks_that_are_not_text_show_as_placeholders(
        self, chronicle: SqliteChronicle, said: Said, ends: Ends
    ) -> None:  # D-10
        seen = said(1, epoch="epoch-1", blocks=(Text("look:"), Media("image", "image/png", "AAAA")))
        await chronicle.append(Batch((seen, said(2, "", epoch="epoch-1"))))
        written = await chronicle.append(Batch((ends(3, 2),)))
        assert lines(written) == ["hedgehog: look:", "  [image image/png 1 kB]", "hedgehog: [empty]"]

    async def test_a_malformed_message_is_counted_and_told_and_stops_nothing(
        self, chronicle: SqliteChronicle, path: Path, told: list[str], said: Said, ends: Ends
    ) -> None:
        await chronicle.append(Batch(tuple(said(number, epoch="epoch-1") for number in (1, 2, 3))))
        with sqlite3.connect(path) as plain:
            plain.execute("UPDATE record SET body = '{}' WHERE sequence = 2")
        plain.close()
        written = await chronicle.append(Batch((ends(4, 3),)))
        assert lines(written) == ["hedgehog: number 1", "hedgehog: number 3"]
        assert "messages=3 truncated=1" in dumped(written)
        assert [line.split(":")[0] for line in told] == ["record 2 is malformed and is left out"]


class TestEdits:
    """A-8: an edit or a deletion of a diverted message is applied to what the dump shows."""

    async def test_the_newest_edit_is_shown_in_the_place_of_the_original(
        self, chronicle: SqliteChronicle, said: Said, ends: Ends
    ) -> None:
        await chronicle.append(
            Batch(
                (
                    said(1, "one", epoch="epoch-1"),
                    said(2, "two", epoch="epoch-1"),
                    said(3, "one, better", epoch="epoch-1", edits=1),
                    said(4, "one, best", epoch="epoch-1", edits=1, author="a thief"),
                )
            )
        )
        written = await chronicle.append(Batch((ends(5, 2),)))
        assert lines(written) == ["hedgehog: one, best", "hedgehog: two"]
        assert "messages=2>" in dumped(written)

    async def test_a_deletion_is_shown_and_counts(self, chronicle: SqliteChronicle, said: Said, ends: Ends) -> None:
        gone = said(2, "", epoch="epoch-1", edits=1, deleted=True)
        written = await chronicle.append(Batch((said(1, "secret", epoch="epoch-1"), gone, ends(3, 1))))
        assert lines(written) == ["hedgehog: [deleted]"]

    async def test_an_edit_that_is_cut_off_from_its_original_by_a_page_still_counts(
        self, chronicle: SqliteChronicle, said: Said, ends: Ends
    ) -> None:
        between = [said(number, epoch="epoch-1") for number in range(2, pages.ROWS * 2)]
        late = said(pages.ROWS * 2, "amended", epoch="epoch-1", edits=1)
        await chronicle.append(Batch((said(1, "first", epoch="epoch-1"), *between, late)))
        written = await chronicle.append(Batch((ends(10_000, len(between) + 1, cap=10_000),)))
        assert lines(written)[0] == "hedgehog: amended"
        assert len(lines(written)) == len(between) + 1

    async def test_an_edit_after_the_end_changes_nothing_of_what_was_delivered(
        self, chronicle: SqliteChronicle, said: Said, ends: Ends
    ) -> None:
        written = await chronicle.append(
            Batch((said(1, "as it was", epoch="epoch-1"), ends(2, 1, report=None), said(6, "new", edits=1)))
        )
        assert lines(written) == ["hedgehog: as it was"]

    async def test_an_edit_of_a_message_that_was_delivered_is_a_message_of_its_own(
        self, chronicle: SqliteChronicle, said: Said, ends: Ends
    ) -> None:
        edit = said(2, "what I said, edited", epoch="epoch-1", tags=("chat:edited",))
        written = await chronicle.append(Batch((said(1, "what I said"), edit, ends(3, 1))))
        assert lines(written) == ["hedgehog: what I said, edited"]


class TestHugeBacklogs:
    async def test_it_reads_no_further_than_what_it_shows(
        self, chronicle: SqliteChronicle, said: Said, ends: Ends, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await chronicle.append(Batch(tuple(said(number, epoch="epoch-1") for number in range(1, 5_001))))
        read: list[int] = []

        def counted(line: pages.Line) -> Message | None:
            read.append(line.sequence)
            return SqliteChronicle._message(chronicle, line)

        monkeypatch.setattr(chronicle, "_message", counted)
        written = await chronicle.append(Batch((ends(6_000, 5_000, bound=680),)))
        assert len(dumped(written)) <= 680
        assert len(read) < 100

    async def test_a_page_of_huge_messages_is_bounded_by_their_size(
        self, chronicle: SqliteChronicle, said: Said, ends: Ends, monkeypatch: pytest.MonkeyPatch
    ) -> None:  # R-3, K-64
        monkeypatch.setattr(pages, "CHARACTERS", 10_000)
        huge = Media("image", "image/png", "A" * 8_000)
        batch = [said(number, epoch="epoch-1", blocks=(huge,)) for number in range(1, 30)]
        await chronicle.append(Batch(tuple(batch)))
        source = pages.Source(
            "SELECT sequence, body FROM record WHERE sequence > :after AND sequence < :before"
            " ORDER BY sequence DESC LIMIT :rows",
            True,
        )
        sizes = [len(page) async for page in pages.pages(chronicle._reading, source)]
        assert sum(sizes) == 29
        assert max(sizes) == 2
        written = await chronicle.append(Batch((ends(50, 29),)))
        assert lines(written) == ["hedgehog: [image image/png 6 kB]"] * 29

    async def test_it_is_the_dump_of_the_whole_backlog(
        self, chronicle: SqliteChronicle, said: Said, ends: Ends
    ) -> None:  # D-5
        stored = [said(number, "x" * (number % 97), epoch="epoch-1") for number in range(1, 801)]
        await chronicle.append(Batch(tuple(stored)))
        written = await chronicle.append(Batch((ends(900, 800, cap=700, bound=20_000),)))
        dump = ends(900, 800)
        expected = compose(
            notice=dump.notice,
            channel=dump.channel,
            tag=dump.tag,
            cap=700,
            bound=20_000,
            lines=[(message.author, message.text) for message in stored],
        )
        assert dumped(written) == expected.text


async def test_the_originals_keep_their_stamp_and_stay_out_of_the_residents_view(
    chronicle: SqliteChronicle, said: Said, ends: Ends
) -> None:  # A-3, K-5
    await chronicle.append(Batch((said(1, epoch="epoch-1"), ends(2, 1, report=None))))
    assert [message.sequence for message in await chronicle.messages([RESIDENTS], view="heard", limit=9)] == [2]
    original = await chronicle.message("1")
    assert original is not None
    assert original.stamp == Stamp(epoch="epoch-1")
