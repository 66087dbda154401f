"""What is installed: the interpreter, the libraries by their metadata (nothing is imported), and SQLite's abilities."""

from __future__ import annotations

import platform
import sqlite3
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from cockpit import __version__
from cockpit.setup.finding import Finding

LIBRARIES = ("textual", "mcp", "anthropic", "aiosqlite", "pydantic", "click", "google-re2")

_ASKED = (
    ("JSON", "SELECT json_set(json_remove('{\"a\":1,\"b\":2}', '$.a'), '$.b', json('[3]'))"),
    ("windows", "SELECT sum(n) OVER (ORDER BY n DESC), count(*) FILTER (WHERE n) FROM (SELECT 1 AS n)"),
    ("upserts", "INSERT INTO kept VALUES (1, 2) ON CONFLICT (k) DO UPDATE SET v = excluded.v"),
    ("INDEXED BY", "SELECT k FROM kept INDEXED BY kept_v WHERE v = 2 AND v IS NOT NULL"),
)
_TABLE = "CREATE TABLE kept (k PRIMARY KEY, v) WITHOUT ROWID; CREATE INDEX kept_v ON kept (v) WHERE v IS NOT NULL;"


def installed() -> Iterator[Finding]:
    """The interpreter, this program, its libraries and SQLite."""
    yield Finding("ok", "python", f"{platform.python_version()} at {sys.executable}")
    yield Finding("ok", "cockpit", __version__)
    for name in LIBRARIES:
        try:
            yield Finding("ok", name, version(name))
        except PackageNotFoundError:
            yield Finding("bad", name, "not installed", f"{sys.executable} -m pip install {name}")
    yield _sqlite()


def _sqlite() -> Finding:
    """Whether SQLite can do what the store asks of it, tried in memory."""
    lacking: list[str] = []
    with sqlite3.connect(":memory:") as memory:
        memory.executescript(_TABLE)
        for name, statement in _ASKED:
            try:
                memory.execute(statement).fetchall()
            except sqlite3.Error:
                lacking.append(name)
    memory.close()
    if lacking:
        told = f"{sqlite3.sqlite_version} lacks {', '.join(lacking)}"
        return Finding("bad", "sqlite", told, "use a Python whose sqlite3 is newer (3.38 or later)")
    return Finding("ok", "sqlite", f"{sqlite3.sqlite_version}, with all that the store asks of it")
