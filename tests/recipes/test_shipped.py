"""What ships: found in a wheel and beside a clone, and each recipe is whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import cockpit
from cockpit.core.target import Target
from cockpit.errors import RecipeError
from cockpit.recipe import check, check_keys, find_command, listing, load
from cockpit.shipped import shipped_dir, shipped_recipes


def test_the_recipes_ship() -> None:
    assert {"demo", "local-tools"} <= set(shipped_recipes())


@pytest.mark.parametrize("name", sorted(shipped_recipes()))
def test_each_shipped_recipe_is_whole_and_says_what_it_is(name: str) -> None:
    recipe = load(name, {})
    assert recipe.name == name
    assert recipe.warnings == ()
    line = next(line for line in listing() if line.startswith(f"{name} "))
    assert len(line) > len(name) + 20


@pytest.mark.parametrize("name", ["demo", "local-tools"])
def test_these_need_no_key(name: str) -> None:
    check_keys(load(name, {}), {})


def test_the_demo_starts_with_its_noisy_channel_tuned_out_at_a_short_cadence() -> None:
    recipe = load("demo", {})
    assert recipe.tuned_out == (Target("channel", "disc/disc:guild:noisy"),)
    assert recipe.tune_out.cadence == 30
    assert [server.name for server in recipe.servers] == ["tools", "disc"]


@pytest.mark.parametrize("name", sorted(shipped_recipes()))
def test_a_shipped_subconscious_speaks_to_its_resident(name: str) -> None:  # S-8
    recipe = load(name, {})
    assert recipe.subconscious is not None
    prompt = recipe.subconscious.system_prompt
    assert "second person" in prompt
    assert "report" in prompt
    assert recipe.primary.name in prompt


def test_a_wheel_carries_them_inside_and_wins_over_what_lies_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site" / "cockpit"
    beside = tmp_path / "site" / "recipes"
    package.mkdir(parents=True)
    monkeypatch.setattr(cockpit, "__file__", str(package / "__init__.py"))
    assert shipped_dir("recipes") == package / "recipes"
    assert shipped_recipes() == {}
    beside.mkdir()
    assert shipped_dir("recipes") == beside
    (package / "recipes").mkdir()
    (package / "recipes" / "inside.toml").touch()
    assert shipped_recipes() == {"inside": package / "recipes" / "inside.toml"}


def test_a_shipped_name_wins_over_a_file_of_that_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "demo").write_text("not a recipe")
    monkeypatch.chdir(tmp_path)
    assert load("demo", {}).name == "demo"
    with pytest.raises(RecipeError, match=r"^\./demo:1: not TOML"):
        load("./demo", {})


def test_a_command_is_looked_up_on_path_then_beside_the_interpreter(tmp_path: Path) -> None:
    program = tmp_path / "mcp-server-own"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert find_command("mcp-server-own", {"PATH": str(tmp_path)}) == str(program)
    assert find_command("mcp-server-own", {"PATH": ""}) is None
    name = Path(sys.executable).name
    assert find_command(name, {"PATH": ""}) == str(Path(sys.executable).parent / name)
    assert find_command(str(program), {}) == str(program)
    assert find_command("./mcp-server-own", {"PATH": str(tmp_path)}) is None


def test_check_says_who_listens_to_what() -> None:
    lines = check("demo", {})
    assert lines[0] == "demo.toml: ok"
    assert "  tuned out     channel:disc/disc:guild:noisy, looked at every 30 s" in lines
    assert "  mcpl          disc: cockpit-demo-chat …" in lines
    assert not [line for line in lines if line.startswith("not ready")]


def test_check_says_what_this_machine_lacks(tmp_path: Path) -> None:
    path = tmp_path / "home.toml"
    path.write_text(
        'name = "home"\n[[resident]]\nname = "scout"\nsystem_prompt = "x"\n'
        '[[mcp]]\nname = "db"\ncommand = ["no-such-program"]\n'
    )
    lacking = [line for line in check(str(path), {}) if line.startswith("not ready: ")]
    assert len(lacking) == 2
    assert "ANTHROPIC_API_KEY is not set" in lacking[0]
    assert lacking[1] == "not ready: db: no program 'no-such-program' on PATH or beside the interpreter"


def test_reading_a_recipe_imports_no_screen_no_sdk_and_no_loop() -> None:
    """A wrong recipe is refused before anything heavy is loaded."""
    code = (
        "import sys; from cockpit.recipe import load; load('demo', {});"
        "print([each for each in ('anthropic', 'mcp', 'textual', 'aiosqlite', 'asyncio') if each in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
