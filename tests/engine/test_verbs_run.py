"""Verbs through a whole engine: refusals change nothing, globs report each, and everything is audited."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from cockpit.core.channel import Channel
from cockpit.core.events import ChannelChanged, Peeked, Ready
from cockpit.core.target import Target
from cockpit.engine.assemble import open_session
from cockpit.errors import VerbCode
from cockpit.recipe import load
from cockpit.testing.clock import FakeClock
from cockpit.testing.rig import Rig
from cockpit.testing.stage import DISC, GIT, NOISY, CuedModel, Start, audit, peek, recipe, turns, use, why

BOTH = recipe(GIT, GIT.replace('"git"', '"github"'), DISC)


def states(cockpit: Rig) -> dict[Target, Channel]:
    return dict(cockpit.session.engine.ledger.channels)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("go=mute target=mcp:gitt", "unknown_target"),
        ("go=mute target=mcp:GIT", "unknown_target"),
        ("go=mute target=mcp:", "unknown_target"),
        ("go=mute target=*", "unknown_target"),
        ("go=mute target=nowhere:git", "unknown_target"),
        ("go=mute target=mcp:x*", "unknown_target"),
        ("go=mute", "missing_value"),
        ("go=mute target=", "missing_value"),
        ("go=tune-out target=mcp:git", "wrong_kind"),
        ("go=kill target=channel:disc/noisy", "wrong_kind"),
        ("go=open target=mcp:git", "wrong_kind"),
        ("go=tune-out target=channel:noisy cap=nan", "bad_value"),
        ("go=unmute target=mcp:git", "already"),
        ("go=cancel target=channel:noisy", "already"),
        ("go=open target=channel:noisy", "already"),
        ("go=start target=mcp:git", "already"),
        ("go=stop", "not_running"),
        ("frobnicate", "unknown_verb"),
        ("go=why message=disc/never", "bad_value"),
        ("go=context agent=nobody", "bad_value"),
    ],
)
async def test_a_refused_line_has_its_code_and_changes_nothing(
    start: Start, model: CuedModel, line: str, code: VerbCode
) -> None:
    """K-113, R-5."""
    async with start(BOTH) as cockpit:
        before = states(cockpit)
        answer = (await cockpit.run(line)).ran
        assert (answer.ok, answer.code, answer.typed) == (False, code, line)
        assert "\n" not in answer.message
        assert states(cockpit) == before
        assert turns(cockpit) == []


@pytest.mark.parametrize("line", ["go=mute target=mcp:git ", "MUTE MCP:git", ":mute mcp:git", 'mute "mcp:git"'])
async def test_what_is_typed_is_what_is_meant(start: Start, model: CuedModel, line: str) -> None:
    """F-24, K-113: `mcp:git` mutes git and never github."""
    async with start(BOTH) as cockpit:
        assert (await cockpit.run(line)).ran.ok
        assert cockpit.channel("mcp:git").span is not None
        assert cockpit.channel("mcp:github").span is None


async def test_a_glob_acts_on_all_that_match_and_reports_each(start: Start, model: CuedModel) -> None:
    """cockpit.md, Verbs."""
    async with start(BOTH) as cockpit:
        await cockpit.run("go=mute target=mcp:git")
        ran = (await cockpit.run("go=mute target=mcp:*")).ran
        assert [(one.target, one.ok) for one in ran.results] == [
            ("mcp:git", False),
            ("mcp:github", True),
            ("mcp:disc", True),
        ]
        assert (ran.ok, ran.code, ran.message) == (False, "already", "mute: 2 of 3 done")
        assert all(cockpit.channel(f"mcp:{name}").span for name in ("git", "github", "disc"))
        ran = (await cockpit.run("go=tune-out target=*:*noisy*")).ran
        assert [(one.target, one.ok) for one in ran.results] == [(NOISY, True)]


async def test_a_server_with_a_colon_in_its_name(start: Start, model: CuedModel) -> None:
    """K-114: it parts at the first colon and nowhere else."""
    async with start(recipe(GIT.replace('"git"', '"a:b"'), DISC)) as cockpit:
        assert (await cockpit.run("go=mute target=mcp:a:b")).ran.ok
        assert cockpit.channel("mcp:a:b").span is not None


async def test_two_servers_with_one_channel_id(start: Start, model: CuedModel) -> None:
    """Section 1: `channel:ID` is refused with both, `channel:SERVER/ID` means one."""
    two = recipe(DISC, DISC.replace("disc", "irc"))
    async with start(two, channels={"disc": ["noisy"], "irc": ["noisy"]}) as cockpit:
        answer = (await cockpit.run("go=mute target=channel:noisy")).ran
        assert answer.code == "ambiguous_target"
        assert "channel:disc/noisy, channel:irc/noisy" in answer.message
        await cockpit.run("go=mute target=channel:irc/noisy")
        assert cockpit.channel(NOISY).span is None


async def test_every_change_is_audited_with_who_and_what_became_of_it(start: Start, model: CuedModel) -> None:
    """K-123: actor, origin, verb, target, old and new state, reason, epoch."""
    async with start(BOTH) as cockpit:
        await cockpit.run('go=mute target=mcp:git reason="too loud"')
        await use(cockpit, model, "tune_out", channel="noisy")
        epoch = cockpit.channel(NOISY).epoch
        await cockpit.run(f"go=cancel target={NOISY}")
        await cockpit.run(f"go=close target={NOISY}")
        await cockpit.run("go=kill target=mcp:github")
        rows = [
            (row["actor"], row["origin"], row["verb"], row["target"], row["before"], row["after"], row["reason"])
            for row in await audit(cockpit)
        ]
        assert rows == [
            ("operator", "headless", "mute", "mcp:git", "online", "muted", "too loud"),
            ("scout", "tool", "tune-out", NOISY, "online", "tuned-out", ""),
            ("operator", "headless", "cancel", NOISY, "tuned-out", "online", ""),
            ("operator", "headless", "close", NOISY, "online", "closed", ""),
            ("operator", "headless", "kill", "mcp:github", "online", "online", ""),
        ]
        assert epoch is not None
        assert [row["epoch"] for row in await audit(cockpit)] == [None, epoch.id, epoch.id, None, None]
        assert all(row["ok"] for row in await audit(cockpit))


async def test_refusals_are_audited_with_the_state_they_left(start: Start, model: CuedModel) -> None:
    """K-123."""
    async with start(BOTH) as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        epoch = cockpit.channel(NOISY).epoch
        await cockpit.run(f"go=tune-out target={NOISY}")
        await use(cockpit, model, "channel_open", channel="noisy")
        first, second = (await audit(cockpit))[-2:]
        assert epoch is not None
        for row, actor, verb in ((first, "operator", "tune-out"), (second, "scout", "open")):
            assert (row["actor"], row["verb"], row["ok"]) == (actor, verb, False)
            assert (row["before"], row["after"], row["epoch"]) == ("tuned-out", "tuned-out", epoch.id)
            assert row["reason"]


async def test_what_the_engine_ends_is_audited_with_the_label_it_had(start: Start, model: CuedModel) -> None:
    """K-123: automatic expiry of a channel whose server is away."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY} for=60")
        await cockpit.servers["disc"].down()
        await cockpit.advance(60)
        row = (await audit(cockpit))[-1]
        assert (row["actor"], row["before"], row["after"]) == ("engine", "tuned-out · offline", "offline")
        assert row["reason"] == "duration elapsed"


async def test_audit_of_one_target_and_of_the_last_few(start: Start, model: CuedModel) -> None:
    """cockpit.md, `go=audit`."""
    async with start(BOTH) as cockpit:
        for name in ("git", "github", "git"):
            await cockpit.run(f"go=mute target=mcp:{name}")
        (shown,) = (await cockpit.link.run("go=audit target=mcp:git")).shown
        rows = shown.line()["rows"]
        assert isinstance(rows, list)
        assert len(rows) == 2
        assert len(await audit(cockpit, last=1)) == 1
        (shown,) = (await cockpit.link.run("go=audit target=mcp:*")).shown
        rows = shown.line()["rows"]
        assert isinstance(rows, list)
        assert [row["target"] for row in rows] == ["mcp:git", "mcp:github", "mcp:git"]


async def test_peek_ends_nothing(start: Start, model: CuedModel) -> None:
    """cockpit.md, Peek: newest last, with who and why it was held, the epoch and the totals."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY} cap=7")
        for number in range(25):
            await cockpit.servers["disc"].say("noisy", f"line {number}")
        before = cockpit.channel(NOISY)
        found = await peek(cockpit)
        assert [one.text for one in found.messages] == [f"line {number}" for number in range(5, 25)]
        assert {one.held_by for one in found.messages} == {"tune-out"}
        assert found.epoch is not None
        assert found.epoch.cap == 7
        assert found.totals["diverted"] == 25
        assert cockpit.channel(NOISY) == before
        for last, shown in (("3", 3), ("0", 0), ("1e300", 25)):
            (few,) = (await cockpit.link.run(f"go=peek target={NOISY} last={last}")).shown
            assert isinstance(few, Peeked)
            assert len(few.messages) == shown


async def test_why_tells_the_rules_in_the_order_asked(start: Start, model: CuedModel) -> None:
    """A-1, cockpit.md, Why: by the number that peek shows, or by server and message id."""
    async with start() as cockpit:
        disc = cockpit.servers["disc"]
        await disc.say("quiet", "scout?", addressed=True, message_id="q")
        await cockpit.run(f"go=tune-out target={NOISY}")
        await disc.say("noisy", "scout?", addressed=True, message_id="n")
        heard, diverted = await why(cockpit, "disc/q"), await why(cockpit, "disc/n")
        assert (heard.decision, heard.woke, heard.acknowledged) == ("delivered", ("scout",), False)
        assert (diverted.decision, diverted.woke, diverted.acknowledged) == ("diverted", (), True)
        assert heard.rules == diverted.rules == ("server-mute", "mute", "epoch", "gate:addressed")
        (message,) = (await peek(cockpit)).messages
        assert (await why(cockpit, message.id)).stamp == diverted.stamp


async def test_each_channel_is_told_at_the_start_and_at_each_change(start: Start, model: CuedModel) -> None:
    """cockpit.md, Headless lines: one `channel` for each, coalesced to ten a second a channel."""
    async with start(BOTH) as cockpit:
        (ready,) = cockpit.of(Ready)
        assert ready.agents == ("scout", "Subconscious")
        told = {event.target for event in cockpit.of(ChannelChanged)}
        assert {"mcp:git", "mcp:github", "mcp:disc"} <= told
        await cockpit.advance(1.0)
        before = len([one for one in cockpit.of(ChannelChanged) if one.target == "mcp:git"])
        for _ in range(20):
            await cockpit.run("go=mute target=mcp:git")
            await cockpit.run("go=unmute target=mcp:git")
        await cockpit.run("go=mute target=mcp:git")
        await cockpit.advance(0.1)
        await cockpit.advance(0.1)
        rows = [one for one in cockpit.of(ChannelChanged) if one.target == "mcp:git"]
        assert len(rows) - before <= 3
        assert rows[-1].attention == "muted"


async def test_a_muted_servers_channels_are_told_too(start: Start, model: CuedModel) -> None:
    """M-11."""
    async with start() as cockpit:
        await cockpit.run("go=mute target=mcp:disc")
        await cockpit.advance(0.1)
        last = {one.target: one.label for one in cockpit.of(ChannelChanged)}
        assert (last["mcp:disc"], last[NOISY]) == ("muted", "muted")


async def test_why_names_whom_a_diverted_message_has_woken_later(start: Start, model: CuedModel) -> None:
    """cockpit.md, `why`: once its wake was counted; not where that wake has ended the epoch instead (T-10)."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY} wakes=1")
        disc = cockpit.servers["disc"]
        await disc.say("noisy", "scout?", addressed=True, message_id="m1")
        await disc.say("noisy", "lunch", message_id="n1")
        await cockpit.settle()
        assert (await why(cockpit, "disc/m1")).woke == ()
        await cockpit.advance(2.0)
        await disc.say("noisy", "scout!", addressed=True, message_id="m2")
        await cockpit.advance(2.0)
        assert cockpit.channel(NOISY).epoch is None
        woke = {each: (await why(cockpit, f"disc/{each}")).woke for each in ("m1", "n1", "m2")}
        assert woke == {"m1": ("Subconscious",), "n1": (), "m2": ()}


async def test_read_only_refuses_what_writes(tmp_path: Path) -> None:
    """cockpit.md: every writing verb, and prompts; what reads still reads."""
    path = tmp_path / "recipe.toml"
    path.write_text(recipe(subconscious=""), encoding="utf-8")
    async with open_session(
        load(str(path), {}),
        tmp_path / "read.db",
        environment={},
        logs=tmp_path,
        read_only=True,
        clock=FakeClock(),
    ) as session:
        starting = asyncio.Event()
        link = session.link("headless")
        async with asyncio.TaskGroup() as group:
            group.create_task(session.engine.run(starting))
            for line in ("go=mute target=mcp:disc", "go=ask text=hi", "go=kill target=mcp:disc", "go=stop", "go=undo"):
                answer = await link.run(line)
                assert (answer.ran.ok, answer.ran.code) == (False, "read_only")
                assert answer.ran.hint == "start the cockpit without --read-only"
            assert (await link.ask("hi")).ran.code == "read_only"
            assert (await link.run("go=peek target=mcp:disc")).ran.ok
            assert (await link.run("go=stats")).ran.ok
            assert (await link.run("go=quit")).ran.ok
