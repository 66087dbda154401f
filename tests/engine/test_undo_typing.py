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


async def test_a_glob_is_taken_back_whole(start: Start, model: CuedModel) -> None:
    """cockpit.md, `go=undo`: the verb that was said, of which each is reported; what it left as it was stays so."""
    both = recipe(GIT, GIT.replace('"git"', '"github"'), DISC)
    async with start(both) as cockpit:
        await cockpit.run(f"go=close target={QUIET}")
        await cockpit.run("go=mute target=mcp:git")
        await cockpit.run("go=mute target=mcp:*")
        ran = (await cockpit.run("go=undo")).ran
        assert (ran.ok, ran.message) == (True, "took back mute: 2 of 2 done")
        assert [(each.target, each.message) for each in ran.results] == [
            (f"mcp:{name}", f"mcp:{name} is unmuted") for name in ("github", "disc")
        ]
        assert [label(cockpit, f"mcp:{name}") for name in ("git", "github", "disc")] == ["muted", "online", "online"]
        assert (await cockpit.run("go=undo")).ran.message == "took back mute: mcp:git is unmuted"
        assert (label(cockpit, "mcp:git"), label(cockpit, QUIET)) == ("online", "closed")


async def test_a_mute_of_a_server_and_its_channels_is_taken_back_whole(start: Start, model: CuedModel) -> None:
    """The server comes first: a channel of a muted one cannot be unmuted alone (M-11)."""
    async with start() as cockpit:
        await cockpit.run("go=mute target=*:*disc*")
        assert {label(cockpit, each) for each in ("mcp:disc", NOISY, QUIET)} == {"muted"}
        assert (await cockpit.run("go=undo")).ran.message == "took back mute: 3 of 3 done"
        assert {label(cockpit, each) for each in ("mcp:disc", NOISY, QUIET)} == {"online"}


async def test_what_of_a_glob_cannot_be_taken_back_says_so_and_stays(start: Start, model: CuedModel) -> None:
    """With the verb to use; the rest is taken back, once."""
    async with start() as cockpit:
        await cockpit.run("go=tune-out target=channel:disc/*")
        await cockpit.servers["disc"].say("noisy", "one")
        ran = (await cockpit.run("go=undo")).ran
        kept = f"tune-out of {NOISY} is not taken back: messages were diverted; go=cancel target={NOISY}"
        assert {each.target: (each.ok, each.message) for each in ran.results} == {
            NOISY: (False, kept),
            QUIET: (True, f"the tune-out of {QUIET} is cancelled"),
        }
        assert (ran.ok, ran.code, ran.hint) == (False, "refused", f"go=cancel target={NOISY}")
        assert (label(cockpit), label(cockpit, QUIET)) == ("tuned-out", "online")
        again = (await cockpit.run("go=undo")).ran
        assert [each.target for each in again.results] == [NOISY]


@pytest.mark.parametrize(
    ("lines", "hint"),
    [
        ([f"go=tune-out target={NOISY}", f"go=cancel target={NOISY}"], f"go=tune-out target={NOISY}"),
        ([f"go=mute target={NOISY}", f"editor: go=unmute target={NOISY}"], f"go=mute target={NOISY}"),
    ],
)
async def test_what_has_ended_by_other_means_is_not_in_the_way(
    start: Start, model: CuedModel, lines: list[str], hint: str
) -> None:
    """Undo says so, with the verb that does it again, and the one after it takes back what came before."""
    async with start() as cockpit:
        await cockpit.run(f"go=mute target={QUIET}")
        for line in lines:
            by, _, said = line.rpartition(": ")
            link = cockpit.session.link("bridge", name=by) if by else cockpit.link
            assert (await link.run(said)).ran.ok
        await cockpit.settle()
        refused = (await cockpit.run("go=undo")).ran
        assert (refused.ok, refused.code, refused.hint) == (False, "already", hint)
        assert "messages were diverted" not in refused.message
        assert (await cockpit.run("go=undo")).ran.message == f"took back mute: {QUIET} is unmuted"


async def test_an_open_is_not_taken_back_through_a_tune_out(start: Start, model: CuedModel) -> None:
    """T-4: a close would cancel it, with its dump; nobody asked for that."""
    async with start() as cockpit:
        await cockpit.run(f"go=close target={NOISY}")
        await cockpit.run(f"go=open target={NOISY}")
        await use(cockpit, model, "tune_out", channel="noisy")
        refused = (await cockpit.run("go=undo")).ran
        assert (refused.ok, refused.hint) == (False, f"go=cancel target={NOISY}")
        assert (label(cockpit), notices(cockpit, "tune-out-cancel")) == ("tuned-out", [])


async def test_undo_is_audited_as_what_it_does(start: Start, model: CuedModel) -> None:
    """K-123."""
    async with start() as cockpit:
        await cockpit.run(f"go=mute target={NOISY}")
        await cockpit.run("go=undo")
        assert [(row["verb"], row["reason"]) for row in await audit(cockpit)] == [("mute", ""), ("unmute", "undo")]


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
