"""Every refusal of a verb that writes leaves a row in the audit, bounded, and without anybody's words (K-123, R-7)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from cockpit.core.message import Json
from cockpit.engine.assemble import open_session
from cockpit.errors import StoreError
from cockpit.recipe import load
from cockpit.testing.clock import FakeClock
from cockpit.testing.stage import (
    DISC,
    GIT,
    NOISY,
    CuedModel,
    Start,
    answered,
    audit,
    recipe,
    resident,
    use,
    watcher_uses,
)

TALK = '[intercom]\noperator = "you"\nfeeds = ["general"]\nparticipants = { hedgehog = "prickly" }'
BOTH = recipe(GIT, DISC, residents=(resident(), resident("ranger")), more=TALK)
SECRET = "hunter2"


def brief(row: Mapping[str, Json]) -> tuple[Json, ...]:
    return row["actor"], row["origin"], row["verb"], row["target"], row["ok"]


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("go=mute", ("mute", "", "mute needs target=")),
        ("go=mute target=", ("mute", "", "target= has no value")),
        ("go=mute target=mcp:gti", ("mute", "mcp:gti", "did you mean mcp:git")),
        ("mute MCP:gti", ("mute", "mcp:gti", "did you mean mcp:git")),
        ("go=mute target=mcp:git for=2h", ("mute", "mcp:git", "mute has no for=")),
        ("go=mute target=mcp:git raeson=x", ("mute", "mcp:git", "knows no 'raeson'")),
        ('go=mute target="mcp:git', ("mute", "mcp:git", "is not closed")),
        ("go=tune-out target=mcp:git", ("tune-out", "mcp:git", "tune-out takes channel: or feed:")),
        ("go=tune-out target=channel:noisy cap=nan", ("tune-out", NOISY, "cap='nan'")),
        ("go=kill target=channel:noisy", ("kill", NOISY, "kill takes mcp:")),
        ("go=stop", ("stop", "", "no turn is running")),
        ("go=undo", ("undo", "", "nothing of yours")),
        ("go=rewind to=disc/none", ("rewind", "", "no message 'disc/none'")),
        ("go=switch branch=other", ("switch", "", "no branch 'other'")),
        ("go=mutee target=mcp:git", ("mutee", "mcp:git", "no verb 'mutee'")),
        ("mutee mcp:git", ("mutee", "mcp:git", "no verb 'mutee'")),
        ("go=frobnicate", ("frobnicate", "", "no verb 'frobnicate'")),
        ('"mute"', ("mute", "", "mute needs target=")),
        ('go="mute" soft=no target=mcp:git', ("mute", "mcp:git", "soft='no' is none of yes")),
    ],
)
async def test_a_line_that_was_misread_is_audited(
    start: Start, model: CuedModel, line: str, kept: tuple[str, str, str]
) -> None:
    """K-123: who, from where, which verb and target as far as they can be told, why; the state stays as it was."""
    async with start(BOTH) as cockpit:
        assert not (await cockpit.run(line)).ran.ok
        (row,), (verb, target, why) = await audit(cockpit), kept
        assert brief(row) == ("operator", "headless", verb, target, False)
        assert why in str(row["reason"])
        state = "online" if target in {"mcp:git", NOISY} else ""
        assert (row["before"], row["after"]) == (state, state)


@pytest.mark.parametrize(
    "line",
    [
        "go=peek target=mcp:nowhere",
        "go=why message=disc/never",
        "go=context agent=nobody",
        "go=audit target=mcp:nowhere",
        "",
        "what is this all about",
    ],
)
async def test_what_could_have_changed_nothing_leaves_no_row(start: Start, model: CuedModel, line: str) -> None:
    """A verb that reads, and a line that names no verb, are answered, and that is all."""
    async with start(BOTH) as cockpit:
        assert not (await cockpit.run(line)).ran.ok
        assert await audit(cockpit) == []


@pytest.mark.parametrize(
    ("line", "verb", "why"),
    [
        (f"go=say to=nobody text={SECRET}", "say", "there is nobody of that name"),
        (f"go=say to={SECRET} text=x", "say", "there is nobody of that name"),
        (f'go=say text="{SECRET}', "say", "a value is wrong"),
        (f'go=ask text="{SECRET}" text="{SECRET}"', "ask", "a value is wrong"),
        ("go=ask", "ask", "a value is missing"),
        (f'ask text="go={SECRET}', "ask", "a value is wrong"),
        (f'say text="well go={SECRET}', "say", "a value is wrong"),
        (f'text="well go={SECRET}" go=say to=feed:general to=scout', "say", "a value is wrong"),
        (f"say text=well go={SECRET}", "say", "there is no such verb"),
        (f'go=sya text="hello target={SECRET}"', "sya", "no verb 'sya'"),
        (f"sya to=scout the word is user:{SECRET}", "sya", "no verb 'sya'"),
        (f'go=frobnicate text="hello target={SECRET}"', "frobnicate", "no verb 'frobnicate'"),
    ],
)
async def test_what_was_to_be_said_is_never_copied(
    start: Start, model: CuedModel, line: str, verb: str, why: str
) -> None:
    """R-7."""
    async with start(BOTH) as cockpit:
        assert not (await cockpit.run(line)).ran.ok
        (row,) = await audit(cockpit)
        assert (*brief(row), row["reason"]) == ("operator", "headless", verb, "", False, why)
        assert SECRET not in str(row)


async def test_a_row_is_bounded_however_long_the_line(start: Start, model: CuedModel) -> None:
    async with start(BOTH) as cockpit:
        await cockpit.run(f"go=mute target=mcp:{'x' * 100_000}")
        await cockpit.run(f"go={'y' * 100_000}")
        await cockpit.run(f"go=rewind to={'z' * 100_000}")
        await cockpit.run(f"go=tune-out target={NOISY} cadence={'9' * 4000}q")
        rows = await audit(cockpit)
        assert len(rows) == 4
        assert all(len(str(row)) < 1000 for row in rows)
        assert not any("\n" in str(value) for row in rows for value in row.values())


async def test_a_prompt_that_is_refused(start: Start, model: CuedModel) -> None:
    """K-123: also where it does not come as a line; its words stay out."""
    async with start(BOTH) as cockpit:
        assert not (await cockpit.link.ask(SECRET, "nobody")).ran.ok
        assert not (await cockpit.link.ask("  ")).ran.ok
        rows = await audit(cockpit)
        assert [brief(row) for row in rows] == [("operator", "headless", "ask", "", False)] * 2
        assert SECRET not in str(rows)


async def test_a_glob_that_finds_what_the_verb_does_not_take(start: Start, model: CuedModel) -> None:
    """K-123: each has its row, those that were done and those that were not."""
    async with start(BOTH) as cockpit:
        await cockpit.run("go=close target=*:*")
        rows = [(row["target"], row["ok"]) for row in await audit(cockpit)]
        assert (NOISY, True) in rows
        assert {("mcp:git", False), ("mcp:disc", False), ("user:you", False), ("feed:general", False)} <= set(rows)
        assert len(rows) == len(set(rows))


@pytest.mark.parametrize(("origin", "name"), [("screen", "operator"), ("socket", "operator"), ("bridge", "editor")])
async def test_every_origin_is_named(start: Start, model: CuedModel, origin: str, name: str) -> None:
    """K-123: a key and a line of the screen, a shell, a client of the bridge."""
    async with start(BOTH) as cockpit:
        await cockpit.session.link(origin, name=name).run("go=mute target=mcp:nowhere")
        (row,) = await audit(cockpit)
        assert brief(row) == (name, origin, "mute", "mcp:nowhere", False)


@pytest.mark.parametrize(
    ("tool", "values", "kept"),
    [
        ("mute_channel", {"channel": "nosiy"}, ("mute", "nosiy")),
        ("mute_channel", {}, ("mute", "")),
        ("unmute_channel", {"channel": "noisy", "deliver": "all"}, ("unmute", NOISY)),
        ("tune_out", {"channel": "nosiy"}, ("tune-out", "nosiy")),
        ("tune_out", {"channel": "noisy", "backlog_cap": "lots"}, ("tune-out", NOISY)),
        ("cancel_tune_out", {"channel": "noisy"}, ("cancel", NOISY)),
        ("channel_open", {"channel": 3}, ("open", "")),
        ("channel_close", {"channel": "nosiy"}, ("close", "nosiy")),
        ("intercom_send", {"to": "nobody", "text": SECRET}, ("say", "")),
    ],
)
async def test_a_residents_tool_that_refuses_is_audited_once(
    start: Start, model: CuedModel, tool: str, values: dict[str, Json], kept: tuple[str, str]
) -> None:
    """K-123: under the resident's name, by `tool`."""
    async with start(BOTH) as cockpit:
        model.calls("scout", tool, **values)
        await cockpit.run('go=ask text="Go on."')
        assert answered(cockpit.requests("scout")[-1])[-1].startswith("refused: ")
        (row,) = await audit(cockpit)
        assert brief(row) == ("scout", "tool", *kept, False)
        assert row["reason"]
        assert SECRET not in str(row)


async def test_tools_that_only_read_leave_no_row(start: Start, model: CuedModel) -> None:
    async with start(BOTH) as cockpit:
        assert (await use(cockpit, model, "fetch_history", channel="nosiy")).startswith("refused: ")
        assert await audit(cockpit) == []


async def test_the_subconscious_is_audited_as_well(start: Start, model: CuedModel) -> None:
    """K-123."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        assert (await watcher_uses(cockpit, model, "cancel_tuneout", channel="nosiy")).startswith("refused: ")
        row = (await audit(cockpit))[-1]
        assert brief(row) == ("Subconscious", "tool", "cancel", "nosiy", False)


async def test_read_only_refusals_are_audited(tmp_path: Path) -> None:
    """K-123: by line, and a prompt."""
    path = tmp_path / "recipe.toml"
    path.write_text(recipe(GIT, subconscious=""), encoding="utf-8")
    async with open_session(
        load(str(path), {}), tmp_path / "read.db", environment={}, logs=tmp_path, read_only=True, clock=FakeClock()
    ) as session:
        link = session.link("screen")
        async with asyncio.TaskGroup() as group:
            group.create_task(session.engine.run(asyncio.Event()))
            await link.run("go=mute target=mcp:git")
            await link.run(f"go=say text={SECRET}")
            await link.ask(SECRET)
            rows = await session.engine.ledger.chronicle.audit(limit=9)
            assert [(row.verb, row.target, row.before, row.ok) for row in rows] == [
                ("mute", "mcp:git", "connecting", False),
                ("say", "", "", False),
                ("ask", "", "", False),
            ]
            assert all("read-only" in row.reason for row in rows)
            await link.run("go=quit")


async def test_a_store_that_fails_keeps_the_answer(
    start: Start, model: CuedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-8: the row is lost and the operator told of the store; the refusal says what it would have said."""
    async with start(BOTH) as cockpit:

        async def failing(_: object) -> tuple[()]:
            raise StoreError("the disk is full")

        with monkeypatch.context() as patch:
            patch.setattr(cockpit.session.engine.ledger.chronicle, "append", failing)
            assert (await cockpit.run("go=mute target=mcp:nowhere")).ran.code == "unknown_target"
            assert (await cockpit.run("go=mute target=mcp:git")).ran.code == "refused"
        assert await audit(cockpit) == []
