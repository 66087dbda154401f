"""The words of a timeline that has one branch: they are read like any verb, and refused with what stands in the way."""

from __future__ import annotations

import pytest

from cockpit.core.channel import Channel
from cockpit.core.target import Target
from cockpit.core.verbs import parse
from cockpit.errors import VerbCode
from cockpit.testing.rig import Rig
from cockpit.testing.stage import DISC, GIT, NOISY, CuedModel, Start, recipe, turns


def states(cockpit: Rig) -> dict[Target, Channel]:
    return dict(cockpit.session.engine.ledger.channels)


def head(cockpit: Rig) -> int:
    return cockpit.session.engine.ledger.head


async def test_branches_answers_with_the_one_there_is(start: Start, model: CuedModel) -> None:
    """K-84."""
    async with start() as cockpit:
        await cockpit.servers["disc"].say("noisy", "one")
        answer = await cockpit.run("go=branches")
        assert (answer.ran.ok, answer.shown) == (True, ())
        assert answer.ran.message == (
            f"main: the current branch, and the only one; its last sequence is {head(cockpit)}"
        )


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("go=rewind", "missing_value", "rewind needs to="),
        ("go=rewind to=", "missing_value", "to= has no value"),
        ("go=rewind too=1", "bad_value", "did you mean to=?"),
        ("go=rewind to=0", "bad_value", "they run from 1 to"),
        ("go=rewind to=99999999999999999999999999", "bad_value", "they run from 1 to"),
        ("go=rewind to=disc/m1x", "bad_value", "did you mean disc/m1"),
        ("go=rewind to=nowhere/at-all", "bad_value", "did you mean disc/m1"),
        ("go=rewind to=-1", "bad_value", "no message '-1'"),
        ("go=switch", "missing_value", "switch needs branch="),
        ("go=switch branch=mian", "bad_value", "there is main and no other"),
        ("go=switch branch=main", "refused", "main is the current branch already"),
        ("go=rewind to=1", "refused", "this version keeps one branch only, main"),
        ("go=rewind to=disc/m1", "refused", "this version keeps one branch only, main"),
        ("rewind disc/m1", "refused", "this version keeps one branch only, main"),
    ],
)
async def test_rewind_and_switch_are_checked_and_change_nothing(
    start: Start, model: CuedModel, line: str, code: VerbCode, words: str
) -> None:
    """K-84, K-113, R-5."""
    async with start() as cockpit:
        await cockpit.servers["disc"].say("noisy", "one", message_id="m1")
        before = states(cockpit)
        ran = (await cockpit.run(line)).ran
        assert (ran.ok, ran.code) == (False, code)
        assert words in ran.message
        assert "\n" not in ran.message
        assert states(cockpit) == before
        assert turns(cockpit) == []


async def test_nothing_is_cut_from_under_what_is_held(start: Start, model: CuedModel) -> None:
    """K-84: past an enter or a mute it is refused with "cancel first", which names them; stamps and counts agree."""
    async with start(recipe(GIT, DISC)) as cockpit:
        disc = cockpit.servers["disc"]
        await disc.say("noisy", "before", message_id="m1")
        await cockpit.run(f"go=tune-out target={NOISY}")
        await cockpit.run("go=mute target=mcp:git")
        await disc.say("noisy", "held", message_id="m2")
        before = states(cockpit)
        for to in ("disc/m1", "disc/m2", "1"):
            ran = (await cockpit.run(f"go=rewind to={to}")).ran
            assert (ran.ok, ran.code, ran.hint) == (False, "refused", f"go=cancel target={NOISY}")
            assert ran.message.startswith(f"cancel first: {NOISY} is tuned out, mcp:git is muted, and a rewind")
            assert "even then it is refused, since this version keeps one branch only" in ran.message
        assert states(cockpit) == before
        await cockpit.run(f"go=cancel target={NOISY}")
        ran = (await cockpit.run("go=rewind to=disc/m2")).ran
        assert (ran.code, ran.hint) == ("refused", "go=unmute target=mcp:git")
        await cockpit.run("go=unmute target=mcp:git")
        ran = (await cockpit.run("go=rewind to=disc/m2")).ran
        assert (ran.code, ran.message.startswith("not rewound")) == ("refused", True)


async def test_many_that_stand_in_the_way_are_counted(start: Start, model: CuedModel) -> None:
    """R-5: one line, however many there are."""
    channels = [f"room{number}" for number in range(9)]
    async with start(channels={"disc": channels}) as cockpit:
        await cockpit.run("go=mute target=channel:disc/*")
        ran = (await cockpit.run("go=rewind to=1")).ran
        assert "channel:disc/room2 is muted and 6 more, and a rewind" in ran.message


@pytest.mark.parametrize("line", ["go=rewind to=", "go=switch branch=", "go=why message=", "go=mute target="])
async def test_what_is_not_there_is_named_in_a_short_line(start: Start, model: CuedModel, line: str) -> None:
    """R-5."""
    async with start() as cockpit:
        ran = (await cockpit.run(f"{line}{'x' * 100_000}")).ran
        assert not ran.ok
        assert len(ran.message) + len(ran.hint) < 600


async def test_nothing_is_written_yet(start: Start, model: CuedModel) -> None:
    async with start(recipe(GIT), down=("git",)) as cockpit:
        assert (await cockpit.run("go=branches")).ran.message.endswith("its last sequence is 0")
        ran = (await cockpit.run("go=rewind to=1")).ran
        assert (ran.code, ran.message) == ("bad_value", "no sequence 1: nothing is written yet")


@pytest.mark.parametrize(
    ("line", "to"),
    [
        ("go=rewind to=12", "12"),
        ("rewind 12", "12"),
        ("rewind disc/a=b", "disc/a=b"),
        ('go=rewind to="disc/a b"', "disc/a b"),
    ],
)
def test_a_message_id_is_read_as_it_stands(line: str, to: str) -> None:
    """cockpit.md: `to=SEQ|MESSAGE`; an id of a foreign server may hold anything."""
    assert parse(line).text("to") == to
