"""`cockpit init`: four questions on a terminal, answers a line each from a script, or a host's file; then one recipe
that `cockpit check` takes."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cockpit import cli_words as complete
from cockpit.cli_last import store_of
from cockpit.errors import UsageError

if TYPE_CHECKING:
    from cockpit.setup.answers import Answers, Question

FILE = Path("cockpit.toml")


@click.command("init")
@click.argument("file", type=click.Path(path_type=Path), default=FILE)
@click.option("--yes", is_flag=True, help="ask nothing: every default")
@click.option("--agent", help="NAME, or NAME: PURPOSE")
@click.option("--model", help="offline, anthropic, or anthropic:KEY_VARIABLE")
@click.option("--servers", help="an MCP server's command, chat: COMMAND, several with ; between, demo, or none")
@click.option("--subconscious", help="yes or no")
@click.option(
    "--from",
    "host",
    metavar="FILE",
    shell_complete=complete.host_files,
    help="take the servers of an MCP host's .mcp.json; asks nothing",
)
@click.option("--force", is_flag=True, help="overwrite FILE")
def init(file: Path, yes: bool, host: str | None, force: bool, **said: str | None) -> int:
    """Write a first recipe, and say how to go on.

    FILE is cockpit.toml unless said. From a script: the answers a line each on standard input, or the options.
    """
    _fit(file, force=force)
    from cockpit.setup.draft import draft

    if host is not None and said["servers"] is not None:
        raise UsageError("--from and --servers both say what is listened to: say one")
    answers, warnings = _answers(said, host, quiet=yes or host is not None)
    name = _name(file)
    text = draft(name, answers, origin=host or "")
    _checked(text, file)
    _write(file, text, force=force)
    for line in warnings:
        click.echo(line, err=True)
    _next(file, name, answers)
    return 0


def _answers(said: dict[str, str | None], host: str | None, *, quiet: bool) -> tuple[Answers, tuple[str, ...]]:
    from cockpit.setup import answers as questions
    from cockpit.setup.host import listed

    servers, warnings = ((), ()) if host is None else listed(host)
    if host is not None:
        said = {**said, "servers": "none"}
    terminal = sys.stdin.isatty() and sys.stderr.isatty()

    def ask(question: Question, read: Callable[[str], object]) -> object:
        given = said[question.name]
        if given is not None:
            return _read(question, read, given, f"--{question.name}")
        if quiet:
            return read(question.default)
        return _asked(question, read) if terminal else _piped(question, read)

    found = questions.answers(ask)
    return (replace(found, servers=servers) if host is not None else found), warnings


def _asked(question: Question, read: Callable[[str], object]) -> object:
    """Ask on the terminal until the answer is one."""
    while True:
        click.echo(f"{question.asks} [{question.default}]\n> ", nl=False, err=True)
        line = sys.stdin.readline()
        if not line:
            raise click.Abort  # Ctrl-D: as Ctrl-C
        try:
            return _read(question, read, line.strip() or question.default, "")
        except UsageError as error:
            click.echo(f"  {error}", err=True)


def _piped(question: Question, read: Callable[[str], object]) -> object:
    """The next line of standard input; an empty one, or none, is the default."""
    return _read(question, read, sys.stdin.readline().strip() or question.default, f"the answer on {question.name}")


def _read(question: Question, read: Callable[[str], object], text: str, where: str) -> object:
    from cockpit.setup.answers import unfit

    before = f"{where}: " if where else ""
    if unfit(text):
        raise UsageError(f"{before}an answer holds no control characters")
    try:
        return read(text)
    except ValueError as error:
        raise UsageError(f"{before}{error}") from None


def _fit(file: Path, *, force: bool) -> None:
    """Asked before any question: nobody answers four of them in vain."""
    if file.suffix != ".toml":
        raise UsageError(f"a recipe's file ends in .toml: cockpit init {file.name or FILE}.toml")
    if not file.parent.is_dir():
        raise UsageError(f"there is no folder {str(file.parent)!r}: mkdir -p it first")
    if file.is_dir():
        raise UsageError(f"{str(file)!r} is a folder")
    if file.exists() and not force:
        raise UsageError(f"{str(file)!r} exists: --force overwrites it, or name another: cockpit init FILE.toml")


def _name(file: Path) -> str:
    """The recipe's and its store's: the file's, or its folder's where the file's says nothing. The demo has its own."""
    from cockpit.shipped import shipped_recipes

    whole = file.absolute()
    given = whole.parent.name if whole.name == FILE.name else whole.stem
    name = re.sub(r"[^\w-]+", "-", given).strip("-")[:60] or "home"
    return f"my-{name}" if name in shipped_recipes() else name


def _checked(text: str, file: Path) -> None:
    """What is written is a whole recipe. Raises UsageError where an answer made it none."""
    import tempfile

    from cockpit.errors import RecipeError
    from cockpit.recipe import load
    from cockpit.setup.host import EVERYTHING

    with tempfile.TemporaryDirectory() as folder:
        trial = Path(folder) / file.name
        trial.write_text(text, encoding="utf-8")
        try:
            load(str(trial), EVERYTHING)
        except RecipeError as error:
            raise UsageError(f"these answers make no recipe: {str(error).removeprefix(f'{folder}/')}") from None


def _write(file: Path, text: str, *, force: bool) -> None:
    try:
        with file.open("w" if force else "x", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise UsageError(f"{str(file)!r} cannot be written: {error.strerror}") from None


def _next(file: Path, name: str, answers: Answers) -> None:
    """The last lines on the screen: what to do now."""
    import shlex

    click.echo(f"wrote {file}")
    store = store_of(None, name)
    if store.exists():
        click.echo(f"its store {store} is there already, and goes on where it stopped")
    needed = [name for each in answers.servers for name in each.variables]
    if answers.model.provider == "anthropic":
        needed.append(answers.model.key)
    unset = [name for name in dict.fromkeys(needed) if not os.environ.get(name)]
    if unset:
        click.echo("set these first, this file holds none of their values:")
        for each in unset:
            click.echo(f"  export {each}=…")
    said = shlex.quote(str(file))
    click.echo(f"next:\n  cockpit check {said}\n  cockpit {said}")
