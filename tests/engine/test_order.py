"""Rows stand in the recipe's order, and within a server in the order in which its channels first came (cockpit.md,
"Many channels"): over restarts too, so that nobody has to look for a row again."""

from __future__ import annotations

from cockpit.testing.rig import Rig
from cockpit.testing.stage import DISC, GIT, Start, recipe

CAME = ("zebra", "lobby", "alpha")


def rows(cockpit: Rig) -> list[str]:
    return [row.target for row in cockpit.session.engine.rows.all()]


async def test_channels_keep_their_first_order(start: Start) -> None:
    expected = ["mcp:git", "mcp:disc", *(f"channel:disc/{each}" for each in CAME)]
    async with start(recipe(GIT, DISC), channels={"disc": CAME}) as cockpit:
        assert rows(cockpit) == expected
    # the server may name them in another order, or be away; one that is new comes last
    async with start(recipe(GIT, DISC), channels={"disc": ("alpha", "middle", "zebra")}) as cockpit:
        assert rows(cockpit) == [*expected, "channel:disc/middle"]
    async with start(recipe(GIT, DISC), down=("disc",)) as cockpit:
        assert rows(cockpit) == [*expected, "channel:disc/middle"]
