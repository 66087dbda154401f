"""What comes while a turn runs, and how a turn is stopped: steer, boundaries, `go=stop` (N-1, A-5, V-8, F-35)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path

import pytest

from cockpit.connect.ports import Called
from cockpit.core.events import Failed, TurnChanged
from cockpit.core.message import RESIDENTS, Json, Text, ToolResult, ToolUse
from cockpit.core.records import Batch, Record, TurnEnded
from cockpit.core.request import Chunk, Request, TextDelta
from cockpit.engine.assemble import open_session
from cockpit.errors import ModelError, StoreError
from cockpit.recipe import load
from cockpit.testing.anthropic_check import problem_of_request
from cockpit.testing.clock import FakeClock
from cockpit.testing.provided import spoken, states, told, unended, unpaired
from cockpit.testing.rig import Rig, rig
from cockpit.testing.scripted_model import Answer, Call, Gate
from cockpit.testing.stage import DISC, GIT, NOISY, CuedModel, Start, recipe, shown, turns

BOTH = recipe(GIT, DISC)


async def in_flight(cockpit: Rig, model: CuedModel) -> Gate:
    """Bring scout into a turn whose call of `git__status` stands at a gate."""
    gate = Gate()

    async def answer(tool: str, _: Mapping[str, Json]) -> Called:
        await gate.passes()
        return Called((Text("clean"),))

    cockpit.servers["git"].answer = answer
    model.cue("scout", Answer("Looking.", calls=(Call("git__status"),)), Answer("Clean."))
    await cockpit.link.ask("Look.")
    await gate.reached()
    return gate


async def writing(cockpit: Rig, model: CuedModel, *calls: Call) -> Gate:
    """Bring scout into a turn whose first answer stands at a gate while it is written."""
    gate = Gate()
    model.cue("scout", Answer("Well then.", calls=calls, gate=gate))
    await cockpit.link.ask("Go.")
    await gate.reached()
    return gate


def last_turn(request: Request) -> list[str]:
    """The newest user turn, block by block: results by what they say, text as it is."""
    found: list[str] = []
    for block in request.messages[-1].blocks:
        if isinstance(block, Text):
            found.append(block.text)
        elif isinstance(block, ToolResult):
            found.extend(f"result: {part.text}" for part in block.content if isinstance(part, Text))
    return found


class Slow:
    """The store's commit of a turn's end, held until `go` is set."""

    def __init__(self, cockpit: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reached, self.go = asyncio.Event(), asyncio.Event()
        chronicle = cockpit.session.engine.ledger.chronicle
        append = chronicle.append

        async def slowly(batch: Batch) -> tuple[Record, ...]:
            if any(isinstance(record, TurnEnded) for record in batch.records):
                self.reached.set()
                await self.go.wait()
            return await append(batch)

        monkeypatch.setattr(chronicle, "append", slowly)


class SlowToClose:
    """A model whose stream stands for ever, and needs a few passes of the loop to close."""

    def __init__(self) -> None:
        self.began, self.closed = asyncio.Event(), False

    async def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        try:
            yield TextDelta("Well")
            self.began.set()
            await asyncio.Event().wait()
        finally:
            for _ in range(20):
                await asyncio.sleep(0)
            self.closed = True

    async def warm(self) -> None:
        """Nothing is loaded later."""

    async def aclose(self) -> None:
        """It holds nothing."""


class TestBoundaries:
    async def test_a_steer_during_a_call_is_stored_at_once_and_shown_after_its_result(
        self, start: Start, model: CuedModel
    ) -> None:
        """M-7, V-8: never between the use and its result, and it needs no turn of its own."""
        async with start(BOTH) as cockpit:
            gate = await in_flight(cockpit, model)
            assert (await cockpit.link.ask("And hurry.")).ran.ok
            assert [message.text for message in await cockpit.stored(RESIDENTS)][-1] == "And hurry."
            assert len(cockpit.requests("scout")) == 1
            gate.open()
            await cockpit.settle()
            _, second = cockpit.requests("scout")
            assert last_turn(second) == ["result: clean", "And hurry."]
            assert isinstance(second.messages[-2].blocks[-1], ToolUse)
            assert turns(cockpit) == ["prompt"]

    async def test_a_steer_while_an_answer_with_calls_is_written_shows_behind_their_results(
        self, start: Start, model: CuedModel
    ) -> None:
        """V-8, M-7."""
        async with start(BOTH) as cockpit:
            gate = await writing(cockpit, model, Call("git__status"), Call("git__commit"))
            await cockpit.link.ask("Stay on it.")
            gate.open()
            await cockpit.settle()
            assert last_turn(cockpit.requests("scout")[1]) == [
                "result: status done",
                "result: commit done",
                "Stay on it.",
            ]

    async def test_a_steer_while_the_last_answer_is_written_gets_one_more_turn(
        self, start: Start, model: CuedModel
    ) -> None:
        """N-1, M-7."""
        async with start(BOTH) as cockpit:
            gate = await writing(cockpit, model)
            await cockpit.link.ask("One thing.")
            await cockpit.link.ask("And another.")
            gate.open()
            await cockpit.settle()
            assert turns(cockpit) == ["prompt", "prompt"]
            assert last_turn(cockpit.requests("scout")[1]) == ["One thing.", "And another."]

    @pytest.mark.parametrize("addressed", [False, True])
    async def test_a_message_during_a_call_is_stored_at_once_and_shown_after_its_result(
        self, start: Start, model: CuedModel, addressed: bool
    ) -> None:
        """N-1, V-8: ambient or addressed."""
        async with start(BOTH) as cockpit:
            gate = await in_flight(cockpit, model)
            await cockpit.servers["disc"].say("quiet", "the build broke", addressed=addressed)
            assert "the build broke" in (await cockpit.stored(RESIDENTS))[-1].text
            gate.open()
            await cockpit.settle()
            result, message = last_turn(cockpit.requests("scout")[1])
            assert result == "result: clean"
            assert message.endswith("] the build broke")
            assert turns(cockpit) == ["prompt"]

    @pytest.mark.parametrize(
        "verb", [f"go=tune-out target={NOISY}", f"go=mute target={NOISY}", "go=mute target=mcp:disc"]
    )
    @pytest.mark.parametrize("when", ["before the turn", "during the call"])
    async def test_nothing_diverted_enters_the_continuation(
        self, start: Start, model: CuedModel, verb: str, when: str
    ) -> None:
        """K-2, A-2, A-5: it is stored at once, and no request of the running turn or of a later one holds it."""
        async with start(BOTH) as cockpit:
            if when == "before the turn":
                await cockpit.run(verb)
            gate = await in_flight(cockpit, model)
            if when == "during the call":
                await cockpit.link.run(verb)
            await cockpit.servers["disc"].say("noisy", "a secret chat", addressed=True)
            (kept,) = [message for message in await cockpit.stored(RESIDENTS) if "a secret chat" in message.text]
            assert kept.stamp is not None
            gate.open()
            await cockpit.settle()
            await cockpit.run('go=ask text="Anything?"')
            assert len(cockpit.requests("scout")) == 3
            assert not [request for request in cockpit.requests("scout") if "a secret chat" in shown(request)]

    async def test_a_flood_during_parallel_calls_leaves_every_request_valid(
        self, start: Start, model: CuedModel
    ) -> None:
        """V-8: prompts, messages and notices between three calls and their results."""
        async with start(BOTH) as cockpit:
            for number in range(3):
                gate = Gate()

                async def answer(tool: str, _: Mapping[str, Json], gate: Gate = gate) -> Called:
                    await gate.passes()
                    return Called((Text(tool),))

                cockpit.servers["git"].answer = answer
                calls = (Call("git__status"), Call("git__commit"), Call("channel_list"))
                model.cue("scout", Answer("", calls=calls), Answer(f"Round {number}."))
                await cockpit.link.ask(f"Round {number}?")
                await gate.reached()
                for line in (f"mute target={NOISY}", f"unmute target={NOISY}", 'ask text="More."'):
                    await cockpit.link.run(f"go={line}")
                    await cockpit.servers["disc"].say("quiet", line)
                gate.open()
                await cockpit.settle()
            assert not cockpit.of(Failed)
            assert {problem_of_request(request) for request in cockpit.model.requests} == {None}
            assert await unpaired(cockpit, RESIDENTS) == []


class TestStopping:
    async def test_at_0_ms_before_the_request_began(self, start: Start, model: CuedModel) -> None:
        """F-35: nothing is sent; the prompt stays in the log for the next turn."""
        async with start(BOTH) as cockpit:
            await cockpit.link.ask("Never mind.")
            assert (await cockpit.run("go=stop")).ran.ok
            assert cockpit.model.requests == []
            assert states(cockpit) == ["started", "stopped"]
            await cockpit.run('go=ask text="Now then."')
            assert last_turn(cockpit.requests("scout")[0]) == ["Never mind.", "Now then."]
            assert spoken(cockpit) == ["Done."]

    async def test_twice_is_as_good_as_once(self, start: Start, model: CuedModel) -> None:
        """F-35: the second is no error while the first is being carried out, and one after it says so."""
        async with start(BOTH) as cockpit:
            await writing(cockpit, model)
            first, second = await asyncio.gather(cockpit.link.run("go=stop"), cockpit.link.run("go=stop"))
            assert first.ran.ok
            assert second.ran.ok
            await cockpit.settle()
            assert states(cockpit) == ["started", "stopped"]
            assert (await cockpit.run("go=stop")).ran.code == "not_running"
            assert spoken(cockpit) == ["Well [interrupted]"]
            assert unended(cockpit) == []

    async def test_a_second_stop_leaves_the_clean_up_of_the_first_alone(self, tmp_path: Path) -> None:
        """F-35: a provider's stream is closed to its end, whoever is impatient."""
        model = SlowToClose()
        async with rig(tmp_path, recipe(), make_model=lambda _: model) as cockpit:
            await cockpit.link.ask("Go.")
            await model.began.wait()
            await cockpit.link.run("go=stop")
            await asyncio.sleep(0)
            await cockpit.link.run("go=stop")
            await cockpit.settle()
            assert model.closed
            assert states(cockpit) == ["started", "stopped"]

    async def test_queued_wakes_still_run(self, start: Start, model: CuedModel) -> None:
        """F-35: what came while the stopped turn ran gets its turn, however often it was stopped."""
        async with start(BOTH) as cockpit:
            await writing(cockpit, model)
            await cockpit.servers["disc"].say("quiet", "scout?", addressed=True)
            await asyncio.gather(*(cockpit.link.run("go=stop") for _ in range(3)))
            await cockpit.settle()
            assert turns(cockpit) == ["prompt", "message"]
            assert states(cockpit) == ["started", "stopped", "started", "ended"]
            assert last_turn(cockpit.requests("scout")[-1])[-1].endswith("] scout?")

    async def test_a_second_stop_while_the_first_is_written_down_calls_off_nothing(
        self, start: Start, model: CuedModel, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """F-35: between a stopped turn and its end in the log there is a turn that is owed."""
        async with start(BOTH) as cockpit:
            slow = Slow(cockpit, monkeypatch)
            await writing(cockpit, model)
            await cockpit.servers["disc"].say("quiet", "scout?", addressed=True)
            await cockpit.link.run("go=stop")
            await slow.reached.wait()
            assert (await cockpit.link.run("go=stop")).ran.ok
            slow.go.set()
            await cockpit.settle()
            assert turns(cockpit) == ["prompt", "message"]
            assert states(cockpit) == ["started", "stopped", "started", "ended"]

    async def test_an_owed_turn_that_has_not_begun_is_called_off(
        self, start: Start, model: CuedModel, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The operator means the turn that is about to run; a restart does not bring it back."""
        async with start(BOTH) as cockpit:
            slow = Slow(cockpit, monkeypatch)
            gate = await writing(cockpit, model)
            await cockpit.servers["disc"].say("quiet", "scout?", addressed=True)
            gate.open()
            await slow.reached.wait()
            stopping = asyncio.ensure_future(cockpit.link.run("go=stop"))
            await asyncio.sleep(0)
            slow.go.set()
            assert (await stopping).ran.message == "scout stopped"
            await cockpit.settle()
            assert [(event.state, event.reason) for event in cockpit.of(TurnChanged)] == [
                ("started", "prompt"),
                ("ended", "prompt"),
                ("stopped", "message"),
            ]
        async with start(BOTH) as cockpit:
            assert turns(cockpit) == []
            await cockpit.run('go=ask text="Anything?"')
            assert "] scout?" in shown(cockpit.requests("scout")[-1])

    async def test_a_prompt_from_before_the_first_frame_can_be_stopped(self, tmp_path: Path, model: CuedModel) -> None:
        """Nothing runs before the screen stands, and what was stopped by then never does."""
        path, starting = tmp_path / "recipe.toml", asyncio.Event()
        await asyncio.to_thread(path.write_text, recipe(), "utf-8")
        async with open_session(
            load(str(path), {}),
            tmp_path / "turns.db",
            environment={},
            logs=tmp_path / "logs",
            clock=FakeClock(),
            make_model=lambda _: model,
        ) as session:
            link, engine = session.link("screen"), session.engine
            async with asyncio.TaskGroup() as group:
                group.create_task(engine.run(starting))
                assert (await link.ask("Hello?")).ran.ok
                assert (await link.run("go=stop")).ran.ok
                assert (await link.run("go=stop")).ran.code == "not_running"
                starting.set()
                for _ in range(20):
                    await engine.ledger.drain()
                engine.quit()
        assert model.requests == []

    async def test_only_residents_are_stopped(self, start: Start, model: CuedModel) -> None:
        """What the subconscious reads costs the operator no attention, and no turn of its is lost."""
        gate = Gate()
        async with start(BOTH) as cockpit:
            await cockpit.run(f"go=tune-out target={NOISY}")
            model.cue("Subconscious", Answer("Reading.", gate=gate))
            await cockpit.servers["disc"].say("noisy", "scout?", addressed=True)
            await cockpit.advance(2.0, held={"Subconscious"})
            assert (await cockpit.link.run("go=stop")).ran.code == "not_running"
            gate.open()
            await cockpit.settle()
            assert states(cockpit, "Subconscious") == ["started", "ended"]

    async def test_what_a_failed_turn_had_begun_to_say_is_nobodys_words_later(
        self, start: Start, model: CuedModel
    ) -> None:
        """V-8: a stop at 0 ms keeps what was said so far, and that is nothing."""
        async with start(BOTH) as cockpit:
            model.cue("scout", Answer("Half an", fails=ModelError("it broke")))
            await cockpit.run('go=ask text="Go."')
            await cockpit.link.ask("Again.")
            await cockpit.run("go=stop")
            assert states(cockpit) == ["started", "failed", "started", "stopped"]
            assert spoken(cockpit) == []
            assert unended(cockpit) == []

    async def test_a_store_that_fails_meanwhile_is_told_and_the_agent_lives_on(
        self, start: Start, model: CuedModel, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """R-8: the log lacks the interrupted words, and nothing else is harmed."""
        async with start(BOTH) as cockpit:
            await writing(cockpit, model)
            with monkeypatch.context() as patched:

                async def full(_: Batch) -> tuple[Record, ...]:
                    raise StoreError("the disk is full")

                patched.setattr(cockpit.session.engine.ledger.chronicle, "append", full)
                await cockpit.link.run("go=stop")
                await cockpit.settle()
            assert "the disk is full" in told(cockpit, "store")
            await cockpit.run('go=ask text="Again."')
            assert states(cockpit) == ["started", "stopped", "started", "ended"]
