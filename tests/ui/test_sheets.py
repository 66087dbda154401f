"""What stands over the panes for a while: peek, why, audit, stats, context, log."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cockpit.core.events import Audited, ContextShown, Counted, Explained, Held, Peeked
from cockpit.core.message import Json
from cockpit.testing.driven_screen import Driven, driven
from cockpit.testing.fake_link import START, TOTALS, FakeLink, epoch, row, view
from cockpit.ui.screens.peek import PeekSheet

NOISY = "channel:disc/disc:guild:noisy"


def peeked(*messages: Held) -> Peeked:
    return Peeked(START, NOISY, messages, epoch(), TOTALS)


def held(number: int, text: str = "hello") -> Held:
    return Held(str(number), START - 600 + number, "ada", f"{text} {number}", "tune-out")


async def peek(screen: Driven) -> PeekSheet:
    await screen.press("j", "j", "j", "p")
    top = screen.app.screen
    assert isinstance(top, PeekSheet)
    return top


def lines(screen: Driven) -> list[str]:
    """The messages in view, without the scrollbar."""
    return [line[:118] for line in screen.text.split("\n")[4:]]


async def look_again(screen: Driven, sheet: PeekSheet) -> None:
    """What the sheet's own timer does after a second."""
    await sheet.look_again()
    await screen.settle()


async def test_peek_shows_who_when_why_and_the_parameters_and_totals() -> None:
    """cockpit.md, Peek"""
    async with driven() as screen:
        await peek(screen)
        assert f"peek {NOISY}" in screen.text
        assert "tuned-out   wait 0  need 2  held 41   all by tune-out" in screen.text
        assert "every 30m · at most 200 messages · wake 2 of 5 · 24 min left" in screen.text
        assert "tuned out 12 min · 41 diverted · 12 delivered" in screen.text
        assert "08:54 marten  @scout the second draft or the first?" in screen.text
        await screen.press("escape")
        assert screen.app.screen is screen.app.main
        assert screen.link.ran == [f"go=peek target={NOISY} last=200"]


async def test_peek_says_on_each_line_what_held_it_only_where_they_differ() -> None:
    """cockpit.md, Peek"""
    messages = (held(1), replace(held(2), held_by="both"), replace(held(3), held_by=""))
    async with driven(FakeLink(answers={"peek": (peeked(*messages),)})) as screen:
        await peek(screen)
        assert "all by" not in screen.text
        assert "ada  held by tune-out  hello 1" in screen.text
        assert "ada  held by mute and tune-out  hello 2" in screen.text
        assert "ada  hello 3" in screen.text


async def test_peek_is_live_and_follows_its_end() -> None:
    """cockpit.md, Peek"""
    link = FakeLink(answers={"peek": (peeked(held(1)),)})
    async with driven(link) as screen:
        sheet = await peek(screen)
        link.answers["peek"] = (peeked(held(1), held(2)),)
        await screen.tell(row(NOISY, attention="tuned-out", held=42, epoch=epoch()))
        assert "held 42" in screen.text
        await look_again(screen, sheet)
        assert "hello 2" in screen.text


async def test_peek_holds_where_somebody_reads_and_counts_what_is_new() -> None:
    """cockpit.md, Peek; F-5"""
    messages = [held(n) for n in range(100)]
    link = FakeLink(answers={"peek": (peeked(*messages),)})
    async with driven(link) as screen:
        sheet = await peek(screen)
        await screen.press("k", "k", "k")
        before = lines(screen)
        link.answers["peek"] = (peeked(*messages, held(100), held(101)),)
        await look_again(screen, sheet)
        assert lines(screen) == before
        assert "2 new" in screen.text


async def test_a_peek_of_a_channel_that_changes_all_the_time_asks_once_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    link = FakeLink(answers={"peek": (peeked(held(1)),)})
    async with driven(link) as screen:
        sheet = await peek(screen)
        armed: list[float] = []
        monkeypatch.setattr(sheet, "set_timer", lambda delay, *_, **__: armed.append(delay))
        for number in range(20):
            await screen.tell(row(NOISY, attention="tuned-out", held=100 + number, epoch=epoch()))
        assert armed == [1.0]


async def test_w_in_peek_tells_why() -> None:
    """cockpit.md, Why"""
    link = FakeLink(answers={"why": (
        Explained(START, "4", NOISY, "diverted", {"tuneOut": {"epochId": "e1"}}, ("duplicate", "mute", "tune-out"),
                  ("Subconscious",), acknowledged=True),
    )})  # fmt: skip
    async with driven(link) as screen:
        await peek(screen)
        await screen.press("w")
        assert screen.link.ran[-1] == "go=why message=4"
        for words in ("diverted", "1. duplicate", "3. tune-out", "Subconscious", "yes"):
            assert words in screen.text
        await screen.press("escape")
        assert isinstance(screen.app.screen, PeekSheet)


async def test_audit_tells_who_what_when_why_from_where_and_refusals() -> None:
    """cockpit.md, Audit; K-123"""
    fields = ("at", "actor", "origin", "verb", "target", "before", "after", "reason", "epoch", "ok")
    done = ("2026-11-30T08:59:00.000Z", "operator", "screen", "mute", "mcp:git", "online", "muted", "noise", None, True)
    refused = ("2026-11-30T08:59:30.000Z", "resident", "tool", "mute", "mcp:db", "online", "online", "", None, False)
    rows = tuple(dict(zip(fields, values, strict=True)) for values in (done, refused))
    async with driven(FakeLink(answers={"audit": (Audited(START, rows),)})) as screen:
        await screen.press("a")
        assert "11-30 08:59:00 operator by screen  mute mcp:git  online → muted  “noise”" in screen.text
        assert "resident by tool  mute mcp:db  online → online  refused" in screen.text


async def test_stats_keep_the_totals_apart() -> None:
    """M-14"""
    counted = Counted(
        START,
        ({"target": "mcp:git", "seconds_muted": 300.0, "seconds_tuned_out": 0.0, "crashes": 1, "kills": 0},),
        ({"agent": "scout", "input": 12_400, "output": 1_100, "cost": None, "turns": 7},),
    )
    async with driven(FakeLink(answers={"stats": (counted,)})) as screen:
        await screen.press("s")
        assert "scout  input 12.4k · output 1.1k · turns 7" in screen.text
        assert "mcp:git  muted 5 min · 1 crash" in screen.text
        assert "crashes" not in screen.text


async def test_context_shows_what_would_be_sent_with_its_markers() -> None:
    """cockpit.md, Context"""
    request: dict[str, Json] = {
        "system": [{"type": "text", "text": "You are scout.", "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": "hello [/"}],
    }
    async with driven(
        FakeLink(answers={"context": (ContextShown(START, "scout", 1_200, 190_000, request),)})
    ) as screen:
        await screen.press("x")
        assert "context scout · 1.2k of 190.0k tokens" in screen.text
        for words in ("You are scout.", "── cache marker ──", "user  hello [/"):
            assert words in screen.text


async def test_search_in_a_sheet() -> None:
    async with driven(FakeLink(answers={"peek": (peeked(*(held(n) for n in range(100))),)})) as screen:
        await peek(screen)
        await screen.press("g", "slash")
        await screen.write("hello 7")
        await screen.press("enter")
        assert "hello 7" in screen.text
        await screen.press("n", "slash")
        await screen.write("zzz")
        await screen.press("enter")
        assert "nothing holds zzz" in screen.text
        await screen.press("q")
        assert screen.app.screen is screen.app.main


async def test_ctrl_c_closes_a_sheet_and_nothing_more() -> None:
    """cockpit.md: Ctrl-C cancels a dialog"""
    async with driven() as screen:
        await screen.press("a")
        await screen.press("question_mark", "ctrl+c")
        assert screen.app.is_running


async def test_hostile_messages_in_a_peek_are_inert() -> None:
    """F-1, F-4, K-130"""
    evil = Held("1", START, "ev[/il\x1b[2J\nada", "x\x1b]52;c;cHduZWQ=\x07 [/\u202e", "mu\x00te")
    async with driven(FakeLink(answers={"peek": (replace(peeked(evil), target="channel:d/[/\x1b[2J"),)})) as screen:
        await screen.press("p")
        assert "ev[/il␛[2J ada" in screen.text
        for leak in ("\x1b]52", "\x1b[2J", "\u202e", "\x00"):
            assert leak not in screen.raw


async def test_a_peek_of_nothing_says_so() -> None:
    async with driven(FakeLink(view((row("mcp:git"),)), {"peek": (Peeked(START, "mcp:git", (), None, {}),)})) as screen:
        await screen.press("p")
        assert "nothing is held here" in screen.text
        assert "nothing counted yet" in screen.text
        await screen.press("w")
        assert len(screen.link.ran) == 1
