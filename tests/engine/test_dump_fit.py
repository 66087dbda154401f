"""The dump through a whole engine fits the smallest reader, and no strategy has to cut it (D-4 to D-8, K-50, K-51)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from cockpit.testing.stage import CuedModel, Start, notices, recipe, resident, shown, use

ID = "disc:guild:noisy"
LINE = "m" * 148


def small(*more: str) -> tuple[Sequence[str], ...]:
    return ((resident("scout", "max_message_tokens = 170"), *more),)


@pytest.mark.parametrize(
    "residents",
    [
        (resident("scout", "max_message_tokens = 170"),),
        (resident("scout", "max_message_tokens = 10000"), resident("ranger", "max_message_tokens = 170")),
        (resident("scout", "max_message_tokens = 170"), resident("ranger", 'max_message_tokens = "none"')),
    ],
    ids=["one", "two", "one without a cap"],
)
async def test_the_dump_fits_the_smallest_reader(start: Start, model: CuedModel, residents: Sequence[str]) -> None:
    """D-4, D-5, D-8, K-51: six of 148 characters under 170 tokens; the newest three are there whole, nothing is cut
    by the strategy, and the subconscious is told of the three that are not."""
    text = recipe(residents=residents)
    async with start(text, channels={"disc": [ID]}) as cockpit:
        await use(cockpit, model, "tune_out", channel=ID)
        for _ in range(6):
            await cockpit.servers["disc"].say(ID, LINE, author="ember")
        await use(cockpit, model, "cancel_tune_out", channel=ID)
        (dump,) = notices(cockpit, "tune-out-cancel")
        assert len(dump) <= 680
        assert dump.startswith(f"[Tune-out: {ID} cancelled — agent request, 0 wakes]\n\n")
        assert "messages=6 truncated=3 (oldest; fetch_history covers the rest)>" in dump
        assert dump.count(f"ember: {LINE}\n") == 3
        for name in {line.split('"')[1] for line in residents}:
            await cockpit.link.ask("Well?", name)
            await cockpit.settle()
            told = shown(cockpit.requests(name)[-1])
            assert dump in told
            assert told.count("</tuned-out-backlog>") == 1
            assert "[truncated —" not in told
        assert notices(cockpit, "tune-out-cancel-report") == [
            (
                f"[Tune-out cancelled: {ID} — agent request. 3 of 6 diverted messages, the oldest, "
                "weren't delivered raw to the resident.]"
            )
        ]


async def test_without_a_cap_everything_is_there(start: Start, model: CuedModel) -> None:
    """D-4: where no resident has a cap there is no bound; the subconscious's own does not count."""
    text = recipe(
        model='max_message_tokens = "none"',
        subconscious='[subconscious]\nsystem_prompt = "You watch."\nmax_message_tokens = 170',
    )
    async with start(text, channels={"disc": [ID]}) as cockpit:
        await use(cockpit, model, "tune_out", channel=ID)
        for _ in range(6):
            await cockpit.servers["disc"].say(ID, LINE, author="ember")
        await use(cockpit, model, "cancel_tune_out", channel=ID)
        (dump,) = notices(cockpit, "tune-out-cancel")
        assert "messages=6>" in dump
        assert len(dump) == 1079


async def test_200_long_messages_still_fit_one(start: Start, model: CuedModel) -> None:
    """K-50."""
    text = recipe(residents=(resident("scout", "max_message_tokens = 170"),))
    async with start(text, channels={"disc": [ID]}) as cockpit:
        await use(cockpit, model, "tune_out", channel=ID)
        for number in range(200):
            await cockpit.servers["disc"].say(ID, f"{number} " + "long " * 30, author="ember")
        await use(cockpit, model, "cancel_tune_out", channel=ID)
        (dump,) = notices(cockpit, "tune-out-cancel")
        assert len(dump) <= 680
        assert "ember: 199 " in dump
        assert dump in shown(cockpit.requests("scout")[-1])


async def test_a_muted_backlog_is_fitted_by_the_same_rules(start: Start, model: CuedModel) -> None:
    """M-11: `deliver=backlog`."""
    text = recipe(residents=(resident("scout", "max_message_tokens = 170"),))
    async with start(text, channels={"disc": [ID]}) as cockpit:
        await cockpit.run(f"go=mute target=channel:disc/{ID}")
        for _ in range(6):
            await cockpit.servers["disc"].say(ID, LINE, author="ember")
        await cockpit.run(f"go=unmute target=channel:disc/{ID} deliver=backlog")
        (dump,) = notices(cockpit, "unmute")
        assert len(dump) <= 680
        assert f'<muted-backlog channel="{ID}" messages=6 truncated=3 (oldest; fetch_history covers the rest)>' in dump
        assert dump.endswith("</muted-backlog>")
