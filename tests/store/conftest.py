"""A fresh store for each test, and the messages of one noisy channel to put in it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from cockpit.core.message import RESIDENTS, Message, Stamp, Text
from cockpit.core.records import DumpOf, ReportTurn
from cockpit.store.chronicle import SqliteChronicle, open_chronicle

NOISY = "channel:disc/disc:guild:noisy"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the test's store is, not made yet."""
    return tmp_path / "state" / "cockpit.db"


@pytest.fixture
def told() -> list[str]:
    """What the store told of malformed records."""
    return []


@pytest.fixture
async def chronicle(path: Path, told: list[str]) -> AsyncIterator[SqliteChronicle]:
    """An open store."""
    async with open_chronicle(path, tell=told.append) as opened:
        yield opened


@pytest.fixture
def said() -> Callable[..., Message]:
    """`said(sequence, text, epoch=…, span=…, **fields)`: a message of the noisy channel."""

    def make(
        sequence: int, text: str | None = None, epoch: str | None = None, span: str | None = None, **fields: object
    ) -> Message:
        values: dict[str, object] = {
            "slot": RESIDENTS,
            "kind": "chat",
            "author": "hedgehog",
            "blocks": (Text(f"number {sequence}" if text is None else text),),
            "at": 1_796_000_000.5,
            "target": NOISY,
            "channel": "disc:guild:noisy",
            "id": f"m{sequence}",
            "key": f"disc/disc:guild:noisy/m{sequence}",
            "stamp": Stamp(epoch, span) if epoch or span else None,
            "sequence": sequence,
        }
        return Message(**(values | fields))  # type: ignore[arg-type]  # checked by the dataclass's readers

    return make


@pytest.fixture
def ends() -> Callable[..., DumpOf]:
    """`ends(sequence, messages, **fields)`: the end of the noisy channel's epoch `epoch-1`."""

    def make(sequence: int, messages: int, **fields: object) -> DumpOf:
        values: dict[str, object] = {
            "slot": RESIDENTS,
            "owner": "residents",
            "kind": "tune-out-cancel",
            "target": NOISY,
            "channel": "disc:guild:noisy",
            "notice": "[Tune-out: disc:guild:noisy cancelled — agent request, 0 wakes]",
            "tag": "tuned-out-backlog",
            "stamp": "epoch-1",
            "messages": messages,
            "cap": 200,
            "bound": None,
            "at": 1_796_000_100.0,
            "report": ReportTurn("watcher", "subconscious/scout", "epoch-1", "agent request"),
            "sequence": sequence,
        }
        return DumpOf(**(values | fields))  # type: ignore[arg-type]  # checked by the expansion

    return make
