"""The recipe's file is watched: gate, tune-out defaults and prices apply at once, the rest says that it waits."""

from __future__ import annotations

from pathlib import Path

from cockpit.core.events import Failed, TurnChanged
from cockpit.testing.rig import Rig, rig

RECIPE = """
name = "live"
[model]
provider = "offline"
[[resident]]
name = "scout"
system_prompt = "You are scout."
[[mcpl]]
name = "disc"
command = ["fake"]
"""

HEED_ALL = '\n[gate]\ndefault = "always"\n'


async def changed(cockpit: Rig, folder: Path, text: str) -> str:
    """Write the recipe anew and let the cockpit look; what it says of that."""
    (folder / "recipe.toml").write_text(text, encoding="utf-8")
    reload = cockpit.session.engine.reload
    assert reload is not None
    await reload.look()
    await cockpit.settle()
    return cockpit.of(Failed)[-1].message


async def test_a_changed_gate_applies_at_once(tmp_path: Path) -> None:
    """N-6 until then; afterwards every message wakes the resident."""
    async with rig(tmp_path, RECIPE, channels={"disc": ["general"]}) as cockpit:
        await cockpit.servers["disc"].say("general", "chatter")
        await cockpit.settle()
        assert not cockpit.of(TurnChanged)
        assert "[gate] applied" in await changed(cockpit, tmp_path, RECIPE + HEED_ALL)
        await cockpit.servers["disc"].say("general", "more chatter")
        await cockpit.settle()
        assert [event.state for event in cockpit.of(TurnChanged)] == ["started", "ended"]


async def test_changed_defaults_reach_the_tools_description(tmp_path: Path) -> None:
    """T-1: the description names the defaults as they are now."""
    async with rig(tmp_path, RECIPE) as cockpit:
        await changed(cockpit, tmp_path, RECIPE + "\n[tune_out]\ncap = 7\n")
        await cockpit.run("ask hello")
        tool = next(tool for tool in cockpit.requests("scout")[-1].tools if tool.name == "tune_out")
        assert "backlog_cap 7," in tool.description


async def test_a_wrong_file_changes_nothing_and_says_so(tmp_path: Path) -> None:
    """R-5: the line names what is wrong; the gate of before holds."""
    async with rig(tmp_path, RECIPE + HEED_ALL, channels={"disc": ["general"]}) as cockpit:
        said = await changed(cockpit, tmp_path, RECIPE + '\n[gate]\ndefault = "allways"\n')
        assert "nothing was changed" in said
        assert "allways" in said
        await cockpit.servers["disc"].say("general", "chatter")
        await cockpit.settle()
        assert cockpit.of(TurnChanged)


async def test_anything_else_says_that_it_needs_a_restart(tmp_path: Path) -> None:
    async with rig(tmp_path, RECIPE) as cockpit:
        said = await changed(cockpit, tmp_path, RECIPE.replace("You are scout.", "You are somebody else."))
        assert "restart" in said
        assert "[[resident]]" in said
