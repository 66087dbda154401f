"""What a retention takes out of a store, and what it never touches whatever its age."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import pytest

from cockpit.core.message import RESIDENTS, Message
from cockpit.core.records import Audit, Batch, Record, Report, Snapshot, TurnEnded, WakeRequest
from cockpit.errors import StoreError, StoreInUse
from cockpit.store.chronicle import open_chronicle
from cockpit.store.compact import SLOT, TEXT, Retention, compact
from cockpit.store.protocol import Opened
from cockpit.store.reader import open_reader

Said = Callable[..., Message]

DAY = 86_400.0
OLD = 1_700_000_000.0
NOW = OLD + 100 * DAY
NOISY = "channel:disc/disc:guild:noisy"
PATTERN = "xyzzy"


def rule(
    *,
    heard: int = 1_000,
    tuned_out: int = 1_000,
    live: Collection[str] = (),
    pinned: Collection[int] = (),
    unread: Mapping[str, int] | None = None,
) -> Callable[[Opened], Retention]:
    audit = Audit(NOW, "operator", "compact", "compact", "", "", "", "kept 90 d", None, ok=True)

    def make(_: Opened) -> Retention:
        return Retention(NOW - 90 * DAY, heard, tuned_out, frozenset(live), frozenset(pinned), unread or {}, audit)

    return make


async def written(path: Path, *records: Record) -> None:
    async with open_chronicle(path) as chronicle:
        await chronicle.append(Batch(records))


async def texts(path: Path, slot: str = RESIDENTS) -> list[tuple[int, str]]:
    async with open_reader(path) as reader:
        return [(each.sequence, each.text) for each in await reader.messages((slot,), view="all", limit=1_000)]


async def test_an_old_message_leaves_its_key_and_why_and_nothing_of_its_text(path: Path, said: Said) -> None:
    """A-7: a duplicate of it is still known. `why` still tells what was decided; no view and no history reads it."""
    old = said(1, f"{PATTERN} one", at=OLD, rules=("gate:addressed",), woke=("scout",), tags=("chat:addressed",))
    await written(path, old, said(2, "new", at=NOW))
    done = await compact(path, rule())
    assert done.records == {"messages": 1}
    assert await texts(path) == [(2, "new")]
    async with open_reader(path) as reader:
        assert await reader.known({str(old.key)}) == {str(old.key)}
        found = await reader.message("disc/m1")
        assert found is not None
        assert (found.slot, found.text, found.rules, found.woke) == (SLOT, TEXT, old.rules, old.woke)
        [row] = await reader.audit(limit=10)
        assert (row.actor, row.verb, row.reason, row.sequence) == ("operator", "compact", "kept 90 d", 3)
    with sqlite3.connect(path) as file:
        assert file.execute("SELECT count(*) FROM record WHERE body LIKE ?", (f"%{PATTERN}%",)).fetchall() == [(0,)]


@pytest.mark.parametrize(
    ("kept", "left"),
    [
        (rule(), {5}),
        (rule(heard=1), {1, 5}),
        (rule(tuned_out=2), {2, 5}),
        (rule(live={"epoch-1"}), {2, 5}),
        (rule(live={"span-1"}), {3, 4, 5}),
        (rule(pinned={1, 4}), {1, 4, 5}),
        (rule(unread={NOISY: 1}), {5}),
        (rule(unread={NOISY: 2}), {1, 5}),
        (rule(unread={"channel:disc/other": 9}), {5}),
    ],
    ids=["nothing", "anchor", "subconscious's anchor", "epoch", "span", "pinned", "read", "not yet read", "elsewhere"],
)
async def test_what_somebody_still_holds_stays_however_old(
    path: Path, said: Said, kept: Callable[[Opened], Retention], left: set[int]
) -> None:
    """V-3, T-5, M-4, M-12, A-11: each reason to stay keeps its own, and nothing beside it."""
    await written(
        path,
        said(1, at=OLD),
        said(2, at=OLD, epoch="epoch-1"),
        said(3, at=OLD, span="span-1"),
        said(4, at=OLD, epoch="epoch-0", span="span-1"),
        said(5, at=NOW),
    )
    await compact(path, kept)
    assert {sequence for sequence, _ in await texts(path)} == left


async def test_an_edit_of_what_a_live_epoch_holds_stays(path: Path, said: Said) -> None:
    """A-8: a later dump shows the message as its newest edit left it."""
    edit = said(2, "better", at=OLD, epoch="epoch-0", edits=1, key="disc/disc:guild:noisy/m1/edit")
    await written(path, said(1, at=OLD, epoch="epoch-1"), edit, said(3, at=NOW))
    await compact(path, rule(live={"epoch-1"}))
    assert [sequence for sequence, _ in await texts(path)] == [1, 2, 3]


async def test_records_go_by_age_and_never_what_is_owed_current_or_audited(path: Path, said: Said) -> None:
    """T-16, S-7, V-4, K-123: wake requests still owed, the newest snapshot, the one that held when the retention
    begins, and the audit stay."""
    audit = Audit(OLD, "you", "screen", "mute", "mcp:git", "open", "muted", "loud", None, ok=True, sequence=9)
    values = [(2, OLD), (3, OLD + DAY), (4, NOW - DAY), (5, NOW)]
    await written(
        path,
        Report("Subconscious", "summary", "old", OLD, NOISY, 1),
        *(Snapshot("anchor/scout", {"value": sequence}, at, sequence) for sequence, at in values),
        Snapshot("dispositions/Subconscious", {"ana": "waits"}, OLD, 6),
        WakeRequest("scout", "message", OLD, sequence=7),
        WakeRequest("scout", "message", OLD, sequence=8),
        audit,
        TurnEnded("scout", "ended", "message", OLD, served=(8,), sequence=10),
        Report("Subconscious", "summary", "new", NOW, NOISY, 11),
    )
    done = await compact(path, rule())
    assert done.records == {"reports": 1, "snapshots": 1, "turns": 1, "wakes": 1}
    with sqlite3.connect(path) as found:
        left = [sequence for (sequence,) in found.execute("SELECT sequence FROM record ORDER BY sequence")]
    assert left == [3, 4, 5, 6, 7, 9, 11, 12]
    async with open_reader(path) as reader:
        opened = await reader.opened()
        assert [each.sequence for each in opened.pending] == [7]
        assert opened.snapshots == {"anchor/scout": {"value": 5}, "dispositions/Subconscious": {"ana": "waits"}}
        assert [each.verb for each in await reader.audit(limit=9)] == ["mute", "compact"]


async def test_no_sequence_is_given_twice(path: Path, said: Said) -> None:
    """The last record stays, whatever it is, so the head never steps back."""
    await written(path, said(1, at=OLD), said(2, at=OLD), Report("Subconscious", "prose", "last", OLD, "", 3))
    before = await compact(path, rule())
    assert before.records == {"messages": 2}
    async with open_reader(path) as reader:
        assert (await reader.opened()).head == 4


async def test_twice_is_once(path: Path, said: Said) -> None:
    """What went is not counted again, and nothing gone leaves no row in the audit."""
    await written(path, said(1, at=OLD), said(2, at=NOW))
    await compact(path, rule())
    again = await compact(path, rule())
    assert (again.records, again.characters) == ({}, 0)
    async with open_reader(path) as reader:
        assert len(await reader.audit(limit=10)) == 1


async def test_a_malformed_row_is_left_alone(path: Path, said: Said) -> None:
    """R-4: what cannot be read has no age."""
    await written(path, said(1, at=OLD), said(2, at=OLD), said(3, at=NOW))
    with sqlite3.connect(path) as file:
        file.execute("UPDATE record SET body = '{not json' WHERE sequence = 1")
        file.commit()
    assert (await compact(path, rule())).records == {"messages": 1}
    with sqlite3.connect(path) as file:
        assert file.execute("SELECT body FROM record WHERE sequence = 1").fetchall() == [("{not json",)]


async def test_a_dry_run_tells_the_same_and_takes_nothing(path: Path, said: Said) -> None:
    await written(path, *(said(n, "x" * 2_000, at=OLD) for n in range(1, 200)), said(200, at=NOW))
    before = await texts(path)
    told = await compact(path, rule(), dry_run=True)
    assert await texts(path) == before
    done = await compact(path, rule())
    assert (told.records, told.characters) == (done.records, done.characters) == ({"messages": 199}, told.characters)
    assert told.characters > 199 * 2_000
    assert done.after < done.before / 4
    assert not done.note


async def test_a_store_in_use_is_refused_with_the_holders_pid(path: Path, said: Said) -> None:
    async with open_chronicle(path):
        with pytest.raises(StoreInUse) as caught:
            await compact(path, rule())
    assert caught.value.pid > 0


async def test_no_store_is_no_store(tmp_path: Path) -> None:
    """R-5: one line that names the file, and nothing is made."""
    with pytest.raises(StoreError, match="there is no store"):
        await compact(tmp_path / "none.db", rule())
    (tmp_path / "empty.db").touch()
    with pytest.raises(StoreError, match="it is empty"):
        await compact(tmp_path / "empty.db", rule())
    foreign = tmp_path / "foreign.db"
    with sqlite3.connect(foreign) as file:
        file.execute("CREATE TABLE their (own INTEGER)")
    with pytest.raises(StoreError, match="another program's"):
        await compact(foreign, rule())
    assert not (tmp_path / "none.db").exists()


async def test_a_disk_that_refuses_changes_nothing(path: Path, said: Said) -> None:
    """R-8: one transaction, all of it or none."""
    await written(path, said(1, at=OLD), said(2, at=NOW))
    with sqlite3.connect(path) as file:
        file.execute("CREATE TRIGGER full BEFORE INSERT ON record BEGIN SELECT RAISE(ABORT, 'no room'); END")
        file.commit()
    with pytest.raises(StoreError, match="no room"):
        await compact(path, rule())
    assert [sequence for sequence, _ in await texts(path)] == [1, 2]


async def test_a_reader_beside_it_delays_only_the_files_size(path: Path, said: Said) -> None:
    """What went is gone all the same, and it is told why the file is no smaller."""
    await written(path, *(said(n, "x" * 2_000, at=OLD) for n in range(1, 200)), said(200, at=NOW))
    reading = sqlite3.connect(path, isolation_level=None)
    try:
        reading.execute("BEGIN")
        reading.execute("SELECT count(*) FROM record").fetchall()
        done = await compact(path, rule())
    finally:
        reading.close()
    assert done.records == {"messages": 199}
    assert "once nobody reads it" in done.note
    again = await compact(path, rule())
    assert (again.note, again.after < done.before / 4) == ("", True)
