"""`cockpit mcp` as npm's MCP Inspector meets it: a real client that is not ours, against a cockpit that runs."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from cockpit.core.message import Json
from cockpit.core.verbs import VERBS
from cockpit.testing import inspector
from cockpit.testing.inspector import call, inspect
from cockpit.testing.program import fields, headless, items
from cockpit.testing.shell import runtime

NOISY = "channel:disc/noisy"
READING = {"channels", "backlog", "reports", *(verb.name for verb in VERBS if not verb.writes and verb.name != "quit")}


def recipe(folder: Path) -> Path:
    path = folder / "seen.toml"
    command = [sys.executable, "-m", "cockpit.testing.mcpl_server", "--channels", "noisy"]
    path.write_text(
        f"""
name = "seen"
[model]
provider = "offline"
[[resident]]
name = "scout"
system_prompt = "You are scout."
[subconscious]
system_prompt = "You watch for scout."
[[mcpl]]
name = "disc"
command = {json.dumps(command)}
""",
        encoding="utf-8",
    )
    return path


def text(result: Mapping[str, Json]) -> str:
    return "\n".join(str(block["text"]) for block in items(result["content"]))


def lines(result: Mapping[str, Json]) -> list[Mapping[str, Json]]:
    return items(fields(result["structuredContent"])["lines"])


async def test_the_inspector_lists_mutes_and_reads(tmp_path: Path) -> None:
    """Issue 5: tried with a real client; its own name stands in the audit, and the mute is on the running cockpit."""
    with runtime() as environment:
        async with headless(recipe(tmp_path), tmp_path / "seen.db", environment=environment) as running:
            await running.line(event="channel", target=NOISY, label="online")
            await running.run(f"go=tune-out target={NOISY}")
            await running.run(f"go=cancel target={NOISY}")
            await running.line(event="report")
            listed, muted = await asyncio.gather(
                inspect("tools/list", environment=environment),
                call("mute", target="mcp:disc", reason="too loud", environment=environment),
            )
            tools = {str(tool["name"]): tool for tool in items(listed["tools"])}
            assert {verb.name.replace("-", "_") for verb in VERBS} < tools.keys()
            hints = {name: fields(tool["annotations"]) for name, tool in tools.items()}
            assert {name for name, hint in hints.items() if hint["readOnlyHint"]} == READING
            assert {name for name, hint in hints.items() if hint["destructiveHint"]} == {"kill", "quit"}
            assert all(fields(tool["inputSchema"])["type"] == "object" for tool in tools.values())
            assert (muted["isError"], text(muted)) == (False, "mcp:disc is muted")
            await running.line(event="channel", target="mcp:disc", label="muted")
            channels, reports, audit = await asyncio.gather(
                call("channels", environment=environment),
                call("reports", last="1", environment=environment),
                call("audit", target="mcp:disc", environment=environment),
            )
            labels = {row["target"]: (row["label"], row["muted_by"]) for row in lines(channels)}
            assert labels["mcp:disc"] == ("muted", ["operator"])
            assert [(line["event"], line["channel"]) for line in lines(reports)] == [("report", NOISY)]
            assert [
                (row["actor"], row["origin"], row["verb"], row["reason"]) for row in items(lines(audit)[0]["rows"])
            ] == [("inspector-cli", "bridge", "mute", "too loud")]
            refused = await call("mute", target="mcp:dis", environment=environment)
            assert refused["isError"]
            assert "mcp:disc" in text(refused)
            await running.run("go=quit")
            assert (await running.ended(), running.errors) == (0, "")


def test_where_the_inspector_is_missing_the_words_say_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("MCP_INSPECTOR", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=f"npm install --prefix DIR {inspector.PACKAGE}"):
        inspector.program()
    monkeypatch.setenv("MCP_INSPECTOR", os.fspath(tmp_path / "none"))
    with pytest.raises(FileNotFoundError, match="names no file"):
        inspector.program()
