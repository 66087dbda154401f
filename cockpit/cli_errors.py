"""How a command ends: its exit code, and where it went wrong one line that says what to do next (semantics.md R-5)."""

from __future__ import annotations

from collections.abc import Callable

import click

from cockpit.errors import CockpitError, RecipeError, StoreInUse, UsageError, VerbError

DONE, FAILED, WRONG_USE, STORE_IN_USE, INTERRUPTED = 0, 1, 2, 3, 130


def guarded(run: Callable[[], object]) -> int:
    """Run a command; its exit code. What went wrong is one line on standard error."""
    try:
        code = run()
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        click.echo(f"cockpit: {_asked(error)}", err=True)
        return WRONG_USE
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except (CockpitError, ExceptionGroup) as error:
        known = _known(error)
        if known is None:
            raise
        click.echo(f"cockpit: {_told(known)}", err=True)
        return _code(known)
    return code if isinstance(code, int) else DONE


def _asked(error: click.ClickException) -> str:
    """A refusal of click's in one line, with the command whose help tells more."""
    said = " ".join(error.format_message().split()).rstrip(".")
    if isinstance(error, click.MissingParameter) and error.param is not None and error.param.name == "headless":
        said = "run goes without a screen: say --headless, or `cockpit RECIPE` for the screen"
    context = error.ctx if isinstance(error, click.UsageError) else None
    after = "" if said.endswith("?") else ";"
    return f"{said}{after} `{'cockpit' if context is None else context.command_path} --help` tells more"


def _told(error: CockpitError) -> str:
    """The error, and what to do next where its own words don't say it."""
    if isinstance(error, StoreInUse):
        return f"{error}: `cockpit attach` opens its screen, `cockpit go quit` ends it, --db takes another store"
    return str(error)


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
    if isinstance(error, VerbError):
        return WRONG_USE if error.code in {"unknown_verb", "missing_value", "bad_value"} else FAILED
    return WRONG_USE if isinstance(error, RecipeError | UsageError) else FAILED
