"""Views and the windowed strategy through a whole engine (semantics.md V-1 to V-5, V-8)."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence

import pytest

from cockpit.context.agent_context import AgentContext, Compiled
from cockpit.context.budget import Prelude
from cockpit.core.events import ContextShown
from cockpit.core.inputs import Receipt
from cockpit.core.message import Block, Text, ToolUse
from cockpit.core.request import Request
from cockpit.testing.conversation import flat
from cockpit.testing.rig import Rig
from cockpit.testing.scripted_model import Answer, Call
from cockpit.testing.stage import DISC, GIT, NOISY, CuedModel, Start, recipe, shown

TIGHT = recipe(model="context_tokens = 7000\nmax_tokens = 1000\nmax_message_tokens = 500")
QUIET = "channel:disc/quiet"


async def talk(cockpit: Rig, count: int) -> list[Request]:
    """So many turns, each with one message heard before it; gives the requests of scout."""
    for number in range(count):
        await cockpit.servers["disc"].say("noisy", f"{number} " + "w" * 1600)
        await cockpit.link.ask("Go on.")
        await cockpit.settle()
    return cockpit.requests("scout")


def jumps(requests: Sequence[Request]) -> list[int]:
    """The places at which a request is not the one before it and appends."""
    found = []
    for place in range(1, len(requests)):
        before, after = flat(requests[place - 1].messages), flat(requests[place].messages)
        if after[: len(before)] != before:
            found.append(place)
    return found


def size(request: Request) -> int:
    blocks: list[Block] = [block for turn in request.messages for block in turn.blocks]
    return sum(len(block.text) for block in blocks if isinstance(block, Text))


async def test_between_jumps_a_request_is_the_one_before_and_appends(start: Start, model: CuedModel) -> None:
    """V-3, A-3: the anchor stays until the budget is full, then jumps to about half of it, and stays."""
    async with start(TIGHT) as cockpit:
        requests = await talk(cockpit, 60)
        found = jumps(requests)
        assert 1 <= len(found) <= 8
        assert all(later - earlier > 3 for earlier, later in itertools.pairwise(found))
        for place in found:
            assert size(requests[place]) < 0.75 * size(requests[place - 1])
        assert all(request.tokens <= 6000 for request in requests)


async def test_a_dry_run_moves_nothing(start: Start, model: CuedModel) -> None:
    """V-3: previews between any two turns change no byte of what is sent."""
    async with start(TIGHT) as cockpit:
        for number in range(40):
            await cockpit.servers["disc"].say("noisy", f"{number} " + "w" * 1600)
            anchor = cockpit.session.engine.minds.minds["scout"].context.anchor
            (shown_now,) = (await cockpit.run("go=context")).shown
            assert isinstance(shown_now, ContextShown)
            assert cockpit.session.engine.minds.minds["scout"].context.anchor == anchor


async def test_a_preview_is_what_is_sent(start: Start, model: CuedModel) -> None:
    """V-1: compile, preview and statistics read one view."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        await cockpit.servers["disc"].say("noisy", "diverted")
        await cockpit.servers["disc"].say("quiet", "scout?", addressed=True)
        before = (await cockpit.link.run("go=context agent=scout")).shown[0]
        await cockpit.settle()
        sent = cockpit.requests("scout")[0]
        assert isinstance(before, ContextShown)
        assert before.tokens == sent.tokens
        assert "diverted" not in shown(sent)


async def test_the_anchor_survives_a_restart(start: Start, model: CuedModel) -> None:
    """V-4: what was sent is sent again, and no more of it."""
    async with start(TIGHT) as cockpit:
        before = (await talk(cockpit, 40))[-1]
        assert jumps(cockpit.requests("scout"))
        anchor = cockpit.session.engine.minds.minds["scout"].context.anchor
    async with start(TIGHT) as cockpit:
        assert cockpit.session.engine.minds.minds["scout"].context.anchor == anchor
        await cockpit.run('go=ask text="After the restart."')
        after = cockpit.requests("scout")[-1]
        assert flat(after.messages)[: len(flat(before.messages))] == flat(before.messages)


async def test_the_subconscious_reads_from_the_start_of_the_oldest_epoch(start: Start, model: CuedModel) -> None:
    """V-4, S-2: entering sets its anchor there; what was said before is not in its window."""
    async with start() as cockpit:
        await cockpit.servers["disc"].say("quiet", "long before")
        await cockpit.run(f"go=tune-out target={NOISY}")
        await cockpit.servers["disc"].say("quiet", "since then")
        await cockpit.servers["disc"].say("noisy", "scout?", addressed=True)
        await cockpit.advance(2.0)
        seen = shown(cockpit.requests("Subconscious")[0])
        assert "long before" not in seen
        assert "since then" in seen


async def test_ending_an_epoch_moves_no_anchor(start: Start, model: CuedModel) -> None:
    """V-4: moving it forward would break the prefix for nothing."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        await cockpit.servers["disc"].say("noisy", "one", addressed=True)
        await cockpit.advance(2.0)
        await cockpit.run(f"go=cancel target={NOISY}")
        first, second = cockpit.requests("Subconscious")
        assert flat(second.messages)[: len(flat(first.messages))] == flat(first.messages)


async def test_a_message_is_found_by_its_id_through_every_view_that_holds_it(start: Start, model: CuedModel) -> None:
    """V-2: and through no other."""
    async with start() as cockpit:
        disc = cockpit.servers["disc"]
        minds = cockpit.session.engine.minds.minds
        await disc.say("quiet", "heard", message_id="h1")
        await cockpit.run(f"go=tune-out target={NOISY}")
        await disc.say("noisy", "diverted", message_id="d1")
        await cockpit.run(f"go=mute target={QUIET}")
        await disc.say("quiet", "withheld", message_id="w1")
        for name, held in (("scout", ["h1"]), ("Subconscious", ["h1", "d1"])):
            found = [await minds[name].context.find(f"disc/{one}") for one in ("h1", "d1", "w1")]
            assert [one.id for one in found if one is not None] == held


async def test_any_interleaving_satisfies_the_provider(start: Start, model: CuedModel) -> None:
    """V-8: a strict model takes every request of a session in which everything happens at once."""
    async with start(recipe(GIT, DISC)) as cockpit:
        disc = cockpit.servers["disc"]
        for number in range(12):
            model.cue(
                "scout",
                Answer(
                    "" if number % 3 else "Looking.",
                    calls=(Call("git__status"), Call("channel_list"), Call("nonsense")),
                    thinking="hm" if number % 2 else "",
                ),
                Answer(""),
            )
            await asyncio.gather(
                cockpit.link.ask(f"Prompt {number}."),
                disc.say("noisy", f"line {number}", addressed=bool(number % 2)),
                cockpit.link.run(f"go={'cancel' if number % 4 == 3 else 'tune-out'} target={NOISY}"),
                cockpit.link.run(f"go={'unmute' if number % 2 else 'mute'} target={QUIET}"),
                disc.say("quiet", f"aside {number}", addressed=True),
            )
            await cockpit.advance(2.0)
        assert len(model.requests) > 20
        for request in model.requests:
            roles = [turn.role for turn in request.messages]
            assert roles == [("user", "assistant")[place % 2] for place in range(len(roles))]
            assert all(turn.blocks for turn in request.messages)
        assert any(isinstance(block, ToolUse) for turn in model.requests[-1].messages for block in turn.blocks)
        assert not [event for event in cockpit.events if "400" in str(event)]


@pytest.mark.parametrize("agent", ["scout", "Subconscious"])
async def test_what_comes_while_the_anchor_is_kept_is_in_no_request(
    start: Start, model: CuedModel, monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    """A-11, T-12: a jump is written before its request is sent; a message of that moment is not taken as read."""
    guests: list[asyncio.Future[Receipt]] = []
    async with start(TIGHT) as cockpit:
        disc = cockpit.servers["disc"]
        await cockpit.run(f"go=tune-out target={NOISY} cadence=30")
        context = cockpit.session.engine.minds.minds[agent].context
        compiled = AgentContext.compile

        def compile_and_let_in(self: AgentContext, prelude: Prelude, *, began: int | None = None) -> Compiled:
            done = compiled(self, prelude, began=began)
            if self is context and done.moved:
                room = "quiet" if agent == "scout" else "noisy"
                guests.append(asyncio.ensure_future(disc.say(room, "at that very moment")))
            return done

        monkeypatch.setattr(AgentContext, "compile", compile_and_let_in)
        for _ in range(20):
            await disc.say("noisy", "w" * 1600)
            await disc.say("quiet", "w" * 1600)
            if agent == "scout":
                await cockpit.run('go=ask text="Go on."')
            else:
                await cockpit.advance(30)
            if guests:
                break
        assert guests
        assert "at that very moment" not in shown(cockpit.requests(agent)[-1])
        epoch = cockpit.channel(NOISY).epoch
        assert epoch is not None
        assert (cockpit.channel(QUIET).wait if agent == "scout" else epoch.undigested) == 1
