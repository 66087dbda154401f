"""What the operator reads of a channel: what waits, what is held and why, and what needs an answer (A-11)."""

from __future__ import annotations

from cockpit.core.events import ChannelChanged
from cockpit.core.target import parse
from cockpit.errors import ModelError
from cockpit.testing.rig import Rig
from cockpit.testing.scripted_model import Answer, Gate
from cockpit.testing.stage import NOISY, CuedModel, Start, peek, recipe, resident


def row(cockpit: Rig, target: str = NOISY) -> ChannelChanged:
    return cockpit.session.engine.rows.row(parse(target))


async def asked(cockpit: Rig, agent: str = "scout") -> None:
    await cockpit.link.ask("Well?", agent)
    await cockpit.settle()


async def test_only_what_was_shown_is_read(start: Start, model: CuedModel) -> None:
    """K-71, A-11: what comes while the request is out is not in it, and waits on; so does its part of *need*."""
    gate = Gate()
    async with start() as cockpit:
        disc = cockpit.servers["disc"]
        await disc.say("noisy", "one")
        await disc.say("noisy", "two")
        model.cue("scout", Answer("Reading.", gate=gate))
        await cockpit.link.ask("Well?")
        await gate.reached()
        assert row(cockpit).wait == 2
        await disc.say("noisy", "three", tags=("chat:addressed",))
        assert (row(cockpit).wait, row(cockpit).need) == (3, 1)
        model.cue("scout", Answer("", gate=(second := Gate())))  # the turn that the third one asks for
        gate.open()
        await cockpit.settle(held={"scout"})
        assert (row(cockpit).wait, row(cockpit).need) == (1, 1)
        second.open()
        await cockpit.settle()
        assert (row(cockpit).wait, row(cockpit).need) == (0, 0)


async def test_a_request_that_did_not_end_has_read_nothing(start: Start, model: CuedModel) -> None:
    """K-71: neither one that failed, nor one that the operator stopped, nor one that a restart broke off."""
    gate, last = Gate(), Gate()
    async with start() as cockpit:
        await cockpit.servers["disc"].say("noisy", "hello")
        model.cue("scout", ModelError("it is down"))
        await asked(cockpit)
        assert row(cockpit).wait == 1
        model.cue("scout", Answer("Reading.", gate=gate))
        await cockpit.link.ask("Well?")
        await gate.reached()
        await cockpit.run("go=stop")
        assert row(cockpit).wait == 1
        model.cue("scout", Answer("Reading.", gate=last))
        await cockpit.link.ask("Well?")
        await last.reached()
    model.cue("scout", ModelError("it is down"))
    async with start() as cockpit:
        assert row(cockpit).wait == 1
        await asked(cockpit)
        assert row(cockpit).wait == 0


async def test_what_another_agent_was_shown_waits_for_the_primary(start: Start, model: CuedModel) -> None:
    """K-71, A-11: the count is the primary's."""
    async with start(recipe(residents=(resident(), resident("ranger")))) as cockpit:
        await cockpit.servers["disc"].say("noisy", "hello")
        await asked(cockpit, "ranger")
        assert row(cockpit).wait == 1
        await asked(cockpit)
        assert row(cockpit).wait == 0


async def test_the_subconscious_reads_nothing_of_what_is_held(start: Start, model: CuedModel) -> None:
    """K-71: *held* is the backlog until its epoch ends, however often it was looked at."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY} cadence=30s")
        await cockpit.servers["disc"].say("noisy", "hello")
        await cockpit.advance(31)
        assert len(cockpit.requests("Subconscious")) == 1
        await asked(cockpit)
        assert row(cockpit).held == 1
        await cockpit.run(f"go=cancel target={NOISY}")
        assert row(cockpit).held == 0


async def test_a_backlog_that_cannot_drain_is_shown_with_its_reason(start: Start, model: CuedModel) -> None:
    """K-73: muted, tuned out and without its server, before and after a restart: the count, by whom, and why."""
    async with start() as cockpit:
        disc = cockpit.servers["disc"]
        await cockpit.run(f"go=tune-out target={NOISY}")
        await disc.say("noisy", "one", tags=("chat:addressed",))
        await cockpit.run(f"go=mute target={NOISY}")
        await disc.say("noisy", "two")
        await disc.down("it ran out of memory")
        await cockpit.settle()
        found = row(cockpit)
        assert (found.held, found.label, found.muted_by) == (2, "muted · offline", ("operator",))
        assert found.reason == "it ran out of memory"
        assert found.epoch is not None
        peeked = await peek(cockpit)
        assert [one.text for one in peeked.messages] == ["one", "two"]
    async with start(down=("disc",)) as cockpit:
        found = row(cockpit)
        assert (found.held, found.label, found.muted_by) == (2, "muted · connecting", ("operator",))
        assert found.epoch is not None
        await cockpit.run(f"go=cancel target={NOISY}")
        assert row(cockpit).held == 0


async def test_what_a_mute_withholds_is_counted_until_the_unmute_tells_of_it(start: Start, model: CuedModel) -> None:
    """K-73, M-11: a turn of the resident's takes nothing from it."""
    async with start() as cockpit:
        await cockpit.run("go=mute target=mcp:disc")
        await cockpit.servers["disc"].say("noisy", "hello")
        await asked(cockpit)
        assert (row(cockpit).held, row(cockpit).wait, row(cockpit).muted_by) == (1, 0, ("operator",))
        await cockpit.run("go=unmute target=mcp:disc")
        assert row(cockpit).held == 0
