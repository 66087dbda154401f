"""The two commands that run an engine in this process: `cockpit RECIPE` beside its screen, and `run --headless`.

The screen is drawn before the engine is imported: what the first frame needs is Textual and `cockpit.ui` alone.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cockpit import __version__
from cockpit import cli_words as words
from cockpit.cli_errors import DONE, INTERRUPTED
from cockpit.cli_last import remember, store_of
from cockpit.cli_terminal import fit_for_a_screen, screen_options, show
from cockpit.errors import RecipeError, UsageError

if TYPE_CHECKING:
    from cockpit.control.wire import About
    from cockpit.engine.assemble import Session
    from cockpit.recipe import Recipe
    from cockpit.ui.late import LateLink

DEMO = "demo"

_db = click.option("--db", type=click.Path(path_type=Path, dir_okay=False), help="the store; one a recipe unless said")
_read_only = click.option("--read-only", is_flag=True, help="refuse every verb that changes something")
_recipe = click.argument("recipe", default=DEMO, shell_complete=words.recipes)


@click.command("open", hidden=True)
@_recipe
@_db
@_read_only
@screen_options
def open_screen(
    recipe: str, db: Path | None, *, read_only: bool, theme: str, no_mouse: bool, bell: bool, notify: bool
) -> int:
    """Open the cockpit on the screen."""
    loaded = None
    if recipe != DEMO:  # the one that cannot be wrong is loaded behind the first frame
        _not_a_command(recipe)
        loaded = _load(recipe)
    fit_for_a_screen()
    os.environ.pop("ANTHROPIC_LOG", None)  # the SDK would log on standard error, over the screen
    from cockpit.ui.late import LateLink

    async def main() -> int:
        link, drawn, closed = LateLink(), asyncio.Event(), asyncio.Event()
        async with asyncio.TaskGroup() as group:
            behind = _behind(link, drawn, closed, reference=recipe, loaded=loaded, db=db, read_only=read_only)
            group.create_task(behind, name="engine")
            try:
                code = await show(
                    link,
                    theme=theme,
                    no_mouse=no_mouse,
                    bell=bell,
                    notify=notify,
                    read_only=read_only,
                    on_first_frame=drawn.set,
                )
            finally:
                closed.set()
                drawn.set()
        return code

    return asyncio.run(main())


async def _behind(
    link: LateLink,
    drawn: asyncio.Event,
    closed: asyncio.Event,
    *,
    reference: str,
    loaded: Recipe | None,
    db: Path | None,
    read_only: bool,
) -> None:
    """Once the screen is drawn, bring the engine up and give it to the screen's link; end it once that is closed."""
    await drawn.wait()
    if closed.is_set():
        return
    recipe = loaded if loaded is not None else await asyncio.to_thread(_load, reference)
    await asyncio.to_thread(importlib.import_module, "cockpit.engine.assemble")  # half a second of imports
    from cockpit.engine.assemble import open_session

    store = store_of(db, recipe.name)
    remember(store, reference)
    async with (
        open_session(recipe, store, environment=os.environ, logs=store.parent / "logs", read_only=read_only) as session,
        asyncio.TaskGroup() as group,
    ):
        link.give(session.link("screen"))
        starting = asyncio.Event()
        group.create_task(session.engine.run(starting), name="engine")
        group.create_task(_warm(session, starting), name="imports")
        listening = group.create_task(_listen(session, recipe), name="socket")
        await closed.wait()
        session.engine.quit()
        listening.cancel()


@click.command("run")
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


def _load(reference: str) -> Recipe:
    """The recipe, with its keys there."""
    from cockpit.recipe import check_keys, load

    with missing_named(reference):
        recipe = load(reference, os.environ)
    check_keys(recipe, os.environ)
    return recipe


@contextmanager
def missing_named(reference: str) -> Iterator[None]:
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
    from cockpit.shipped import shipped_recipes

    ships = shipped_recipes()
    if word in ships:
        return
    if word in BY_NAME:
        raise UsageError(f"{word} is a verb of a cockpit that runs: cockpit go {word} …")
    root = click.get_current_context().find_root().command
    commands = root.commands if isinstance(root, click.Group) else {}
    close = nearest(word, [*commands, *ships], 1)
    if close and close[0] in commands:
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


async def _warm(session: Session, starting: asyncio.Event) -> None:
    """Load what servers and models need, then let them start."""
    await session.warm()
    starting.set()


def _write(line: str) -> None:
    with suppress(BrokenPipeError):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
