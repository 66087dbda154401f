"""The one registry: whatever speaks of a verb must agree with it about its name, its parameters, its key, and whether
it writes (cockpit.md, Verbs). Each claim is read from the place itself, not made from `VERBS` again."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from cockpit.control import commands
from cockpit.control.bridge_tools import tools
from cockpit.core.resolve import complete
from cockpit.core.target import parse as parse_target
from cockpit.core.verbs import VERBS, Verb, parse
from cockpit.engine.assemble import open_session
from cockpit.recipe import load
from cockpit.testing.clock import FakeClock
from cockpit.testing.driven_screen import driven
from cockpit.testing.fake_link import FakeLink, row, view
from cockpit.testing.hand_link import HandLink, client, served
from cockpit.ui import lines
from cockpit.ui.keys import BY_ID, KEYS, SCOPES, legend
from cockpit.ui.palette import Around, choices
from cockpit.ui.screens.help import help_sheet

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")

RECIPE = """
name = "registry"
[model]
provider = "offline"
[[resident]]
name = "scout"
system_prompt = "You are scout."
"""

SAMPLE: Mapping[str, str] = {"duration": "30m", "count": "5", "text": "words", "target": "mcp:git"}

each_verb = pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)


def whole_line(verb: Verb) -> str:
    """The verb with every parameter that it has."""
    target = f"{verb.kinds[0]}:{'git' if verb.kinds[0] == 'mcp' else 'd/a' if verb.kinds[0] == 'channel' else 'x'}"
    values = {
        param.name: param.choices[0] if param.choices else target if param.kind == "target" else SAMPLE[param.kind]
        for param in verb.params
    }
    return lines.verb_line(verb, **values)


@each_verb
def test_the_grammar_reads_every_parameter_and_the_usage_names_it(verb: Verb) -> None:
    read = parse(whole_line(verb))
    assert read.verb is verb
    assert set(read.values) | ({"target"} if read.target else set()) == {param.name for param in verb.params}
    assert re.findall(r"(\w+)=", verb.usage) == ["go", *(param.name for param in verb.params)]
    assert set(re.findall(r"\[(\w+)=", verb.usage)) == {param.name for param in verb.params if not param.required}


@each_verb
def test_its_key_is_bound_and_means_it_and_stands_in_the_legend(verb: Verb) -> None:
    key = verb.key
    bound = [each for each in KEYS if verb in BY_ID.get(each.id, ())]
    if key is None or len(key) > 1:
        assert bound == []
        return
    assert [(each.keys, each.shown, each.action) for each in bound] == [(key, key, f"keyed('{key}')")]
    assert verb in lines.KEYED[key]
    assert verb.does in bound[0].does
    if bound[0].scope in {"table", "anywhere"}:
        named = [other.name.replace("-", " ") for other in lines.KEYED[key]]
        assert [each.foot for each in legend(KEYS, "table", "anywhere") if each.shown == key] == named[:1]


@each_verb
def test_completion_offers_it_and_each_of_its_parameters(verb: Verb) -> None:
    assert f":{verb.name} " in complete(f":{verb.name[:2]}", [])
    assert f"go={verb.name} " in complete(f"go={verb.name}", [])
    for param in verb.params:
        said = f"go={verb.name} x=1 {param.name[:2]}"
        assert f"go={verb.name} x=1 {param.name}=" in complete(said, [])
        for choice in param.choices:
            assert complete(f"go={verb.name} {param.name}={choice[:1]}", []) == [
                f"go={verb.name} {param.name}={choice}"
            ]
    known = [parse_target(name) for name in ("mcp:git", "channel:d/a", "user:x", "feed:general")]
    if verb.param("target") is not None:
        offered = complete(f"go={verb.name} target=", known)
        assert [each.rpartition("=")[2].partition(":")[0] for each in offered] == [
            target.kind for target in known if target.kind in verb.kinds
        ]


@each_verb
def test_help_and_palette_say_the_same(verb: Verb) -> None:
    for scope in SCOPES:
        shown = {item.key: item.text for item in help_sheet(KEYS, scope)._items}
        assert shown[f"usage {verb.name}"].strip() == verb.usage
        assert shown[f"does {verb.name}"].strip() == verb.does
    offered = {
        gate: [each for each in choices(Around(KEYS, "table", ("mcp:git",), read_only=gate)) if each.verb is verb]
        for gate in (False, True)
    }
    (free,), (gated,) = offered[False], offered[True]
    assert (free.name, free.does) == (verb.name, verb.does)
    assert free.key == {"escape escape": "Esc Esc", "p": "p Enter"}.get(verb.key or "", verb.key or "")
    assert (free.refused, gated.refused) == (False, verb.writes)
    for line in free.run or (free.ask,):
        assert line.split(" ")[0] == f"go={verb.name}"


@each_verb
def test_the_readmes_table_has_its_row(verb: Verb) -> None:
    """`python -m cockpit.testing.readme` writes it anew."""
    rows = [re.split(r"(?<!\\) ?\| ?", line.strip("| ")) for line in README.split("\n") if line.startswith("| `go=")]
    (found,) = [cells for cells in rows if re.match(rf"`go={verb.name}[` ]", cells[0])]
    usage, key, does = (found[0].strip("`").replace("\\|", "|"), found[1].strip(), found[-1].strip())
    shown = {"escape escape": "`Esc` twice"}.get(verb.key or "", f"`{verb.key}`" if verb.key else "")
    assert (usage, key, does) == (verb.usage, shown + (" (asks)" if verb.asks else ""), verb.does)


@each_verb
def test_the_bridges_tool_takes_what_it_takes(verb: Verb) -> None:
    (tool,) = [each for each in tools() if each.verb is verb]
    properties = tool.schema["properties"]
    assert isinstance(properties, Mapping)
    assert tool.name == verb.name.replace("-", "_")
    assert verb.does.casefold() in tool.description.casefold()
    assert list(properties) == [param.name for param in verb.params]
    assert tool.schema["required"] == [param.name for param in verb.params if param.required]
    assert tool.read_only == (not verb.writes and verb.name != "quit")
    for param in verb.params:
        described = properties[param.name]
        assert isinstance(described, Mapping)
        assert described.get("enum", []) == list(param.choices)


async def test_cockpit_go_hands_every_line_on_as_it_was_typed(tmp_path: Path) -> None:
    cockpit = HandLink()
    async with served(cockpit, tmp_path / "socket"), client(tmp_path / "socket") as link:
        for verb in VERBS:
            code = await commands.go(link, whole_line(verb), write=lambda line: None, tell=lambda line: None)
            assert code == 0
    assert [line.partition(": ")[2] for line in cockpit.asked] == [whole_line(verb) for verb in VERBS]


async def test_the_engine_knows_each_and_its_gate_refuses_exactly_what_writes(tmp_path: Path) -> None:
    """F-26"""
    path = tmp_path / "recipe.toml"
    path.write_text(RECIPE, "utf-8")
    loaded = load(str(path), {})
    async with open_session(
        loaded, tmp_path / "store.db", environment={}, logs=tmp_path, read_only=True, clock=FakeClock()
    ) as session:
        starting = asyncio.Event()
        starting.set()
        async with asyncio.TaskGroup() as group:
            group.create_task(session.engine.run(starting))
            for verb in VERBS:
                ran = (await session.link("screen").run(whole_line(verb))).ran
                assert ran.verb == verb.name
                assert (ran.code == "read_only") == verb.writes, verb.name
                assert ran.code not in {"unknown_verb", "missing_value"}, verb.name
            session.engine.quit()


async def test_the_screens_gate_refuses_exactly_what_writes() -> None:
    """F-26"""
    async with driven(FakeLink(view((row("mcp:git"),))), read_only=True) as screen:
        for verb in VERBS:
            if verb.name == "quit":
                continue  # it asks nobody but the screen
            screen.link.ran.clear()
            screen.app.main.acts.submit(whole_line(verb))
            await screen.settle()
            assert bool(screen.link.ran) == (not verb.writes), verb.name
            await screen.pilot.press("escape")
