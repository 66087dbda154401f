"""The command line: what is asked, where the store is, which exit code. Output is data, standard error is talk."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from cockpit import __version__
from cockpit import cli_remote as remote
from cockpit import cli_store as stored
from cockpit import cli_words as words
from cockpit.cli_compact import compact
from cockpit.cli_completion import completion
from cockpit.cli_doctor import doctor
from cockpit.cli_errors import DONE, INTERRUPTED, guarded
from cockpit.cli_init import init
from cockpit.cli_last import remember, store_of
from cockpit.cli_terminal import fit_for_a_screen, keys_file, settings_file
from cockpit.errors import RecipeError, UsageError

if TYPE_CHECKING:
    from cockpit.control.wire import About
    from cockpit.engine.assemble import Session
    from cockpit.recipe import Recipe

DEMO = "demo"


class Group(click.Group):
    """`cockpit [RECIPE]`: a first word that is no command is a recipe."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = [word for word in args if not word.startswith("-")]
        leading = {"--help", "--version", "-h"}
        command = bool(given) and given[0] in self.commands and args[0] == given[0]
        asked = bool(args) and args[0] in leading
        if not asked and not command and (args or not ctx.resilient_parsing):  # the shell completes commands too
            args = ["open", *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands, and what `open` takes, which needs no name."""
        opening = open_screen.make_context("open", [], parent=ctx, resilient_parsing=True)
        options = open_screen.shell_complete(opening, incomplete)
        recipes = [] if incomplete.startswith("-") else words.recipes(ctx, open_screen.params[0], incomplete)
        return [*super().shell_complete(ctx, incomplete), *options, *recipes]


_db = click.option("--db", type=click.Path(path_type=Path, dir_okay=False), help="the store; one a recipe unless said")
_read_only = click.option("--read-only", is_flag=True, help="refuse every verb that changes something")
_recipe = click.argument("recipe", default=DEMO, shell_complete=words.recipes)


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="cockpit")
def cli() -> None:
    """A terminal cockpit over an LLM agent's attention.

    cockpit [RECIPE] opens it: RECIPE is a name that ships, a TOML file, or a host's .mcp.json; the built-in demo
    unless said.
    """


@cli.command("open", hidden=True)
@_recipe
@_db
@_read_only
@click.option("--theme", default="dark", show_default=True, help="a theme by name", shell_complete=words.themes)
@click.option("--no-mouse", is_flag=True, help="leave the mouse to the terminal")
@click.option("--bell", is_flag=True, help="ring where somebody needs the resident")
@click.option("--notify", is_flag=True, help="a desktop notice (OSC 9) where somebody needs the resident")
def open_screen(
    recipe: str, db: Path | None, *, read_only: bool, theme: str, no_mouse: bool, bell: bool, notify: bool
) -> int:
    """Open the cockpit on the screen."""
    if recipe != DEMO:
        _not_a_command(recipe)
    fit_for_a_screen()
    os.environ.pop("ANTHROPIC_LOG", None)  # the SDK would log on standard error, over the screen
    from cockpit.ui import run_screen_async
    from cockpit.ui.alert import asked

    async def main() -> int:
        loaded = _load(recipe)
        from cockpit.engine.assemble import open_session
        from cockpit.recipe import shipped_dir

        store = store_of(db, loaded.name)
        remember(store, recipe)
        async with open_session(
            loaded, store, environment=os.environ, logs=store.parent / "logs", read_only=read_only
        ) as session:
            first_frame = asyncio.Event()
            code = DONE
            async with asyncio.TaskGroup() as group:
                starting = asyncio.Event()
                group.create_task(session.engine.run(starting), name="engine")
                group.create_task(_warm(session, first_frame, starting), name="imports")
                listening = group.create_task(_listen(session, loaded), name="socket")
                try:
                    code = await run_screen_async(
                        session.link("screen"),
                        theme=theme,
                        themes=shipped_dir("themes"),
                        mouse=not no_mouse,
                        read_only=read_only,
                        on_first_frame=first_frame.set,
                        keys=keys_file(),
                        alerts=asked(settings_file(), bell=bell, notify=notify),
                    )
                finally:
                    session.engine.quit()
                    first_frame.set()
                    listening.cancel()
            return code

    return asyncio.run(main())


@cli.command("run")
@_recipe
@_db
@_read_only
@click.option("--headless", is_flag=True, required=True, help="JSON Lines on standard output, verbs on standard input")
@click.option("--until-idle", is_flag=True, help="end once the input has ended and nothing runs any more")
def run_headless(recipe: str, db: Path | None, read_only: bool, headless: bool, until_idle: bool) -> int:
    """Run the same engine without a screen."""
    del headless

    async def main() -> int:
        loaded = _load(recipe)
        from cockpit.control.headless import feed, pump
        from cockpit.control.headless import until_idle as settle
        from cockpit.control.typed import typed
        from cockpit.engine.assemble import open_session

        store = store_of(db, loaded.name)
        remember(store, recipe)
        async with open_session(
            loaded, store, environment=os.environ, logs=store.parent / "logs", read_only=read_only
        ) as session:
            engine, link = session.engine, session.link("headless", echo=True)
            starting = asyncio.Event()
            starting.set()
            code = DONE

            def interrupted() -> None:
                nonlocal code
                code = INTERRUPTED
                engine.quit("interrupt")

            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGTERM, engine.quit, "signal")
            loop.add_signal_handler(signal.SIGINT, interrupted)
            events = link.events()

            async def read() -> None:
                await feed(link, typed(sys.stdin.fileno()))
                if until_idle:
                    await settle(engine.idle, asyncio.sleep)
                    engine.quit("idle")

            async with asyncio.TaskGroup() as group:
                writing = group.create_task(pump(events, _write), name="lines")
                reading = group.create_task(read(), name="input")
                listening = group.create_task(_listen(session, loaded), name="socket")
                await engine.run(starting)
                await writing
                reading.cancel()
                listening.cancel()
            return code

    return asyncio.run(main())


cli.add_command(remote.go)
cli.add_command(remote.channels)
cli.add_command(remote.reports)
cli.add_command(remote.events)
cli.add_command(remote.send)
cli.add_command(remote.inbox)
cli.add_command(remote.attach)
cli.add_command(remote.bridge)
cli.add_command(stored.audit)
cli.add_command(stored.stats)
cli.add_command(stored.why)
cli.add_command(stored.context)
cli.add_command(stored.export)
cli.add_command(init)
cli.add_command(compact)
cli.add_command(doctor)
cli.add_command(completion)


@cli.command("check")
@click.argument("recipe", shell_complete=words.recipes)
def check_recipe(recipe: str) -> int:
    """Validate a recipe, starting nothing."""
    from cockpit.recipe import check

    with _missing_named(recipe):
        lines = check(recipe, os.environ)
    for line in lines:
        click.echo(line)
    return DONE


@cli.command("themes")
def list_themes() -> int:
    """List the themes that ship; --theme also takes the path of a file of yours."""
    from cockpit.recipe import shipped_dir

    for path in sorted(shipped_dir("themes").glob("*.toml")):
        click.echo(path.stem)
    return DONE


@cli.command("recipes")
def list_recipes() -> int:
    """List the recipes that ship."""
    from cockpit.recipe import listing

    for line in listing():
        click.echo(line)
    return DONE


def main(arguments: list[str] | None = None) -> None:
    """The console script. Errors are one line on standard error, and the exit code says which kind."""
    sys.exit(guarded(lambda: cli.main(arguments, prog_name="cockpit", standalone_mode=False)))


def _load(reference: str) -> Recipe:
    """The recipe, with its keys there."""
    from cockpit.recipe import check_keys, load

    with _missing_named(reference):
        recipe = load(reference, os.environ)
    check_keys(recipe, os.environ)
    return recipe


@contextmanager
def _missing_named(reference: str) -> Iterator[None]:
    """A recipe's file that is not there can be written."""
    try:
        yield
    except RecipeError as error:
        if reference.endswith(".toml") and not Path(reference).exists():
            raise RecipeError(f"{error}; `cockpit init {reference}` writes a first one") from None
        raise


def _not_a_command(word: str) -> None:
    """Raises UsageError where a first word is no recipe, and comes closest to a command's name, or is a verb's."""
    from cockpit.core.verbs import BY_NAME, nearest

    if "/" in word or "." in word or Path(word).exists():
        return
    from cockpit.recipe.shipped import shipped_recipes

    ships = shipped_recipes()
    if word in ships:
        return
    if word in BY_NAME:
        raise UsageError(f"{word} is a verb of a cockpit that runs: cockpit go {word} …")
    close = nearest(word, [*cli.commands, *ships], 1)
    if close and close[0] in cli.commands:
        raise UsageError(
            f"no command and no recipe {word!r}; did you mean `cockpit {close[0]}`? `cockpit --help` lists all"
        )


async def _listen(session: Session, recipe: Recipe) -> None:
    """Let `cockpit go` and the others in, as long as the engine lives. Without a fit place for a socket, say so."""
    from cockpit.control.paths import socket_path
    from cockpit.control.server import serve
    from cockpit.core.events import Failed

    engine = session.engine

    def told(words: str) -> None:
        engine.hub.emit(Failed(engine.clock.wall(), "socket", words))

    try:
        await serve(
            lambda name, origin: session.link(origin, name=name),
            socket_path(Path(engine.store), recipe.name, os.environ),
            about=_about(session, recipe),
            intercom=session.send,
            inboxes=session.inbox,
            refused=session.refused,
            failed=told,
        )
    except UsageError as error:
        told(str(error))


def _about(session: Session, recipe: Recipe) -> About:
    """What the socket says of this cockpit."""
    from cockpit.control.wire import About

    return About(
        recipe.name,
        os.path.realpath(session.engine.store),
        os.getpid(),
        __version__,
        recipe.intercom.bridge_as_operator,
        (*session.engine.settings, *recipe.intercom.participants, recipe.intercom.operator),
    )


async def _warm(session: Session, first_frame: asyncio.Event, starting: asyncio.Event) -> None:
    """After the first frame, load what servers and models need, then let them start."""
    await first_frame.wait()
    await session.warm()
    starting.set()


def _write(line: str) -> None:
    with suppress(BrokenPipeError):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
