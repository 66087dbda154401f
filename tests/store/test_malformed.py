"""R-4: what is malformed in the log is left out and told of, and is never fatal."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from cockpit.core.channel import Channel, Epoch
from cockpit.core.message import RESIDENTS, Message
from cockpit.core.records import Batch, Lifecycle, Report, Snapshot, TurnEnded, Usage, WakeRequest
from cockpit.core.state import encode_channel
from cockpit.core.target import Target
from cockpit.store import pages
from cockpit.store.chronicle import SqliteChronicle, open_chronicle

Said = Callable[..., Message]
NOISY = Target("channel", "disc/disc:guild:noisy")
TUNED_OUT = Channel(NOISY, epoch=Epoch("epoch-1", 1800.0, 200, 5, None, 1.0, 1))

BODIES = [
    "",
    "null",
    "[]",
    "{",
    "{}",
    '{"slot":"residents"}',
    "two\nlines",
    "3 {}\n4 {}",
    "9" * 5_000,
    "[" * 100_000,
    '{"a":' * 100_000,
    b"\xff\xfe\x00",
    b'{"slot":"\xff"}',
    12,
]


def damage(path: Path, statement: str, *values: object) -> None:
    """Change the file as no cockpit would."""
    plain = sqlite3.connect(path, isolation_level=None)
    plain.execute(statement, values)
    plain.close()


class TestMessages:
    @pytest.mark.parametrize("body", BODIES, ids=[str(number) for number in range(len(BODIES))])
    async def test_a_malformed_message_is_left_out_of_every_read(
        self, chronicle: SqliteChronicle, path: Path, told: list[str], said: Said, body: object
    ) -> None:
        await chronicle.append(Batch((said(1), said(2), said(3))))
        damage(path, "UPDATE record SET body = ? WHERE sequence = 2", body)
        for target in (None, str(NOISY)):
            read = await chronicle.messages([RESIDENTS], view="heard", limit=9, target=target)
            assert [message.sequence for message in read] == [1, 3]
        assert await chronicle.message("2") is None
        assert any("malformed" in line for line in told)

    @pytest.mark.parametrize(
        "given",
        [
            ("slot", 7), ("kind", "rumour"), ("author", None), ("blocks", "text"), ("blocks", [{"type": "text"}]),
            ("at", "now"), ("at", True), ("at", float("nan")), ("target", 3), ("tags", "chat"), ("tags", [1]),
            ("stamp", {}), ("stamp", "epoch-1"), ("stamp", {"tuneOut": {}}), ("stamp", {"mute": {"spanId": 1}}),
            ("acknowledged", "no"), ("seen", 1.5), ("edits", "1"), ("deleted", 1), ("woke", {"scout": 1}),
        ],
    )  # fmt: skip
    async def test_each_field_has_the_shape_that_was_written(
        self, chronicle: SqliteChronicle, path: Path, told: list[str], said: Said, given: tuple[str, object]
    ) -> None:
        await chronicle.append(Batch((said(1),)))
        body = json.loads(_body(path, 1))
        damage(path, "UPDATE record SET body = ? WHERE sequence = 1", json.dumps(body | dict([given])))
        assert await chronicle.messages([RESIDENTS], view="all", limit=9) == []
        assert [line.split(":")[0] for line in told] == ["record 1 is malformed and is left out"]

    async def test_it_does_not_take_the_place_of_a_whole_one(
        self, chronicle: SqliteChronicle, path: Path, said: Said
    ) -> None:
        await chronicle.append(Batch(tuple(said(number) for number in range(1, 10))))
        damage(path, "UPDATE record SET body = '{}' WHERE sequence IN (8, 9)")
        newest = await chronicle.messages([RESIDENTS], view="heard", limit=2)
        assert [message.sequence for message in newest] == [6, 7]

    async def test_a_whole_page_of_them_does_not_end_a_read(
        self, chronicle: SqliteChronicle, path: Path, said: Said
    ) -> None:
        await chronicle.append(Batch(tuple(said(number) for number in range(1, pages.ROWS + 20))))
        damage(path, "UPDATE record SET body = 'x' WHERE sequence > 5")
        read = await chronicle.messages([RESIDENTS], view="all", limit=3)
        assert [message.sequence for message in read] == [3, 4, 5]

    async def test_each_is_told_of_once(
        self, chronicle: SqliteChronicle, path: Path, told: list[str], said: Said
    ) -> None:
        await chronicle.append(Batch((said(1), said(2))))
        damage(path, "UPDATE record SET body = '{}'")
        for _ in range(3):
            await chronicle.messages([RESIDENTS], view="all", limit=9)
        assert len(told) == 2


async def test_a_malformed_record_of_another_kind_is_left_out(
    chronicle: SqliteChronicle, path: Path, told: list[str]
) -> None:
    reports = [Report("watcher", "summary", "x", 1.0, "", number) for number in (1, 2, 3)]
    await chronicle.append(Batch(tuple(reports)))
    damage(path, """UPDATE record SET body = replace(body, '"summary"', '"rumour"') WHERE sequence = 2""")
    assert list(await chronicle.reports(limit=9)) == [reports[0], reports[2]]
    [line] = told
    assert line.startswith("record 2 is malformed and is left out: kind is 'rumour', not summary or note or ")


class TestOpening:
    async def test_a_malformed_wake_request_snapshot_or_sum_is_left_out(self, path: Path) -> None:
        async with open_chronicle(path) as chronicle:
            await chronicle.append(
                Batch(
                    (
                        WakeRequest("scout", "message", 1.0, sequence=1),
                        WakeRequest("scout", "message", 1.0, sequence=2),
                        Snapshot("a", 1, 1.0, sequence=3),
                        Snapshot("b", 2, 1.0, sequence=4),
                        TurnEnded("scout", "ended", "message", 1.0, Usage(1, 1), sequence=5),
                        TurnEnded("watcher", "ended", "wake", 1.0, Usage(2, 2), sequence=6),
                    )
                )
            )
        damage(path, "UPDATE record SET body = '{}' WHERE sequence IN (1, 3)")
        damage(path, "UPDATE agent SET output = 'many' WHERE name = 'scout'")
        async with open_chronicle(path) as chronicle:
            opened = await chronicle.opened()
        assert [wake.sequence for wake in opened.pending] == [2]
        assert opened.snapshots == {"b": 2}
        assert opened.usage == {"watcher": Usage(2, 2)}
        assert [line.split(" is ")[0].split(" are ")[0] for line in opened.skipped] == [
            "wake request 1", "snapshot 3 of 'a'", "the sums of 'scout'",
        ]  # fmt: skip

    @pytest.mark.parametrize("body", BODIES, ids=[str(number) for number in range(len(BODIES))])
    async def test_a_malformed_channel_is_left_out(self, path: Path, body: object) -> None:  # K-81
        async with open_chronicle(path) as chronicle:
            await chronicle.append(Batch((), (TUNED_OUT, Channel(Target("mcp", "git")))))
        damage(path, "UPDATE channel SET body = ? WHERE target = ?", body, str(NOISY))
        async with open_chronicle(path) as chronicle:
            opened = await chronicle.opened()
        assert [str(channel.target) for channel in opened.channels] == ["mcp:git"]
        [line] = opened.skipped
        assert line.startswith(f"the state of {NOISY} is malformed and it is left out: ")

    async def test_a_tuned_out_channel_without_parameters_falls_back_to_its_newest_record(
        self, path: Path
    ) -> None:  # K-81
        older = Channel(NOISY, wanted=False)
        async with open_chronicle(path) as chronicle:
            await chronicle.append(
                Batch(
                    (
                        Lifecycle(str(NOISY), "closed", 1.0, {"channel": encode_channel(older)}, 1),
                        Lifecycle(str(NOISY), "tuned-out", 1.0, {"channel": encode_channel(TUNED_OUT)}, 2),
                        Lifecycle(str(NOISY), "offline", 1.0, {}, 3),
                    ),
                    (TUNED_OUT,),
                )
            )
        encoded = encode_channel(TUNED_OUT)
        encoded["epoch"] = {"id": "epoch-1"}
        damage(path, "UPDATE channel SET body = ?", json.dumps(encoded))
        async with open_chronicle(path) as chronicle:
            opened = await chronicle.opened()
        assert opened.channels == (TUNED_OUT,)
        assert "its last recorded state stands in: " in opened.skipped[0]

        damage(path, "UPDATE record SET body = ? WHERE sequence = 2", json.dumps({"body": {"channel": encoded}}))
        async with open_chronicle(path) as chronicle:
            opened = await chronicle.opened()
        assert opened.channels == (older,)

    async def test_a_value_under_another_channels_name_is_not_taken(self, path: Path) -> None:
        async with open_chronicle(path) as chronicle:
            await chronicle.append(Batch((), (TUNED_OUT,)))
        damage(path, "UPDATE channel SET target = 'mcp:git'")
        async with open_chronicle(path) as chronicle:
            opened = await chronicle.opened()
        assert opened.channels == ()
        assert f"it speaks of {NOISY}" in opened.skipped[0]


def _body(path: Path, sequence: int) -> str:
    plain = sqlite3.connect(path)
    [(body,)] = plain.execute("SELECT body FROM record WHERE sequence = ?", (sequence,))
    plain.close()
    return str(body)
