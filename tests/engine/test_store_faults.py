"""A store that fails: nothing is accepted that was not written, and the cockpit lives on (R-8, A-7, T-16)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from cockpit.connect.ports import Called
from cockpit.core.events import Failed
from cockpit.core.message import RESIDENTS, Text
from cockpit.core.records import Batch, Record
from cockpit.errors import StoreError
from cockpit.testing.rig import Rig
from cockpit.testing.scripted_model import Answer, Call, Gate
from cockpit.testing.stage import DISC, GIT, NOISY, CuedModel, Start, recipe, shown, turns, use

AGAIN = (("again", "m1"), ("another", "m2"))


def breaks(cockpit: Rig, monkeypatch: pytest.MonkeyPatch, when: Callable[[Batch], bool] = lambda _: True) -> None:
    """From now on the store refuses the batches for which `when` holds."""
    chronicle = cockpit.session.engine.ledger.chronicle
    append = chronicle.append

    async def failing(batch: Batch) -> tuple[Record, ...]:
        if when(batch):
            raise StoreError("the disk is full")
        return await append(batch)

    monkeypatch.setattr(chronicle, "append", failing)


async def taken(cockpit: Rig) -> None:
    """Until the ledger has begun with all that is queued."""
    while not cockpit.session.engine.ledger._queue.empty():  # noqa: ASYNC110 - nothing tells of it
        await asyncio.sleep(0)


async def test_what_was_not_written_was_not_accepted(
    start: Start, model: CuedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-8, R-1: its sender is told, the operator is told, no count moves; sent again, it is no duplicate."""
    async with start() as cockpit:
        disc = cockpit.servers["disc"]
        with monkeypatch.context() as patch:
            breaks(cockpit, patch)
            with pytest.raises(StoreError):
                await disc.say("noisy", "lost?", message_id="m1")
            await cockpit.settle()
            assert [event.message for event in cockpit.of(Failed)] == ["the disk is full"]
            assert cockpit.session.engine.directory.get(NOISY) is None or cockpit.channel(NOISY).wait == 0
        again = await disc.say("noisy", "lost?", message_id="m1")
        assert (again.accepted, again.duplicate) == (True, False)
        assert [one.text for one in await cockpit.stored(RESIDENTS)] == ["lost?"]


async def test_a_twin_of_what_was_not_written_is_no_duplicate(
    start: Start, model: CuedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A-7, R-1: of two in one transaction that fails, neither is told that it was stored."""
    async with start() as cockpit:
        disc = cockpit.servers["disc"]
        with monkeypatch.context() as patch:
            breaks(cockpit, patch)
            twins = [await disc.host.arrived(disc.message("noisy", "twice", message_id="m1")) for _ in range(2)]
            told = await asyncio.gather(*twins, return_exceptions=True)
            assert [type(one) for one in told] == [StoreError, StoreError]
        assert not (await disc.say("noisy", "twice", message_id="m1")).duplicate


async def test_what_was_drafted_on_top_of_a_lost_transaction_falls_with_it(
    start: Start, model: CuedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-8, A-7: nothing is built on values that were not written, its twin in the next one included; all of it sent
    again is stored, counted and numbered as if it had never come."""
    async with start() as cockpit:
        disc, ledger = cockpit.servers["disc"], cockpit.session.engine.ledger
        arrived, append, reached, go = disc.host.arrived, ledger.chronicle.append, asyncio.Event(), asyncio.Event()

        async def lost(_: Batch) -> tuple[Record, ...]:
            reached.set()
            await go.wait()
            raise StoreError("the disk is full")

        with monkeypatch.context() as patch:
            patch.setattr(ledger.chronicle, "append", lost)
            told = [await arrived(disc.message("noisy", "first", message_id="m1"))]
            await reached.wait()
            told += [await arrived(disc.message("noisy", text, message_id=ident)) for text, ident in AGAIN]
            await taken(cockpit)
            patch.setattr(ledger.chronicle, "append", append)  # the disk would take the second
            go.set()
            assert {type(one) for one in await asyncio.gather(*told, return_exceptions=True)} == {StoreError}
        await cockpit.settle()
        assert not await cockpit.stored(RESIDENTS)
        assert [(await disc.say("noisy", text, message_id=ident)).duplicate for text, ident in AGAIN] == [False, False]
        await cockpit.settle()
        assert (cockpit.channel(NOISY).wait, ledger.head) == (2, (await cockpit.stored(RESIDENTS))[-1].sequence)


async def test_what_is_drafted_while_another_is_written_sees_its_values(
    start: Start, model: CuedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A-7, A-11, R-1: it counts on, knows what is being written as stored once, and is told only when it is durable."""
    async with start() as cockpit:
        disc, ledger = cockpit.servers["disc"], cockpit.session.engine.ledger
        arrived, append, reached, go = disc.host.arrived, ledger.chronicle.append, asyncio.Event(), asyncio.Event()

        async def slowly(batch: Batch) -> tuple[Record, ...]:
            reached.set()
            await go.wait()
            return await append(batch)

        monkeypatch.setattr(ledger.chronicle, "append", slowly)
        told = [await arrived(disc.message("noisy", "again", message_id="m1"))]
        await reached.wait()
        told += [await arrived(disc.message("noisy", text, message_id=ident)) for text, ident in AGAIN]
        await taken(cockpit)
        assert not any(each.done() for each in told)
        go.set()
        assert [(await each).duplicate for each in told] == [False, True, False]
        await cockpit.settle()
        assert [one.text for one in await cockpit.stored(RESIDENTS)] == ["again", "another"]
        assert cockpit.channel(NOISY).wait == 2


async def test_a_turn_in_a_broken_store_fails_and_the_next_one_works(
    start: Start, model: CuedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-8, V-8: the agent lives on, and the log is whole."""
    async with start() as cockpit:
        gate = Gate()
        model.cue("scout", Answer("Never written.", gate=gate))
        await cockpit.link.ask("One.")
        await gate.reached()
        with monkeypatch.context() as patch:
            breaks(cockpit, patch)
            gate.open()
            await cockpit.settle()
        await cockpit.run('go=ask text="Two."')
        assert turns(cockpit) == ["prompt", "prompt"]
        assert "Never written." not in shown(cockpit.requests("scout")[-1])


async def test_a_stop_in_a_broken_store_ends_nobody(
    start: Start, model: CuedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-8: what was said so far is lost to the log, and said to be; the engine runs."""
    async with start(recipe(GIT, DISC)) as cockpit:
        gate = Gate()

        async def answer(tool: str, _: object) -> Called:
            await gate.passes()
            return Called((Text("never"),))

        cockpit.servers["git"].answer = answer
        model.cue("scout", Answer(calls=(Call("git__status"),)))
        await cockpit.link.ask("Look.")
        await gate.reached()
        with monkeypatch.context() as patch:
            breaks(cockpit, patch)
            await cockpit.run("go=stop")
        cockpit.servers["git"].answer = None
        assert await use(cockpit, model, "git__status") == "status done"


async def test_a_wake_that_is_written_off_in_a_broken_store_ends_nobody(
    start: Start, model: CuedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-8: a wake whose message was answered already owes no turn, and a row that says so."""
    async with start(recipe(GIT, DISC)) as cockpit:

        async def answer(tool: str, _: object) -> Called:
            await cockpit.servers["disc"].say("noisy", "scout?", addressed=True)
            return Called((Text("done"),))

        cockpit.servers["git"].answer = answer
        ended: list[bool] = []

        def second_end(batch: Batch) -> bool:
            ends = any(type(record).__name__ == "TurnEnded" for record in batch.records)
            ended.extend([True] if ends else [])
            return ends and len(ended) == 2

        breaks(cockpit, monkeypatch, second_end)
        model.calls("scout", "git__status")
        await cockpit.run('go=ask text="Look."')
        assert len(ended) == 2
        cockpit.servers["git"].answer = None
        await cockpit.run('go=ask text="Still there?"')
        assert "Still there?" in shown(cockpit.requests("scout")[-1])


async def test_a_failing_acknowledgement_in_a_broken_store_ends_nobody(
    start: Start, model: CuedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T-7, R-8: the row that would record it is lost, and that is told."""
    async with start() as cockpit:
        cockpit.servers["disc"].refuses = "no"
        await cockpit.run(f"go=tune-out target={NOISY}")

        def audits(batch: Batch) -> bool:
            return any(type(record).__name__ == "Audit" for record in batch.records)

        with monkeypatch.context() as patch:
            breaks(cockpit, patch, audits)
            await cockpit.servers["disc"].say("noisy", "scout?", addressed=True)
            await cockpit.settle()
        await cockpit.advance(2.0)
        assert turns(cockpit) == ["wake"]


async def test_a_server_that_comes_up_in_a_broken_store_ends_nobody(
    start: Start, model: CuedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-8, R-3: its presence could not be written; the others go on."""
    async with start() as cockpit:
        with monkeypatch.context() as patch:
            breaks(cockpit, patch)
            with pytest.raises(StoreError):
                await cockpit.servers["disc"].down()
        assert (await cockpit.run(f"go=mute target={NOISY}")).ran.ok


async def test_a_verb_in_a_broken_store_is_refused(
    start: Start, model: CuedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-8, T-16: and its refusal says why."""
    async with start() as cockpit:
        with monkeypatch.context() as patch:
            breaks(cockpit, patch)
            for line in (f"go=mute target={NOISY}", "go=ask text=hi", "go=kill target=mcp:disc"):
                ran = (await cockpit.run(line)).ran
                assert (ran.ok, ran.code, ran.message) == (False, "refused", "the disk is full")
        assert cockpit.channel(NOISY).span is None
        assert not cockpit.channel("mcp:disc").killed
        assert turns(cockpit) == []
