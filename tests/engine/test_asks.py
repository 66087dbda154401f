"""A resident who wants to mute the operator asks, and nothing is muted before the operator's own yes (M-7)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from cockpit.core.events import Failed
from cockpit.core.records import Batch, Snapshot
from cockpit.core.target import parse
from cockpit.core.world import Actor
from cockpit.engine.asks import SLOT
from cockpit.errors import VerbError
from cockpit.store.chronicle import open_chronicle
from cockpit.testing.rig import Rig
from cockpit.testing.scripted_model import Answer, Gate
from cockpit.testing.stage import CuedModel, Start, audit, listed, notices, recipe, resident, shown, turns, use

TALK = '[intercom]\noperator = "you"\nfeeds = ["general"]'
ROOM = recipe(residents=(resident(), resident("ranger")), more=TALK)
YOU = "user:you"
YES, NO = f"go=mute target={YOU} soft=yes", f"go=unmute target={YOU}"


def told(cockpit: Rig) -> list[str]:
    """What the operator was told of what waits for a yes."""
    return [event.message for event in cockpit.of(Failed) if event.code == "mute_asked"]


def layers(cockpit: Rig) -> tuple[str, ...]:
    span = cockpit.channel(YOU).span
    return () if span is None else span.layers


async def asks(cockpit: Rig, model: CuedModel, by: str = "scout", reason: str = "you are loud") -> str:
    return await use(cockpit, model, "mute_channel", by=by, channel=YOU, reason=reason)


async def test_it_is_answered_at_once_and_nothing_is_muted(start: Start, model: CuedModel) -> None:
    """M-7, K-116: the resident is told that it waits, and the operator what to say."""
    async with start(ROOM) as cockpit:
        said = await asks(cockpit, model)
        assert said.startswith(f"{YOU} is the operator: this waits for their yes, and nothing is muted yet.")
        assert layers(cockpit) == ()
        (line,) = told(cockpit)
        assert line.startswith(f"scout asks to mute {YOU}: only your side-channel messages")
        assert "(you are loud)" in line
        assert line.endswith(f"{YES} is a yes, {NO} a no")
        await cockpit.run('go=say text="still heard"')
        assert "still heard" in shown(cockpit.requests("scout")[-1])
        assert "your mute of it waits for the operator's yes" in await use(cockpit, model, "channel_list")


async def test_the_operators_yes_is_the_soft_form_in_the_residents_layer(start: Start, model: CuedModel) -> None:
    """M-7, M-9, K-117: what they say beside it is held; prompt, steer and stop pass; a resident takes it off."""
    async with start(ROOM) as cockpit:
        await asks(cockpit, model)
        assert (await cockpit.run(YES)).ran.ok
        span = cockpit.channel(YOU).span
        assert span is not None
        assert (span.layers, span.soft) == (("resident",), True)
        assert notices(cockpit, "mute") == [f"[Mute: {YOU} is muted — the operator said yes to scout]"]
        await cockpit.run('go=say text="a held word"')
        gate = Gate()
        model.cue("scout", Answer("Working.", gate=gate))
        await cockpit.link.ask("a prompt")
        await gate.reached()
        await cockpit.link.ask("a steer")
        assert (await cockpit.run("go=stop", held=("scout",))).ran.ok
        await cockpit.run('go=ask text="another prompt"')
        heard = shown(cockpit.requests("scout")[-1])
        assert all(words in heard for words in ("a prompt", "a steer", "another prompt", "the operator said yes"))
        assert "a held word" not in heard
        refused = (await cockpit.run(NO)).ran
        assert (refused.code, "only the resident can unmute it" in refused.message) == ("refused", True)
        assert await use(cockpit, model, "unmute_channel", by="ranger", channel=YOU) == f"{YOU} is unmuted"
        assert layers(cockpit) == ()


async def test_the_operators_no_is_told_to_the_residents(start: Start, model: CuedModel) -> None:
    """M-7: and wakes nobody; a later yes finds nothing to say yes to, and mutes in the operator's own layer."""
    async with start(ROOM) as cockpit:
        await asks(cockpit, model)
        before = turns(cockpit)
        ran = (await cockpit.run(NO)).ran
        assert (ran.ok, ran.message) == (True, f"scout is told no: {YOU} is not muted")
        assert notices(cockpit, "mute") == [f"[Mute: {YOU} is not muted — the operator said no to scout]"]
        assert (layers(cockpit), turns(cockpit)) == ((), before)
        await cockpit.link.ask("Well?")
        await cockpit.settle()
        assert "the operator said no to scout" in shown(cockpit.requests("scout")[-1])
        await cockpit.run(YES)
        assert layers(cockpit) == ("operator",)


async def test_a_second_wish_is_not_doubled(start: Start, model: CuedModel) -> None:
    """M-7: by the same resident or another; the operator is asked once."""
    async with start(ROOM) as cockpit:
        await asks(cockpit, model)
        for by in ("scout", "ranger"):
            said = await asks(cockpit, model, by)
            assert said == (
                f"refused: {YOU} is not muted yet: what scout asked for waits for the operator's yes already"
            )
        assert len(told(cockpit)) == 1
        await cockpit.run(YES)
        assert await asks(cockpit, model) == f"refused: {YOU} is muted by the resident already"


async def test_it_is_asked_and_answered_once_under_a_race(start: Start, model: CuedModel) -> None:
    """M-7: two residents at once, then two answers at once; what came second finds what the first has left."""
    async with start(ROOM) as cockpit:
        acts, you = cockpit.session.engine.acts, parse(YOU)
        wishes = [acts.mute(you, Actor(name, "resident", "tool")) for name in ("scout", "ranger")]
        said = await asyncio.gather(*wishes, return_exceptions=True)
        assert [isinstance(each, VerbError) for each in said] == [False, True]
        assert len(told(cockpit)) == 1
        answers = await asyncio.gather(cockpit.link.run(NO), cockpit.link.run(YES), cockpit.link.run(NO))
        assert [answer.ran.ok for answer in answers] == [True, True, True]
        assert "scout is told no" in answers[0].ran.message
        assert "unmuted" in answers[2].ran.message  # the operator's own soft mute, between the two
        await cockpit.settle()
        assert len(notices(cockpit, "mute")) == 1
        assert layers(cockpit) == ()


async def test_a_resident_takes_it_back(start: Start, model: CuedModel) -> None:
    """M-7: the operator is told, and a later no is one of nothing."""
    async with start(ROOM) as cockpit:
        await asks(cockpit, model)
        said = await use(cockpit, model, "unmute_channel", channel=YOU)
        assert said == f"{YOU} was not muted, and the operator is no longer asked"
        assert told(cockpit)[-1] == f"scout no longer asks to mute {YOU}"
        assert (await cockpit.run(NO)).ran.code == "already"
        assert notices(cockpit, "mute") == []


async def test_it_waits_over_a_restart_and_is_told_again(start: Start, model: CuedModel) -> None:
    """M-7, M-13, R-1: it is in the store before the resident is answered; whoever looks on later hears of it too."""
    async with start(ROOM) as cockpit:
        await asks(cockpit, model)
        stored = await cockpit.session.engine.ledger.chronicle.opened()
        waiting = stored.snapshots[SLOT]
        assert isinstance(waiting, dict)
        assert waiting["you"] == {"by": "scout", "reason": "you are loud", "at": cockpit.clock.wall()}
        stream = cockpit.link.events()
        first = await anext(stream)
        assert isinstance(first, Failed)
        assert first.message == told(cockpit)[0]
    async with start(ROOM) as cockpit:
        assert len(told(cockpit)) == 1
        await cockpit.run(YES)
        assert layers(cockpit) == ("resident",)
    async with start(ROOM) as cockpit:
        assert (told(cockpit), layers(cockpit)) == ([], ("resident",))


async def test_a_wish_falls_with_the_operators_handle(start: Start, model: CuedModel) -> None:
    """M-7: a recipe that names another operator leaves nobody who could say yes; the old handle is asked of no more."""
    async with start(ROOM) as cockpit:
        await asks(cockpit, model)
    renamed = recipe(residents=(resident(), resident("ranger")), more=TALK.replace('"you"', '"me"'))
    async with start(renamed) as cockpit:
        assert told(cockpit) == []
        said = await use(cockpit, model, "mute_channel", channel="user:me")
        assert said.startswith("user:me is the operator: this waits for their yes")
        assert len(told(cockpit)) == 1


@pytest.mark.parametrize("line", [YES, NO])
async def test_nobody_answers_for_the_operator(start: Start, model: CuedModel, line: str) -> None:
    """M-7: a client of the bridge acts under its own name, and its word is none of the operator's."""
    async with start(ROOM) as cockpit:
        await asks(cockpit, model)
        ran = (await cockpit.session.link("bridge", name="editor").run(line)).ran
        assert (ran.ok, ran.code) == (False, "refused")
        assert "editor is not the operator" in ran.message
        assert layers(cockpit) == ()
        await cockpit.run(YES)
        assert layers(cockpit) == ("resident",)


async def test_a_hard_mute_of_the_only_operator_is_no_yes(start: Start, model: CuedModel) -> None:
    """M-7, K-116: without soft=yes it is refused, and the wish waits on."""
    async with start(ROOM) as cockpit:
        await asks(cockpit, model)
        refused = (await cockpit.run(f"go=mute target={YOU}")).ran
        assert (refused.code, "soft=yes" in refused.hint) == ("refused", True)
        assert layers(cockpit) == ()
        await cockpit.run(YES)
        assert layers(cockpit) == ("resident",)


async def test_a_no_takes_the_operators_own_mute_off_as_well(start: Start, model: CuedModel) -> None:
    """M-9: unmute is unmute; and undo of one's own mute is no answer."""
    async with start(ROOM) as cockpit:
        await cockpit.run(YES)
        await asks(cockpit, model)
        assert (await cockpit.run("go=undo")).ran.ok
        assert (layers(cockpit), notices(cockpit, "mute")) == ((), [])
        await cockpit.run("go=undo")  # nothing of the operator's is left to take back
        assert (await cockpit.run(NO)).ran.ok
        await cockpit.run(YES)
        await asks(cockpit, model)
        ran = (await cockpit.run(NO)).ran
        assert ran.message == f"scout is told no: {YOU} is not muted; {YOU} is unmuted"
        assert layers(cockpit) == ()
        assert (await cockpit.run("go=undo")).ran.ok
        assert layers(cockpit) == ("operator",)


async def test_a_yes_is_not_taken_back_by_undo(start: Start, model: CuedModel) -> None:
    """M-9: the layer is the residents'; what stands before it in one's own list is taken back."""
    async with start(ROOM) as cockpit:
        await cockpit.run("go=mute target=feed:general")
        await asks(cockpit, model)
        await cockpit.run(YES)
        assert (await cockpit.run("go=undo")).ran.message == "took back mute: feed:general is unmuted"
        assert layers(cockpit) == ("resident",)


async def test_the_audit_names_who_asked_and_who_agreed(start: Start, model: CuedModel) -> None:
    """K-123."""
    async with start(ROOM) as cockpit:
        await asks(cockpit, model)
        await cockpit.run(f'{YES} reason="fair enough"')
        await use(cockpit, model, "unmute_channel", channel=YOU)
        await asks(cockpit, model, reason="")
        await cockpit.run(NO)
        rows = [
            (row["actor"], row["origin"], row["verb"], row["before"], row["after"], row["reason"])
            for row in await audit(cockpit)
        ]
        assert rows == [
            ("scout", "tool", "mute", "online", "online", "asked, and waits for the operator's yes: you are loud"),
            ("operator", "headless", "mute", "online", "muted",
             "yes to scout, who asked for it (you are loud); fair enough"),
            ("scout", "tool", "unmute", "muted", "online", ""),
            ("scout", "tool", "mute", "online", "online", "asked, and waits for the operator's yes"),
            ("operator", "headless", "unmute", "online", "online", "no to scout, who asked for a mute"),
        ]  # fmt: skip
        assert {row["target"] for row in await audit(cockpit)} == {YOU}


async def test_a_long_reason_is_one_bounded_line(start: Start, model: CuedModel) -> None:
    """R-6: what a model writes is flattened and clipped before anybody reads it."""
    async with start(ROOM) as cockpit:
        await asks(cockpit, model, reason="loud\n" * 5000)
        (line,) = told(cockpit)
        assert "\n" not in line
        assert len(line) < 500


async def test_another_resident_or_person_is_muted_without_asking(start: Start, model: CuedModel) -> None:
    """M-9: it is the operator's own word that cannot be taken; everybody else is muted at once."""
    async with start(ROOM) as cockpit:
        assert await use(cockpit, model, "mute_channel", channel="user:ranger") == "user:ranger is muted"
        assert told(cockpit) == []
        assert "mute_channel" in listed(cockpit.requests("scout")[-1])


async def test_a_malformed_wish_is_left_out_and_reported(start: Start, model: CuedModel, tmp_path: Path) -> None:
    """R-4: never fatal."""
    async with start(ROOM) as cockpit:
        await asks(cockpit, model)
    async with open_chronicle(tmp_path / "rig.db") as chronicle:
        head = (await chronicle.opened()).head
        await chronicle.append(Batch((Snapshot(SLOT, {"you": "scout"}, 1.0, head + 1),)))
    async with start(ROOM) as cockpit:
        (line,) = [event.message for event in cockpit.of(Failed)]
        assert line.startswith("a record is malformed and is left out: not what waits for the operator's yes")
        assert (await cockpit.run(NO)).ran.code == "already"
