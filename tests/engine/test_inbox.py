"""What a participant receives over the Intercom: direct messages to it and the feeds, each until it was read."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from cockpit.core.message import Json
from cockpit.errors import VerbError
from cockpit.testing.rig import Rig
from cockpit.testing.stage import CuedModel, Start, peek, recipe, resident, shown, use

TALK = """[intercom]
operator = "you"
feeds = ["general", "quiet"]
participants = { hedgehog = "prickly", mole = "blind" }"""
ROOM = recipe(residents=(resident(), resident("ranger")), more=TALK)


async def inbox(cockpit: Rig, after: int | None = None, handle: str = "hedgehog") -> list[tuple[Json, Json, Json]]:
    """author, to, text of what it has not read."""
    token = {"hedgehog": "prickly", "mole": "blind"}[handle]
    found = await cockpit.session.inbox(handle, token, after)
    return [(each["author"], each["to"], each["text"]) for each in found]


async def last(cockpit: Rig) -> int:
    found: tuple[Mapping[str, Json], ...] = await cockpit.session.inbox("hedgehog", "prickly", None)
    return int(str(found[-1]["id"]))


async def test_a_residents_answer_reaches_its_participant_and_nobody_else(start: Start, model: CuedModel) -> None:
    """Issue 5, Intercom: the other resident, the subconscious and the other participants never see it."""
    async with start(ROOM) as cockpit:
        await use(cockpit, model, "intercom_send", to="hedgehog", text="tomorrow at nine")
        assert await inbox(cockpit) == [("scout", "hedgehog", "tomorrow at nine")]
        assert await inbox(cockpit, handle="mole") == []
        await cockpit.run('go=say to=ranger text="ranger?"')
        assert "tomorrow at nine" not in shown(cockpit.requests("ranger")[-1])
        assert [one.text for one in await cockpit.stored("residents") if one.kind == "chat"] == ["ranger?"]
        assert (await peek(cockpit, "user:hedgehog")).messages == ()


async def test_the_feeds_are_read_by_all_whatever_the_residents_hear(start: Start, model: CuedModel) -> None:
    """A mute or a tune-out is of the residents' attention: a participant goes on reading the feed, dumps left out."""
    async with start(ROOM) as cockpit:
        await cockpit.run("go=tune-out target=feed:general")
        await cockpit.run('go=say to=feed:general text="one"')
        await cockpit.run("go=cancel target=feed:general")
        await cockpit.run("go=mute target=feed:quiet")
        await cockpit.run('go=say to=feed:quiet text="two"')
        said = [("you", "feed:general", "one"), ("you", "feed:quiet", "two")]
        assert await inbox(cockpit) == said
        assert await inbox(cockpit, handle="mole") == said


async def test_what_was_read_is_not_told_again_and_what_was_not_is(start: Start, model: CuedModel) -> None:
    """Over a restart too; and nobody can have read what has not come yet."""
    async with start(ROOM) as cockpit:
        await cockpit.run('go=say to=feed:general text="one"')
        assert len(await inbox(cockpit)) == len(await inbox(cockpit)) == 1
        assert await inbox(cockpit, await last(cockpit)) == []
        assert await inbox(cockpit, 10**9) == []
        await cockpit.run('go=say to=feed:general text="two"')
    async with start(ROOM) as cockpit:
        assert await inbox(cockpit) == [("you", "feed:general", "two")]
        assert len(await inbox(cockpit, handle="mole")) == 2
        assert await inbox(cockpit, 0) == [("you", "feed:general", "one"), ("you", "feed:general", "two")]


async def test_more_than_a_page_comes_in_pages(start: Start, model: CuedModel) -> None:
    async with start(ROOM) as cockpit:
        await cockpit.run("go=mute target=feed:general")
        for number in range(101):
            await cockpit.run(f"go=say to=feed:general text={number}")
        assert len(await inbox(cockpit)) == 100
        assert await inbox(cockpit, await last(cockpit)) == [("you", "feed:general", "100")]


async def test_an_inbox_is_opened_by_its_token_alone(start: Start, model: CuedModel) -> None:
    async with start(ROOM) as cockpit:
        for handle, token in (("hedgehog", "blind"), ("hedgehog", ""), ("you", "prickly"), ("scout", "")):
            with pytest.raises(VerbError, match=f"no participant '{handle}' with that token"):
                await cockpit.session.inbox(handle, token, None)


async def test_an_empty_answer_is_refused(start: Start, model: CuedModel) -> None:
    async with start(ROOM) as cockpit:
        assert (await use(cockpit, model, "intercom_send", to="hedgehog", text=" ")).startswith("refused: ")
        assert await inbox(cockpit) == []
