"""Shell completion, in a real bash on a real terminal, and what it is told, word by word."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pexpect
import pytest

from cockpit.core.verbs import VERBS
from cockpit.testing.command_line import Cockpit
from cockpit.testing.program import headless

RECIPE = """
name = "kept"
[model]
provider = "offline"
[[resident]]
name = "scout"
system_prompt = "You are scout."
[intercom]
feeds = ["general", "gossip"]
participants = { hedgehog = "spiny" }
"""


@pytest.fixture
def completed(cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """What bash is offered for a line with the cursor at its end; bash keeps what stands before the last break."""

    def ask(line: str) -> list[str]:
        monkeypatch.setenv("_COCKPIT_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_LINE", line)
        monkeypatch.setenv("COMP_POINT", str(len(line)))
        done = cockpit()
        assert (done.code, done.errors) == (0, ())
        return [line for line in done.output.splitlines() if line]

    return ask


def test_commands_recipes_files_and_options(home: Path, completed: Callable[[str], list[str]]) -> None:
    for name in ("home.toml", ".mcp.json", "notes.txt"):
        (home / name).touch()
    (home / "more").mkdir()
    every = completed("cockpit ")
    assert {"go", "init", "doctor", "compact", "completion", "demo", "home.toml", ".mcp.json", "more/"} <= set(every)
    assert "notes.txt" not in every
    assert "open" not in every  # what needs no name has none
    assert completed("cockpit do") == ["doctor"]
    assert completed("cockpit check ho") == ["home.toml"]
    assert "--theme" in completed("cockpit --")
    assert completed("cockpit demo --th") == ["--theme"]
    assert "mono" in completed("cockpit attach --theme ")
    assert completed("cockpit run --headless de") == ["demo"]
    assert completed("cockpit completion z") == ["zsh"]
    assert completed("cockpit init --from .") == [".mcp.json"]
    assert completed("cockpit check nothing-like-it") == []


def test_verbs_and_parameters_are_the_registrys(completed: Callable[[str], list[str]]) -> None:
    """Issue 6, point 2: one registry; without a cockpit that runs there are no targets, and no error."""
    assert completed("cockpit go ") == [verb.name for verb in VERBS]
    assert completed("cockpit go go=tu") == ["tune-out"]  # after `go=`
    assert completed("cockpit go unm") == ["unmute"]
    for verb in VERBS:
        assert completed(f"cockpit go {verb.name} ") == [f"{each.name}=" for each in verb.params]
    assert completed("cockpit go unmute feed:a deliver=") == ["notice", "backlog"]
    assert completed("cockpit go unmute feed:a ") == ["deliver="]
    assert completed("cockpit go tune-out target=feed:a cap=5 ca") == ["cadence="]
    assert completed("cockpit go no-such-verb ") == []
    assert completed("cockpit go 'mute fe") == []


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_clicks_own_script(cockpit: Cockpit, shell: str) -> None:
    done = cockpit("completion", shell)
    assert (done.code, done.errors) == (0, ())
    assert "_COCKPIT_COMPLETE" in done.output


@contextmanager
def bash(folder: Path) -> Iterator[pexpect.spawn[str]]:
    """An interactive bash in which `cockpit` completes."""
    (folder / "bin").mkdir()
    program = folder / "bin" / "cockpit"
    patient = "import cockpit.cli_words as words; words.QUICK = 20; from cockpit.cli import main; main()"
    run = f'exec {shlex.quote(sys.executable)} -c {shlex.quote(patient)} "$@"'  # a busy machine is no failure
    program.write_text(f"#!/bin/sh\n{run}\n", encoding="utf-8")
    program.chmod(0o755)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("COMP_")},
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "PS1": "ready> ",
        "INPUTRC": "/dev/null",
        "TERM": "dumb",
    }
    shell = pexpect.spawn(
        "bash", ["--norc", "--noprofile", "-i"], cwd=str(folder), env=environment, encoding="utf-8", timeout=20,
        dimensions=(24, 200),
    )  # fmt: skip
    try:
        shell.expect_exact("ready> ")
        shell.sendline("bind 'set enable-bracketed-paste off'; bind 'set bell-style none'; PS1='ready> '")
        shell.expect_exact("ready> ")
        shell.sendline('eval "$(cockpit completion bash)" && echo "it is "loaded')
        shell.expect_exact("it is loaded")
        shell.expect_exact("ready> ")
        yield shell
    finally:
        shell.close(force=True)


async def test_a_real_bash_completes_a_verb_and_a_target_of_the_cockpit_that_runs(home: Path) -> None:
    """Targets hold colons, at which bash breaks words: what comes out is the target, whole and once."""
    (home / "kept.toml").write_text(RECIPE, encoding="utf-8")
    async with headless("kept.toml", home / "kept.db", environment=dict(os.environ), folder=home) as running:
        await running.line(event="ready")
        words = await asyncio.to_thread(_completed_by, home)
        assert words == [
            "cockpit go unmute user:hedgehog",
            "cockpit go mute target=feed:general",
            "cockpit check kept.toml",
            "cockpit go tune-out user:h",  # a person cannot be tuned out, so none is offered
        ]


def _completed_by(home: Path) -> list[str]:
    """The lines that stand there once each Tab was answered: made an argument of `echo`, which says them back."""
    typed = (
        ("cockpit go unm", "user:h"),
        ("cockpit go mute target=feed:gen",),
        ("cockpit check ke",),
        ("cockpit go tune-out ", "user:h"),
    )
    found: list[str] = []
    with bash(home) as shell:
        for pieces in typed:
            for piece in pieces:
                shell.send(f"{piece}\t")
            shell.send("\x01echo '\x05'\r")
            shell.expect(r"\n(cockpit [^\r\n]*)\r\n")
            found.append(shell.match.group(1).rstrip())
            shell.expect_exact("ready> ")
    return found
