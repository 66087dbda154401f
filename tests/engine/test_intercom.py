"""The Intercom through a whole engine: which row decides, what a mute holds, and who is told (A-10, M-5 to M-7)."""

from __future__ import annotations

import pytest

from cockpit.core.events import ChannelChanged, Noticed
from cockpit.core.message import Message
from cockpit.errors import VerbError
from cockpit.testing.rig import Rig
from cockpit.testing.scripted_model import Answer, Call
from cockpit.testing.stage import CuedModel, Start, notices, peek, recipe, resident, shown, turns, use

TALK = """[intercom]
operator = "you"
feeds = ["general"]
participants = { hedgehog = "prickly" }"""
ROOM = recipe(residents=(resident(), resident("ranger")), more=TALK)
FEED, HEDGEHOG, YOU = "feed:general", "user:hedgehog", "user:you"


async def says(cockpit: Rig, text: str, to: str | None = None) -> str:
    """What hedgehog is told who speaks, with their token."""
    receipt = await cockpit.session.engine.desk.intercom.send("hedgehog", "prickly", to, text)
    await cockpit.settle()
    return receipt.reason


async def stored(cockpit: Rig, text: str) -> Message:
    """What became of a message in the residents' slot."""
    return next(one for one in await cockpit.stored("residents") if one.text == text)


async def test_a_message_belongs_to_one_channel(start: Start, model: CuedModel) -> None:
    """A-10: a topic's to its feed, a direct one to its sender."""
    async with start(ROOM) as cockpit:
        await says(cockpit, "hello all", FEED)
        await says(cockpit, "hello you")
        assert [(await stored(cockpit, text)).target for text in ("hello all", "hello you")] == [FEED, HEDGEHOG]


async def test_who_is_woken(start: Start, model: CuedModel) -> None:
    """N-6, N-7: a direct message its resident, a topic every resident, neither the subconscious."""
    async with start(ROOM) as cockpit:
        await says(cockpit, "ranger?", "ranger")
        assert (turns(cockpit, "scout"), turns(cockpit, "ranger")) == ([], ["intercom"])
        await says(cockpit, "everybody?", FEED)
        assert (turns(cockpit, "scout"), turns(cockpit, "ranger")) == (["intercom"], ["intercom", "intercom"])
        assert turns(cockpit, "Subconscious") == []


@pytest.mark.parametrize("to", [None, FEED])
async def test_a_muted_participant_is_diverted_in_messages_and_topics(
    start: Start, model: CuedModel, to: str | None
) -> None:
    """M-5, K-119, A-10: under their own row; and they are told once a span."""
    async with start(ROOM) as cockpit:
        await says(cockpit, "before", to)
        woken = len(turns(cockpit))
        await cockpit.run(f"go=mute target={HEDGEHOG}")
        assert [await says(cockpit, "one", to), await says(cockpit, "two", to)] == ["scout muted you", ""]
        message = await stored(cockpit, "one")
        assert message.stamp is not None
        assert (message.target, message.stamp.epoch) == (HEDGEHOG, None)
        assert len(turns(cockpit)) == woken
        await cockpit.run(f"go=unmute target={HEDGEHOG} deliver=backlog")
        assert "hedgehog: one\nhedgehog: two\n" in notices(cockpit, "unmute")[0]
        await cockpit.run(f"go=mute target={HEDGEHOG}")
        assert await says(cockpit, "three", to) == "scout muted you"


async def test_nobody_is_told_where_the_recipe_says_never(start: Start, model: CuedModel) -> None:
    """M-5, K-119: `notify_muted = "never"`."""
    async with start(recipe(more=TALK + '\nnotify_muted = "never"')) as cockpit:
        await says(cockpit, "before")
        await cockpit.run(f"go=mute target={HEDGEHOG}")
        assert await says(cockpit, "one") == ""


async def test_the_users_mute_then_the_feeds_mute_then_the_feeds_epoch(start: Start, model: CuedModel) -> None:
    """A-10: the first that holds decides the stamp and the row."""
    async with start(ROOM) as cockpit:
        await says(cockpit, "hello")
        await cockpit.run(f"go=tune-out target={FEED}")
        await says(cockpit, "under the epoch", FEED)
        await cockpit.run(f"go=mute target={FEED}")
        await says(cockpit, "under the feed's mute", FEED)
        await cockpit.run(f"go=mute target={HEDGEHOG}")
        await says(cockpit, "under the user's mute", FEED)
        epoch, feed, user = (cockpit.channel(FEED).epoch, cockpit.channel(FEED).span, cockpit.channel(HEDGEHOG).span)
        assert epoch is not None
        assert feed is not None
        assert user is not None
        found = {}
        for text in ("under the epoch", "under the feed's mute", "under the user's mute"):
            message = await stored(cockpit, text)
            assert message.stamp is not None
            found[text] = (message.target, message.stamp.epoch, message.stamp.span)
        assert found == {
            "under the epoch": (FEED, epoch.id, None),
            "under the feed's mute": (FEED, epoch.id, feed.id),
            "under the user's mute": (HEDGEHOG, None, user.id),
        }
        assert [one.text for one in (await peek(cockpit, FEED)).messages] == [
            "under the epoch",
            "under the feed's mute",
        ]


async def test_a_muted_feed_is_muted_whoever_speaks(start: Start, model: CuedModel) -> None:
    """M-6."""
    async with start(ROOM) as cockpit:
        await cockpit.run(f"go=mute target={FEED}")
        await says(cockpit, "from hedgehog", FEED)
        await cockpit.run(f'go=say to={FEED} text="from the operator"')
        assert turns(cockpit) == []
        assert cockpit.channel(FEED).withheld == 2


async def test_a_feed_is_tuned_out_like_a_channel(start: Start, model: CuedModel) -> None:
    """T-2, T-7: for the Intercom addressed is what names a resident; there is nobody to acknowledge to."""
    async with start(ROOM) as cockpit:
        await cockpit.run(f"go=tune-out target={FEED}")
        await says(cockpit, "nothing much", FEED)
        await cockpit.advance(2.0)
        assert turns(cockpit) == []
        await says(cockpit, "@scout, are you there?", FEED)
        await cockpit.advance(2.0)
        assert turns(cockpit) == ["wake"]
        assert "@scout, are you there?" in shown(cockpit.requests("Subconscious")[0])
        await cockpit.run(f"go=cancel target={FEED}")
        (dump,) = notices(cockpit, "tune-out-cancel")
        assert dump.startswith("[Tune-out: feed:general cancelled — operator request, 1 wake]")
        assert "hedgehog: nothing much\nhedgehog: @scout, are you there?" in dump


async def test_a_softly_muted_operator_still_prompts(start: Start, model: CuedModel) -> None:
    """M-7, K-116, K-117: side-channel messages are held; prompt, steer and stop pass."""
    async with start(ROOM) as cockpit:
        await cockpit.run('go=say text="heard"')
        assert turns(cockpit, "scout") == ["intercom"]
        assert (await cockpit.run(f"go=mute target={YOU}")).ran.code == "refused"
        assert (await cockpit.run(f"go=mute target={YOU} soft=yes")).ran.ok
        await cockpit.run('go=say text="a held word"')
        await cockpit.run('go=ask text="a prompt"')
        assert turns(cockpit, "scout") == ["intercom", "prompt"]
        told = shown(cockpit.requests("scout")[-1])
        assert "a prompt" in told
        assert "a held word" not in told


async def test_agents_cannot_wake_each_other_for_ever(start: Start, model: CuedModel) -> None:
    """K-37: what one agent's turn leads to is counted, and after so many it wakes nobody; it is stored all the same."""
    async with start(ROOM) as cockpit:
        for _ in range(30):
            for name, other in (("scout", "ranger"), ("ranger", "scout")):
                model.cue(
                    name, Answer(calls=(Call("intercom_send", {"to": other, "text": f"{other}, again!"}),)), Answer("")
                )
        await cockpit.run('go=ask text="Begin."')
        assert 2 <= len(turns(cockpit)) <= 10
        before = len(turns(cockpit))
        await cockpit.advance(3600)
        assert len(turns(cockpit)) == before


async def test_who_speaks_is_who_has_the_token(start: Start, model: CuedModel) -> None:
    """section 7, cockpit.md `[intercom]`: others are refused, and nothing is stored."""
    async with start(ROOM) as cockpit:
        intercom = cockpit.session.engine.desk.intercom
        for handle, token in (("hedgehog", "wrong"), ("you", "prickly"), ("nobody", ""), ("scout", "")):
            with pytest.raises(VerbError):
                await intercom.send(handle, token, None, "let me in")
        assert await cockpit.stored("residents") == []


async def test_a_resident_speaks_by_its_tool(start: Start, model: CuedModel) -> None:
    """N-4: to another resident, or to a feed; not to itself, and not to nobody."""
    async with start(ROOM) as cockpit:
        assert not (await use(cockpit, model, "intercom_send", to="ranger", text="psst")).startswith("refused")
        assert "scout · " in shown(cockpit.requests("ranger")[-1])
        for to in ("scout", "nobody", "feed:nowhere"):
            assert (await use(cockpit, model, "intercom_send", to=to, text="psst")).startswith("refused: ")


async def test_a_muted_participants_direct_question_wakes_and_rings_nobody(start: Start, model: CuedModel) -> None:
    """F-17, M-5: muting wins over being addressed; the question is held, needs nobody, and no notice tells of it."""
    async with start(ROOM) as cockpit:
        await says(cockpit, "hello")
        woken, told = len(turns(cockpit)), len(cockpit.of(Noticed))
        await cockpit.run(f"go=mute target={HEDGEHOG}")
        await says(cockpit, "@scout, are you there?")
        await says(cockpit, "@scout, in front of all?", FEED)
        message = await stored(cockpit, "@scout, are you there?")
        assert "chat:addressed" in message.tags
        assert (message.woke, message.acknowledged) == ((), False)
        await cockpit.advance(60)
        rows = {row.target: row for row in cockpit.of(ChannelChanged)}
        assert (rows[HEDGEHOG].held, rows[HEDGEHOG].need, rows[FEED].need) == (2, 0, 0)
        assert (len(turns(cockpit)), len(cockpit.of(Noticed))) == (woken, told)
        await cockpit.run(f"go=unmute target={HEDGEHOG}")
        assert len(turns(cockpit)) == woken
        await cockpit.run('go=ask text="Well?"')
        assert "are you there?" not in shown(cockpit.requests("scout")[-1])
