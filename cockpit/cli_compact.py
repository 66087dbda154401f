"""`cockpit compact`: apply the retention to a store that no cockpit holds, and say what went."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cockpit import cli_words as complete
from cockpit.cli_last import chosen, recipe_of
from cockpit.errors import RecipeError, UsageError

if TYPE_CHECKING:
    from cockpit.recipe import Recipe
    from cockpit.store.compact import Compacted, Retention
    from cockpit.store.protocol import Opened


@click.command("compact")
@click.option("--db", type=click.Path(path_type=Path, dir_okay=False), help="the store; the last one used unless said")
@click.option("--keep", default="90d", show_default=True, help="how much stays, whatever it is: 30d, 12h")
@click.option(
    "--recipe",
    shell_complete=complete.recipes,
    help="the recipe of that store, where it is not the one it was last used on",
)
@click.option("--dry-run", is_flag=True, help="only tell what would go")
@click.option("--json", "as_json", is_flag=True, help="one JSON object")
def compact(db: Path | None, keep: str, recipe: str | None, dry_run: bool, as_json: bool) -> int:
    """Let go of what is old in a store.

    The texts of messages older than --keep go once they were delivered or dumped and read, old reports, and what
    snapshots held before. What an agent may still be sent, a live tune-out or mute, unread messages, standing notes
    and the audit stay, and a duplicate of what went is still known.
    """
    from cockpit.core.duration import parse_duration

    try:
        seconds = parse_duration(keep)
    except ValueError as error:
        raise UsageError(f"--keep {keep!r}: {error}") from None
    store = chosen(db)
    known = _recipe(recipe, recipe or recipe_of(store))
    held: list[str] = []

    def rule(opened: Opened) -> Retention:
        from cockpit.setup.retention import holding, retention

        held.extend(holding(opened, known))
        return retention(opened, known, keep=seconds, now=time.time())

    from cockpit.store.compact import compact as apply

    done = asyncio.run(apply(store, rule, dry_run=dry_run))
    if as_json:
        click.echo(json.dumps(_json(store, seconds, done, held, dry_run=dry_run), ensure_ascii=False))
    else:
        _say(store, done, held, dry_run=dry_run)
    return 0


def _recipe(said: str | None, reference: str | None) -> Recipe | None:
    """The store's recipe, where it is known and whole. One that was named must be."""
    from cockpit.recipe import load
    from cockpit.setup.host import EVERYTHING

    try:
        found = None if reference is None else load(reference, EVERYTHING)  # its agents' names are all that is read
    except RecipeError as error:
        if said is not None:
            raise
        click.echo(f"the store's recipe cannot be read, so less may go: {error}", err=True)
        return None
    if found is None:
        click.echo("the store's recipe is not known, so less may go: --recipe says it", err=True)
    return found


def _say(store: Path, done: Compacted, held: list[str], *, dry_run: bool) -> None:
    would = "would go" if dry_run else "went"
    parts = [f"{count} {what if count > 1 else what.removesuffix('s')}" for what, count in done.records.items()]
    gone = f"{', '.join(parts)} (about {_bytes(done.characters)})" if parts else "nothing"
    click.echo(f"{store}: {gone} {would}")
    click.echo(f"size: {_bytes(done.before)}" + ("" if dry_run else f", now {_bytes(done.after)}"))
    if held:
        click.echo(f"what {', '.join(held)} heard stays, all of it: it still fits what can be sent")
    if done.note:
        click.echo(done.note)


def _json(store: Path, keep: float, done: Compacted, held: list[str], *, dry_run: bool) -> dict[str, object]:
    return {
        "store": str(store),
        "keep": keep,
        "dry_run": dry_run,
        "records": dict(done.records),
        "characters": done.characters,
        "bytes_before": done.before,
        "bytes_after": done.after,
        "whole": held,
        "note": done.note,
    }


def _bytes(size: int) -> str:
    """`1.2 MB`, in thousands."""
    return f"{size} bytes" if size < 1000 else f"{size / 1e3:.0f} kB" if size < 1e6 else f"{size / 1e6:.1f} MB"
