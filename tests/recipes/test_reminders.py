"""`reminders` as it ships, with a stand-in for what `npx` fetches: the recipe's own command line starts a server of
MCPL 0.4 whose push event wakes the resident. npm is not asked: no test leaves this machine."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from cockpit.testing.mcpl_server import LEGACY_MANIFEST
from cockpit.testing.program import headless

PUSH = {"do": "push", "text": "Reminder: tag the release", "id": "reminder-1", "set": "fixture.push"}


def npx(folder: Path, *words: str) -> dict[str, str]:
    """An `npx` first on PATH that runs these words, and writes what it was asked for into `asked`."""
    program = folder / "bin" / "npx"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{folder}/asked"\n{" ".join(words)}\n', "utf-8")
    program.chmod(0o700)
    return {"PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}


async def test_a_reminder_wakes_the_resident(tmp_path: Path) -> None:
    """N-6 and mcpl.md 5.4: a server without grants is granted what the recipe says, and its push wakes scout."""
    manifest, script = tmp_path / "manifest.json", tmp_path / "script"
    manifest.write_text(json.dumps(LEGACY_MANIFEST), "utf-8")
    script.write_text(json.dumps(PUSH), "utf-8")
    server = f'exec "{sys.executable}" -m cockpit.testing.mcpl_server'
    options = ("--receipt", "unknown", "--manifest", f'"$(cat "{manifest}")"', "--script", f'"{script}"')
    environment = npx(tmp_path, server, *options)
    async with headless("reminders", tmp_path / "r.db", environment=environment, folder=tmp_path) as cockpit:
        await cockpit.line(event="channel", target="mcp:reminders", label="online")
        await cockpit.line(event="turn", agent="scout", state="started", reason="push")
        await cockpit.run("go=quit")
        assert await cockpit.ended() == 0
    asked = (tmp_path / "asked").read_text("utf-8").split()
    assert asked == ["--yes", "@animalabs/heartbeat-mcpl@0.1.3", "--stdio"]


async def test_without_its_library_the_row_is_offline(tmp_path: Path) -> None:
    """R-3: an `npx` that fails harms nobody else; the row says that the server is not there."""
    environment = npx(tmp_path, "echo npm error code E404 >&2; exit 1")
    async with headless("reminders", tmp_path / "r.db", environment=environment, folder=tmp_path) as cockpit:
        await cockpit.line(event="channel", target="mcp:reminders", label="offline")
        await cockpit.run("go=quit")
        assert await cockpit.ended() == 0
