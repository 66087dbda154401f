"""`local-tools` for real: the official git, time and fetch servers as processes, through the headless program."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

from cockpit.shipped import shipped_recipes
from cockpit.testing.http_server import Exchange, HttpServer
from cockpit.testing.program import Line, Program, fields, headless, items

LOG = '{"repo_path": ".", "max_count": 1}'


def repository(folder: Path) -> Path:
    """A small git repository with one commit."""
    folder.mkdir()
    identity = ["-c", "user.name=kim", "-c", "user.email=kim@example.invalid"]
    subprocess.run(["git", "init", "-q", "."], cwd=folder, check=True)
    (folder / "plan.txt").write_text("ship it\n", encoding="utf-8")
    subprocess.run(["git", "add", "plan.txt"], cwd=folder, check=True)
    subprocess.run(["git", *identity, "commit", "-q", "-m", "Plan the release"], cwd=folder, check=True)
    return folder


def process_of(parent: int, name: str) -> int:
    """The pid of the child of `parent` whose command line names `name`."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            status = (entry / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            command = (entry / "cmdline").read_bytes().decode()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(status[1]) == parent and name in command:
            return int(entry.name)
    raise LookupError(name)


async def tools_of(cockpit: Program) -> list[str]:
    """The names of the tools that the resident's next request would list."""
    before = len(cockpit.lines)
    await cockpit.run("go=context agent=scout")
    line = await cockpit.line(after=before, event="context")
    return [str(tool["name"]) for tool in items(fields(line["request"])["tools"])]


async def turn_after(cockpit: Program, line: str) -> Line:
    before = len(cockpit.lines)
    await cockpit.run(line)
    await cockpit.line(after=before, event="turn", agent="scout", state="ended")
    return await cockpit.line(after=before, event="text", agent="scout")


async def test_both_servers_answer_and_a_mute_takes_the_tools_away_while_the_process_lives(tmp_path: Path) -> None:
    """M-1, M-2, M-10, K-102: the resident calls both; muted, mcp:git keeps its pid and loses its tools."""
    folder = repository(tmp_path / "repo")
    async with headless("local-tools", tmp_path / "tools.db", folder=folder) as cockpit:
        await cockpit.line(event="channel", target="mcp:git", label="online")
        await cockpit.line(event="channel", target="mcp:time", label="online")
        await turn_after(cockpit, f"ask call git__git_log {LOG}")
        assert any("Plan the release" in str(each["text"]) for each in cockpit.all(event="text"))
        await turn_after(cockpit, "ask call time__get_current_time timezone=Etc/UTC")
        assert any("Etc/UTC" in str(each["text"]) for each in cockpit.all(event="text"))
        pid = process_of(cockpit.pid, "mcp-server-git")
        assert "git__git_status" in await tools_of(cockpit)
        await cockpit.run("go=mute target=mcp:git")
        muted = await tools_of(cockpit)
        assert not [name for name in muted if name.startswith("git__")]
        assert "time__get_current_time" in muted
        assert process_of(cockpit.pid, "mcp-server-git") == pid
        assert not cockpit.all(event="channel", target="mcp:git", presence="offline")
        await cockpit.run("go=unmute target=mcp:git")
        assert "git__git_status" in await tools_of(cockpit)
        assert process_of(cockpit.pid, "mcp-server-git") == pid
        await cockpit.run("go=quit")
        assert await cockpit.ended() == 0


async def test_a_call_in_flight_when_git_is_muted_keeps_its_pair(tmp_path: Path) -> None:
    """M-3: the call runs to its end, its use is answered by the notice, and the true result is stored, stamped."""
    folder = repository(tmp_path / "repo")
    async with headless("local-tools", tmp_path / "tools.db", folder=folder) as cockpit:
        await cockpit.line(event="channel", target="mcp:git", label="online")
        pid = process_of(cockpit.pid, "mcp-server-git")
        os.kill(pid, signal.SIGSTOP)
        await cockpit.run(f"ask call git__git_log {LOG}")
        await cockpit.line(event="text", agent="scout", text="Calling git__git_log.")
        await cockpit.run("go=mute target=mcp:git")
        os.kill(pid, signal.SIGCONT)
        await cockpit.line(event="turn", agent="scout", state="ended")
        await cockpit.run("go=context agent=scout")
        messages = items(fields(cockpit.all(event="context")[-1]["request"])["messages"])
        blocks = [block for message in messages for block in items(message["content"])]
        uses = [block["id"] for block in blocks if block["type"] == "tool_use"]
        results = [block for block in blocks if block["type"] == "tool_result"]
        assert len(uses) == 1
        assert [each["tool_use_id"] for each in results] == uses
        assert "[Mute: mcp:git is muted — the result of this call is withheld]" in json.dumps(
            results, ensure_ascii=False
        )
        assert "Plan the release" not in json.dumps(messages)
        await cockpit.run("go=unmute target=mcp:git deliver=backlog")
        notice = await cockpit.line(event="notice", kind="unmute")
        assert "Plan the release" in str(notice["text"])
        assert '<muted-backlog channel="mcp:git" messages=1>' in str(notice["text"])


async def test_fetch_answers_and_leaves_our_own_network_alone_unless_it_is_told_otherwise(tmp_path: Path) -> None:
    """As it ships it refuses loopback by itself; with the argument that the recipe names it reads a page there."""

    async def page(exchange: Exchange) -> None:
        asked.append(exchange.request.path)
        found = exchange.request.path != "/robots.txt"
        await exchange.respond(200 if found else 404, b"vinegar helps", {"content-type": "text/plain"})

    asked: list[str] = []
    text = shipped_recipes()["local-tools"].read_text(encoding="utf-8")
    command = 'command = ["mcp-server-fetch"]'
    assert text.count(command) == 1
    freed = tmp_path / "freed.toml"
    freed.write_text(text.replace(command, 'command = ["mcp-server-fetch", "--allow-private-ips"]'), encoding="utf-8")
    async with HttpServer(page) as web:
        for recipe, said in (("local-tools", "--allow-private-ips"), (freed, "vinegar helps")):
            store = tmp_path / f"{Path(recipe).stem}.db"
            async with headless(recipe, store, folder=repository(tmp_path / f"{store.stem}-repo")) as cockpit:
                await cockpit.line(event="channel", target="mcp:fetch", label="online")
                await turn_after(cockpit, f"ask call fetch__fetch url={web.url}/page")
                assert any(said in str(each["text"]) for each in cockpit.all(event="text")), cockpit.all(event="text")
            if recipe == "local-tools":
                assert asked == []
        assert "/page" in asked
