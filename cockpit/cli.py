"""The command line: what is asked, where the store is, which exit code. Output is data, standard error is talk."""

from __future__ import annotations

import os
import sys

import click
from click.shell_completion import CompletionItem

from cockpit import __version__
from cockpit import cli_remote as remote
from cockpit import cli_store as stored
from cockpit import cli_words as words
from cockpit.cli_compact import compact
from cockpit.cli_completion import completion
from cockpit.cli_doctor import doctor
from cockpit.cli_errors import DONE, guarded
from cockpit.cli_init import init
from cockpit.cli_live import missing_named, open_screen, run_headless


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


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="cockpit")
def cli() -> None:
    """A terminal cockpit over an LLM agent's attention.

    cockpit [RECIPE] opens it: RECIPE is a name that ships, a TOML file, or a host's .mcp.json; the built-in demo
    unless said.
    """


cli.add_command(open_screen)
cli.add_command(run_headless)
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

    with missing_named(recipe):
        lines = check(recipe, os.environ)
    for line in lines:
        click.echo(line)
    return DONE


@cli.command("themes")
def list_themes() -> int:
    """List the themes that ship; --theme also takes the path of a file of yours."""
    from cockpit.shipped import shipped_dir

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


if __name__ == "__main__":
    main()
