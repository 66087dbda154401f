"""The commands that talk to a cockpit that runs, over its socket: go, channels, reports, events, send, attach, mcp."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cockpit.errors import UsageError, VerbError

if TYPE_CHECKING:
    from cockpit.control.client import SocketLink

_db = click.option("--db", type=click.Path(path_type=Path, dir_okay=False), help="which cockpit, by its store")
_json = click.option("--json", "as_json", is_flag=True, help="JSON Lines, as the headless twin writes them")


@click.command("go")
@click.argument("line")
@_db
@_json
def go(line: str, db: Path | None, as_json: bool) -> int:
    """Run one verb: cockpit go 'go=mute target=mcp:git'."""
    from cockpit.control import commands

    return _over(db, lambda link: commands.go(link, line, write=_write, tell=_tell, as_json=as_json))


@click.command("channels")
@_db
@_json
def channels(db: Path | None, as_json: bool) -> int:
    """List every channel with its state and counts."""
    from cockpit.control import commands

    return _over(db, lambda link: commands.channels(link, write=_write, as_json=as_json))


@click.command("reports")
@_db
@_json
@click.option("--follow", is_flag=True, help="go on as they come")
def reports(db: Path | None, as_json: bool, follow: bool) -> int:
    """Print the subconscious's reports."""
    from cockpit.control import commands

    return _over(db, lambda link: commands.reports(link, write=_write, tell=_tell, follow=follow, as_json=as_json))


@click.command("events")
@_db
def events(db: Path | None) -> int:
    """Print the headless lines of the cockpit that runs."""
    from cockpit.control import commands

    return _over(db, lambda link: commands.events(link, write=_write, tell=_tell))


@click.command("send")
@click.argument("text")
@click.option("--as", "handle", required=True, help="your handle, as the recipe's [intercom] names it")
@click.option("--to", help="feed:NAME or a resident; the primary resident unless said")
@_db
def send(text: str, handle: str, to: str | None, db: Path | None) -> int:
    """Speak over the Intercom; your token is read from COCKPIT_TOKEN."""
    from cockpit.control import commands

    token = os.environ.get("COCKPIT_TOKEN")
    if not token:
        raise UsageError("COCKPIT_TOKEN is not set: it holds the token of the handle that speaks")
    return _over(db, lambda link: commands.send(link, handle, text, token=token, to=to, write=_write, tell=_tell))


@click.command("attach")
@_db
@click.option("--theme", default="dark", show_default=True, help="a theme by name")
@click.option("--no-mouse", is_flag=True, help="leave the mouse to the terminal")
@click.option("--read-only", is_flag=True, help="refuse every verb that changes something")
def attach(db: Path | None, theme: str, no_mouse: bool, read_only: bool) -> int:
    """Open the screen on a cockpit that runs; closing it ends nothing."""
    from cockpit.cli_terminal import fit_for_a_screen, keys_file
    from cockpit.recipe import shipped_dir
    from cockpit.ui import run_screen_async

    fit_for_a_screen()
    return _over(
        db,
        lambda link: run_screen_async(
            link,
            theme=theme,
            themes=shipped_dir("themes"),
            mouse=not no_mouse,
            read_only=read_only,
            keys=keys_file(),
        ),
    )


@click.command("mcp")
@_db
def bridge(db: Path | None) -> int:
    """Serve MCP on standard input and output: a bridge from any MCP host to the cockpit that runs."""
    from cockpit.control.bridge import run_bridge

    return asyncio.run(run_bridge(db))


def _over(db: Path | None, run: Callable[[SocketLink], Awaitable[int]]) -> int:
    """Connect, run, and say in one line where there is nobody to talk to."""
    from cockpit.control.finding import connect

    async def main() -> int:
        async with connect(db) as link:
            return await run(link)

    try:
        return asyncio.run(main())
    except VerbError as error:
        _tell(f"cockpit: {error}")
        return 1


def _write(line: str) -> None:
    click.echo(line)


def _tell(line: str) -> None:
    click.echo(line, err=True)
