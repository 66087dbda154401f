"""What a new operator gets wrong at the command line: one line each, with what to do next, and the right exit code."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cockpit.recipe import load
from cockpit.store.chronicle import open_chronicle
from cockpit.store.lock import StoreLock
from cockpit.testing.command_line import Cockpit
from cockpit.testing.program import headless


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("chanels", 2, "no command and no recipe 'chanels'; did you mean `cockpit channels`?"),
        ("intrcom", 2, "no recipe 'intrcom': neither a file nor one that ships"),  # before a terminal is asked for
        ("demoo", 2, "nearest: demo"),
        ("mute", 2, "a verb of a cockpit that runs: cockpit go mute …"),
        ("run demo", 2, "say --headless, or `cockpit RECIPE` for the screen"),
        ("run --headles", 2, "`cockpit run --help` tells more"),
        ("go", 2, "`cockpit go --help` tells more"),
        ("check", 2, "`cockpit check --help` tells more"),
        ("check nope.toml", 2, "`cockpit init nope.toml` writes a first one"),
        ("run --headless nope.toml", 2, "`cockpit init nope.toml` writes a first one"),
        ("demo", 2, "`cockpit run --headless` does not"),
        ("channels", 1, "start one with `cockpit`"),
        ("go mute mcp:git", 1, "start one with `cockpit`"),
        ("stats", 2, "say --db PATH, or start one with `cockpit`"),
        ("audit --db none.db", 1, "there is no store at none.db"),
        ("context --db none.db", 1, "there is no store at none.db"),
        ("export", 2, "say --db PATH"),
        ("compact --keep soon", 2, "--keep 'soon': a duration is written 90, 90s, 30m, 2h or 1d"),
        ("send --as me hi", 2, "COCKPIT_TOKEN is not set"),
        ("completion tcsh", 2, "is not one of 'bash', 'zsh', 'fish'"),
    ],
)
def test_a_slip_is_one_line_that_tells_the_next_step(
    home: Path, cockpit: Cockpit, line: str, code: int, said: str
) -> None:
    done = cockpit(*line.split())
    assert (done.code, len(done.errors), done.output) == (code, 1, ""), done
    assert done.errors[0].startswith("cockpit: ")
    assert said in done.errors[0]
    assert list(home.iterdir()) == []


def test_a_store_in_use_says_who_has_it_and_what_to_do(home: Path, cockpit: Cockpit) -> None:
    """R-2: exit 3."""
    with StoreLock(home / "held.db"):
        done = cockpit("run", "--headless", "demo", "--db", str(home / "held.db"))
    assert (done.code, len(done.errors)) == (3, 1)
    assert "process id" in done.errors[0]
    assert "`cockpit go quit` ends it" in done.errors[0]


def test_a_store_that_was_used_last_and_is_gone_is_said_so(home: Path, cockpit: Cockpit) -> None:
    folder = home.parent / "state" / "cockpit"
    folder.mkdir(parents=True)
    (folder / "last.json").write_text(json.dumps({"store": str(home / "gone.db"), "recipe": "demo"}))
    done = cockpit("audit")
    assert (done.code, len(done.errors)) == (2, 1)
    assert "is gone: say --db PATH" in done.errors[0]


def test_a_store_of_an_unknown_recipe_is_not_compiled_by_another(home: Path, cockpit: Cockpit) -> None:
    """A context is told only where it is known whose it is, and a mistyped --db makes no store."""
    kept = home / "kept.db"
    kept.touch()
    done = cockpit("context", "--db", str(kept))
    assert (done.code, done.errors) == (2, (f"cockpit: the recipe of {kept} is not known: say --recipe RECIPE",))
    assert kept.stat().st_size == 0


def test_a_reader_that_has_enough_gets_no_traceback(home: Path) -> None:
    """`cockpit recipes | head -0` ends without a word."""
    code = "import sys; sys.stdin.read(); from cockpit.cli import main; main(['recipes'])"
    child = subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1, stderr=-1)
    assert child.stdout is not None
    child.stdout.close()
    child.stdout = None
    _, errors = child.communicate()
    assert errors == b""


KEYED = """
name = "keyed"
[model]
api_key_env = "NO_SUCH_KEY_HERE"
[[resident]]
name = "scout"
system_prompt = "You are scout, and keyed."
"""

HOST = {"mcpServers": {"tools": {"command": sys.executable, "args": ["-m", "cockpit.demo.tools"]}}}


def test_a_context_is_compiled_without_a_key(home: Path, cockpit: Cockpit) -> None:
    """No model is asked: what a keyed agent would be sent can be read on a machine without its key."""
    (home / "keyed.toml").write_text(KEYED, encoding="utf-8")

    async def make() -> None:
        async with open_chronicle(home / "kept.db"):
            pass

    asyncio.run(make())
    done = cockpit("context", "scout", "--recipe", "keyed.toml", "--db", "kept.db", "--json")
    assert (done.code, done.errors) == (0, ())
    assert "You are scout, and keyed." in done.output


@pytest.mark.parametrize("name", [".mcp.json", "claude_desktop_config.json"])
def test_a_hosts_file_opens_directly(home: Path, cockpit: Cockpit, name: str) -> None:
    """Issue 6, First steps: checked, run, and read again afterwards, under whatever name it has."""
    (home / name).write_text(json.dumps(HOST), encoding="utf-8")
    checked = cockpit("check", name)
    assert (checked.code, checked.errors) == (0, ())
    assert checked.output.startswith(f"{name}: ok\n")
    assert f"mcp           tools: {sys.executable} …" in checked.output
    store = home.parent / "state" / "cockpit" / f"{load(name, {}).name}.db"
    context = cockpit("context", "--recipe", name, "--db", str(store))
    assert (context.code, context.errors) == (1, (f"cockpit: there is no store at {store}",))
    screen = cockpit(name)
    assert (screen.code, "no terminal" in screen.errors[0]) == (2, True)


async def test_a_hosts_file_runs_as_it_is(home: Path) -> None:
    """Its server comes up, on the offline model, in a store of the file's own."""
    (home / ".mcp.json").write_text(json.dumps(HOST), encoding="utf-8")
    store = home / "own.db"
    async with headless(".mcp.json", store, environment=dict(os.environ), folder=home) as running:
        await running.line(event="channel", target="mcp:tools", label="online")
        await running.run("go=quit")
        assert await running.ended() == 0
