"""The store's files: readable by their owner only, never somebody else's database, and closed on every way out."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cockpit.core.message import Message
from cockpit.core.records import Batch
from cockpit.errors import StoreError
from cockpit.store import schema
from cockpit.store.chronicle import open_chronicle
from cockpit.store.connection import files_of
from cockpit.store.reader import open_reader

DIARY = b"dear diary\n" * 200


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def set_mode(path: Path, bits: int) -> None:
    path.chmod(bits)


def content(path: Path) -> bytes:
    return path.read_bytes()


def write_diary(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(DIARY)


@pytest.fixture
def lax_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("lax_umask")
class TestModes:
    async def test_its_files_are_their_owners_alone_and_so_is_its_new_folder(
        self, tmp_path: Path, said: Callable[..., Message]
    ) -> None:
        path = tmp_path / "deep" / "state" / "cockpit.db"
        async with open_chronicle(path) as chronicle:
            await chronicle.append(Batch((said(1),)))
            names = {"cockpit.db", "cockpit.db-wal", "cockpit.db-shm", "cockpit.db.lock"}
            assert {found.name: mode(found) for found in path.parent.iterdir()} == dict.fromkeys(names, 0o600)
        assert [mode(folder) for folder in (path.parent, path.parent.parent)] == [0o700, 0o700]

    async def test_a_store_that_others_could_read_is_theirs_no_more(self, path: Path) -> None:
        async with open_chronicle(path):
            pass
        set_mode(path, 0o666)
        async with open_chronicle(path):
            assert {mode(file) for file in files_of(path)} == {0o600}

    async def test_the_mode_of_what_is_no_store_is_left_alone(self, path: Path) -> None:
        write_diary(path)
        set_mode(path, 0o644)
        for other in (path, path.parent):
            before = mode(other)
            with pytest.raises(StoreError):
                async with open_chronicle(other):
                    pass
            assert mode(other) == before

    async def test_a_folder_that_was_there_keeps_its_mode(self, path: Path) -> None:
        path.parent.mkdir(mode=0o755)
        async with open_chronicle(path):
            assert mode(path.parent) == 0o755


class TestDurability:
    async def test_a_commit_is_on_the_disk_and_foreign_keys_hold(self, path: Path) -> None:
        async with open_chronicle(path) as chronicle:
            for name, value in (("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1)):
                assert list(await chronicle._writing.execute_fetchall(f"PRAGMA {name}")) == [(value,)]

    async def test_the_reader_cannot_write(self, path: Path) -> None:
        async with open_chronicle(path) as chronicle:
            with pytest.raises(sqlite3.OperationalError, match="readonly"):
                await chronicle._reading.execute("DELETE FROM record")


class TestRefusals:
    async def test_a_file_that_is_no_database_is_left_alone(self, path: Path) -> None:
        write_diary(path)
        with pytest.raises(StoreError, match="is not a database"):
            async with open_chronicle(path):
                pass
        assert content(path) == DIARY

    async def test_another_programs_database_is_left_alone(self, path: Path) -> None:
        path.parent.mkdir()
        other = sqlite3.connect(path)
        other.execute("CREATE TABLE bookmark (url TEXT)")
        other.close()
        before = content(path)
        for opening in (open_chronicle(path), open_reader(path)):
            with pytest.raises(StoreError, match="another program's database"):
                async with opening:
                    pass
        assert content(path) == before

    async def test_a_newer_cockpits_store_is_left_alone(self, path: Path) -> None:
        async with open_chronicle(path):
            pass
        plain = sqlite3.connect(path)
        plain.execute(f"PRAGMA user_version = {schema.LATEST + 1}")
        plain.close()
        for opening in (open_chronicle(path), open_reader(path)):
            with pytest.raises(StoreError, match=rf"of a newer cockpit \(schema {schema.LATEST + 1}; this one knows"):
                async with opening:
                    pass

    async def test_a_path_that_cannot_be_is_said_in_one_line(self, tmp_path: Path) -> None:
        tmp_path.joinpath("file").write_text("")
        for path in (tmp_path / "file" / "cockpit.db", tmp_path):
            with pytest.raises(StoreError, match=r"^the store /\S+ cannot be made: [^\n]+$"):
                async with open_chronicle(path):
                    pass

    async def test_a_reader_makes_no_store(self, path: Path) -> None:
        with pytest.raises(StoreError, match="there is no store at"):
            async with open_reader(path):
                pass
        assert not path.parent.exists()

    async def test_every_version_has_its_upgrade(self) -> None:
        assert list(schema.UPGRADES) == list(range(1, schema.LATEST + 1))


RAISES = """
import asyncio, sys
from pathlib import Path
from cockpit.store.chronicle import open_chronicle
async def main():
    async with open_chronicle(Path(sys.argv[1])):
        raise RuntimeError("the recipe's server is not there")
asyncio.run(main())
"""


def start(path: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", RAISES, str(path)]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)


class TestEnds:
    """An aiosqlite connection that is left open keeps its process alive for ever."""

    def test_a_process_whose_start_up_raises_ends(self, path: Path) -> None:
        ended = start(path)
        assert ended.returncode == 1
        assert ended.stderr.rstrip().endswith("RuntimeError: the recipe's server is not there")

    def test_a_process_whose_store_cannot_be_opened_ends(self, path: Path) -> None:
        write_diary(path)
        ended = start(path)
        assert ended.returncode == 1
        assert "StoreError" in ended.stderr.splitlines()[-1]
