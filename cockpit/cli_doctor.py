"""`cockpit doctor`: what is installed, reachable, writable, and what the terminal can do; a line each."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
import platformdirs

from cockpit import cli_words as complete
from cockpit.cli_last import last, recipe_of, state_dir, store_of
from cockpit.errors import CockpitError, RecipeError

if TYPE_CHECKING:
    from cockpit.recipe import Recipe
    from cockpit.setup.finding import Finding


@click.command("doctor")
@click.argument("recipe", required=False, shell_complete=complete.recipes)
@click.option("--db", type=click.Path(path_type=Path, dir_okay=False), help="the store; the recipe's own unless said")
@click.option("--reach", is_flag=True, help="also try to connect to addresses beyond this machine")
@click.option("--json", "as_json", is_flag=True, help="JSON Lines")
def doctor(recipe: str | None, db: Path | None, reach: bool, as_json: bool) -> int:
    """Tell what this machine has, and what it lacks.

    What is installed, reachable, writable, and what the terminal can do; nothing is started. RECIPE is the last one
    used unless said. Exit code 1 where a line is `bad`; what to do stands at its end.
    """
    reference = recipe or (recipe_of(db) if db is not None else last().get("recipe")) or "demo"
    found = list(_findings(reference, db, reach=reach))
    width = max(len(each.what) for each in found)
    for each in found:
        click.echo(_json(each) if as_json else _line(each, width))
    return 1 if any(each.state == "bad" for each in found) else 0


def _findings(reference: str, db: Path | None, *, reach: bool) -> Iterator[Finding]:
    from cockpit.setup import places
    from cockpit.setup import reach as reaching
    from cockpit.setup.finding import Finding
    from cockpit.setup.installed import installed
    from cockpit.setup.terminal import terminal

    yield from installed()
    loaded, told = _recipe(reference)
    yield told
    if loaded is not None:
        yield from reaching.servers(loaded, os.environ, reach=reach)
        yield from reaching.models(loaded, os.environ, reach=reach)
    yield places.folder("config", Path(platformdirs.user_config_dir("cockpit")))
    yield places.folder("state", state_dir())
    if db is not None or loaded is not None:
        yield from places.store(store_of(db, "" if loaded is None else loaded.name))
    yield places.runtime(os.environ)
    try:
        yield from asyncio.run(_sockets())
    except CockpitError as error:
        yield Finding("bad", "running", str(error), "put the folder right, then ask again")
    yield from terminal(os.environ)


async def _sockets() -> list[Finding]:
    from cockpit.control.finding import close, survey
    from cockpit.setup.places import sockets

    found = await survey(os.environ, 2.0)
    await close(found)
    return list(sockets(found))


def _recipe(reference: str) -> tuple[Recipe | None, Finding]:
    from cockpit.recipe import load
    from cockpit.setup.finding import Finding

    try:
        loaded = load(reference, os.environ)
    except RecipeError as error:
        return None, Finding("bad", "recipe", str(error), "put that right; `cockpit recipes` lists those that ship")
    if loaded.warnings:
        return loaded, Finding("note", "recipe", f"{reference}: {'; '.join(loaded.warnings)}")
    return loaded, Finding("ok", "recipe", reference)


def _line(found: Finding, width: int) -> str:
    from cockpit.control.plain import flat

    after = f"  → {flat(found.next)}" if found.next else ""
    return f"{found.state:4}  {found.what:{width}}  {flat(found.says)}{after}"


def _json(found: Finding) -> str:
    said = {"state": found.state, "what": found.what, "says": found.says, "next": found.next or None}
    return json.dumps(said, ensure_ascii=False)
