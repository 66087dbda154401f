"""The end of a tune-out through a whole engine: one transaction, one dump, one wake (T-15 to T-20, T-4)."""

from __future__ import annotations

import pytest

from cockpit.core.message import RESIDENTS
from cockpit.core.records import Batch, Record
from cockpit.errors import ModelError, StoreError
from cockpit.testing.rig import Rig
from cockpit.testing.scripted_model import Answer, Call, Gate
from cockpit.testing.stage import (
    NOISY,
    CuedModel,
    Start,
    audit,
    notices,
    recipe,
    reports,
    resident,
    shown,
    turns,
    use,
    watcher_uses,
)

ALONE = recipe(subconscious="")


async def tuned_out(cockpit: Rig, *said: str, values: str = "") -> None:
    await cockpit.run(f"go=tune-out target={NOISY} {values}")
    for text in said:
        await cockpit.servers["disc"].say("noisy", text)
    await cockpit.settle()


async def test_the_resident_cancels_and_gets_what_it_missed(start: Start, model: CuedModel) -> None:
    """T-15, T-18: one system-framed message, in the request that follows, then one wake."""
    async with start() as cockpit:
        assert await use(cockpit, model, "tune_out", channel="noisy") == "channel:disc/noisy is tuned out"
        await cockpit.servers["disc"].say("noisy", "you missed this")
        assert "is cancelled" in await use(cockpit, model, "cancel_tune_out", channel="noisy")
        assert notices(cockpit, "tune-out-cancel") == [
            (
                "[Tune-out: noisy cancelled — agent request, 0 wakes]\n\n"
                '<tuned-out-backlog channel="noisy" messages=1>\nkim: you missed this\n</tuned-out-backlog>'
            )
        ]
        assert turns(cockpit, "scout") == ["prompt", "prompt", "cancel"]
        assert shown(cockpit.requests("scout")[-1]).count("<tuned-out-backlog") == 1
        (stored,) = [one for one in await cockpit.stored(RESIDENTS) if "<tuned-out-backlog" in one.text]
        assert (stored.kind, stored.author) == ("system", "system")


async def test_the_operators_words_go_to_the_audit_only(start: Start, model: CuedModel) -> None:
    """T-18, K-123."""
    async with start() as cockpit:
        await tuned_out(cockpit, "one")
        await cockpit.run(f'go=cancel target={NOISY} reason="my secret reason"')
        assert notices(cockpit, "tune-out-cancel")[0].startswith("[Tune-out: noisy cancelled — operator request, 0")
        row = (await audit(cockpit))[-1]
        assert (row["verb"], row["before"], row["after"], row["reason"]) == (
            "cancel",
            "tuned-out",
            "online",
            "my secret reason",
        )
        assert all("my secret reason" not in shown(request) for request in model.requests)


async def test_the_second_cancel_is_refused_and_delivers_nothing(start: Start, model: CuedModel) -> None:
    """T-15, K-44: whoever asks."""
    async with start() as cockpit:
        await tuned_out(cockpit, "one")
        assert (await cockpit.run(f"go=cancel target={NOISY}")).ran.ok
        again = (await cockpit.run(f"go=cancel target={NOISY}")).ran
        assert (again.ok, again.code) == (False, "already")
        assert (await use(cockpit, model, "cancel_tune_out", channel="noisy")).startswith("refused: ")
        assert len(notices(cockpit, "tune-out-cancel")) == 1
        assert [one.text.count("<tuned-out") for one in await cockpit.stored(RESIDENTS)].count(1) == 1


async def test_an_empty_backlog_says_so_without_a_block(start: Start, model: CuedModel) -> None:
    """K-45, D-11."""
    async with start() as cockpit:
        await tuned_out(cockpit)
        await cockpit.run(f"go=cancel target={NOISY}")
        assert notices(cockpit, "tune-out-cancel") == [
            "[Tune-out: noisy cancelled — operator request, 0 wakes]\n\nNo messages were diverted."
        ]


async def test_cap_0_dumps_nothing_and_counts_everything(start: Start, model: CuedModel) -> None:
    """K-46, D-3, D-8: and the subconscious is told how many were left out."""
    async with start() as cockpit:
        await tuned_out(cockpit, "one", "two", values="cap=0")
        await cockpit.run(f"go=cancel target={NOISY}")
        (dump,) = notices(cockpit, "tune-out-cancel")
        assert "messages=2 truncated=2 (oldest; fetch_history covers the rest)>\n</tuned-out-backlog>" in dump
        assert notices(cockpit, "tune-out-cancel-report") == [
            (
                "[Tune-out cancelled: noisy — operator request. 2 of 2 diverted messages, the oldest, "
                "weren't delivered raw to the resident.]"
            )
        ]


async def test_a_cancel_during_a_turn_lands_at_its_boundary_once(start: Start, model: CuedModel) -> None:
    """K-40, K-43, N-8: what came during the turn is in the dump; one more turn, one wake."""
    gate = Gate()
    async with start() as cockpit:
        await tuned_out(cockpit, "before the turn")
        model.cue("scout", Answer("Thinking.", gate=gate))
        await cockpit.link.ask("Take your time.")
        await gate.reached()
        await cockpit.servers["disc"].say("noisy", "during the turn")
        await cockpit.run(f"go=cancel target={NOISY}", held={"scout"})
        assert len(cockpit.requests("scout")) == 1
        gate.open()
        await cockpit.settle()
        first, second = cockpit.requests("scout")
        assert "<tuned-out-backlog" not in shown(first)
        assert shown(second).count("<tuned-out-backlog") == 1
        assert "kim: before the turn\nkim: during the turn\n" in shown(second)
        assert turns(cockpit, "scout") == ["prompt", "cancel"]


async def test_a_cancel_by_its_own_tool_call_shows_after_that_turn(start: Start, model: CuedModel) -> None:
    """K-43, N-8: no notice between a tool use and its result, nor before the turn's end."""
    async with start() as cockpit:
        await tuned_out(cockpit, "one")
        model.cue("scout", Answer(calls=(Call("cancel_tune_out", {"channel": "noisy"}),)), Answer("I see."))
        await cockpit.run('go=ask text="End it."')
        first, second, third = cockpit.requests("scout")
        assert "<tuned-out-backlog" not in shown(first) + shown(second)
        assert shown(third).count("<tuned-out-backlog") == 1


async def test_a_commit_that_fails_changes_nothing_and_says_so(
    start: Start, model: CuedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T-16, R-8: the flip, the dump, the notices and the wakes are one transaction."""
    async with start() as cockpit:
        await tuned_out(cockpit, "one")
        before, events = cockpit.channel(NOISY), len(cockpit.events)
        chronicle = cockpit.session.engine.ledger.chronicle
        append = chronicle.append

        async def full(batch: Batch) -> tuple[Record, ...]:
            raise StoreError("the disk is full")

        monkeypatch.setattr(chronicle, "append", full)
        answer = await cockpit.run(f"go=cancel target={NOISY}")
        assert (answer.ran.ok, answer.ran.message) == (False, "the disk is full")
        assert cockpit.channel(NOISY) == before
        assert notices(cockpit, "tune-out-cancel") == []
        assert turns(cockpit) == []
        assert [event.line()["event"] for event in cockpit.events[events:]] == ["error"]  # type: ignore[union-attr]
        monkeypatch.setattr(chronicle, "append", append)
        assert (await cockpit.run(f"go=cancel target={NOISY}")).ran.ok
        assert len(notices(cockpit, "tune-out-cancel")) == 1


async def test_the_dump_is_delivered_once_over_a_restart_before_the_wake(start: Start, model: CuedModel) -> None:
    """T-16: killed between the cancel and the resident's turn; the turn comes after the restart, the dump once."""
    gate = Gate()
    async with start() as cockpit:
        await tuned_out(cockpit, "one")
        model.cue("scout", Answer("", gate=gate))
        await cockpit.run(f"go=cancel target={NOISY}", held={"scout"})
        await gate.reached()
    asked = len(cockpit.requests("scout"))
    async with start() as cockpit:
        assert turns(cockpit, "scout") == ["cancel"]
        assert notices(cockpit, "tune-out-cancel") == []
        assert cockpit.channel(NOISY).epoch is None
        told = cockpit.requests("scout")[asked:]
        assert len(told) == 1
        assert shown(told[0]).count("<tuned-out-backlog") == 1
        assert not (await cockpit.run(f"go=cancel target={NOISY}")).ran.ok
    async with start() as cockpit:
        assert turns(cockpit) == []


@pytest.mark.parametrize("closed", [False, True])
async def test_the_channel_returns_to_what_it_was(start: Start, model: CuedModel, closed: bool) -> None:
    """T-17, K-70."""
    async with start() as cockpit:
        if closed:
            await cockpit.run(f"go=close target={NOISY}")
        wishes = list(cockpit.servers["disc"].opened)
        await tuned_out(cockpit, "one")
        await cockpit.run(f"go=cancel target={NOISY}")
        assert cockpit.session.engine.rows.row(cockpit.channel(NOISY).target).label == (
            "closed" if closed else "online"
        )
        assert cockpit.servers["disc"].opened == wishes


async def test_opening_it_is_refused_and_closing_it_cancels_first(start: Start, model: CuedModel) -> None:
    """T-4, K-89: by tool and by verb."""
    async with start() as cockpit:
        await tuned_out(cockpit, "one")
        said = await use(cockpit, model, "channel_open", channel="noisy")
        assert said == "refused: channel:disc/noisy is tuned out: cancel that first"
        refused = (await cockpit.run(f"go=open target={NOISY}")).ran
        assert (refused.ok, refused.hint) == (False, f"go=cancel target={NOISY}")
        assert notices(cockpit, "tune-out-cancel") == []
        assert (await use(cockpit, model, "channel_close", channel="noisy")).endswith("its tune-out cancelled")
        assert len(notices(cockpit, "tune-out-cancel")) == 1
        assert cockpit.servers["disc"].closed == ["noisy"]


async def test_a_reconnect_opens_nothing_that_was_closed(start: Start, model: CuedModel) -> None:
    """T-4, M-13: what was decided outlives connection and process; the recipe's choice is for a new channel only."""
    async with start() as cockpit:
        await cockpit.run(f"go=close target={NOISY}")
        disc = cockpit.servers["disc"]
        disc.opened.clear()
        await disc.down()
        await disc.up()
        assert disc.opened == ["quiet"]
    async with start() as cockpit:
        assert cockpit.servers["disc"].opened == ["quiet"]
        assert cockpit.session.engine.rows.row(cockpit.channel(NOISY).target).label == "closed"


async def test_a_server_that_drops_the_channel_leaves_the_epoch(start: Start, model: CuedModel) -> None:
    """T-4, K-77: machine-made closes and a server that is away; list, peek and cancel still work."""
    async with start() as cockpit:
        await tuned_out(cockpit, "one")
        disc = cockpit.servers["disc"]
        await disc.host.removed("disc", ["noisy"])
        await disc.down()
        assert "noisy: tuned-out · offline, 1 message held" in await use(cockpit, model, "channel_list")
        assert (await cockpit.run(f"go=cancel target={NOISY}")).ran.ok
        assert "kim: one" in notices(cockpit, "tune-out-cancel")[0]


async def test_its_note_reaches_the_resident_verbatim_under_its_name(start: Start, model: CuedModel) -> None:
    """K-66, K-67, T-19, S-8: outside the dump, and no report turn."""
    note = "They decide today.\n\nSay yes or no."
    async with start() as cockpit:
        await tuned_out(cockpit)
        said = await watcher_uses(cockpit, model, "cancel_tuneout", channel="noisy", text=note)
        assert said == "the tune-out of channel:disc/noisy is cancelled"
        (dump,) = notices(cockpit, "tune-out-cancel")
        assert dump.startswith("[Tune-out: noisy cancelled — subconscious judgment, 1 wake]")
        assert note not in dump
        assert f"Subconscious: {note}" in shown(cockpit.requests("scout")[-1])
        assert reports(cockpit, "note") == [note]
        assert turns(cockpit) == ["wake", "cancel"]
        assert notices(cockpit, "tune-out-cancel-report") == []


@pytest.mark.parametrize(("cap", "reporting"), [(200, []), (0, ["report"])])
async def test_its_own_cancel_without_a_note(start: Start, model: CuedModel, cap: int, reporting: list[str]) -> None:
    """T-19: a turn only where the dump left messages out."""
    async with start() as cockpit:
        await tuned_out(cockpit, values=f"cap={cap}")
        await watcher_uses(cockpit, model, "cancel_tuneout", channel="noisy")
        assert turns(cockpit, "Subconscious") == ["wake", *reporting]
        assert len(notices(cockpit, "tune-out-cancel-report")) == len(reporting)


@pytest.mark.parametrize("by", ["resident", "operator"])
async def test_any_other_cancel_gives_it_one_report_turn(start: Start, model: CuedModel, by: str) -> None:
    """T-19, K-67."""
    async with start() as cockpit:
        await tuned_out(cockpit, "one")
        if by == "resident":
            await use(cockpit, model, "cancel_tune_out", channel="noisy")
        else:
            await cockpit.run(f"go=cancel target={NOISY}")
        reason = "agent request" if by == "resident" else "operator request"
        assert turns(cockpit, "Subconscious") == ["report"]
        assert notices(cockpit, "tune-out-cancel-report") == [f"[Tune-out cancelled: noisy — {reason}.]"]
        assert reports(cockpit, "cancel") == [f"[Tune-out cancelled: noisy — {reason}.]"]


async def test_the_report_turn_sees_every_original(start: Start, model: CuedModel) -> None:
    """S-2: shown, cut or left out of the dump."""
    async with start() as cockpit:
        await tuned_out(cockpit, "first original", "second original", values="cap=1")
        await cockpit.run(f"go=cancel target={NOISY}")
        seen = shown(cockpit.requests("Subconscious")[-1])
        assert "] first original" in seen
        assert "] second original" in seen


async def test_a_failing_subconscious_never_blocks_a_cancel(start: Start, model: CuedModel) -> None:
    """T-20."""
    async with start() as cockpit:
        await tuned_out(cockpit, "one")
        model.cue("Subconscious", ModelError("down"), ModelError("down"))
        assert (await cockpit.run(f"go=cancel target={NOISY}")).ran.ok
        assert "kim: one" in shown(cockpit.requests("scout")[-1])
        assert reports(cockpit, "failure") == ["down"]


async def test_a_subconscious_that_is_gone_never_blocks_a_cancel(start: Start, model: CuedModel) -> None:
    """T-20, K-68: taken out of the recipe between two starts."""
    async with start() as cockpit:
        await tuned_out(cockpit, "one")
    async with start(ALONE) as cockpit:
        assert (await cockpit.run(f"go=cancel target={NOISY}")).ran.ok
        assert "kim: one" in shown(cockpit.requests("scout")[-1])
        assert turns(cockpit) == ["cancel"]


async def test_two_residents_one_dump_and_the_primary_is_woken(start: Start, model: CuedModel) -> None:
    """T-18: it goes to the shared slot once; the other resident sees it at its next turn."""
    text = recipe(residents=(resident(), resident("ranger")))
    async with start(text) as cockpit:
        await tuned_out(cockpit, "one")
        await cockpit.run(f"go=cancel target={NOISY}")
        assert turns(cockpit, "ranger") == []
        assert turns(cockpit, "scout") == ["cancel"]
        await cockpit.link.ask("And you?", "ranger")
        await cockpit.settle()
        assert shown(cockpit.requests("ranger")[-1]).count("<tuned-out-backlog") == 1
