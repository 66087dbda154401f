"""Which cockpit a command reaches, and what it says where that is none (cockpit.md, Command line)."""

from __future__ import annotations

import asyncio
import os
import socket
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from cockpit.control import finding, server
from cockpit.control.finding import connect, running
from cockpit.control.paths import socket_path
from cockpit.control.wire import About
from cockpit.errors import UsageError, VerbError
from cockpit.testing.hand_link import HandLink


@pytest.fixture
def place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="ck") as folder:
        yield Path(folder)


@pytest.fixture
def environment(place: Path) -> Mapping[str, str]:
    (place / "run").mkdir(mode=0o700)
    return {"XDG_RUNTIME_DIR": str(place / "run"), "TMPDIR": str(place)}


@asynccontextmanager
async def cockpit(recipe: str, store: Path, environment: Mapping[str, str]) -> AsyncIterator[HandLink]:
    """One that runs."""
    link = HandLink()
    about = About(recipe, str(store), os.getpid(), "0.1.0")
    async with asyncio.TaskGroup() as group:
        path = socket_path(store, recipe, environment)
        serving = group.create_task(server.serve(link.link, path, about=about))
        await asyncio.sleep(0)
        yield link
        serving.cancel()


def left_over(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))


async def test_the_only_one_that_runs_is_meant(place: Path, environment: Mapping[str, str]) -> None:
    async with cockpit("demo", place / "demo.db", environment):
        for db in (None, place / "demo.db", place / "." / "demo.db"):
            async with connect(db, environment=environment) as link:
                assert (await link.run("go=stats")).ran.ok
                assert (await link.hello()).recipe == "demo"


async def test_where_none_runs_it_says_how_to_start_one(environment: Mapping[str, str]) -> None:
    with pytest.raises(VerbError, match=r"^no cockpit is running: start one with `cockpit`") as refused:
        async with connect(environment=environment):
            pass
    assert refused.value.code == "not_running"
    assert "\n" not in str(refused.value)


async def test_where_several_run_they_are_listed_and_the_store_chooses(
    place: Path, environment: Mapping[str, str]
) -> None:
    async with cockpit("demo", place / "a.db", environment) as one, cockpit("home", place / "b.db", environment) as two:
        with pytest.raises(UsageError, match="choose one with --db") as refused:
            async with connect(environment=environment):
                pass
        for named in (f"demo (--db {place / 'a.db'}, pid {os.getpid()})", f"home (--db {place / 'b.db'}"):
            assert named in str(refused.value)
        async with connect(place / "b.db", environment=environment) as link:
            await link.run("go=stats")
        assert (one.asked, len(two.asked)) == ([], 1)
        assert sorted(about.recipe for about in await running(environment)) == ["demo", "home"]


async def test_a_store_that_nobody_runs_on_names_those_that_run(place: Path, environment: Mapping[str, str]) -> None:
    async with cockpit("demo", place / "a.db", environment):
        with pytest.raises(VerbError, match="no cockpit is running on") as refused:
            async with connect(place / "b.db", environment=environment):
                pass
        assert str(place / "b.db") in str(refused.value)
        assert str(place / "a.db") in str(refused.value)


async def test_a_stale_socket_is_passed_over_and_told_where_nothing_else_is(
    place: Path, environment: Mapping[str, str]
) -> None:
    """One that was killed leaves its socket; the next one on that store takes it over."""
    stale = socket_path(place / "old.db", "old", environment)
    left_over(stale)
    with pytest.raises(VerbError, match="is left over from one that has ended"):
        async with connect(environment=environment):
            pass
    async with cockpit("demo", place / "demo.db", environment), connect(environment=environment) as link:
        assert (await link.hello()).recipe == "demo"
    async with cockpit("old", place / "old.db", environment), connect(environment=environment) as link:
        assert (await link.hello()).recipe == "old"


async def test_a_cockpit_that_hangs_is_told_from_one_that_is_not_there(
    place: Path, environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "PATIENCE", 0.0)
    path = socket_path(place / "demo.db", "demo", environment)
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(path))
        silent.listen()
        with pytest.raises(VerbError, match="does not answer"):
            async with connect(environment=environment):
                pass


async def test_a_cockpit_of_another_version_is_told_as_that(place: Path, environment: Mapping[str, str]) -> None:
    def newer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b'{"cockpit":99}\n')
        writer.close()

    path = socket_path(place / "demo.db", "demo", environment)
    async with await asyncio.start_unix_server(newer, path):
        with pytest.raises(VerbError, match="version 99"):
            async with connect(environment=environment):
                pass


async def test_an_unfit_folder_is_refused_before_anything_is_said_in_it(
    place: Path, environment: Mapping[str, str]
) -> None:
    async with cockpit("demo", place / "demo.db", environment) as link:
        (place / "run" / "cockpit").chmod(0o755)
        with pytest.raises(UsageError, match="open to others"):
            async with connect(environment=environment):
                pass
        assert link.asked == []


async def test_what_a_body_raises_comes_out_as_it_is(place: Path, environment: Mapping[str, str]) -> None:
    async with cockpit("demo", place / "demo.db", environment):
        with pytest.raises(KeyError):
            async with connect(environment=environment):
                raise KeyError
