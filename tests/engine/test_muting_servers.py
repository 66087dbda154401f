"""A muted server through a whole engine: crashes, kills, restarts, its channels, and the totals (M-10 to M-14)."""

from __future__ import annotations

from cockpit.testing.rig import Rig
from cockpit.testing.stage import (
    DISC,
    GIT,
    NOISY,
    CuedModel,
    Start,
    listed,
    notices,
    peek,
    recipe,
    shown,
    turns,
)

BOTH = recipe(GIT, DISC)
QUIET = "channel:disc/quiet"


def label(cockpit: Rig, target: str) -> str:
    return cockpit.session.engine.rows.row(cockpit.channel(target).target).label


async def ask(cockpit: Rig, text: str = "Well?") -> str:
    await cockpit.link.ask(text)
    await cockpit.settle()
    return shown(cockpit.requests("scout")[-1])


async def test_a_mute_stops_no_process_and_counts_as_nothing(start: Start, model: CuedModel) -> None:
    """M-1, K-122: no close, no kill, no offline event, no crash."""
    async with start(BOTH) as cockpit:
        git = cockpit.servers["git"]
        for _ in range(3):
            await cockpit.run("go=mute target=mcp:git")
            assert label(cockpit, "mcp:git") == "muted"
            await cockpit.run("go=unmute target=mcp:git")
        assert git.online
        assert not git.killed
        assert (cockpit.channel("mcp:git").totals.crashes, cockpit.channel("mcp:git").totals.kills) == (0, 0)
        assert label(cockpit, "mcp:git") == "online"


async def test_a_muted_server_that_crashes(start: Start, model: CuedModel) -> None:
    """M-10, K-106, K-122: offline with its reason, the mute remembered, one crash; up again, it is still muted."""
    async with start(BOTH) as cockpit:
        await cockpit.run("go=mute target=mcp:git")
        await cockpit.servers["git"].down("it dumped core")
        row = cockpit.session.engine.rows.row(cockpit.channel("mcp:git").target)
        assert (row.label, row.reason, row.muted_by) == ("muted · offline", "it dumped core", ("operator",))
        await cockpit.servers["git"].up()
        assert label(cockpit, "mcp:git") == "muted"
        assert cockpit.channel("mcp:git").totals.crashes == 1
        await cockpit.servers["git"].down("again")
        await cockpit.run("go=unmute target=mcp:git")
        assert label(cockpit, "mcp:git") == "offline"


async def test_a_killed_server_under_a_mute(start: Start, model: CuedModel) -> None:
    """M-10, M-13, K-107: unmute starts nothing; a restart of the cockpit neither; `go=start` does."""
    async with start(BOTH) as cockpit:
        await cockpit.run("go=mute target=mcp:git")
        await cockpit.run("go=kill target=mcp:git")
        assert label(cockpit, "mcp:git") == "muted · killed"
        await cockpit.run("go=unmute target=mcp:git")
        assert label(cockpit, "mcp:git") == "killed"
        assert not cockpit.servers["git"].online
    async with start(BOTH, down=("git",)) as cockpit:
        assert label(cockpit, "mcp:git") == "killed"
    async with start(BOTH) as cockpit:
        assert label(cockpit, "mcp:git") == "killed"
        assert not cockpit.servers["git"].online
        await cockpit.run("go=start target=mcp:git")
        assert label(cockpit, "mcp:git") == "online"
        assert (cockpit.channel("mcp:git").totals.kills, cockpit.channel("mcp:git").totals.crashes) == (1, 0)


async def test_a_mute_survives_restart_reconnect_and_a_late_server(start: Start, model: CuedModel) -> None:
    """M-13, K-108, F-14: and no tool comes back by itself."""
    async with start(BOTH) as cockpit:
        await cockpit.run("go=mute target=mcp:git")
        await cockpit.run(f"go=mute target={NOISY}")
        since = cockpit.channel("mcp:git").span
    async with start(BOTH, down=("git",)) as cockpit:
        assert cockpit.channel("mcp:git").span == since
        assert label(cockpit, "mcp:git") == "muted · connecting"
        await cockpit.servers["git"].up()
        assert label(cockpit, "mcp:git") == "muted"
        await cockpit.servers["disc"].down()
        await cockpit.servers["disc"].up()
        assert label(cockpit, NOISY) == "muted"
        await cockpit.servers["disc"].say("noisy", "still withheld", addressed=True)
        assert "still withheld" not in await ask(cockpit)
        assert not any(name.startswith("git__") for name in listed(cockpit.requests("scout")[-1]))


async def test_a_muted_server_mutes_its_channels(start: Start, model: CuedModel) -> None:
    """M-11: they all show it and keep their counts; one alone is not unmuted; the server's unmute gives one notice
    with the total."""
    async with start() as cockpit:
        disc = cockpit.servers["disc"]
        await cockpit.run("go=mute target=mcp:disc")
        await disc.say("noisy", "one", addressed=True)
        await disc.say("quiet", "two")
        await disc.notify("three")
        assert [label(cockpit, target) for target in ("mcp:disc", NOISY, QUIET)] == ["muted"] * 3
        assert [row.held for row in cockpit.session.engine.rows.all() if row.server == "disc"] == [1, 1, 1]
        refused = (await cockpit.run(f"go=unmute target={NOISY}")).ran
        assert (refused.code, refused.hint) == ("refused", "go=unmute target=mcp:disc")
        await cockpit.run("go=unmute target=mcp:disc")
        assert notices(cockpit, "unmute") == ["[Mute: mcp:disc unmuted after 0 s — 3 messages withheld]"]
        assert [row.held for row in cockpit.session.engine.rows.all() if row.server == "disc"] == [0, 0, 0]
        assert turns(cockpit) == []


async def test_unmuting_a_server_with_its_backlog_gives_one_dump_a_channel(start: Start, model: CuedModel) -> None:
    """M-11."""
    async with start() as cockpit:
        disc = cockpit.servers["disc"]
        await cockpit.run("go=mute target=mcp:disc")
        await disc.say("noisy", "one")
        await disc.say("noisy", "two")
        await disc.say("quiet", "three")
        await cockpit.run("go=unmute target=mcp:disc deliver=backlog")
        whole, noisy, quiet = notices(cockpit, "unmute")
        assert whole == "[Mute: mcp:disc unmuted after 0 s — 3 messages withheld]"
        assert '<muted-backlog channel="noisy" messages=2>\nkim: one\nkim: two\n</muted-backlog>' in noisy
        assert '<muted-backlog channel="quiet" messages=1>\nkim: three\n</muted-backlog>' in quiet
        told = await ask(cockpit)
        assert told.count("<muted-backlog") == 2
        assert "] one" not in told


async def test_seconds_that_are_muted_twice_are_shown_once(start: Start, model: CuedModel) -> None:
    """M-14: while both still hold."""
    async with start() as cockpit:
        await cockpit.run(f"go=mute target={NOISY}")
        await cockpit.advance(10)
        await cockpit.run("go=mute target=mcp:disc")
        await cockpit.advance(10)
        assert (await peek(cockpit)).totals["seconds_muted"] == 20.0


async def test_totals_are_kept_apart(start: Start, model: CuedModel) -> None:
    """M-14: seconds muted, tuned out and offline, crashes, kills, diverted, delivered, dumped."""
    async with start() as cockpit:
        disc = cockpit.servers["disc"]
        await disc.say("noisy", "heard")
        await cockpit.run(f"go=mute target={NOISY}")
        await disc.say("noisy", "withheld")
        await cockpit.advance(10)
        await cockpit.run(f"go=unmute target={NOISY}")
        await cockpit.run(f"go=tune-out target={NOISY}")
        await disc.say("noisy", "diverted")
        await cockpit.advance(20)
        await cockpit.run(f"go=cancel target={NOISY}")
        totals = (await peek(cockpit)).totals
        assert totals == {
            "seconds_muted": 10.0,
            "seconds_tuned_out": 20.0,
            "seconds_offline": 0.0,
            "crashes": 0,
            "kills": 0,
            "diverted": 2,
            "delivered": 1,
            "dumped": 1,
        }
