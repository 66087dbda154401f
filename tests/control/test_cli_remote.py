"""The commands that talk to a cockpit that runs, each as a program of its own beside the real one."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from cockpit.testing.program import headless, items

RECIPE = """
name = "talk"
[model]
provider = "offline"
[[resident]]
name = "scout"
system_prompt = "You are scout."
[[resident]]
name = "herald"
system_prompt = "You are herald."
[intercom]
feeds = ["general"]
participants = { hedgehog = "spiny" }
"""


@pytest.fixture
def environment() -> Iterator[Mapping[str, str]]:
    """A runtime folder of the test's own, with a short name: a Unix socket's has about a hundred bytes."""
    with tempfile.TemporaryDirectory(prefix="ck") as folder:
        yield {"XDG_RUNTIME_DIR": folder, "TMPDIR": folder}  # so that no cockpit of another test is found


async def cockpit(*arguments: str, environment: Mapping[str, str]) -> tuple[int, str, str]:
    """Run one command to its end: exit code, output, errors."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "cockpit", *arguments,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **environment},
    )  # fmt: skip
    out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()


async def test_two_shells_at_once_and_a_sender(tmp_path: Path, environment: Mapping[str, str]) -> None:
    """Issue 5: each command as an operator would say it; what one does, the running cockpit's lines show."""
    path = tmp_path / "talk.toml"
    path.write_text(RECIPE, encoding="utf-8")
    async with headless(path, tmp_path / "talk.db", environment=environment) as running:
        await running.line(event="ready")
        await running.run("go=stats")
        muted, listed = await asyncio.gather(
            cockpit("go", "go=mute target=user:hedgehog", environment=environment),
            cockpit("channels", "--json", environment=environment),
        )
        assert muted[0] == 0, muted[2]
        targets = [json.loads(line)["target"] for line in listed[1].splitlines()]
        assert targets == ["user:hedgehog", "user:scout", "user:herald", "user:you", "feed:general"]
        await running.line(event="channel", target="user:hedgehog", label="muted")
        token = {**environment, "COCKPIT_TOKEN": "spiny"}
        first = await cockpit("send", "--as", "hedgehog", "hello scout", environment=token)
        second = await cockpit("send", "--as", "hedgehog", "--to", "feed:general", "hello all", environment=token)
        assert "scout muted you" in first[1]  # M-5, K-119: told once a span
        assert "muted" not in second[1]
        row = await running.line(event="channel", target="user:hedgehog", held=2)  # the user's mute comes first
        assert row["wait"] == 0
        wrong = await cockpit("send", "--as", "hedgehog", "hi", environment={**token, "COCKPIT_TOKEN": "soft"})
        assert wrong[0] != 0
        assert "spiny" not in wrong[1] + wrong[2]
        unmuted = await cockpit("go", "unmute user:hedgehog", environment=environment)
        asked = await cockpit("send", "--as", "hedgehog", "are you there?", environment=token)
        assert (unmuted[0], asked[0]) == (0, 0), unmuted[2] + asked[2]
        await running.line(event="turn", agent="scout", state="ended", reason="intercom")
        await cockpit("go", "go=say to=feed:general text='hello from the operator'", environment=environment)
        await running.line(event="turn", agent="herald", state="ended", reason="intercom")
        await running.run("go=audit")
        origins = {row["origin"] for row in items(running.all(event="audit")[-1]["rows"])}
        assert "socket" in origins
        await running.run("go=quit")
        assert await running.ended() == 0
    gone = await cockpit("channels", environment=environment)
    assert gone[0] == 1
    assert "no cockpit is running" in gone[2]
