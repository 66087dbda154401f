"""Bad input, through the real program: one clear line, the right exit code, nothing half started or lost (R-5)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cockpit.testing.program import headless

HEAD = """
name = "bad"
[model]
provider = "offline"
[[resident]]
name = "scout"
system_prompt = "You are scout."
"""


def cockpit(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the program to its end, without a terminal."""
    return subprocess.run(
        [sys.executable, "-m", "cockpit", *arguments],
        cwd=folder,
        env={**os.environ, "XDG_STATE_HOME": str(folder), "TERM": "xterm-256color"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )


def write(folder: Path, text: str) -> str:
    path = folder / "bad.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEAD.replace("system_prompt", "sytem_prompt"), ("bad.toml:7", "sytem_prompt", "system_prompt")),
        (HEAD.replace('name = "scout"\n', ""), ("bad.toml", "name")),
        (HEAD.replace("offline", "ofline"), ("bad.toml:4", "'ofline'", "offline")),
        (HEAD + "[subconscious]\nenabled = true\n", ("bad.toml", "system_prompt")),
        ('name = "bad', ("bad.toml:1",)),
    ],
    ids=["unknown field", "missing field", "unknown provider", "subconscious without a prompt", "no TOML"],
)
def test_a_wrong_recipe_is_refused_in_one_line_before_anything_starts(
    tmp_path: Path, text: str, said: tuple[str, ...]
) -> None:
    """K-95, R-5: exit 2, the file, the line and the field, and no store."""
    done = cockpit("run", "--headless", write(tmp_path, text), folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    for word in said:
        assert word in done.stderr
    assert not list(tmp_path.rglob("*.db"))


def test_a_recipe_that_does_not_exist_names_the_nearest(tmp_path: Path) -> None:
    done = cockpit("run", "--headless", "dmo", folder=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "'dmo'" in done.stderr
    assert "demo" in done.stderr


def test_a_missing_key_is_one_line_and_exit_2(tmp_path: Path) -> None:
    recipe = write(tmp_path, HEAD.replace('"offline"', '"anthropic"\napi_key_env = "NO_SUCH_KEY_HERE"'))
    done = cockpit("run", "--headless", recipe, folder=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "NO_SUCH_KEY_HERE" in done.stderr


def test_the_screen_without_a_terminal_is_a_sentence_and_exit_2(tmp_path: Path) -> None:
    done = cockpit(folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert "no terminal" in done.stderr
    assert not list(tmp_path.rglob("*.db"))


def test_an_unknown_option_is_exit_2(tmp_path: Path) -> None:
    done = cockpit("run", "--headles", folder=tmp_path)
    assert done.returncode == 2
    assert "--headles" in done.stderr


async def test_a_second_cockpit_on_the_store_is_refused_with_the_first_ones_pid(tmp_path: Path) -> None:
    """R-2, K-86: exit 3; and a lock whose owner was killed is taken over."""
    recipe = write(tmp_path, HEAD)
    async with headless(recipe, tmp_path / "one.db") as first:
        await first.line(event="ready")
        async with headless(recipe, tmp_path / "one.db") as second:
            assert await second.ended() == 3
        assert str(first.pid) in second.errors
        assert len(second.errors.splitlines()) == 1
        assert second.lines == []
        await first.kill()
    async with headless(recipe, tmp_path / "one.db") as third:
        await third.line(event="ready")


async def test_servers_that_cannot_serve_are_offline_with_the_reason_and_harm_nobody(tmp_path: Path) -> None:
    """R-3: a command that does not exist, garbage before the handshake and beyond, one that dies at once."""
    fixture = [sys.executable, "-m", "cockpit.testing.mcpl_server"]
    servers = {
        "missing": ["no-such-command-anywhere"],
        "noisy": [*fixture, "--garbage", "Listening on port 80", "--garbage", "{not json", "--channels", "general"],
        "dies": [sys.executable, "-c", "raise SystemExit(7)"],
    }
    tables = "\n".join(
        f'[[mcpl]]\nname = "{name}"\ncommand = {json.dumps(command)}\n' for name, command in servers.items()
    )
    async with headless(write(tmp_path, HEAD + tables), tmp_path / "bad.db") as running:
        await running.line(event="channel", target="channel:noisy/general", label="online")
        await running.line(event="channel", target="mcp:missing", label="offline")
        await running.line(event="channel", target="mcp:dies", label="offline")
        faults = [str(each["message"]) for each in running.all(event="error")]
        assert any("Listening on port 80" in fault for fault in faults)
        await running.run("ask still there?")
        await running.line(event="turn", agent="scout", state="ended")
        await running.run("go=quit")
        assert await running.ended() == 0
        assert running.errors == ""


async def test_wrong_verbs_are_answered_in_order_and_change_nothing(tmp_path: Path) -> None:
    """K-113: one `verb` line for each line of input; comments and blank lines get none."""
    fixture = [sys.executable, "-m", "cockpit.testing.mcpl_server", "--channels", "general"]
    tables = "".join(f'[[mcpl]]\nname = "{name}"\ncommand = {json.dumps(fixture)}\n' for name in ("one", "two"))
    async with headless(write(tmp_path, HEAD + tables), tmp_path / "bad.db") as running:
        for name in ("one", "two"):
            await running.line(event="channel", target=f"channel:{name}/general", label="online")
        wrong = {
            "go=mut target=mcp:one": "unknown_verb",
            "go=mute target=mcp:onee": "unknown_target",
            "go=mute target=channel:general": "ambiguous_target",
            "go=mute": "missing_value",
            "go=tune-out target=channel:one/general cap=lots": "bad_value",
            "go=kill target=channel:one/general": "wrong_kind",
            "go=unmute target=mcp:one": "already",
            "go=tune-out target=channel:one/general": "refused",
        }
        running.say("# a comment")
        running.say("")
        for line in wrong:
            running.say(line)
        await running.run("go=stats")
        answers = running.all(event="verb")[:-1]
        assert [each["line"] for each in answers] == list(wrong)
        codes = [error["code"] for each in answers if isinstance(error := each["error"], dict)]
        assert codes == list(wrong.values())
        assert {each["ok"] for each in answers} == {False}
        assert "mute" in str(answers[0]["message"])
        assert "mcp:one" in str(answers[1]["message"])
        assert "channel:one/general, channel:two/general" in str(answers[2]["message"])
        assert {each["attention"] for each in running.all(event="channel")} == {"open"}
