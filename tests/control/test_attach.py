"""`cockpit attach` on a real terminal, on a real cockpit that runs headless: the same screen, which may come and go."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from cockpit.testing.shell import runtime
from cockpit.testing.terminal import Terminal, terminal

RECIPE = """
name = "watched"
[model]
provider = "offline"
[[resident]]
name = "scout"
system_prompt = "You are scout."
[[resident]]
name = "herald"
system_prompt = "You are herald."
[subconscious]
system_prompt = "You watch."
[intercom]
feeds = ["general"]
participants = { hedgehog = "spiny" }
"""

PATIENCE = 30.0


@dataclass
class Headless:
    """A cockpit without a screen, spoken to by `cockpit go` from a shell."""

    environment: Mapping[str, str]
    process: subprocess.Popen[bytes]

    def shell(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "cockpit", *arguments],
            env={**os.environ, **self.environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    def attach(self, *options: str) -> AbstractContextManager[Terminal]:
        """A screen on it, in a terminal of its own; killed at the end of the block where it still runs."""
        return terminal(["attach", *options], environment=self.environment)


@contextmanager
def started(recipe: Path, store: Path, environment: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """One that is ready; killed at the end of the block where it still runs."""
    command = [sys.executable, "-m", "cockpit", "run", "--headless", str(recipe), "--db", str(store)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, **environment},
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            assert b'"ready"' in process.stdout.readline()
            yield process
        finally:
            process.kill()


@contextmanager
def running(folder: Path) -> Iterator[Headless]:
    """One that runs, and that ends cleanly."""
    recipe = folder / "watched.toml"
    recipe.write_text(RECIPE, encoding="utf-8")
    with runtime() as environment, started(recipe, folder / "w.db", environment) as process:
        yield Headless(environment, process)
        out, err = process.communicate(None if process.poll() is not None else b"go=quit\n", timeout=PATIENCE)
        assert (process.returncode, err) == (0, b"")
        assert out.splitlines()[-1].endswith(b'"reason": "quit"}')


def test_an_attached_screen_that_is_killed_leaves_the_cockpit_working(tmp_path: Path) -> None:
    """Issue 5, K-131: killed by -9 in its terminal; the next one sees the same, and the last to leave ends nothing."""
    with running(tmp_path) as cockpit:
        with cockpit.attach() as seen, cockpit.attach() as other:
            for screen in (seen, other):
                screen.shows("user:hedgehog", also=["online"])
            seen.press("m")
            for screen in (seen, other):
                screen.shows("user:hedgehog", also=["muted"])
            assert cockpit.shell("go", "mute feed:general").returncode == 0
            for screen in (seen, other):
                screen.shows("feed:general", also=["muted"])
            seen.signal(signal.SIGKILL)
            assert seen.ended() == 128 + signal.SIGKILL
            other.press(":unmute feed:general\r")
            other.shows("feed:general", also=["online"])
            other.press("\x04")  # Ctrl-D in an empty composer
            assert other.ended() == 0
        with cockpit.attach() as again:
            again.shows("user:hedgehog", also=["muted"])
            again.shows("feed:general", also=["online"])
            again.press("q")
            assert again.ended() == 0
            assert b"Traceback" not in again.raw
        audit = cockpit.shell("audit", "--db", str(tmp_path / "w.db")).stdout
        assert [audit.count(word) for word in ("user:hedgehog", "feed:general", "socket")] == [1, 2, 3]


def test_attach_read_only_refuses_and_reading_goes_on(tmp_path: Path) -> None:
    """F-26: a screen that may only look; the cockpit itself stays as it was."""
    with running(tmp_path) as cockpit, cockpit.attach("--read-only") as seen:
        seen.shows("user:hedgehog", also=["online"])
        seen.press("m")
        seen.shows("read-only")
        seen.press(":mute feed:general\r")
        assert cockpit.shell("go", "mute user:herald").returncode == 0
        seen.shows("user:herald", also=["muted"])
        seen.press("\x03\x04")  # what was refused stands in the composer still
        assert seen.ended() == 0
        labels = cockpit.shell("channels").stdout
        assert labels.count("muted") == 1 + labels.count("muted by")


def test_attach_says_where_there_is_nothing_and_how_it_ended(tmp_path: Path) -> None:
    """F-42: the shell is left with one sentence and the right exit code."""
    with runtime() as environment, terminal(["attach"], environment=environment) as alone:
        assert alone.ended() == 1
        assert b"no cockpit is running: start one with" in alone.raw
    with running(tmp_path) as cockpit, cockpit.attach() as seen:
        seen.shows("user:hedgehog", also=["online"])
        assert cockpit.shell("go", "go=quit").returncode == 0
        assert seen.ended() == 0
        assert seen.raw.endswith(b"the cockpit has ended: quit\r\n")
    recipe = tmp_path / "watched.toml"
    with (
        runtime() as environment,
        started(recipe, tmp_path / "w.db", environment) as process,
        terminal(["attach"], environment=environment) as seen,
    ):
        seen.shows("user:hedgehog", also=["online"])
        process.kill()
        assert seen.ended() == 1
        assert seen.raw.endswith(b"the cockpit has gone\r\n")
