"""Opening the store's file: who may read it, how a connection is made and always closed again, and what an operator is
told where the disk refuses (R-8)."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Literal, TypeVar

import aiosqlite

from cockpit.errors import StoreError

T = TypeVar("T")

_STATEMENTS = 256  # prepared statements that a connection keeps: inserts differ by their number of rows
_PATIENCE = 5.0  # seconds that a statement waits for another process's lock
_ITERATED = 64  # rows that aiosqlite's cursors fetch at a time

_REASONS = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_READONLY: "it is read-only",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
    sqlite3.SQLITE_BUSY: "another process holds it locked",
    sqlite3.SQLITE_LOCKED: "another process holds it locked",
    sqlite3.SQLITE_CORRUPT: "it is damaged",
    sqlite3.SQLITE_NOTADB: "it is not a database",
    sqlite3.SQLITE_IOERR: "the disk failed",
    sqlite3.SQLITE_CONSTRAINT: "it holds a record with this sequence or key already",
}


class Connection(aiosqlite.Connection):
    """aiosqlite's, which can also run several statements at one call: each call waits once for its thread and once
    for the loop, and a busy loop takes its time."""

    async def at_once(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What `work` returns, or raises, in the connection's thread. It is not interrupted."""
        done: T = await self._execute(work, self._conn)  # type: ignore[no-untyped-call]  # aiosqlite says no types of it
        return done


def prepare(path: Path) -> Path:
    """The store's real path. Its file is made where it is missing, with mode 0600, in a folder made with mode 0700.
    Raises StoreError where that is not allowed, or something else than a file is there."""
    try:
        path = path.expanduser().resolve()
        for folder in reversed([path.parent, *path.parent.parents]):
            if not folder.exists():
                folder.mkdir(mode=0o700, exist_ok=True)
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            if not path.is_file():
                raise StoreError(f"the store {path} cannot be made: there is something else than a file") from None
    except OSError as error:
        raise StoreError(f"the store {path} cannot be made: {error.strerror or error}") from error
    return path


def claim(path: Path) -> None:
    """Take the rights of others off the store's files, once it is known to be a store. Raises StoreError."""
    try:
        for file in files_of(path):
            if file.exists():
                file.chmod(0o600)
    except OSError as error:
        raise StoreError(f"the store {path} cannot be made private: {error.strerror or error}") from error


def files_of(path: Path) -> tuple[Path, Path, Path]:
    """The store's file, its write-ahead log, and the log's index."""
    return path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")


def existing(path: Path) -> Path:
    """The real path of a store that is there. Raises StoreError where it is not."""
    found = path.expanduser().resolve()
    if not found.is_file():
        raise StoreError(f"there is no store at {path}")
    return found


@asynccontextmanager
async def connect(path: Path, mode: Literal["rw", "ro"]) -> AsyncIterator[Connection]:
    """A connection to a file that is there, closed on the way out: one left open keeps the process alive for ever."""
    connect_now = partial(
        sqlite3.connect,
        f"{path.as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,
        cached_statements=_STATEMENTS,
        timeout=_PATIENCE,
    )
    connection = Connection(connect_now, _ITERATED)
    with reported(path, "opened"):
        await connection
    try:
        connection.text_factory = _text
        yield connection
    finally:
        await connection.close()


@contextmanager
def reported(path: Path, done: str) -> Iterator[None]:
    """Turn what SQLite raises into one line that names the file. done: `opened`, `read` or `written`."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(f"the store {path} cannot be {done}: {_reason(error)}") from error


def _reason(error: sqlite3.Error) -> str:
    code: int | None = getattr(error, "sqlite_errorcode", None)  # only SQLite's own errors carry one
    reason = _REASONS.get(code & 0xFF) if code is not None else None
    return f"{reason} ({error})" if reason else str(error)


def _text(stored: bytes) -> str:
    """Invalid UTF-8 in one row must not make its neighbours unreadable (R-4)."""
    return stored.decode(errors="replace")


Identity = tuple[int, int]


class Presence:
    """Whether the files at the store's paths are still those that were opened: SQLite goes on writing to a file that
    was removed, and all of it would be gone with the process (R-8)."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._files = tuple((file, _identity(file)) for file in files_of(path)[:2])

    def check(self) -> None:
        """Raises StoreError where one was removed or replaced."""
        if any(_identity(file) != known for file, known in self._files):
            raise StoreError(f"the store {self._path} cannot be written: it was removed or replaced while in use")


def _identity(path: Path) -> Identity | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
