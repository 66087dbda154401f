"""The command line in this process: exit code, output and errors, in folders of the test's own."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from cockpit.cli import main
from cockpit.testing.command_line import Cockpit, Done


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder that commands run in; nothing of the machine's own state or cockpits is seen from there."""
    with TemporaryDirectory(prefix="ck") as short:  # a Unix socket's path has about a hundred bytes
        for name, value in (
            ("XDG_STATE_HOME", str(tmp_path / "state")),
            ("XDG_CONFIG_HOME", str(tmp_path / "config")),
            ("XDG_RUNTIME_DIR", short),
            ("TMPDIR", short),
            ("TERM", "xterm-256color"),
        ):
            monkeypatch.setenv(name, value)
        for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "COLORTERM", "NO_COLOR", "TMUX", "STY", "SSH_TTY"):
            monkeypatch.delenv(name, raising=False)
        work = tmp_path / "work"
        work.mkdir()
        monkeypatch.chdir(work)
        yield work


@pytest.fixture
def cockpit(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cockpit:
    """`cockpit("init", "x.toml", given="scout\\n")` runs the command; given is its standard input."""

    def run(*arguments: str, given: str = "") -> Done:
        monkeypatch.setattr(sys, "stdin", io.StringIO(given))
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        out, err = capsys.readouterr()
        return Done(int(str(ended.value.code or 0)), out, tuple(err.splitlines()))

    return run
