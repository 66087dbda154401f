"""Which store and recipe a command means where it is not told: those of the cockpit that runs, else the last used."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click
import platformdirs

from cockpit.errors import UsageError

if TYPE_CHECKING:
    from cockpit.control.wire import About


def state_dir() -> Path:
    """Where stores are kept: `$XDG_STATE_HOME/cockpit/`."""
    return Path(platformdirs.user_state_dir("cockpit"))


def store_of(db: Path | None, recipe: str) -> Path:
    """`--db`, or the recipe's own under the state folder. recipe: the name that its file gives."""
    return db if db is not None else state_dir() / f"{recipe}.db"


def remember(store: Path, recipe: str) -> None:
    """Note which store was used last, and on which recipe."""
    place = _place()
    found = Path(recipe)
    said = str(found.resolve()) if found.exists() else recipe
    with suppress(OSError):  # a convenience, for which no cockpit stays away
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.write_text(json.dumps({"store": str(store.resolve()), "recipe": said}), encoding="utf-8")


def last() -> Mapping[str, str]:
    """`store` and `recipe` as `remember` noted them; empty where nothing was used yet."""
    try:
        found = json.loads(_place().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(name): str(value) for name, value in found.items()} if isinstance(found, dict) else {}


def recipe_of(store: Path) -> str | None:
    """The recipe that `store` was last used on, where that is known."""
    noted = last()
    known = noted.get("store")
    return noted.get("recipe") if known is not None and Path(known) == store.resolve() else None


def chosen(db: Path | None) -> Path:
    """The store to read, told on standard error where it was not said. Raises UsageError where none is known."""
    if db is not None:
        return db
    running = _running()
    if len(running) > 1:
        each = ", ".join(f"--db {about.store} ({about.recipe}, pid {about.pid})" for about in running)
        raise UsageError(f"several cockpits run, choose one: {each}")
    store = running[0].store if running else last().get("store")
    if store is None:
        raise UsageError("no cockpit runs and none was used yet: say --db PATH, or start one with `cockpit`")
    if not running and not Path(store).exists():
        raise UsageError(f"no cockpit runs, and the store that was used last, {store}, is gone: say --db PATH")
    click.echo(f"reading {store} ({'the one that runs' if running else 'the last one used'})", err=True)
    return Path(store)


def _running() -> tuple[About, ...]:
    from cockpit.control.finding import running

    return asyncio.run(running())


def _place() -> Path:
    return state_dir() / "last.json"
