"""Where the socket of a running cockpit lies: one a store, in a folder that nobody else may enter.

The folder is `$XDG_RUNTIME_DIR/cockpit/`, or `cockpit-UID/` under the temporary directory. Who may enter the folder
may steer the cockpit, so it is checked each time before it is trusted (cockpit.md, Command line).
"""

from __future__ import annotations

import hashlib
import os
import re
import socket
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from cockpit.errors import UsageError

LONGEST = 103
"""Bytes of a socket's path: the smallest that systems allow, its closing zero left out."""

RUNTIME = Path("/run/user")
"""Where systems keep the runtime folder of each user, by number."""

_ENDING = ".sock"
_DIGITS = 12
_PROBE = 1.0  # seconds: a local connect answers at once, or its owner hangs


def folders(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Where sockets may lie, the preferred place first. None of them needs to exist."""
    temporary = Path(environment.get("TMPDIR") or tempfile.gettempdir()) / f"cockpit-{os.getuid()}"
    runtime = Path(environment.get("XDG_RUNTIME_DIR", ""))
    if runtime.is_absolute() and runtime.is_dir():
        return runtime / "cockpit", temporary
    return (temporary,)


def key(store: Path) -> str:
    """What the sockets of one store begin with, however its path is written."""
    return hashlib.sha256(os.fsencode(os.path.realpath(store))).hexdigest()[:_DIGITS]


def socket_path(store: Path, recipe: str, environment: Mapping[str, str]) -> Path:
    """Where the cockpit on `store` listens; the recipe's name is in it for people. Makes the folder.

    Raises UsageError where no folder is fit.
    """
    word = re.sub(r"[^A-Za-z0-9_-]+", "-", recipe).strip("-")[:16] or "cockpit"
    places = [folder / f"{key(store)}-{word}{_ENDING}" for folder in folders(environment)]
    short = [path for path in places if len(os.fsencode(path)) <= LONGEST]
    if not short:
        raise UsageError(
            f"the socket's path {str(places[0])!r} is longer than {LONGEST} bytes: set XDG_RUNTIME_DIR to a shorter one"
        )
    folder = short[0].parent
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise UsageError(f"the socket's folder {str(folder)!r} cannot be made: {error.strerror}") from error
    check(folder)
    return short[0]


def check(folder: Path) -> None:
    """Raises UsageError unless `folder` is a real folder, ours, and closed to everybody else."""
    try:
        about = folder.lstat()
    except OSError as error:
        raise UsageError(f"the socket's folder {str(folder)!r} cannot be read: {error.strerror}") from error
    mode = stat.S_IMODE(about.st_mode)
    wrong = None
    if stat.S_ISLNK(about.st_mode):
        wrong = "is a symbolic link"
    elif not stat.S_ISDIR(about.st_mode):
        wrong = "is no folder"
    elif about.st_uid != os.getuid():
        wrong = f"belongs to the user with id {about.st_uid}, not to you"
    elif mode & 0o077:
        wrong = f"is open to others (mode {mode:04o}): chmod 700 it"
    if wrong is not None:
        raise UsageError(f"the socket's folder {str(folder)!r} {wrong}")


def sockets(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Every socket of ours, in folders that are fit, whether or not somebody still listens at it.

    Raises UsageError where a folder is unfit and no other holds a socket.
    """
    found: list[Path] = []
    unfit: UsageError | None = None
    for folder in _looked_in(environment):
        if not os.path.lexists(folder):
            continue
        try:
            check(folder)
        except UsageError as error:
            unfit = unfit or error
            continue
        found.extend(path for path in sorted(folder.iterdir()) if path.suffix == _ENDING and _ours(path))
    if unfit is not None and not found:
        raise unfit
    return tuple(found)


def _looked_in(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """`folders`, and where they would be were the environment whole: MCP hosts start a bridge without most of it."""
    usual = {"XDG_RUNTIME_DIR": str(RUNTIME / str(os.getuid())), **environment}
    return tuple(dict.fromkeys((*folders(environment), *folders(usual))))


@contextmanager
def listening(path: Path) -> Iterator[socket.socket]:
    """A socket that listens at `path` with mode 0600; its file is removed at the end.

    The caller holds the store's lock, so what a dead cockpit left there is taken over. Raises UsageError where
    somebody answers there, where it is no socket of ours, or where the folder is unfit.
    """
    check(path.parent)
    _clear(path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        try:
            listener.bind(str(path))
        except OSError as error:
            raise UsageError(f"no socket can be made at {str(path)!r}: {error.strerror}") from error
        made = path.lstat().st_ino
        try:
            path.chmod(0o600)
            listener.listen(socket.SOMAXCONN)
            yield listener
        finally:
            with suppress(FileNotFoundError):
                if path.lstat().st_ino == made:
                    path.unlink()


def _ours(path: Path) -> bool:
    try:
        about = path.lstat()
    except OSError:
        return False
    return stat.S_ISSOCK(about.st_mode) and about.st_uid == os.getuid()


def _clear(path: Path) -> None:
    """Remove a socket at which nobody listens any more."""
    if not os.path.lexists(path):
        return
    if not _ours(path):
        raise UsageError(f"{str(path)!r} is in the socket's place, and is no socket of yours")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PROBE)
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            path.unlink(missing_ok=True)
        except OSError as error:
            raise UsageError(f"the socket {str(path)!r} is in use: {error.strerror or error}") from error
        else:
            raise UsageError(f"another cockpit listens at {str(path)!r}")
