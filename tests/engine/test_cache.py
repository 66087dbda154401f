"""The stable prefix is read back from the provider's cache, as the local server counts it (V-7, V-3)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count, pairwise
from pathlib import Path

from cockpit.core.message import Json
from cockpit.testing.anthropic_check import markers
from cockpit.testing.anthropic_server import Answer, AnthropicServer, Call, Served, Step
from cockpit.testing.provided import (
    Body,
    blocks_of,
    listed,
    prefix,
    provided,
    provided_recipe,
    read_back,
    refused,
    system_of,
)
from cockpit.testing.rig import Rig
from cockpit.testing.stage import DISC, GIT, NOISY

TURNS = 50
BOTH = provided_recipe(GIT, DISC)
SMALL = "context_tokens = 9000\nmax_tokens = 1000\nmax_message_tokens = 1000"


class Worker:
    """Answers as an agent at work does: two tools and then words; as the subconscious: a report and an end."""

    def __init__(self) -> None:
        self._numbers = count()

    def __call__(self, body: Mapping[str, Json]) -> Step:
        number, answered = next(self._numbers), blocks_of(body)[-1]["type"] == "tool_result"
        if system_of(body).startswith("You watch"):
            summary = {"channel": "noisy", "text": f"You were asked something, for the {number}th time."}
            return Answer(calls=(Call("end_turn") if answered else Call("deliver_summary", summary),))
        if answered:
            return Answer(f"It is clean, for the {number}th time.")
        return Answer("Let me look.", (Call("git__status"), Call("git__commit", {"message": f"work {number}"})))


async def session(cockpit: Rig, *, turns: int = TURNS, chatter: int = 3, advance: float = 0.0) -> None:
    """Turns of the resident with people talking in between, in both channels."""
    disc = cockpit.servers["disc"]
    for turn in range(turns):
        for number in range(chatter):
            await disc.say("quiet", f"chatter {turn}.{number} about nothing much, as people do all day long")
            await disc.say("noisy", f"noise {turn}.{number} about nothing much at all", addressed=not number)
        await cockpit.run(f'go=ask text="What is it now, for the {turn}th time?"')
        await cockpit.advance(advance)


def of(server: AnthropicServer, system: str) -> list[Served]:
    return [served for served in server.requests if system_of(served.body).startswith(system)]


def jumps(requests: list[Served]) -> int:
    """How often a request did not begin with the one before it."""
    parts = [prefix(served.body) for served in requests]
    return sum(after[: len(before)] != before for before, after in pairwise(parts))


async def test_in_50_turns_with_tools_nine_tenths_are_read_back(tmp_path: Path) -> None:
    """V-7: of every prompt together, the subconscious's too."""
    async with AnthropicServer(Worker()) as server, provided(tmp_path, BOTH, server) as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY} wakes=1000")
        await session(cockpit, advance=2.0)
        assert refused(server) == []
        assert len(of(server, "You are scout")) == 2 * TURNS
        assert len(of(server, "You watch")) >= TURNS
        assert read_back(server.requests) >= 0.9
        assert read_back(of(server, "You are scout")) >= 0.95
        assert read_back(of(server, "You watch")) >= 0.9
        assert jumps(of(server, "You are scout")) == 0
        total = sum((agent.usage.cache_read for agent in cockpit.session.engine.agents.values()), 0)
        assert total == server.usage.cache_read


async def test_a_window_that_jumps_reads_nine_tenths_all_the_same(tmp_path: Path) -> None:
    """V-3: it jumps so far that it can stay for long."""
    text = provided_recipe(GIT, DISC, model=SMALL)
    async with AnthropicServer(Worker()) as server, provided(tmp_path, text, server) as cockpit:
        await cockpit.run(f"go=mute target={NOISY}")
        await session(cockpit)
        assert refused(server) == []
        assert 2 <= jumps(server.requests) <= 6
        assert read_back(server.requests) >= 0.9


async def test_a_burst_does_not_hide_what_was_cached_before_it(tmp_path: Path) -> None:
    """V-7: a provider looks back only twenty blocks from a marker, and a hundred messages may come between."""
    async with AnthropicServer(Worker()) as server, provided(tmp_path, BOTH, server) as cockpit:
        await session(cockpit, turns=3, chatter=50)
        for before, after in pairwise(server.requests):
            assert after.usage.cache_read == before.usage.cache_read + before.usage.cache_write
        assert server.requests[0].usage.cache_write > 0


async def test_a_restart_reads_back_what_was_cached_before_it(tmp_path: Path) -> None:
    """V-3, V-4: the same bytes from the store alone."""
    async with AnthropicServer(Worker()) as server:
        async with provided(tmp_path, BOTH, server) as cockpit:
            await session(cockpit, turns=3)
            before = server.requests[-1].usage
        async with provided(tmp_path, BOTH, server) as cockpit:
            await cockpit.run('go=ask text="Where were we?"')
            assert server.requests[-2].usage.cache_read == before.cache_read + before.cache_write


async def test_a_mute_that_marks_leaves_the_prefix_as_it_was(tmp_path: Path) -> None:
    """M-2, K-110: in mode `mark` the tools stay byte for byte, and so what is cached is read back."""
    text = provided_recipe(f'{GIT}\nwhen_muted = "mark"', DISC)
    async with AnthropicServer(Worker()) as server, provided(tmp_path, text, server) as cockpit:
        for _ in range(3):
            await session(cockpit, turns=1)
            await cockpit.run("go=mute target=mcp:git")
            await session(cockpit, turns=1)
            await cockpit.run("go=unmute target=mcp:git")
        assert jumps(server.requests) == 0
        assert read_back(server.requests[2:]) >= 0.8


async def test_at_most_four_markers_and_two_of_them_the_strategys(tmp_path: Path) -> None:
    """V-7: whatever is in a request, standing notes too."""
    script = iter([Answer(calls=(Call("note_disposition", {"key": "k", "text": "Be brief."}),))])

    def play(body: Body) -> Step:
        return next(script, None) or Worker()(body) if system_of(body).startswith("You watch") else Worker()(body)

    async with AnthropicServer(play) as server, provided(tmp_path, BOTH, server) as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY} wakes=1000")
        await session(cockpit, turns=5, advance=2.0)
        for served in server.requests:
            in_messages = sum(block.get("cache_control") is not None for block in blocks_of(served.body))
            assert sum(1 for _ in markers(served.body)) <= 4
            assert 1 <= in_messages <= 2
        assert len(listed(of(server, "You watch")[-1].body["system"])) == 2
