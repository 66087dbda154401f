"""What an operator reads of a cockpit on a provider: usage and cost, contexts, budgets, and who is shown what (N-3,
V-6)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cockpit.core.events import ContextShown, Counted, TurnChanged
from cockpit.core.message import RESIDENTS, Json
from cockpit.core.records import Usage
from cockpit.errors import RecipeError
from cockpit.recipe import load
from cockpit.testing.anthropic_check import markers, problem
from cockpit.testing.anthropic_server import Answer, AnthropicServer, Call, Step
from cockpit.testing.provided import (
    Body,
    blocks_of,
    bodies,
    listed,
    prefix,
    provided,
    provided_recipe,
    refused,
    said,
    spoken,
    states,
    system_of,
    told,
)
from cockpit.testing.rig import Rig
from cockpit.testing.stage import DISC, GIT, NOISY, resident

PRICES = "prices = { input = 3.0, output = 15.0, cache_read = 0.3, cache_write = 3.75 }"
TIGHT = 'context_tokens = 4000\nmax_tokens = 500\nmax_message_tokens = "none"'


async def stats(cockpit: Rig) -> dict[str, dict[str, Json]]:
    """The agents of `go=stats`, by name."""
    (shown,) = (await cockpit.run("go=stats")).shown
    assert isinstance(shown, Counted)
    return {str(row["agent"]): dict(row) for row in shown.agents}


async def context(cockpit: Rig, agent: str = "") -> ContextShown:
    """What `go=context` shows of one agent; of the primary unless said."""
    (shown,) = (await cockpit.run(f"go=context agent={agent}" if agent else "go=context")).shown
    assert isinstance(shown, ContextShown)
    return shown


class TestUsage:
    async def test_usage_is_told_a_turn_and_in_total(self, tmp_path: Path) -> None:
        """A turn's usage is the sum of its requests; the totals outlive a restart."""
        calls = Answer("", (Call("channel_list"),), usage=Usage(output=20))
        script = [calls, Answer("One.", usage=Usage(output=7)), Answer("Two.", usage=Usage(output=5))]
        async with AnthropicServer(script) as server:
            async with provided(tmp_path, provided_recipe(), server) as cockpit:
                await cockpit.run('go=ask text="One?"')
                await cockpit.run('go=ask text="Two?"')
                first, second, third = (served.usage for served in server.requests)
                ends = [event.usage for event in cockpit.of(TurnChanged) if event.state == "ended"]
                assert ends == [first + second, third]
                assert (first.output, second.output, third.output) == (20, 7, 5)
                assert third.cache_read > 0
                before = await stats(cockpit)
                assert before["scout"]["cache_read"] == second.cache_read + third.cache_read
                assert before["scout"]["turns"] == 2
            async with provided(tmp_path, provided_recipe(), server) as cockpit:
                assert (await stats(cockpit))["scout"] == before["scout"]

    async def test_cost_by_the_recipes_prices_of_each_agent(self, tmp_path: Path) -> None:
        """S-3: the subconscious costs by the primary's prices unless it says its own; no prices, no cost."""
        text = provided_recipe(residents=(resident("scout", PRICES), resident("ranger")))
        async with AnthropicServer() as server, provided(tmp_path, text, server) as cockpit:
            await cockpit.run(f"go=tune-out target={NOISY}")
            await cockpit.servers["disc"].say("noisy", "scout?", addressed=True)
            await cockpit.advance(2.0)
            for _ in range(2):
                await cockpit.run('go=ask text="Well?"')
            await cockpit.link.ask("And you?", "ranger")
            await cockpit.settle()
            found = await stats(cockpit)
            for agent, system in (("scout", "You are scout"), ("Subconscious", "You watch")):
                used = [served.usage for served in server.requests if system_of(served.body).startswith(system)]
                total = sum(used, Usage())
                cost = total.input * 3 + total.output * 15 + total.cache_read * 0.3 + total.cache_write * 3.75
                assert found[agent]["cost"] == pytest.approx(cost / 1_000_000)
                assert cost > 0
            assert found["ranger"]["cost"] is None
            assert found["ranger"]["output"] != 0


class TestContext:
    async def test_of_both_agents_what_they_would_be_sent_now(self, tmp_path: Path) -> None:
        """V-1, V-7: a dry run that a provider would take, with its markers, counted within its budget."""
        text = provided_recipe(GIT, DISC)
        async with AnthropicServer() as server, provided(tmp_path, text, server) as cockpit:
            await cockpit.run(f"go=tune-out target={NOISY}")
            await cockpit.servers["disc"].say("noisy", "diverted words", addressed=True)
            await cockpit.servers["disc"].say("quiet", "heard words")
            await cockpit.advance(2.0)
            await cockpit.run('go=ask text="Well?"')
            for agent, begins in (("scout", "You are scout"), ("Subconscious", "You watch")):
                shown = await context(cockpit, agent)
                assert 0 < shown.tokens < shown.budget < 200_000
                request = dict(shown.request)
                assert system_of(request).startswith(begins)
                assert 1 <= sum(1 for _ in markers(request)) <= 4
                assert problem({"model": "any", **request}) is None
                assert "heard words" in said(request)
                assert ("diverted words" in said(request)) == (agent == "Subconscious")
                sent = prefix(bodies(server, begins)[-1])
                assert prefix(request)[: len(sent)] == sent
            assert (await context(cockpit)).agent == "scout"
            assert (await cockpit.run("go=context agent=scot")).ran.code == "bad_value"
            assert len(server.requests) == 2

    async def test_it_moves_nothing(self, tmp_path: Path) -> None:
        """V-3: looking changes no byte of what is sent next."""
        async with AnthropicServer() as server, provided(tmp_path, provided_recipe(), server) as cockpit:
            await cockpit.run('go=ask text="One."')
            before = cockpit.session.engine.minds.minds["scout"].context.anchor
            for _ in range(3):
                await context(cockpit, "scout")
            assert cockpit.session.engine.minds.minds["scout"].context.anchor == before
            await cockpit.run('go=ask text="Two."')
            one, two = map(prefix, bodies(server))
            assert two[: len(one)] == one


class TestBudgets:
    async def test_a_message_that_no_request_can_hold_is_told_by_its_number(self, tmp_path: Path) -> None:
        """V-6: the turn fails before anything is sent, and with the next message the window jumps past it."""
        text = provided_recipe(model=TIGHT, subconscious="")
        async with AnthropicServer() as server, provided(tmp_path, text, server) as cockpit:
            await cockpit.servers["disc"].say("quiet", "x" * 20_000, addressed=True)
            await cockpit.settle()
            assert server.requests == []
            assert states(cockpit) == ["started", "failed"]
            number = (await cockpit.stored(RESIDENTS))[-1].sequence
            (line,) = told(cockpit, "model")
            assert line.startswith(f"scout: message {number} alone takes about ")
            assert (await cockpit.run("go=context agent=scout")).ran.message in line
            await cockpit.servers["disc"].say("quiet", "and something short", addressed=True)
            await cockpit.settle()
            assert states(cockpit) == ["started", "failed", "started", "ended"]
            assert "and something short" in said(server.requests[0].body)
            assert "xxx" not in said(server.requests[0].body)

    def test_a_cap_that_exceeds_the_usable_budget_is_refused_when_the_recipe_is_read(self, tmp_path: Path) -> None:
        """V-6."""
        path = tmp_path / "recipe.toml"
        path.write_text(provided_recipe(model=TIGHT.replace('"none"', "4000")), "utf-8")
        with pytest.raises(RecipeError, match="max_message_tokens 4000 exceeds the usable budget of 34"):
            load(str(path), {})


class TestTwoResidents:
    async def test_each_has_its_own_words_natively_and_the_others_by_name(self, tmp_path: Path) -> None:
        """N-3: only its own messages are the assistant's, with native tools and thinking; another's words are told, its
        calls a line each, its results and thinking left out."""
        looks = Answer("I will look.", (Call("git__status"), Call("channel_list")), thinking="Where is it?")
        report = Answer(calls=(Call("deliver_summary", {"channel": "noisy", "text": "You were asked."}),))
        steps: dict[str, list[Step]] = {"You are scout": [looks, Answer("It is clean.")], "You watch": [report]}

        def play(body: Body) -> Step:
            mine = next((steps[name] for name in steps if system_of(body).startswith(name)), [])
            return mine.pop(0) if mine else Answer("Done.")

        text = provided_recipe(
            GIT,
            DISC,
            model='max_tokens = 3000\nthinking = { type = "enabled", budget_tokens = 1024 }',
            residents=(resident(), resident("ranger")),
        )
        async with AnthropicServer(play) as server, provided(tmp_path, text, server) as cockpit:
            await cockpit.run('go=ask text="Is it clean?"')
            await cockpit.run(f"go=tune-out target={NOISY}")
            await cockpit.servers["disc"].say("noisy", "scout?", addressed=True)
            await cockpit.advance(2.0)
            await cockpit.link.ask("What did scout find?", "ranger")
            await cockpit.settle()
            await cockpit.run('go=ask text="And now?"')
            (ranger,), scout = bodies(server, "You are ranger"), bodies(server, "You are scout")[-1]
            assert texts(ranger, "user") == [
                "Is it clean?",
                "scout: I will look.\nscout used git__status\nscout used channel_list",
                "scout: It is clean.",
                "Subconscious: You were asked.",
                "What did scout find?",
            ]
            assert blocks_of(ranger, "assistant") == []
            assert [block["type"] for block in blocks_of(scout, "assistant")] == [
                *("thinking", "text", "tool_use", "tool_use"),
                *("thinking", "text"),
            ]
            assert "ranger: Done." in texts(scout, "user")
            assert "Subconscious: You were asked." in texts(scout, "user")
            assert spoken(cockpit) == ["I will look.", "It is clean.", "Done.", "Done."]
            assert refused(server) == []

    async def test_their_tools_and_ceilings_are_their_own(self, tmp_path: Path) -> None:
        """N-3, V-5: a resident's own `max_message_tokens` cuts what it is sent, and nobody else's."""
        text = provided_recipe(residents=(resident(), resident("ranger", "max_message_tokens = 10")))
        async with AnthropicServer() as server, provided(tmp_path, text, server) as cockpit:
            await cockpit.servers["disc"].say("quiet", "y" * 100, addressed=True)
            await cockpit.settle()
            (scout,), (ranger,) = bodies(server, "You are scout"), bodies(server, "You are ranger")
            assert "y" * 100 in said(scout)
            assert f"{'y' * 40}[truncated — original was 25 tokens]" in said(ranger)
            assert json.dumps(listed(scout["tools"])) == json.dumps(listed(ranger["tools"]))


def texts(body: Body, role: str) -> list[str]:
    """The text blocks of one role."""
    return [str(block["text"]) for block in blocks_of(body, role) if block["type"] == "text"]
