"""`cockpit completion bash|zsh|fish`: the script that teaches the shell to complete, by click's own completion.

Bash breaks words at `:` and `=`, which targets and parameters are made of, so it gets a script of ours that hands over
the line as it was typed and takes back only what is missing of the last piece.
"""

from __future__ import annotations

import os

import click
from click.shell_completion import CompletionItem, ShellComplete, add_completion_class, get_completion_class

PROGRAM, VARIABLE = "cockpit", "_COCKPIT_COMPLETE"

_BASH = """\
%(complete_func)s() {
    local line IFS=$'\\n'
    COMPREPLY=()
    for line in $(COMP_LINE="$COMP_LINE" COMP_POINT="$COMP_POINT" COMP_WORDBREAKS="$COMP_WORDBREAKS" \\
            %(complete_var)s=bash_complete "$1" 2>/dev/null); do
        COMPREPLY+=("$line")
        case "$line" in
            *[=/]) compopt -o nospace 2>/dev/null ;;
        esac
    done
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""


@add_completion_class
class LineComplete(ShellComplete):
    """Bash, by the whole line."""

    name = "bash"
    source_template = _BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        from click.shell_completion import split_arg_string

        line = os.environ.get("COMP_LINE", "")
        line = line[: _number(os.environ.get("COMP_POINT", ""), len(line))]
        words = split_arg_string(line)[1:]
        if not words or line[-1:].isspace():
            return words, ""
        return words[:-1], words[-1]

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        """The completions, each without what bash takes for words of their own before the last break."""
        breaks = [each for each in ":=" if each in os.environ.get("COMP_WORDBREAKS", ":=")]
        done = max((incomplete.rfind(each) + 1 for each in breaks), default=0)
        found = super().get_completions(args, incomplete)
        return [CompletionItem(item.value[done:], item.type) for item in found if item.value.startswith(incomplete)]

    def format_completion(self, item: CompletionItem) -> str:
        return str(item.value)


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> int:
    """Print what teaches a shell to complete.

    \b
    bash: eval "$(cockpit completion bash)" in ~/.bashrc
    zsh:  eval "$(cockpit completion zsh)" in ~/.zshrc, after compinit
    fish: cockpit completion fish > ~/.config/fish/completions/cockpit.fish
    """
    made = get_completion_class(shell)
    if made is None:
        raise click.UsageError(f"click knows no completion for {shell}")
    click.echo(made(ctx.find_root().command, {}, PROGRAM, VARIABLE).source())
    return 0


def _number(text: str, otherwise: int) -> int:
    return int(text) if text.isascii() and text.isdigit() else otherwise
