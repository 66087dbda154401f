"""`cockpit doctor`: a line each, what to do next at its end, no secret, and nothing started."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from cockpit.setup import places
from cockpit.setup.finding import Finding
from cockpit.setup.terminal import terminal
from cockpit.store.lock import StoreLock
from cockpit.testing.command_line import Cockpit, Done

HEAD = """
name = "looked"
[model]
provider = "{provider}"
api_key_env = "LOOKED_KEY"
base_url_env = "LOOKED_URL"
[[resident]]
name = "scout"
system_prompt = "You are scout."
"""


def recipe(home: Path, tables: str = "", provider: str = "offline") -> str:
    (home / "looked.toml").write_text(HEAD.format(provider=provider) + tables, encoding="utf-8")
    return "looked.toml"


def lines(done: Done) -> dict[str, tuple[str, str, str | None]]:
    """By what was looked at: state, what it says, what to do next."""
    read = [json.loads(line) for line in done.output.splitlines()]
    return {each["what"]: (each["state"], each["says"], each["next"]) for each in read}


def test_a_whole_machine_is_ok_in_one_line_each(home: Path, cockpit: Cockpit) -> None:
    done = cockpit("doctor", recipe(home))
    assert (done.code, done.errors) == (0, ()), done.output
    states = {line.split()[1]: line.split()[0] for line in done.output.splitlines()}
    for what in ("python", "cockpit", "textual", "mcp", "anthropic", "aiosqlite", "sqlite", "recipe", "config", "state",
                 "store", "sockets", "running", "characters", "colours", "clipboard", "notices"):  # fmt: skip
        assert states[what] == "ok", done.output
    assert states["terminal"] == "note"  # a test has none
    assert not (home.parent / "state").exists()  # nothing is made by looking


def test_what_is_bad_says_what_to_do_and_is_exit_1(home: Path, cockpit: Cockpit) -> None:
    """A program that is missing or not executable, a key that is not set."""
    (home / "plain").write_text("#!/bin/sh\n", encoding="utf-8")
    tables = (
        f'[[mcp]]\nname = "gone"\ncommand = ["no-such-program", "s3cret"]\n'
        f'[[mcp]]\nname = "plain"\ncommand = ["{home}/plain"]\n'
        f'[[mcpl]]\nname = "there"\ncommand = ["{sys.executable}", "s3cret"]\n'
    )
    done = cockpit("doctor", recipe(home, tables, "anthropic"), "--json")
    found = lines(done)
    assert done.code == 1
    assert [what for what, (state, _, _) in found.items() if state == "bad"] == ["mcp:gone", "mcp:plain", "model scout"]
    assert all(after for state, _, after in found.values() if state != "ok")
    assert found["mcp:there"][:2] == ("ok", sys.executable)
    assert "export LOOKED_KEY=…" in (found["model scout"][2] or "")
    assert found["endpoint scout"][0] == "note"  # beyond this machine nothing is tried unasked
    assert "s3cret" not in done.output


def test_no_secret_is_printed(home: Path, cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-7: keys, what servers get, and what a URL may hold."""
    monkeypatch.setenv("LOOKED_KEY", "s3cret-key")
    monkeypatch.setenv("LOOKED_URL", "https://u:s3cret-url@example.invalid/v1?s3cret=1")
    monkeypatch.setenv("OTHER", "s3cret-env")
    tables = (
        '[[mcp]]\nname = "far"\nurl = "https://u:s3cret@example.invalid/mcp?s3cret=1"\nheaders = { A = "${OTHER}" }\n'
        f'[[mcp]]\nname = "near"\ncommand = ["{sys.executable}", "--s3cret"]\nenv = {{ T = "${{OTHER}}" }}\n'
    )
    for flags in ((), ("--json",)):
        done = cockpit("doctor", recipe(home, tables, "anthropic"), *flags)
        assert done.code == 0, done.output
        assert "s3cret" not in done.output + "".join(done.errors)
        assert "example.invalid" in done.output


@contextmanager
def listening() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_an_address_on_this_machine_is_tried(home: Path, cockpit: Cockpit) -> None:
    with listening() as port:
        url = f'[[mcp]]\nname = "near"\nurl = "http://127.0.0.1:{port}/mcp"\n'
        assert lines(cockpit("doctor", recipe(home, url), "--json"))["mcp:near"][0] == "ok"
    done = cockpit("doctor", recipe(home, url), "--json")
    assert (done.code, lines(done)["mcp:near"][0]) == (1, "bad")


def test_a_wrong_recipe_is_a_line_like_the_others(home: Path, cockpit: Cockpit) -> None:
    """R-5: with the file and the line; the rest is looked at all the same."""
    done = cockpit("doctor", recipe(home, "wrong = 1\n"), "--json")
    found = lines(done)
    assert (done.code, found["recipe"][0]) == (1, "bad")
    assert "looked.toml:10" in found["recipe"][1]
    assert "terminal" in found


def test_the_store_says_its_size_its_mode_and_its_holder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-2: asked of the kernel, without taking the lock; a big store is told of compact."""
    path = tmp_path / "kept.db"
    path.write_bytes(b"x" * 1000)
    path.chmod(0o644)
    [mode, free] = places.store(path)
    assert (mode.state, mode.next, free.says) == ("note", f"chmod 600 {path}", "free")
    path.chmod(0o600)
    monkeypatch.setattr(places, "BIG", 1000)
    with StoreLock(path):
        [size, held] = places.store(path)
        assert (size.state, size.next) == ("note", f"cockpit compact --dry-run --db {path}")
        assert (held.state, str(os.getpid()) in held.says) == ("note", True)
    [_, free] = places.store(path)
    assert free == Finding("ok", "lock", "free")


def test_a_socket_that_was_left_over_is_told_from_none(home: Path, cockpit: Cockpit) -> None:
    folder = Path(os.environ["XDG_RUNTIME_DIR"]) / "cockpit"
    folder.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(folder / "0123456789ab-old.sock"))
    found = lines(cockpit("doctor", recipe(home), "--json"))
    assert found["running"][0] == "note"
    assert "left over" in found["running"][1]
    folder.chmod(0o755)
    done = cockpit("doctor", recipe(home), "--json")
    assert (done.code, lines(done)["sockets"][0]) == (1, "bad")


@pytest.mark.parametrize(
    ("environment", "what", "state", "said"),
    [
        ({"TERM": "xterm", "TMUX": "x"}, "clipboard", "note", "tmux"),
        ({"TERM": "xterm", "STY": "x"}, "clipboard", "note", "screen swallows"),
        ({"TERM": "xterm", "VTE_VERSION": "7000"}, "clipboard", "note", "VTE"),
        ({"TERM": "xterm", "SSH_TTY": "/dev/pts/1"}, "terminal", "note", "under SSH"),
        ({"TERM": "xterm"}, "colours", "ok", "16 ("),
        ({"TERM": "xterm-256color"}, "colours", "ok", "256"),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, "colours", "ok", "16 million"),
        ({"TERM": "xterm", "NO_COLOR": "1"}, "colours", "ok", "NO_COLOR"),
        ({"TERM": "xterm", "TERM_PROGRAM": "WezTerm"}, "notices", "ok", "likely"),
        ({"TERM": "xterm"}, "notices", "ok", "may not"),
        ({}, "terminal", "note", "TERM is not set"),
    ],
)
def test_what_the_terminal_can_do_is_told_from_its_environment(
    environment: Mapping[str, str], what: str, state: str, said: str
) -> None:
    """F-30, F-47."""
    found = {each.what: each for each in terminal(environment)}[what]
    assert (found.state, said in found.says) == (state, True), found


def test_looking_imports_neither_sdk_nor_screen(home: Path) -> None:
    """Importing them costs seconds; their versions are in their metadata."""
    told = (
        "import sys; heavy = {'anthropic', 'mcp', 'textual'} & set(sys.modules); sys.exit(str(heavy) if heavy else 0)"
    )
    code = f"import cockpit.cli\ntry:\n    cockpit.cli.main(['doctor', 'demo'])\nexcept SystemExit: pass\n{told}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
