"""The subconscious is asked as the primary is, with its own on top, and its standing notes stand still: on requests as
a provider got them (S-3, S-7)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from cockpit.core.message import Json
from cockpit.engine.settings import model_config
from cockpit.errors import RecipeError
from cockpit.recipe import Recipe, load
from cockpit.recipe.sections import ModelSettings
from cockpit.testing.anthropic_check import markers
from cockpit.testing.anthropic_server import Answer, AnthropicServer, Call, Step
from cockpit.testing.provided import (
    Body,
    blocks_of,
    bodies,
    listed,
    provided,
    provided_recipe,
    refused,
    states,
    system_of,
    told,
)
from cockpit.testing.rig import Rig
from cockpit.testing.stage import NOISY, SUBCONSCIOUS, resident

WATCHES = "You watch"
TUNED = """max_tokens = 3000
thinking = { type = "enabled", budget_tokens = 1024 }
parameters = { temperature = 1, metadata = { user_id = "home" } }"""
OWN = {"max_tokens", "model", "thinking", "temperature", "metadata", "stream"}
"""The parts of a body that a configuration decides."""

SAMPLES: dict[str, tuple[str, Json]] = {
    "provider": ('"offline"', "offline"),
    "id": ('"claude-other"', "claude-other"),
    "context_tokens": ("123456", 123456),
    "max_tokens": ("4321", 4321),
    "max_message_tokens": ('"none"', None),
    "tool_rounds": ("7", 7),
    "api_key_env": ('"OTHER_KEY"', "OTHER_KEY"),
    "base_url_env": ('"OTHER_URL"', "OTHER_URL"),
    "prices": ("{ input = 3, output = 15 }", {"input": 3.0, "output": 15.0, "cache_read": None, "cache_write": None}),
    "thinking": ('{ type = "adaptive" }', {"type": "adaptive"}),
    "parameters": ("{ top_k = 5 }", {"top_k": 5}),
}
"""For every field of [model] a value that is not its default, as TOML and as it is kept."""


def script(*watching: Step) -> AnthropicServer:
    """A server to which the subconscious says `watching` in order, and everybody else `Done.`"""
    steps = iter(watching)

    def play(body: Body) -> Step:
        return next(steps, Answer("Done.")) if system_of(body).startswith(WATCHES) else Answer("Done.")

    return AnthropicServer(play)


async def mention(cockpit: Rig, text: str = "scout?") -> None:
    await cockpit.servers["disc"].say("noisy", text, addressed=True)
    await cockpit.advance(2.0)


async def both_asked(cockpit: Rig) -> None:
    """One request of the resident's and one of the subconscious's."""
    await cockpit.run(f"go=tune-out target={NOISY} wakes=100")
    await cockpit.run('go=ask text="Hello."')
    await mention(cockpit)


def read(folder: Path, text: str) -> Recipe:
    path = folder / "recipe.toml"
    path.write_text(text, "utf-8")
    return load(str(path), {})


def configured(body: Body) -> dict[str, Json]:
    return {name: value for name, value in body.items() if name in OWN}


class TestConfiguration:
    async def test_its_request_is_asked_for_as_the_primarys(self, tmp_path: Path) -> None:
        """S-3: model, thinking, parameters, ceiling and caching are the primary's; prompt and tools are its own."""
        text = provided_recipe(residents=(resident("scout", TUNED),))
        async with script(Answer("Hm.", thinking="Let me see.")) as server, provided(tmp_path, text, server) as cockpit:
            await both_asked(cockpit)
            (scout,), (watcher,) = bodies(server, "You are scout"), bodies(server, WATCHES)
            assert configured(watcher) == configured(scout)
            assert configured(watcher) == {
                "model": "claude-local",
                "max_tokens": 3000,
                "thinking": {"type": "enabled", "budget_tokens": 1024},
                "temperature": 1,
                "metadata": {"user_id": "home"},
                "stream": True,
            }
            assert sum(1 for _ in markers(watcher)) == sum(1 for _ in markers(scout))
            assert not {str(tool["name"]) for tool in listed(watcher["tools"])} & {
                str(tool["name"]) for tool in listed(scout["tools"])
            }
            assert refused(server) == []

    async def test_what_it_says_itself_is_on_top(self, tmp_path: Path) -> None:
        """S-3: a table that it writes replaces the primary's whole."""
        own = 'id = "claude-small"\nmax_tokens = 500\nthinking = { type = "disabled" }\nparameters = { top_k = 5 }'
        text = provided_recipe(model=TUNED, subconscious=f"{SUBCONSCIOUS}\n{own}")
        async with script() as server, provided(tmp_path, text, server) as cockpit:
            await both_asked(cockpit)
            (watcher,) = bodies(server, WATCHES)
            assert (watcher["model"], watcher["max_tokens"], watcher["top_k"]) == ("claude-small", 500, 5)
            assert watcher["thinking"] == {"type": "disabled"}
            assert "temperature" not in watcher
            (scout,) = bodies(server, "You are scout")
            assert (scout["model"], scout["max_tokens"]) == ("claude-local", 3000)

    async def test_its_thinking_is_replayed_and_its_calls_are_answered(self, tmp_path: Path) -> None:
        """S-3, V-8: the server checks the signature of each block that comes back."""
        calls = Answer(calls=(Call("think", {"text": "hm"}), Call("no_such_tool")), thinking="Who asks?")
        text = provided_recipe(model=TUNED)
        async with script(calls) as server, provided(tmp_path, text, server) as cockpit:
            await both_asked(cockpit)
            await mention(cockpit, "still there?")
            last = bodies(server, WATCHES)[-1]
            thoughts = [block["thinking"] for block in blocks_of(last) if block["type"] == "thinking"]
            assert thoughts == ["Who asks?", "Let me see."]
            assert refused(server) == []
            assert states(cockpit, "Subconscious") == ["started", "ended"] * 2

    async def test_its_ceilings_are_the_primarys(self, tmp_path: Path) -> None:
        """S-3, N-1, V-5: tool rounds, and what one message may take."""
        text = provided_recipe(residents=(resident("scout", "tool_rounds = 2\nmax_message_tokens = 25"),))
        thinks = Answer(calls=(Call("think", {"text": "hm"}),))
        async with script(*[thinks] * 9) as server, provided(tmp_path, text, server) as cockpit:
            await cockpit.run(f"go=tune-out target={NOISY}")
            await mention(cockpit, "x" * 200)
            assert len(bodies(server, WATCHES)) == 2
            assert told(cockpit, "tool_rounds") == ["Subconscious reached its ceiling of 2 tool rounds"]
            assert f"{'x' * 100}[truncated — original was 50 tokens]" in json.dumps(
                blocks_of(bodies(server, WATCHES)[0]), ensure_ascii=False
            )

    def test_the_samples_say_a_value_for_every_field_of_model(self) -> None:
        """S-3: a field that is added has to inherit, and so has to be here."""
        assert SAMPLES.keys() == ModelSettings.model_fields.keys()

    @pytest.mark.parametrize("name", SAMPLES)
    @pytest.mark.parametrize("place", ["model", "resident"])
    def test_every_field_of_model_is_inherited(self, tmp_path: Path, name: str, place: str) -> None:
        """S-3: from [model] by every agent, and from the primary by the subconscious."""
        toml, value = SAMPLES[name]
        line = f"{name} = {toml}"
        text = (
            'name = "home"\n[model]\n'
            + (line if place == "model" else "")
            + "\n"
            + resident("scout", line if place == "resident" else "")
            + f"\n{SUBCONSCIOUS}\n"
        )
        recipe = read(tmp_path, text)
        assert recipe.subconscious is not None
        assert recipe.primary.model.model_dump()[name] == value
        assert recipe.subconscious.model == recipe.primary.model
        environment = {"ANTHROPIC_API_KEY": "k", "OTHER_KEY": "o", "OTHER_URL": "http://other"}
        assert model_config(recipe.subconscious.model, environment) == model_config(recipe.primary.model, environment)

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ('thinking = "on"', "thinking: must be a table, not a string"),
            ("thinking = { budget_tokens = inf }", "thinking: must hold finite numbers only"),
            ("parameters = { temperature = nan }", "parameters: must hold finite numbers only"),
            ("parameters = { messages = [] }", "parameters: must not hold messages, which the cockpit sets itself"),
            ("parameters = { stream = false }", "parameters: must not hold stream, which the cockpit sets itself"),
        ],
    )
    def test_what_no_provider_could_take_is_refused(self, tmp_path: Path, line: str, said: str) -> None:
        """R-5: by file, line and field; a recipe replaces nothing that the host writes."""
        with pytest.raises(RecipeError) as caught:
            read(tmp_path, f'name = "home"\n[model]\n{line}\n{resident()}\n')
        assert str(caught.value).endswith(f"recipe.toml:3: model.{said}")


def note(key: str, text: str) -> Answer:
    return Answer(calls=(Call("note_disposition", {"key": key, "text": text}),))


def systems(server: AnthropicServer) -> list[Sequence[str]]:
    """The system blocks of each of the subconscious's requests, as bytes."""
    return [[json.dumps(block) for block in listed(body["system"])] for body in bodies(server, WATCHES)]


class TestDispositions:
    async def test_the_bytes_change_only_when_a_note_changes(self, tmp_path: Path) -> None:
        """S-7: at a fixed system position behind the prompt, whose own bytes never change."""
        done = Answer("Done.")
        notes = (note("b", "two\nlines"), note("a", "one"), note("a", "one"))
        steps = (done, *(step for each in notes for step in (each, done)), done, note("b", ""), done)
        async with script(*steps) as server, provided(tmp_path, provided_recipe(), server) as cockpit:
            await cockpit.run(f"go=tune-out target={NOISY} wakes=100")
            for number in range(6):
                await mention(cockpit, f"mention {number}")
            found = systems(server)
            assert len({prompt for prompt, *_ in found}) == 1
            assert [[json.loads(part)["text"] for part in rest] for _, *rest in found] == [
                *([], []),
                *(["[Standing dispositions]\n- b: two lines"],) * 2,
                *(["[Standing dispositions]\n- a: one\n- b: two lines"],) * 5,
                ["[Standing dispositions]\n- a: one"],
            ]
            assert len({tuple(rest) for _, *rest in found[4:9]}) == 1
            assert refused(server) == []

    async def test_they_survive_a_restart_byte_for_byte_and_no_resident_sees_them(self, tmp_path: Path) -> None:
        """S-7."""
        async with script(note("tone", "Be brief.")) as server:
            async with provided(tmp_path, provided_recipe(), server) as cockpit:
                await cockpit.run(f"go=tune-out target={NOISY} wakes=100")
                await mention(cockpit)
            async with provided(tmp_path, provided_recipe(), server) as cockpit:
                await mention(cockpit)
                await cockpit.run('go=ask text="Hello."')
            assert systems(server)[-1] == systems(server)[-2]
            assert len(systems(server)[-1]) == 2
            assert "Be brief." not in json.dumps(bodies(server, "You are scout"))
