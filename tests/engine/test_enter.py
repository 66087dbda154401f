"""Entering a tune-out through a whole engine: parameters, refusals, and what is said of them (T-1, T-2)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from cockpit.core.message import Json
from cockpit.testing.rig import Rig
from cockpit.testing.stage import (
    NOISY,
    CuedModel,
    Start,
    notices,
    recipe,
    turns,
    use,
)

ALONE = recipe(subconscious="")


async def tuned_out(cockpit: Rig, *said: str, values: str = "") -> None:
    await cockpit.run(f"go=tune-out target={NOISY} {values}")
    for text in said:
        await cockpit.servers["disc"].say("noisy", text)
    await cockpit.settle()


async def test_a_tune_out_of_a_channel_whose_server_is_away(start: Start, model: CuedModel) -> None:
    """K-77: entering works as well."""
    async with start() as cockpit:
        await cockpit.servers["disc"].down()
        assert (await cockpit.run(f"go=tune-out target={NOISY}")).ran.ok
        await cockpit.servers["disc"].up()
        await cockpit.servers["disc"].say("noisy", "back")
        assert cockpit.channel(NOISY).totals.diverted == 1


async def test_without_a_subconscious_nothing_is_tuned_out(start: Start, model: CuedModel) -> None:
    """K-94, T-2: refused with the reason, to operator and resident."""
    async with start(ALONE) as cockpit:
        refused = (await cockpit.run(f"go=tune-out target={NOISY}")).ran
        assert (refused.ok, refused.code) == (False, "refused")
        assert "no subconscious" in refused.message
        assert "no subconscious" in await use(cockpit, model, "tune_out", channel="noisy")
        assert cockpit.channel(NOISY).epoch is None


async def test_a_second_tune_out_is_refused_and_keeps_the_backlog(start: Start, model: CuedModel) -> None:
    """K-88, T-2."""
    async with start() as cockpit:
        await tuned_out(cockpit, "one")
        before = cockpit.channel(NOISY)
        assert (await cockpit.run(f"go=tune-out target={NOISY} wakes=1")).ran.code == "already"
        assert (await use(cockpit, model, "tune_out", channel="noisy")).startswith("refused: ")
        assert cockpit.channel(NOISY).epoch == before.epoch


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"channel": "nosy"}, "no channel 'nosy'; did you mean noisy"),
        ({"channel": "git"}, "no channel 'git'"),
        ({"channel": "disc"}, "is no chat channel and no feed"),
        ({}, "channel is required"),
        ({"channel": "noisy", "max_wakes": "5"}, "max_wakes='5' is not a whole number"),
        ({"channel": "noisy", "backlog_cap": float("nan")}, "backlog_cap=nan is not a whole number"),
        ({"channel": "noisy", "duration_seconds": True}, "duration_seconds=True is not a whole number"),
        ({"channel": "noisy", "cadence_seconds": -1}, "cadence_seconds=-1 is not a whole number"),
        ({"channel": "noisy", "wakes": 3}, "tune_out has no parameter 'wakes'; did you mean max_wakes?"),
    ],
)
async def test_what_a_tool_call_cannot_mean_is_refused_by_name(
    start: Start, model: CuedModel, values: Mapping[str, Json], said: str
) -> None:
    """T-1, T-2, K-48."""
    async with start() as cockpit:
        answer = await use(cockpit, model, "tune_out", **values)  # type: ignore[arg-type]  # none of them is `by`
        assert answer.startswith("refused: ")
        assert said in answer
        assert cockpit.channel(NOISY).epoch is None


async def test_a_raised_value_is_said_to_agent_and_operator(start: Start, model: CuedModel) -> None:
    """T-1, K-80."""
    async with start() as cockpit:
        said = await use(cockpit, model, "tune_out", channel="noisy", cadence_seconds=5, max_wakes=0.5)
        assert "cadence_seconds 5 is below its floor and was raised to 30" in said
        assert "max_wakes 0 is below its floor and was raised to 1" in said
        answer = await cockpit.run("go=tune-out target=channel:disc/quiet for=10")
        assert answer.ran.message.endswith("is tuned out; for 10 s is below its floor and was raised to 60 s")


async def test_the_tools_description_names_defaults_and_floors(start: Start, model: CuedModel) -> None:
    """T-1: and what cap 0 means; its parameters are the contract's."""
    async with start() as cockpit:
        await cockpit.run('go=ask text="Hello."')
        tool = next(each for each in cockpit.requests("scout")[0].tools if each.name == "tune_out")
        for words in ("1800", "200", "max_wakes 5", "none", "30", "60", "summary only"):
            assert words in tool.description
        properties = tool.input_schema["properties"]
        assert isinstance(properties, Mapping)
        assert set(properties) == {"channel", "cadence_seconds", "backlog_cap", "max_wakes", "duration_seconds"}


async def test_huge_values_harm_nobody(start: Start, model: CuedModel) -> None:
    """T-1, K-49: stored, shown, and read back after a restart; nothing fires early."""
    async with start() as cockpit:
        huge = 10**400
        said = await use(
            cockpit, model, "tune_out", channel="noisy", cadence_seconds=huge, backlog_cap=huge, duration_seconds=huge
        )
        assert said == "channel:disc/noisy is tuned out"
        await cockpit.servers["disc"].say("noisy", "one")
    async with start() as cockpit:
        await cockpit.advance(10**7)
        assert turns(cockpit) == []
        assert (await cockpit.run(f"go=cancel target={NOISY}")).ran.ok
        assert "kim: one" in notices(cockpit, "tune-out-cancel")[0]
