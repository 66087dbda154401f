"""The commands that read a store, whether a cockpit runs on it or not: audit, stats, why, context, export.

`--db` says which; else that of the cockpit that runs, else the one that was used last; and they say which it is.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cockpit import cli_words as complete
from cockpit.cli_last import chosen, recipe_of
from cockpit.errors import UsageError

if TYPE_CHECKING:
    from cockpit.core.events import Answered
    from cockpit.engine.reading import Reading
    from cockpit.model.config import ModelConfig
    from cockpit.model.protocol import Model

_db = click.option("--db", type=click.Path(path_type=Path, dir_okay=False), help="the store to read")
_json = click.option("--json", "as_json", is_flag=True, help="JSON Lines, as the headless twin writes them")


@click.command("audit")
@click.argument("target", required=False, shell_complete=complete.targets)
@click.option("--last", default=50, show_default=True, help="rows")
@_db
@_json
def audit(target: str | None, last: int, db: Path | None, as_json: bool) -> int:
    """Who did what, when, from where; refusals too."""
    from cockpit.core.target import parse

    asked = (None if target is None else parse(target),)
    return _read(db, as_json, lambda reading: reading.audit(asked, max(0, last), time.time()))


@click.command("stats")
@_db
@_json
def stats(db: Path | None, as_json: bool) -> int:
    """Totals a channel and an agent."""

    async def count(reading: Reading) -> Answered:
        opened = await reading.chronicle.opened()
        agents = {name: (usage, opened.turns.get(name, 0), None) for name, usage in opened.usage.items()}
        return reading.stats(agents, time.time())

    return _read(db, as_json, count)


@click.command("why")
@click.argument("message")
@_db
@_json
def why(message: str, db: Path | None, as_json: bool) -> int:
    """Why a message was or wasn't heard: an id from peek, or SERVER/MESSAGE-ID."""
    return _read(db, as_json, lambda reading: reading.why(message, time.time()))


@click.command("context")
@click.argument("agent", required=False, shell_complete=complete.agents)
@click.option("--recipe", shell_complete=complete.recipes, help="the recipe of that store, where no cockpit runs on it")
@_db
@_json
def context(agent: str | None, recipe: str | None, db: Path | None, as_json: bool) -> int:
    """What an agent would be sent now, as compiled."""
    store = chosen(db)

    async def main() -> int:
        from cockpit.control.finding import on_store
        from cockpit.store.connection import existing

        async with on_store(store) as link:
            if link is not None:
                from cockpit.control import commands

                line = f"go=context agent={agent}" if agent else "go=context"
                return await commands.go(link, line, write=click.echo, tell=_tell, as_json=as_json)
        existing(store)  # a mistyped --db must not make a store
        return await _compiled(store, _recipe(recipe, store), agent, as_json)

    return asyncio.run(main())


def _recipe(said: str | None, store: Path) -> str:
    """The recipe by which a store's contexts are compiled. Raises UsageError where it is not known."""
    found = said or recipe_of(store)
    if found is None:
        raise UsageError(f"the recipe of {store} is not known: say --recipe RECIPE")
    return found


async def _compiled(store: Path, recipe: str, agent: str | None, as_json: bool) -> int:
    from cockpit.engine.assemble import open_session
    from cockpit.model.factory import make_model
    from cockpit.recipe import load

    loaded = load(recipe, os.environ)

    def unasked(config: ModelConfig) -> Model:
        """No model is asked, so no key is needed."""
        return make_model(replace(config, provider="offline"))

    async with open_session(
        loaded, store, environment=os.environ, logs=store.parent / "logs", make_model=unasked
    ) as session:
        _show(session.engine.minds.shown(agent), as_json)
    return 0


@click.command("export")
@click.option("--format", "form", type=click.Choice(["markdown", "json"]), default="markdown", show_default=True)
@_db
def export(form: str, db: Path | None) -> int:
    """Write every report and the audit, as Markdown or JSON, to standard output."""
    store = chosen(db)

    async def main() -> int:
        from cockpit.core.events import Reported, iso
        from cockpit.core.text import header_field, inert
        from cockpit.store.reader import open_reader

        async with open_reader(store) as reader:
            reports = await reader.reports(limit=1_000_000)
            rows = await reader.audit(limit=1_000_000)
        from cockpit.engine.reading import audit_row

        if form == "json":
            lines = [
                Reported(each.at, each.agent, each.channel, each.kind, each.text, str(each.sequence)).line()
                for each in reports
            ]
            whole = {"reports": lines, "audit": [audit_row(row) for row in rows]}
            click.echo(json.dumps(whole, ensure_ascii=False, indent=1))
            return 0
        click.echo("# Reports\n")
        for each in reports:
            click.echo(f"## {iso(each.at)} {header_field(each.channel)} ({each.kind})\n\n{inert(each.text)}\n")
        click.echo(
            "# Audit\n\n| at | actor | origin | verb | target | before | after | reason | ok |\n" + "|---" * 9 + "|"
        )
        for row in rows:
            cells = (iso(row.at), row.actor, row.origin, row.verb, row.target, row.before, row.after, row.reason)
            shown = " | ".join(header_field(cell).replace("|", "\\|") for cell in cells)
            click.echo(f"| {shown} | {'yes' if row.ok else 'no'} |")
        return 0

    return asyncio.run(main())


def _read(db: Path | None, as_json: bool, ask: Callable[[Reading], Awaitable[Answered]]) -> int:
    store = chosen(db)

    async def main() -> int:
        async with _reading(store) as reading:
            _show(await ask(reading), as_json)
        return 0

    return asyncio.run(main())


@asynccontextmanager
async def _reading(store: Path) -> AsyncIterator[Reading]:
    from cockpit.engine.directory import Directory
    from cockpit.engine.reading import Reading
    from cockpit.store.reader import open_reader

    async with open_reader(store) as reader:
        channels = {channel.target: channel for channel in (await reader.opened()).channels}
        directory = Directory(sorted({target.server for target in channels if target.server is not None}), ())
        for target in channels:
            directory.add(target)
        yield Reading(reader, directory, channels)


def _show(found: Answered, as_json: bool) -> None:
    from cockpit.control.headless import as_line
    from cockpit.control.shown import shown

    for line in [as_line(found)] if as_json else shown(found):
        click.echo(line)


def _tell(line: str) -> None:
    click.echo(line, err=True)
