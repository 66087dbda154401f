"""What the shell may complete: recipes, themes, verbs and their parameters from the one registry, and the targets of a
cockpit that answers at once. Nothing here ever fails: where nothing is known, nothing is offered."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from cockpit.core.verbs import Param, Verb

QUICK = 1.0
"""Seconds that a running cockpit has to answer before its targets are left out."""

Items = list[CompletionItem]


def recipes(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Those that ship, and the TOML and JSON files that it may become, folders too."""
    del ctx, param
    from cockpit.shipped import shipped_recipes

    ships = [CompletionItem(name, help="ships") for name in shipped_recipes() if name.startswith(incomplete)]
    return [*ships, *_files(incomplete, (".toml", ".json"))]


def host_files(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """A host's `.mcp.json`."""
    del ctx, param
    return _files(incomplete, (".json",))


def themes(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Those that ship, and TOML files."""
    del ctx, param
    from cockpit.shipped import shipped_dir

    names = sorted(path.stem for path in shipped_dir("themes").glob("*.toml"))
    return [*(CompletionItem(name) for name in names if name.startswith(incomplete)), *_files(incomplete, (".toml",))]


def agents(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Of the cockpit that runs."""
    del param
    return [CompletionItem(name) for name in _running(_db(ctx), "agents") if name.startswith(incomplete)]


def targets(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Of the cockpit that runs."""
    del param
    return [CompletionItem(name) for name in _running(_db(ctx), "targets") if name.startswith(incomplete)]


def verbs(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """The next word of a verb line."""
    del param
    from cockpit.core.verbs import BY_NAME, VERBS

    said: Sequence[str] = ctx.params.get("words") or ()
    if any(character.isspace() for character in incomplete):
        return []  # a whole line between quotes
    if not said:
        before = "go=" if incomplete.lower().startswith("go=") else ""
        return [
            CompletionItem(f"{before}{verb.name}", help=verb.does)
            for verb in VERBS
            if f"{before}{verb.name}".startswith(incomplete)
        ]
    name = next((word for word in said if word.lower().startswith("go=")), said[0])
    verb = BY_NAME.get(name.lower().removeprefix("go="))
    return [] if verb is None else list(_rest(ctx, verb, said[1:], incomplete))


def _rest(ctx: click.Context, verb: Verb, said: Sequence[str], incomplete: str) -> Iterator[CompletionItem]:
    named = {word.partition("=")[0].lower() for word in said if "=" in word and not _is_target(word)}
    named |= {"target"} if any(map(_is_target, said)) else set()
    takes = {each.name: each for each in verb.params}
    name, equals, value = incomplete.partition("=")
    if equals and name in takes:
        yield from (CompletionItem(f"{name}={each}") for each in _values(ctx, verb, takes[name], value))
        return
    if "target" in takes and "target" not in named:
        yield from map(CompletionItem, _values(ctx, verb, takes["target"], incomplete))
    for each in verb.params:
        if each.name not in named and f"{each.name}=".startswith(incomplete):
            yield CompletionItem(f"{each.name}=", help=verb.usage)


def _values(ctx: click.Context, verb: Verb, param: Param, incomplete: str) -> Iterable[str]:
    known: Iterable[str] = param.choices
    if param.kind == "target":
        known = (each for each in _running(_db(ctx), "targets") if each.partition(":")[0] in verb.kinds)
    elif param.name == "agent":
        known = _running(_db(ctx), "agents")
    return (each for each in known if each.startswith(incomplete))


def _is_target(word: str) -> bool:
    from cockpit.core.target import KINDS

    return word.partition(":")[0].lower() in KINDS


def _db(ctx: click.Context) -> Path | None:
    given = ctx.params.get("db")
    return Path(given) if isinstance(given, str | Path) else None


def _running(db: Path | None, what: Literal["targets", "agents"]) -> tuple[str, ...]:
    from cockpit.control.finding import quickly
    from cockpit.errors import CockpitError

    async def asked() -> tuple[str, ...]:
        async with quickly(db, QUICK) as link:
            if link is None:
                return ()
            view = await asyncio.wait_for(link.snapshot(), QUICK)
        names = [row.target for row in view.rows if not row.gone]
        return tuple(names if what == "targets" else [agent.name for agent in view.agents])

    with suppress(CockpitError, OSError, TimeoutError):
        return asyncio.run(asked())
    return ()


def _files(incomplete: str, endings: tuple[str, ...]) -> Items:
    """Paths that begin so: folders with their slash, and files that end so. Hidden ones only where a dot is typed."""
    before, slash, begun = incomplete.rpartition("/")
    folder = Path(before or "/").expanduser() if slash else Path()
    with suppress(OSError):
        found = sorted(each for each in folder.iterdir() if each.name.startswith(begun))
        shown = [each for each in found if begun or not each.name.startswith(".") or each.suffix in endings]
        fit = (each for each in shown if each.is_dir() or each.suffix in endings or each.name.endswith(endings))
        return [CompletionItem(f"{before}{slash}{each.name}{'/' if each.is_dir() else ''}") for each in fit]
    return []
