"""Where sockets lie and who may be trusted there (cockpit.md, Command line)."""

from __future__ import annotations

import os
import socket
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from cockpit.control import paths
from cockpit.control.paths import LONGEST, check, folders, key, listening, socket_path, sockets
from cockpit.errors import UsageError


@pytest.fixture
def place() -> Iterator[Path]:
    """A short folder: a socket's path is, too."""
    with tempfile.TemporaryDirectory(prefix="ck") as folder:
        yield Path(folder)


@pytest.fixture
def environment(place: Path) -> Mapping[str, str]:
    (place / "run").mkdir(mode=0o700)
    return {"XDG_RUNTIME_DIR": str(place / "run"), "TMPDIR": str(place)}


def left_over(path: Path) -> None:
    """A socket whose owner has died without cleaning up."""
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))


def test_the_socket_lies_in_the_runtime_folder_with_its_modes(place: Path, environment: Mapping[str, str]) -> None:
    path = socket_path(place / "demo.db", "demo", environment)
    assert path.parent == place / "run" / "cockpit"
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    before = os.umask(0)
    try:
        with listening(path):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert sockets(environment) == (path,)
    finally:
        os.umask(before)
    assert not path.exists()


def test_without_a_runtime_folder_it_lies_under_the_temporary_one(place: Path) -> None:
    own = place / f"cockpit-{os.getuid()}"
    for said in ({}, {"XDG_RUNTIME_DIR": str(place / "none")}, {"XDG_RUNTIME_DIR": "relative"}):
        assert folders({"TMPDIR": str(place), **said}) == (own,)
    assert socket_path(place / "demo.db", "demo", {"TMPDIR": str(place)}).parent == own


def test_one_socket_a_store_however_its_path_is_written(place: Path, environment: Mapping[str, str]) -> None:
    (place / "link").symlink_to(place)
    path = socket_path(place / "demo.db", "demo", environment)
    assert socket_path(place / "link" / "." / "demo.db", "demo", environment) == path
    assert socket_path(place / "other.db", "demo", environment) != path
    assert path.name == f"{key(place / 'demo.db')}-demo.sock"


def test_a_recipes_name_cannot_leave_the_folder(place: Path, environment: Mapping[str, str]) -> None:
    path = socket_path(place / "demo.db", "../../etc/\x1b[31m passwd" * 9, environment)
    assert path.parent == place / "run" / "cockpit"
    assert path.name.isascii()
    assert len(path.name) < 40


def test_a_path_too_long_for_a_socket_falls_back_or_is_refused(place: Path) -> None:
    deep = place / ("d" * LONGEST)
    deep.mkdir()
    environment = {"XDG_RUNTIME_DIR": str(deep), "TMPDIR": str(place)}
    assert socket_path(place / "demo.db", "demo", environment).parent.parent == place
    with pytest.raises(UsageError, match="XDG_RUNTIME_DIR"):
        socket_path(place / "demo.db", "demo", {"TMPDIR": str(deep)})


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o701])
def test_a_folder_that_others_may_enter_is_refused(place: Path, environment: Mapping[str, str], mode: int) -> None:
    folder = place / "run" / "cockpit"
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(UsageError, match=f"mode 0{mode:o}"):
        socket_path(place / "demo.db", "demo", environment)
    with pytest.raises(UsageError, match="chmod 700"):
        sockets(environment)


def test_a_folder_of_another_user_is_refused(
    place: Path, environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever made `cockpit-UID` in a shared folder before us would hear all that we say."""
    path = socket_path(place / "demo.db", "demo", environment)
    if os.getuid() == 0:
        os.chown(path.parent, 65534, 65534)
    else:
        owner = os.getuid()
        monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    with pytest.raises(UsageError, match="belongs to the user with id"):
        socket_path(place / "demo.db", "demo", environment)
    with pytest.raises(UsageError, match="belongs to the user with id"):
        sockets(environment)


def test_a_folder_that_is_a_link_or_no_folder_is_refused(place: Path) -> None:
    real = place / "real"
    real.mkdir(mode=0o700)
    (place / "link").symlink_to(real)
    (place / "file").touch(mode=0o600)
    for name, said in (("link", "symbolic link"), ("file", "no folder"), ("missing", "cannot be read")):
        with pytest.raises(UsageError, match=said):
            check(place / name)


def test_a_fit_folder_serves_although_the_other_is_unfit(place: Path, environment: Mapping[str, str]) -> None:
    (place / f"cockpit-{os.getuid()}").mkdir()
    (place / f"cockpit-{os.getuid()}").chmod(0o777)
    path = socket_path(place / "demo.db", "demo", environment)
    with listening(path):
        assert sockets(environment) == (path,)


def test_a_bridge_whose_host_drops_the_environment_finds_the_cockpit(
    place: Path, environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """MCP hosts hand a server little more than HOME and PATH: the usual runtime folder is looked in all the same."""
    users = place / "users"
    (users / str(os.getuid())).mkdir(parents=True, mode=0o700)
    monkeypatch.setattr(paths, "RUNTIME", users)
    path = socket_path(place / "demo.db", "demo", {**environment, "XDG_RUNTIME_DIR": str(users / str(os.getuid()))})
    left_over(path)
    assert sockets({"TMPDIR": str(place)}) == (path,)
    assert sockets(environment) == ()


def test_only_sockets_count(place: Path, environment: Mapping[str, str]) -> None:
    path = socket_path(place / "demo.db", "demo", environment)
    (path.parent / "notes.sock").touch()
    (path.parent / "link.sock").symlink_to(path)
    left_over(path)
    assert sockets(environment) == (path,)


def test_a_stale_socket_is_taken_over(place: Path, environment: Mapping[str, str]) -> None:
    path = socket_path(place / "demo.db", "demo", environment)
    left_over(path)
    with listening(path), socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))


def test_a_socket_that_answers_is_not_taken_over(place: Path, environment: Mapping[str, str]) -> None:
    path = socket_path(place / "demo.db", "demo", environment)
    with listening(path):
        with pytest.raises(UsageError, match="another cockpit listens"), listening(path):
            pass
        assert path.exists()


def test_what_is_no_socket_is_left_alone(place: Path, environment: Mapping[str, str]) -> None:
    path = socket_path(place / "demo.db", "demo", environment)
    path.write_text("mine")
    with pytest.raises(UsageError, match="no socket of yours"), listening(path):
        pass
    assert path.read_text() == "mine"


def test_a_socket_that_a_newer_cockpit_made_is_not_removed(place: Path, environment: Mapping[str, str]) -> None:
    path = socket_path(place / "demo.db", "demo", environment)
    with listening(path):
        kept = path.with_suffix(".old")
        path.rename(kept)
        left_over(path)
    assert path.exists()
