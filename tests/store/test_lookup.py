"""Finding messages by name: duplicate keys, and the references that an operator types."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cockpit.core.message import Message
from cockpit.core.records import Batch, Lifecycle
from cockpit.store.chronicle import SqliteChronicle

Said = Callable[..., Message]


class TestKnownKeys:
    async def test_a_key_is_known_once_it_is_committed(self, chronicle: SqliteChronicle, said: Said) -> None:
        assert await chronicle.known(["a", "b"]) == frozenset()
        await chronicle.append(Batch((said(1, key="a"), said(2, key=None))))
        assert await chronicle.known(["a", "b"]) == {"a"}
        assert await chronicle.known([]) == frozenset()

    @pytest.mark.parametrize("asked", [1, 16, 17, 1_024, 1_025, 2_500])
    async def test_any_number_is_asked_at_once(self, chronicle: SqliteChronicle, said: Said, asked: int) -> None:
        await chronicle.append(Batch(tuple(said(number, key=f"k{number}") for number in range(1, 2_600, 2))))
        found = await chronicle.known([f"k{number}" for number in range(1, asked + 1)])
        assert found == {f"k{number}" for number in range(1, asked + 1, 2)}

    @pytest.mark.parametrize("key", ["", ",", "1,2", "a\x00b", "a\x00", "'; --", "line\nline"])
    async def test_a_foreign_key_may_hold_anything(self, chronicle: SqliteChronicle, said: Said, key: str) -> None:
        await chronicle.append(Batch((said(1, key=key),)))
        assert await chronicle.known([key, "a", "1", "2"]) == {key}


class TestReferences:
    async def test_a_message_is_found_by_its_sequence(self, chronicle: SqliteChronicle, said: Said) -> None:
        await chronicle.append(Batch((said(1, epoch="epoch-1"), Lifecycle("mcp:git", "muted", 1.0, sequence=2))))
        assert await chronicle.message("1") == said(1, epoch="epoch-1")
        for absent in ("2", "3", "0", "9" * 40, "-1", "1.0", "²", ""):
            assert await chronicle.message(absent) is None

    async def test_a_message_is_found_by_its_server_and_id(self, chronicle: SqliteChronicle, said: Said) -> None:
        event = said(2, id="e1", kind="event", target="mcp:cron")
        await chronicle.append(Batch((said(1), event, said(3, id="e2", target="user:hedgehog"))))
        assert await chronicle.message("disc/m1") == said(1)
        assert await chronicle.message("cron/e1") == event
        assert await chronicle.message("cron/m1") is None
        assert await chronicle.message("m1") is None

    async def test_one_id_in_two_channels_is_told_apart(self, chronicle: SqliteChronicle, said: Said) -> None:
        other, far = "channel:disc/a/b", "channel:irc/a/b"
        first, second = said(1, id="7", key="a"), said(2, id="7", key="b", target=other)
        third = said(3, id="7", key="c", target=far)
        await chronicle.append(Batch((first, second, third)))
        assert await chronicle.message("disc/7") == second
        assert await chronicle.message("disc/disc:guild:noisy/7") == first
        assert await chronicle.message("disc/a/b/7") == second
        assert await chronicle.message("irc/a/b/7") == third

    async def test_an_id_may_hold_slashes(self, chronicle: SqliteChronicle, said: Said) -> None:
        sent = said(1, id="a/b/c", target="channel:disc/x/y")
        await chronicle.append(Batch((sent,)))
        assert await chronicle.message("disc/a/b/c") == sent
        assert await chronicle.message("disc/x/y/a/b/c") == sent
        assert await chronicle.message("disc/" + "/" * 100_000) is None

    async def test_an_edit_does_not_take_the_name_of_its_original(
        self, chronicle: SqliteChronicle, said: Said
    ) -> None:
        original = said(1, "first", epoch="epoch-1")
        await chronicle.append(Batch((original, said(2, "edited", epoch="epoch-1", id="m1", edits=1))))
        assert await chronicle.message("disc/m1") == original
