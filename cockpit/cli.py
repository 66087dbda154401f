"""The command line: what is asked, where the store is, which exit code. Output is data, standard error is talk."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click
import platformdirs

from cockpit import __version__
from cockpit import cli_remote as remote
from cockpit import cli_store as stored
from cockpit.cli_terminal import fit_for_a_screen, keys_file
from cockpit.errors import CockpitError, RecipeError, StoreInUse, UsageError

if TYPE_CHECKING:
    from cockpit.control.wire import About
    from cockpit.engine.assemble import Session
    from cockpit.recipe import Recipe

DEMO = "demo"
DONE, FAILED, WRONG_USE, STORE_IN_USE, INTERRUPTED = 0, 1, 2, 3, 130


class Group(click.Group):
    """`cockpit [RECIPE]`: a first word that is no command is a recipe."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words = [word for word in args if not word.startswith("-")]
        leading = {"--help", "--version", "-h"}
        if not (args and args[0] in leading) and (not words or words[0] not in self.commands or args[0] != words[0]):
            args = ["open", *args]
        return super().parse_args(ctx, args)


_db = click.option("--db", type=click.Path(path_type=Path, dir_okay=False), help="the store; one a recipe unless said")
_read_only = click.option("--read-only", is_flag=True, help="refuse every verb that changes something")
_recipe = click.argument("recipe", default=DEMO)


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
@click.option("--theme", default="dark", show_default=True, help="a theme by name")
@click.option("--no-mouse", is_flag=True, help="leave the mouse to the terminal")
def open_screen(recipe: str, db: Path | None, read_only: bool, theme: str, no_mouse: bool) -> int:
    """Open the cockpit on the screen."""
    fit_for_a_screen()
    os.environ.pop("ANTHROPIC_LOG", None)  # the SDK would log on standard error, over the screen
    from cockpit.ui import run_screen_async

    async def main() -> int:
        loaded = _load(recipe)
        from cockpit.engine.assemble import open_session
        from cockpit.recipe import shipped_dir

        store = _store(db, loaded.name)
        stored.remember(store, recipe)
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
        from cockpit.engine.assemble import open_session

        store = _store(db, loaded.name)
        stored.remember(store, recipe)
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
                await feed(link, _lines())
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
cli.add_command(remote.attach)
cli.add_command(remote.bridge)
cli.add_command(stored.audit)
cli.add_command(stored.stats)
cli.add_command(stored.why)
cli.add_command(stored.context)
cli.add_command(stored.export)


@cli.command("check")
@click.argument("recipe")
def check_recipe(recipe: str) -> int:
    """Validate a recipe, starting nothing."""
    from cockpit.recipe import check

    for line in check(recipe, os.environ):
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
    sys.exit(_guarded(lambda: cli.main(arguments, prog_name="cockpit", standalone_mode=False)))


def _guarded(run: Callable[[], object]) -> int:
    try:
        code = run()
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return WRONG_USE
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except (CockpitError, ExceptionGroup) as error:
        known = _known(error)
        if known is None:
            raise
        click.echo(f"cockpit: {known}", err=True)
        return _code(known)
    return code if isinstance(code, int) else DONE


def _known(error: BaseException) -> CockpitError | None:
    """The one error of ours in what the task group raised."""
    if isinstance(error, CockpitError):
        return error
    if isinstance(error, BaseExceptionGroup):
        found = [_known(each) for each in error.exceptions]
        return next((each for each in found if each is not None), None)
    return None


def _code(error: CockpitError) -> int:
    if isinstance(error, StoreInUse):
        return STORE_IN_USE
    return WRONG_USE if isinstance(error, RecipeError | UsageError) else FAILED


def _load(reference: str) -> Recipe:
    """The recipe, with its keys there."""
    from cockpit.recipe import check_keys, load

    recipe = load(reference, os.environ)
    check_keys(recipe, os.environ)
    return recipe


def _store(db: Path | None, name: str) -> Path:
    """`--db`, or the recipe's own under the state folder."""
    return db if db is not None else Path(platformdirs.user_state_dir("cockpit")) / f"{name}.db"


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


async def _lines() -> AsyncIterator[str]:
    """Standard input, a line at a time, read by the loop where it can be and by a thread where it is a file."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=1 << 20)
    try:
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    except (ValueError, OSError):
        for text in sys.stdin:
            yield text
        return
    while raw := await reader.readline():
        yield raw.decode("utf-8", "replace")


if __name__ == "__main__":
    main()
