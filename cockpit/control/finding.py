"""Which cockpit a command talks to: the one that runs, or the one on a store; and clear words where that is none."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from cockpit.control.client import SocketLink, open_link
from cockpit.control.paths import key, sockets
from cockpit.control.plain import flat
from cockpit.control.wire import About, Origin
from cockpit.errors import CockpitError, UsageError, VerbError

PATIENCE = 5.0
"""Seconds that a cockpit may take to say hello."""


@dataclass(frozen=True, slots=True)
class Found:
    """One socket: a link and what its cockpit said, or why there is none. stale: nobody listens at it any more."""

    path: Path
    link: SocketLink | None = None
    about: About | None = None
    why: str = ""
    stale: bool = False


@asynccontextmanager
async def connect(
    db: Path | None = None,
    *,
    origin: Origin = "socket",
    actor: str = "",
    environment: Mapping[str, str] | None = None,
) -> AsyncIterator[SocketLink]:
    """A link to the cockpit on the store `db`, or to the only one that runs.

    Raises VerbError `not_running` where there is none, UsageError where there are several and `db` does not choose,
    or where the socket's folder is not fit.
    """
    found = await survey(environment, origin=origin, actor=actor)
    try:
        link = _chosen(found, db)
        await close(each for each in found if each.link is not link)
        yield link
    finally:
        await close(found)


@asynccontextmanager
async def on_store(store: Path, environment: Mapping[str, str] | None = None) -> AsyncIterator[SocketLink | None]:
    """A link to the cockpit that runs on `store`, or None where none answers there."""
    found = await survey(environment)
    try:
        yield next((each.link for each in found if each.path.name.startswith(f"{key(store)}-") and each.link), None)
    finally:
        await close(found)


@asynccontextmanager
async def quickly(
    db: Path | None, patience: float, environment: Mapping[str, str] | None = None
) -> AsyncIterator[SocketLink | None]:
    """The link that `connect` would give, or None where none is meant or it does not answer within `patience` seconds:
    for whoever only guesses what an operator is about to type."""
    found: Sequence[Found] = ()
    try:
        link: SocketLink | None = None
        with suppress(CockpitError, TimeoutError):
            found = await survey(environment, patience)
            link = _chosen(found, db)
        yield link
    finally:
        await close(found)


async def running(environment: Mapping[str, str] | None = None) -> tuple[About, ...]:
    """Every cockpit of this user's that answers. Raises UsageError where the socket's folder is not fit."""
    found = await survey(environment)
    await close(found)
    return tuple(each.about for each in found if each.about is not None)


async def survey(
    environment: Mapping[str, str] | None = None,
    patience: float | None = None,
    *,
    origin: Origin = "socket",
    actor: str = "",
) -> Sequence[Found]:
    """Every socket of ours, each with its link where somebody answers; whoever asks closes those. Raises UsageError
    where the sockets' folder is not fit."""
    places = sockets(os.environ if environment is None else environment)
    seconds = PATIENCE if patience is None else patience
    return await asyncio.gather(*(_tried(path, origin, actor, seconds) for path in places))


async def _tried(path: Path, origin: Origin, actor: str, patience: float) -> Found:
    try:
        link = await open_link(path, origin=origin, actor=actor, patience=patience)
    except TimeoutError:
        return Found(path, why="it does not answer")
    except OSError:
        return Found(path, why="it has ended", stale=True)
    except VerbError as error:
        return Found(path, why=str(error))
    return Found(path, link, await link.hello())


def _chosen(found: Sequence[Found], db: Path | None) -> SocketLink:
    """The one that is meant. Raises VerbError or UsageError where none is."""
    meant = [each for each in found if db is None or each.path.name.startswith(f"{key(db)}-")]
    links = [each.link for each in meant if each.link is not None]
    if len(links) == 1:
        return links[0]
    if links:
        raise UsageError(f"several cockpits run, choose one with --db: {_listed(meant)}")
    silent = [each for each in meant if not each.stale]
    if silent:
        raise VerbError("not_running", f"the cockpit at {silent[0].path} is of no use: {flat(silent[0].why)}")
    none = "no cockpit is running" if db is None else f"no cockpit is running on {flat(str(db))}"
    others = _listed(found)
    if others:
        raise VerbError("not_running", f"{none}; there are: {others}", "--db chooses one")
    left = f" ({meant[0].path} is left over from one that has ended)" if meant else ""
    start = "start one with `cockpit`, or `cockpit run --headless`"
    raise VerbError("not_running", f"{none}{left}: {start}", start)


def _listed(found: Sequence[Found]) -> str:
    """`demo (--db /path/demo.db, pid 12)` each."""
    abouts = [each.about for each in found if each.about is not None]
    return ", ".join(f"{flat(each.recipe)} (--db {flat(each.store)}, pid {each.pid})" for each in abouts)


async def close(found: Iterable[Found]) -> None:
    """Close the links of these."""
    for each in found:
        if each.link is not None:
            await each.link.aclose()
