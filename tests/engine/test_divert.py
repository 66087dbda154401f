"""What is diverted, through a whole engine: stored at once, seen by the subconscious, and by no resident."""

from __future__ import annotations

import asyncio
import itertools

from cockpit.connect.ports import Called
from cockpit.core.message import RESIDENTS, Text, subconscious_slot
from cockpit.core.request import Request
from cockpit.testing.conversation import flat
from cockpit.testing.rig import Rig
from cockpit.testing.scripted_model import Answer, Call, Gate
from cockpit.testing.stage import (
    DISC,
    GIT,
    NOISY,
    CuedModel,
    Start,
    recipe,
    resident,
    shown,
    turns,
    use,
    why,
)

BOTH = recipe(GIT, DISC)


async def in_a_call(cockpit: Rig, model: CuedModel) -> Gate:
    """Bring the resident into a tool call that ends when the gate opens."""
    gate = Gate()

    async def answer(tool: str, _: object) -> Called:
        await gate.passes()
        return Called((Text(f"{tool} done"),))

    cockpit.servers["git"].answer = answer
    model.calls("scout", "git__status")
    await cockpit.link.ask("Look at the repository.")
    await gate.reached()
    return gate


async def test_an_ambient_message_is_stored_stamped_and_seen_by_the_subconscious_alone(
    start: Start, model: CuedModel
) -> None:
    """K-1, A-2, A-3, T-5."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        await cockpit.servers["disc"].say("noisy", "ambient chatter", message_id="a1")
        await cockpit.settle()
        assert turns(cockpit) == []
        found = await why(cockpit, "disc/a1")
        epoch = cockpit.channel(NOISY).epoch
        assert epoch is not None
        assert (found.decision, found.stamp) == ("diverted", {"tuneOut": {"epochId": epoch.id}})
        assert found.woke == ()
        await cockpit.run('go=ask text="Anything?"')
        assert "ambient chatter" not in shown(cockpit.requests("scout")[-1])
        await cockpit.advance(1800)
        assert "ambient chatter" in shown(cockpit.requests("Subconscious")[-1])


async def test_what_comes_inside_a_tool_call_is_not_in_the_continuation(start: Start, model: CuedModel) -> None:
    """K-2, A-2, A-5: stored at once, though the turn runs; the next round doesn't hold it."""
    async with start(BOTH) as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        gate = await in_a_call(cockpit, model)
        await cockpit.servers["disc"].say("noisy", "a diverted secret", addressed=True)
        assert [message.text for message in await cockpit.stored(RESIDENTS) if message.stamp] == ["a diverted secret"]
        gate.open()
        await cockpit.settle()
        rounds = cockpit.requests("scout")
        assert len(rounds) == 2
        assert "status done" in shown(rounds[-1])
        assert not any("a diverted secret" in shown(request) for request in rounds)


async def test_the_subconscious_need_not_wait_for_the_residents_tool(start: Start, model: CuedModel) -> None:
    """K-4."""
    async with start(BOTH) as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        gate = await in_a_call(cockpit, model)
        await cockpit.servers["disc"].say("noisy", "scout, urgent", addressed=True)
        await cockpit.advance(2.0, held={"scout"})
        assert "scout, urgent" in shown(cockpit.requests("Subconscious")[0])
        assert len(cockpit.requests("scout")) == 1
        gate.open()
        await cockpit.settle()


async def test_originals_stay_hidden_for_ever(start: Start, model: CuedModel) -> None:
    """K-5, A-3: after the cancel, in any later turn, and after a restart, the words are in the dump alone."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        await cockpit.servers["disc"].say("noisy", "only once")
        await cockpit.run(f"go=cancel target={NOISY}")
        await cockpit.run('go=ask text="And now?"')
        assert shown(cockpit.requests("scout")[-1]).count("only once") == 1
    async with start() as cockpit:
        await cockpit.run('go=ask text="And still?"')
        told = shown(cockpit.requests("scout")[-1])
        assert told.count("only once") == 1
        assert "kim: only once" in told


async def test_the_prompt_is_the_same_bytes_before_and_after(start: Start, model: CuedModel) -> None:
    """K-6, A-3: enter, divert and cancel change nothing that was sent; the dump is appended."""
    async with start() as cockpit:
        disc = cockpit.servers["disc"]
        await disc.say("noisy", "heard before")
        await cockpit.run('go=ask text="One."')
        await cockpit.run(f"go=tune-out target={NOISY}")
        await disc.say("noisy", "diverted")
        await cockpit.run('go=ask text="Two."')
        await cockpit.run(f"go=cancel target={NOISY}")
        requests = cockpit.requests("scout")
        assert len(requests) == 3
        for before, after in itertools.pairwise(requests):
            assert flat(after.messages)[: len(flat(before.messages))] == flat(before.messages)
            assert (after.system, after.tools) == (before.system, before.tools)
        assert "<tuned-out-backlog" in shown(requests[2])


async def test_the_subconsciouss_notices_are_in_its_own_slot_alone(start: Start, model: CuedModel) -> None:
    """K-9, T-13."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        await cockpit.servers["disc"].say("noisy", "scout?", addressed=True)
        await cockpit.advance(2.0)
        await cockpit.servers["disc"].say("noisy", "more")
        await cockpit.advance(1800)
        await cockpit.run(f"go=cancel target={NOISY}")
        framed = [one for one in await cockpit.stored(subconscious_slot("scout")) if one.kind == "system"]
        assert [one.text.split(":")[0] for one in framed] == [
            "[Tune-out wake",
            "[Tune-out cadence",
            "[Tune-out cancelled",
        ]
        for mark in ("[Tune-out wake", "[Tune-out cadence", "[Tune-out cancelled"):
            assert not any(mark in shown(request) for request in cockpit.requests("scout"))
            assert any(mark in shown(request) for request in cockpit.requests("Subconscious"))


async def test_fetch_history_reads_what_was_diverted(start: Start, model: CuedModel) -> None:
    """K-10, N-9, A-6: newest first, the resident's own explicit look, and said to be so in its description."""
    async with start() as cockpit:
        disc = cockpit.servers["disc"]
        await disc.say("noisy", "heard")
        await cockpit.run(f"go=tune-out target={NOISY}")
        await disc.say("noisy", "diverted\nin two lines")
        said = await use(cockpit, model, "fetch_history", channel="noisy")
        first, second, third, last = said.splitlines()
        assert first.endswith("· kim · diverted] diverted")
        assert second == "  in two lines"
        assert third.endswith("· kim] heard")
        assert last.startswith("Older ones: before=")
        tool = next(each for each in cockpit.requests("scout")[-1].tools if each.name == "fetch_history")
        assert "explicit look" in tool.description


async def test_fetch_history_comes_in_pages(start: Start, model: CuedModel) -> None:
    """N-9."""
    async with start() as cockpit:
        for number in range(5):
            await cockpit.servers["disc"].say("noisy", f"message {number}")
        page = await use(cockpit, model, "fetch_history", channel="noisy", limit=2)
        assert [line.rpartition("] ")[2] for line in page.splitlines()[:2]] == ["message 4", "message 3"]
        before = int(page.rpartition("=")[2].rstrip("."))
        page = await use(cockpit, model, "fetch_history", channel="noisy", limit=2, before=before)
        assert [line.rpartition("] ")[2] for line in page.splitlines()[:2]] == ["message 2", "message 1"]


async def test_fetch_history_takes_any_number(start: Start, model: CuedModel) -> None:
    """N-9, R-5: a number that no store can hold harms nobody, and one that is none is refused by name."""
    async with start() as cockpit:
        await cockpit.servers["disc"].say("noisy", "heard")
        assert "heard" in await use(cockpit, model, "fetch_history", channel="noisy", before=10**400, limit=1e300)
        assert "limit" in await use(cockpit, model, "fetch_history", channel="noisy", limit=float("nan"))


async def test_a_fan_out_never_wakes_the_subconscious(start: Start, model: CuedModel) -> None:
    """K-12, S-1, N-7: an untargeted event wakes every resident and nobody else."""
    text = recipe(residents=(resident(), resident("ranger")))
    async with start(text) as cockpit:
        await cockpit.servers["disc"].say("noisy", "everybody!", addressed=True)
        await cockpit.settle()
        assert sorted({request.agent for request in model.requests}) == ["ranger", "scout"]


async def test_a_message_during_the_enter_is_diverted_or_delivered_never_both(start: Start, model: CuedModel) -> None:
    """K-16: each is wholly one or the other, in the order of the log."""
    async with start() as cockpit:
        disc = cockpit.servers["disc"]
        await asyncio.gather(
            disc.say("noisy", "before", addressed=True),
            cockpit.link.run(f"go=tune-out target={NOISY}"),
            disc.say("noisy", "after", addressed=True),
        )
        await cockpit.settle()
        epoch = cockpit.channel(NOISY).epoch
        assert epoch is not None
        chat = [one for one in await cockpit.stored(RESIDENTS) if one.kind == "chat"]
        assert len(chat) == 2
        for message in chat:
            diverted = message.sequence > epoch.began
            assert (message.stamp is not None) is diverted
            assert (message.woke == ()) is diverted
        assert epoch.held == sum(message.stamp is not None for message in chat)


async def test_a_duplicate_is_stored_once_over_restarts_too(start: Start, model: CuedModel) -> None:
    """A-7, K-83: it wakes, acknowledges and counts nothing."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        disc = cockpit.servers["disc"]
        assert not (await disc.say("noisy", "scout?", addressed=True, message_id="m1")).duplicate
        assert (await disc.say("noisy", "scout?", addressed=True, message_id="m1")).duplicate
        assert not (await disc.say("quiet", "another channel's", message_id="m1")).duplicate
        await cockpit.settle()
        assert len(disc.acknowledged) == 1
    async with start() as cockpit:
        disc = cockpit.servers["disc"]
        again = await disc.say("noisy", "scout?", addressed=True, message_id="m1")
        assert (again.accepted, again.duplicate) == (True, True)
        await cockpit.settle()
        assert disc.acknowledged == []
        epoch = cockpit.channel(NOISY).epoch
        assert epoch is not None
        assert (epoch.held, epoch.asked, cockpit.channel(NOISY).totals.diverted) == (1, 1, 1)


async def test_a_storm_of_duplicates_in_one_transaction_is_one_message(start: Start, model: CuedModel) -> None:
    """A-7."""
    async with start() as cockpit:
        disc = cockpit.servers["disc"]
        receipts = await asyncio.gather(*(disc.say("noisy", "again", message_id="m1") for _ in range(10)))
        assert sum(not receipt.duplicate for receipt in receipts) == 1
        assert cockpit.channel(NOISY).wait == 1


async def test_what_is_diverted_is_what_every_reader_of_the_view_leaves_out(start: Start, model: CuedModel) -> None:
    """A-4: the preview of `go=context` reads the same filtered view, to the byte."""
    async with start() as cockpit:
        await cockpit.servers["disc"].say("noisy", "heard")
        empty = await cockpit.run("go=context agent=scout")
        await cockpit.run(f"go=tune-out target={NOISY}")
        await cockpit.servers["disc"].say("noisy", "diverted " * 50)
        full = await cockpit.run("go=context agent=scout")
        assert full.shown == empty.shown


async def test_the_store_keeps_everything(start: Start, model: CuedModel) -> None:
    """A-6: a direct read, a peek, and why; while no agent's request holds what was muted."""
    async with start() as cockpit:
        await cockpit.run(f"go=mute target={NOISY}")
        await cockpit.servers["disc"].say("noisy", "withheld", message_id="w1")
        await cockpit.settle()
        assert [one.text for one in await cockpit.stored(RESIDENTS) if one.kind == "chat"] == ["withheld"]
        assert (await why(cockpit, "disc/w1")).decision == "diverted"


async def test_wait_is_read_when_the_primarys_request_has_ended(start: Start, model: CuedModel) -> None:
    """A-11: not when it was made, not by another resident's, and not what came meanwhile."""
    text = recipe(residents=(resident(), resident("ranger")))
    async with start(text) as cockpit:
        disc = cockpit.servers["disc"]
        await disc.say("noisy", "one")
        await cockpit.link.ask("Ranger, look.", "ranger")
        await cockpit.settle()
        assert cockpit.channel(NOISY).wait == 1
        gate = Gate()
        model.cue("scout", Answer("Looking.", gate=gate))
        await cockpit.link.ask("Scout, look.")
        await gate.reached()
        await disc.say("noisy", "two")
        assert cockpit.channel(NOISY).wait == 2
        gate.open()
        await cockpit.settle()
        assert cockpit.channel(NOISY).wait == 1


async def test_the_subconscious_reads_what_is_tuned_out_and_never_what_is_muted(start: Start, model: CuedModel) -> None:
    """S-2, M-12: both stamps keep it from every agent's view."""
    async with start() as cockpit:
        disc = cockpit.servers["disc"]
        await cockpit.run(f"go=tune-out target={NOISY}")
        await disc.say("noisy", "under the epoch alone")
        await cockpit.run(f"go=mute target={NOISY}")
        await disc.say("noisy", "under both")
        await cockpit.run(f"go=unmute target={NOISY}")
        await disc.say("noisy", "scout?", addressed=True)
        await cockpit.advance(2.0)
        seen = "\n".join(shown(request) for request in cockpit.requests("Subconscious"))
        assert "under the epoch alone" in seen
        assert "under both" not in seen


async def test_every_channel_has_its_own_state(start: Start, model: CuedModel) -> None:
    """A-1: the channel beside it is heard as ever."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        await cockpit.servers["disc"].say("quiet", "scout?", addressed=True)
        await cockpit.settle()
        last: Request = cockpit.requests("scout")[-1]
        assert "scout?" in shown(last)
        assert turns(cockpit) == ["message"]


async def test_calls_in_parallel_each_keep_their_result(start: Start, model: CuedModel) -> None:
    """V-8, A-5: a diverted message between two results stays out, and each use has its answer."""
    async with start(BOTH) as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")

        async def answer(tool: str, _: object) -> Called:
            await cockpit.servers["disc"].say("noisy", f"during {tool}")
            return Called((Text(f"{tool} done"),))

        cockpit.servers["git"].answer = answer
        model.cue("scout", Answer(calls=(Call("git__status"), Call("git__commit"))))
        await cockpit.run('go=ask text="Both."')
        last = shown(cockpit.requests("scout")[-1])
        assert last.count("done") == 2
        assert "during" not in last
