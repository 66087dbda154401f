"""A row with a `url`, for real: the headless program on a recipe that names a server over HTTP, which wants a token."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cockpit.testing.mcp_http import HttpTools
from cockpit.testing.program import Program, fields, headless, items

TOKEN = "tok-5f1d9c-in-no-file"
ENVIRONMENT = {"WEB_TOKEN": TOKEN}
RECIPE = """
name = "web"
[model]
provider = "offline"
[[resident]]
name = "scout"
system_prompt = "You are scout."
[[mcp]]
name = "web"
url = "%s"
headers = { Authorization = "Bearer ${WEB_TOKEN}" }
"""


@pytest.fixture
async def web() -> AsyncIterator[HttpTools]:
    async with HttpTools(token=TOKEN) as server:
        yield server


def recipe(folder: Path, web: HttpTools) -> Path:
    path = folder / "web.toml"
    path.write_text(RECIPE % web.url, encoding="utf-8")
    return path


async def tools_of(cockpit: Program) -> list[str]:
    """The names of the server's tools that the resident's next request would list."""
    before = len(cockpit.lines)
    await cockpit.run("go=context agent=scout")
    line = await cockpit.line(after=before, event="context")
    names = [str(tool["name"]) for tool in items(fields(line["request"])["tools"])]
    return [name for name in names if name.startswith("web__")]


async def held(cockpit: Program, count: int) -> None:
    await cockpit.line(event="channel", target="mcp:web", label="muted", held=count)


def all_of(folder: Path) -> bytes:
    """Whatever the cockpit wrote there."""
    return b"".join(each.read_bytes() for each in folder.rglob("*") if each.is_file())


async def test_it_is_called_and_a_mute_hides_its_tools_and_holds_what_it_says(web: HttpTools, tmp_path: Path) -> None:
    """M-1, M-2, M-11, K-102: muted, the session lives on, and nothing is asked of the server anew."""
    async with headless(recipe(tmp_path, web), tmp_path / "web.db", environment=ENVIRONMENT) as cockpit:
        await cockpit.line(event="channel", target="mcp:web", label="online")
        before = len(cockpit.lines)
        await cockpit.run('ask call web__echo {"said": "over http"}')
        await cockpit.line(after=before, event="turn", agent="scout", state="ended")
        assert any("over http" in str(each["text"]) for each in cockpit.all(event="text"))
        assert await tools_of(cockpit) == ["web__echo", "web__wait"]
        sessions = {each.headers.get("mcp-session-id") for each in web.asked[1:]}
        await cockpit.run("go=mute target=mcp:web")
        assert await tools_of(cockpit) == []
        await web.session.send_resource_updated("fixture:held-back")
        await held(cockpit, 1)
        await cockpit.run("go=unmute target=mcp:web deliver=backlog")
        notice = await cockpit.line(event="notice", kind="unmute")
        assert "fixture:held-back" in str(notice["text"])
        assert await tools_of(cockpit) == ["web__echo", "web__wait"]
        assert {each.headers.get("mcp-session-id") for each in web.asked[1:]} == sessions
        await cockpit.run("go=quit")
        assert await cockpit.ended() == 0
    said = "".join(map(str, cockpit.lines)) + cockpit.errors
    written = all_of(tmp_path)
    assert TOKEN not in said
    assert TOKEN.encode() not in written


async def test_killed_it_is_not_contacted_again_not_even_after_a_restart(web: HttpTools, tmp_path: Path) -> None:
    """F-14, M-13: a kill is the last that the server hears, until `go=start`."""
    path, store = recipe(tmp_path, web), tmp_path / "web.db"
    async with headless(path, store, environment=ENVIRONMENT) as cockpit:
        await cockpit.line(event="channel", target="mcp:web", label="online")
        await cockpit.run("go=kill target=mcp:web")
        await cockpit.line(event="channel", target="mcp:web", label="killed")
        assert web.methods()[-1] == "DELETE"
        await cockpit.run("go=quit")
        await cockpit.ended()
    asked = len(web.asked)
    async with headless(path, store, environment=ENVIRONMENT) as cockpit:
        await cockpit.line(event="channel", target="mcp:web", label="killed")
        assert await tools_of(cockpit) == []
        assert len(web.asked) == asked
        await cockpit.run("go=start target=mcp:web")
        await cockpit.line(event="channel", target="mcp:web", label="online")
        await cockpit.run("go=quit")
        await cockpit.ended()


async def test_a_wrong_token_is_a_reason_and_a_missing_one_a_wrong_recipe(web: HttpTools, tmp_path: Path) -> None:
    path = recipe(tmp_path, web)
    async with headless(path, tmp_path / "web.db", environment={"WEB_TOKEN": "another-token-9"}) as cockpit:
        await cockpit.line(event="channel", target="mcp:web", presence="offline")
        await cockpit.run("go=audit")
        await cockpit.run("go=quit")
        await cockpit.ended()
        assert "another-token-9" not in "".join(map(str, cockpit.lines)) + cockpit.errors
    async with headless(path, tmp_path / "web.db") as cockpit:
        assert await cockpit.ended() == 2
    assert "web.toml:11: mcp[0].headers.Authorization: the variable WEB_TOKEN is not set" in cockpit.errors
