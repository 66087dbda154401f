"""A host's `.mcp.json` as a recipe: its servers, without a key, and nothing that its host has switched off."""

# ruff: noqa: E501  # a refusal is one line, and so is the case that pins it

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from cockpit.errors import RecipeError
from cockpit.recipe import Recipe, check_keys, load

ENV = {"TOKEN": "s3cret", "DATA": "/srv/data"}


def written(folder: Path, servers: Mapping[str, object], **others: object) -> Recipe:
    path = folder / ".mcp.json"
    path.write_text(json.dumps({"mcpServers": servers, **others}, indent=2))
    return load(str(path), ENV)


def refused(folder: Path, text: str) -> str:
    path = folder / ".mcp.json"
    path.write_text(text)
    with pytest.raises(RecipeError) as caught:
        load(str(path), ENV)
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(f"{folder}/")


def test_its_servers_are_shown_in_its_order_on_the_offline_model(tmp_path: Path) -> None:
    recipe = written(
        tmp_path,
        {
            "web": {"type": "http", "url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
            "git": {"command": "mcp-server-git", "args": ["--repository", "${DATA}"], "env": {"A": "${NO:-b}"}},
        },
    )
    web, git = recipe.mcp
    assert (web.name, web.url, web.command) == ("web", "https://example.org/mcp", None)
    assert web.headers["Authorization"].get_secret_value() == "Bearer s3cret"
    assert (git.name, git.command) == ("git", ("mcp-server-git", "--repository", "/srv/data"))
    assert git.env["A"].get_secret_value() == "b"
    assert recipe.primary.model.provider == "offline"
    check_keys(recipe, {})
    assert recipe.warnings == ()
    assert "s3cret" not in repr(recipe)


def test_what_its_host_has_switched_off_stays_off_and_is_said(tmp_path: Path) -> None:  # F-14
    recipe = written(
        tmp_path, {"db": {"url": "https://example.org", "disabled": True}, "git": {"command": "git-server"}}
    )
    assert [server.name for server in recipe.servers] == ["git"]
    assert recipe.warnings == (f"{tmp_path}/.mcp.json: switched off, and left out: db",)


def test_what_has_no_meaning_here_is_listed_in_one_warning(tmp_path: Path) -> None:
    recipe = written(tmp_path, {"a": {"command": "x", "timeout": 5, "alwaysAllow": ["y"]}}, inputs=[])
    said = "without a meaning here: mcpServers.a.timeout, mcpServers.a.alwaysAllow, inputs"
    assert recipe.warnings == (f"{tmp_path}/.mcp.json: {said}",)


def test_a_slash_in_a_servers_name_is_written_as_a_dash_and_said(tmp_path: Path) -> None:
    recipe = written(tmp_path, {"@org/files": {"command": "x"}})
    assert [server.name for server in recipe.servers] == ["@org-files"]
    assert recipe.warnings == (f"{tmp_path}/.mcp.json: a server's name here has no slash: @org/files as @org-files",)


def test_two_projects_never_share_a_store_and_one_keeps_its_own(tmp_path: Path) -> None:
    (tmp_path / "a" / "app").mkdir(parents=True)
    (tmp_path / "b" / "app").mkdir(parents=True)
    one, other, again = (written(tmp_path / each / "app", {}).name for each in ("a", "b", "a"))
    assert one.startswith("app-")
    assert other.startswith("app-")
    assert one != other
    assert one == again


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", '1: no "mcpServers": a JSON recipe is the .mcp.json of an MCP host'),
        ('{"mcpServer": {}}', '1: no "mcpServers": a JSON recipe is the .mcp.json of an MCP host'),
        ('{\n"mcpServers": [] }', "2: mcpServers: must be a table, not an array"),
        ('{"mcpServers": {\n"a": {}\n}}', "2: mcpServers.a: needs a command or a url"),
        ('{"mcpServers": {\n"a": {"comand": "x"}\n}}', "2: mcpServers.a: needs a command or a url, and 'comand' is neither; nearest: command"),
        ('{"mcpServers": {\n"a": {"command": "x",\n"url": "http://x"}}}', "2: mcpServers.a: has both a command and a url: say one"),
        ('{"mcpServers": {\n"a": {\n"command": ["x"]}}}', "3: mcpServers.a.command: must be a string, not an array"),
        ('{"mcpServers": {"a": {"command": "x",\n"args": ["b",\n7]}}}', "3: mcpServers.a.args[1]: must be a string, not an integer"),
        ('{"mcpServers": {"a": {"command": "x",\n"args": ["${NOPE}"]}}}', "2: mcpServers.a.args[0]: the variable NOPE is not set"),
        ('{"mcpServers": {"a": {"command": "${A}", "env": {"T": "${B}"}}, "b": {"url": "${C}"}}}', "1: mcpServers.a.command: the variable A is not set; also not set: B, C"),
        ('{"mcpServers": {"a": {"command": "x",\n"env": {"T": "${NOPE}"}}}}', "2: mcpServers.a.env.T: the variable NOPE is not set"),
        ('{"mcpServers": {"a": {"command": "x",\n"env": {"T": null}}}}', "2: mcpServers.a.env.T: must be a string, not null"),
        ('{"mcpServers": {"a": {"command": "x\\ud800"}}}', "1: mcpServers.a.command: must not hold a NUL character or half a surrogate pair"),
        ('{"mcpServers": {"a": {"command": "x"},\n"a": {"command": "y"}}}', "2: mcpServers.a: is given twice"),
        ('{"mcpServers": {"a/b": {"command": "x"},\n"a-b": {"command": "y"}}}', "2: mcpServers.a-b: 'a-b' is taken already, in line 1"),
        ('{"mcpServers": {\n"a": {"command": "x",}}}', "2: not JSON: Expecting property name enclosed in double quotes"),
    ],
)  # fmt: skip
def test_a_wrong_one_is_refused_in_its_own_words(tmp_path: Path, text: str, said: str) -> None:
    assert refused(tmp_path, text) == f".mcp.json:{said}"
