"""Taking back one's last change of attention (cockpit.md, `go=undo`), and typing while a turn runs (A-9)."""

from __future__ import annotations

import pytest

from cockpit.testing.rig import Rig
from cockpit.testing.scripted_model import Answer, Gate
from cockpit.testing.stage import DISC, GIT, NOISY, CuedModel, Start, audit, notices, recipe, turns, use

QUIET = "channel:disc/quiet"


def label(cockpit: Rig, target: str = NOISY) -> str:
    return cockpit.session.engine.rows.row(cockpit.channel(target).target).label


@pytest.mark.parametrize(
    ("first", "verb", "shown"),
    [
        ((), "mute", "online"),
        (("mute",), "unmute", "muted"),
        ((), "close", "online"),
        (("close",), "open", "closed"),
        ((), "tune-out", "online"),
    ],
)
async def test_the_last_change_is_taken_back(
    start: Start, model: CuedModel, first: tuple[str, ...], verb: str, shown: str
) -> None:
    async with start() as cockpit:
        for each in (*first, verb):
            await cockpit.run(f"go={each} target={NOISY}")
        assert label(cockpit) != shown
        answer = (await cockpit.run("go=undo")).ran
        assert answer.ok
        assert answer.message.startswith(f"took back {verb}: ")
        assert label(cockpit) == shown


async def test_undo_goes_back_step_by_step(start: Start, model: CuedModel) -> None:
    """And ends where there is nothing more of one's own."""
    async with start() as cockpit:
        await cockpit.run(f"go=mute target={NOISY}")
        await cockpit.run(f"go=close target={QUIET}")
        await use(cockpit, model, "mute_channel", channel="quiet")
        await cockpit.run("go=undo")
        assert (label(cockpit), label(cockpit, QUIET)) == ("muted", "muted")
        await cockpit.run("go=undo")
        assert label(cockpit) == "online"
        refused = (await cockpit.run("go=undo")).ran
        assert (refused.ok, refused.code) == (False, "refused")
        assert cockpit.channel(QUIET).span is not None


async def test_a_tune_out_that_diverted_something_is_not_taken_back(start: Start, model: CuedModel) -> None:
    """Refused, with the verb to use; nothing is lost, and it can still be cancelled."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        await cockpit.servers["disc"].say("noisy", "one")
        refused = (await cockpit.run("go=undo")).ran
        assert (refused.ok, refused.hint) == (False, f"go=cancel target={NOISY}")
        assert label(cockpit) == "tuned-out"
        assert notices(cockpit, "tune-out-cancel") == []


async def test_undo_is_audited_as_what_it_does(start: Start, model: CuedModel) -> None:
    """K-123."""
    async with start() as cockpit:
        await cockpit.run(f"go=mute target={NOISY}")
        await cockpit.run("go=undo")
        assert [row["verb"] for row in await audit(cockpit)] == ["mute", "unmute"]


async def test_typing_is_shown_where_the_turn_was_woken_and_renewed(start: Start, model: CuedModel) -> None:
    """A-9: while the turn runs, every 7 s, and stopped with it."""
    gate = Gate()
    async with start() as cockpit:
        disc = cockpit.servers["disc"]
        model.cue("scout", Answer("Thinking.", gate=gate))
        await disc.say("noisy", "scout?", addressed=True)
        await gate.reached()
        assert disc.typed == [("noisy", True)]
        await cockpit.advance(7, held={"scout"})
        await cockpit.advance(7, held={"scout"})
        assert disc.typed == [("noisy", True)] * 3
        gate.open()
        await cockpit.settle()
        assert disc.typed == [*[("noisy", True)] * 3, ("noisy", False)]
        await cockpit.advance(30)
        assert len(disc.typed) == 4


@pytest.mark.parametrize("verb", ["mute", "tune-out"])
async def test_typing_stops_where_it_is_no_longer_heard(start: Start, model: CuedModel, verb: str) -> None:
    """A-9: entering the state during a turn stops one that is running."""
    gate = Gate()
    async with start() as cockpit:
        disc = cockpit.servers["disc"]
        model.cue("scout", Answer("Thinking.", gate=gate))
        await disc.say("noisy", "scout?", addressed=True)
        await gate.reached()
        await cockpit.run(f"go={verb} target={NOISY}", held={"scout"})
        assert disc.typed == [("noisy", True), ("noisy", False)]
        await cockpit.advance(21, held={"scout"})
        assert len(disc.typed) == 2
        gate.open()
        await cockpit.settle()
        assert disc.typed.count(("noisy", True)) == 1


@pytest.mark.parametrize("addressed", [True, False])
async def test_no_typing_is_sent_to_a_tuned_out_channel(start: Start, model: CuedModel, addressed: bool) -> None:
    """A-9, K-13: ambient or addressed."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        await cockpit.servers["disc"].say("noisy", "scout?", addressed=addressed)
        await cockpit.advance(2.0)
        await cockpit.run(f"go=cancel target={NOISY}")
        assert ("noisy", True) not in cockpit.servers["disc"].typed


async def test_no_typing_for_a_turn_that_no_channel_woke(start: Start, model: CuedModel) -> None:
    """A-9: a prompt, or a push of a server."""
    async with start(recipe(GIT, DISC)) as cockpit:
        await cockpit.run('go=ask text="Hello."')
        assert turns(cockpit) == ["prompt"]
        assert cockpit.servers["disc"].typed == []
        assert cockpit.servers["git"].typed == []
