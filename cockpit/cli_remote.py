"""The commands on a cockpit that runs, over its socket: go, channels, reports, events, send, inbox, attach, mcp."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cockpit import cli_words as complete
from cockpit.cli_terminal import fit_for_a_screen, screen_options, show
from cockpit.errors import UsageError, VerbError

if TYPE_CHECKING:
    from cockpit.control.client import SocketLink
    from cockpit.core.verbs import Verb

_db = click.option("--db", type=click.Path(path_type=Path, dir_okay=False), help="which cockpit, by its store")
_json = click.option("--json", "as_json", is_flag=True, help="JSON Lines, as the headless twin writes them")


@click.command("go", context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, required=True, metavar="VERB…", shell_complete=complete.verbs)
@_db
@_json
def go(words: tuple[str, ...], db: Path | None, as_json: bool) -> int:
    """Run one verb: cockpit go mute mcp:git.

    Or a whole line: cockpit go 'go=mute target=mcp:git reason="too loud"'.
    """
    from cockpit.control import commands

    line = _line(words)
    return _over(db, lambda link: commands.go(link, line, write=_write, tell=_tell, as_json=as_json))


def _line(words: tuple[str, ...]) -> str:
    """The verb line that a shell's words mean: one word is a line, of several each stays one value."""
    from cockpit.core.verbs import BY_NAME

    if len(words) == 1:
        return words[0]
    verb = BY_NAME.get(words[0].lower().removeprefix("go="))
    return " ".join(_quoted(word, verb) if any(map(str.isspace, word)) else word for word in words)


def _quoted(word: str, verb: Verb | None) -> str:
    """A word with spaces as the verb grammar reads one value. What is said is kept as it stands."""
    name, equals, value = word.partition("=")
    if equals and verb is not None and verb.param(name.lower()) is not None:
        return f'{name}="{_escaped(value)}"'
    return word if verb is not None and verb.says else f'"{_escaped(word)}"'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


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

    token = _token()
    return _over(db, lambda link: commands.send(link, handle, text, token=token, to=to, write=_write, tell=_tell))


@click.command("inbox")
@click.option("--as", "handle", required=True, help="your handle, as the recipe's [intercom] names it")
@click.option("--follow", is_flag=True, help="go on as they come")
@_db
@_json
def inbox(handle: str, follow: bool, db: Path | None, as_json: bool) -> int:
    """Read what was said to you over the Intercom and in its feeds; your token is read from COCKPIT_TOKEN."""
    from cockpit.control import commands

    token = _token()
    return _over(
        db,
        lambda link: commands.inbox(
            link, handle, token=token, follow=follow, as_json=as_json, write=_write, tell=_tell
        ),
    )


@click.command("attach")
@_db
@screen_options
@click.option("--read-only", is_flag=True, help="refuse every verb that changes something")
def attach(db: Path | None, *, theme: str, no_mouse: bool, read_only: bool, bell: bool, notify: bool) -> int:
    """Open the screen on a cockpit that runs; closing it ends nothing."""
    from cockpit.control import commands

    fit_for_a_screen()

    async def attached(link: SocketLink) -> int:
        code = await show(link, theme=theme, no_mouse=no_mouse, bell=bell, notify=notify, read_only=read_only)
        return code or commands.over(link.ended, _tell)

    return _over(db, attached)


@click.command("mcp")
@_db
@click.option("--as", "handle", help="your handle in the Intercom, with its token in COCKPIT_TOKEN")
def bridge(db: Path | None, handle: str | None) -> int:
    """Serve MCP on standard input and output: a bridge from any MCP host to the cockpit that runs."""
    from cockpit.control.bridge import run_bridge

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # its thread waits for input, and Ctrl-C would wait for the thread
    return asyncio.run(run_bridge(db, handle))


def _token() -> str:
    """Raises UsageError where it is not set."""
    token = os.environ.get("COCKPIT_TOKEN")
    if not token:
        raise UsageError("COCKPIT_TOKEN is not set: it holds the token of the handle that --as names")
    return token


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
