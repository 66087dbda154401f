"""What the screen looks like: each size, each theme, each dialog, as accepted by a person who looked at it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from textual import events
from textual.pilot import Pilot

from cockpit.core.events import (
    AgentView,
    Audited,
    ContextShown,
    Counted,
    Explained,
    Failed,
    ToolCalled,
    TurnChanged,
    Writing,
)
from cockpit.core.message import Json
from cockpit.testing.driven_screen import THEMES, Hands
from cockpit.testing.fake_link import START, TOTALS, FakeLink, demo_rows, demo_view, report, row, view
from cockpit.ui.app import CockpitApp
from cockpit.ui.board import FOLDS_AT

Compare = Callable[..., bool]
Then = Callable[[Pilot[int]], Awaitable[None]]


@pytest.fixture
def looks_as_accepted(snap_compare: Compare) -> Callable[..., bool]:
    """Open the screen over a link, press keys, do `then`, and compare."""

    def compare(
        *keys: str, link: FakeLink | None = None, size: tuple[int, int] = (80, 24), theme: str = "dark",
        then: Then | None = None,
    ) -> bool:  # fmt: skip
        link = FakeLink(demo_view()) if link is None else link
        hands = Hands()
        app = CockpitApp(link, theme=theme, themes=THEMES, now=hands.now, elapsed=hands.elapsed)

        async def before(pilot: Pilot[int]) -> None:
            while not link.subscriptions:
                await pilot.pause()
            await pilot.pause()
            for key in keys:
                await pilot.press(key)
            if then is not None:
                await then(pilot)
            await pilot.pause()
            app.main.paint_now()
            await pilot.pause()

        return snap_compare(app, terminal_size=size, run_before=before)

    return compare


class TestSizes:
    """cockpit.md, Screen: 80×24 must hold it all, 40×12 the table and the prompt, below that one sentence."""

    @pytest.mark.parametrize(
        "size",
        [(120, 40), (80, 24), (80, 20), (40, 12), (38, 10), (200, 50)],
        ids=lambda size: "x".join(map(str, size)),
    )
    def test_at(self, looks_as_accepted: Compare, size: tuple[int, int]) -> None:
        assert looks_as_accepted(size=size)

    @pytest.mark.parametrize("pane", ["reports", "resident"])
    def test_a_pane_alone_in_40_by_12(self, looks_as_accepted: Compare, pane: str) -> None:
        assert looks_as_accepted(*["tab"] * (1 + (pane == "resident")), size=(40, 12))

    def test_a_resident_zoomed_among_two(self, looks_as_accepted: Compare) -> None:
        agents = (*demo_view().agents, AgentView("ranger", "resident", "idle"))
        assert looks_as_accepted("tab", "tab", "z", link=FakeLink(replace(demo_view(), agents=agents)))


class TestThemes:
    """cockpit.md, Themes; F-46, F-47."""

    @pytest.mark.parametrize("theme", ["light", "high-contrast", "colour-vision-safe", "mono"])
    def test_wears(self, looks_as_accepted: Compare, theme: str) -> None:
        assert looks_as_accepted("j", "j", size=(120, 30), theme=theme)

    def test_no_color(self, looks_as_accepted: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("NO_COLOR", "1")
        assert looks_as_accepted("j", "j", size=(120, 30))

    def test_c_locale(self, looks_as_accepted: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("LC_ALL", "C")
        assert looks_as_accepted("space", "j")


class TestDialogs:
    """Everything that stands over the panes."""

    def test_peek(self, looks_as_accepted: Compare) -> None:
        assert looks_as_accepted("j", "j", "j", "p")

    def test_help(self, looks_as_accepted: Compare) -> None:
        assert looks_as_accepted("question_mark")

    def test_palette(self, looks_as_accepted: Compare) -> None:
        assert looks_as_accepted("j", "v", "m", "u", "down")

    def test_palette_in_40_by_12(self, looks_as_accepted: Compare) -> None:
        assert looks_as_accepted("v", size=(40, 12))

    def test_stats(self, looks_as_accepted: Compare) -> None:
        counted = Counted(
            START,
            ({"target": "mcp:git", **TOTALS}, {"target": "mcp:web", **dict.fromkeys(TOTALS, 0)}),
            ({"agent": "scout", "input": 27_700, "output": 1_900, "cache_read": 0, "turns": 6, "cost": None},),
        )
        assert looks_as_accepted("s", link=FakeLink(demo_view(), {"stats": (counted,)}))

    def test_context(self, looks_as_accepted: Compare) -> None:
        marked: dict[str, Json] = {"type": "text", "text": "[git · ada · 2026-11-30 08:50Z] pushed <b>[/x]"}
        request: dict[str, Json] = {
            "system": [{"type": "text", "text": "You are scout.", "cache_control": {"type": "ephemeral"}}],
            "tools": [{"name": "tune_out", "description": "Stop hearing a channel for a while."}],
            "messages": [
                {"role": "user", "content": [marked]},
                {"role": "assistant", "content": [{"type": "tool_use", "name": "git__log", "input": {"n": 4}}]},
                {"role": "user", "content": [{"type": "tool_result", "content": "four commits"}]},
            ],
        }
        shown = ContextShown(START, "scout", 9_909, 190_526, request)
        assert looks_as_accepted("x", link=FakeLink(demo_view(), {"context": (shown,)}))

    def test_why(self, looks_as_accepted: Compare) -> None:
        noisy, stamp = "channel:disc/disc:guild:noisy", {"tuneOut": {"epochId": "e1"}}
        told = Explained(
            START, "4", noisy, "diverted", stamp, ("duplicate", "mute", "tune-out"), ("Subconscious",), True
        )
        assert looks_as_accepted("j", "j", "j", "p", "w", link=FakeLink(demo_view(), {"why": (told,)}))

    def test_log(self, looks_as_accepted: Compare) -> None:
        link = FakeLink(demo_view())
        link.refusals["kill"] = ("refused", "mcp:git carries integrity: it is not killed without a reason", "")

        async def fail(pilot: Pilot[int]) -> None:
            link.emit(Failed(START, "model", "scout: overloaded; again in 2.0 s"))
            await pilot.pause()
            await pilot.press("m", "K", "y", "escape", "l")

        assert looks_as_accepted(link=link, then=fail)

    def test_quit_asks_while_a_turn_runs(self, looks_as_accepted: Compare) -> None:
        link = FakeLink(demo_view())

        async def run(pilot: Pilot[int]) -> None:
            link.emit(TurnChanged(START, "scout", "started", "prompt"), Writing(START, "scout", "s1", "Let me", False))
            await pilot.pause()
            await pilot.press("q")

        assert looks_as_accepted(link=link, then=run)

    def test_a_tune_out_of_marked_rows_asks(self, looks_as_accepted: Compare) -> None:
        assert looks_as_accepted("j", "j", "space", "space", "t", size=(40, 12))

    def test_kill_asks(self, looks_as_accepted: Compare) -> None:
        assert looks_as_accepted("K")

    def test_audit(self, looks_as_accepted: Compare) -> None:
        fields = ("at", "actor", "origin", "verb", "target", "before", "after", "reason", "ok")
        done = ("2026-11-30T08:59:00.000Z", "operator", "screen", "mute", "mcp:git", "online", "muted", "noise", True)
        refused = ("2026-11-30T08:59:30.000Z", "scout", "tool", "mute", "mcp:db", "online", "online", "", False)
        rows: tuple[dict[str, Json], ...] = tuple(dict(zip(fields, values, strict=True)) for values in (done, refused))
        assert looks_as_accepted("a", link=FakeLink(demo_view(), {"audit": (Audited(START, rows),)}))

    def test_pasted_lines_ask(self, looks_as_accepted: Compare) -> None:
        async def paste(pilot: Pilot[int]) -> None:
            pilot.app.post_message(events.Paste("go=mute target=mcp:git\ngo=mute target=mcp:web\n"))

        assert looks_as_accepted("i", then=paste)


class TestMoments:
    """What happens while one looks."""

    def test_an_error_with_its_hint(self, looks_as_accepted: Compare) -> None:
        link = FakeLink(demo_view())
        link.refusals["mute"] = (
            "refused",
            "mcp:git carries integrity: it is not muted without a reason",
            "go=mute target=mcp:git override=…",
        )  # fmt: skip
        assert looks_as_accepted("m", link=link)

    def test_a_tune_out_line(self, looks_as_accepted: Compare) -> None:
        assert looks_as_accepted("j", "j", "t")

    def test_reports_held_with_new_ones_below(self, looks_as_accepted: Compare) -> None:
        link = FakeLink(view(reports=tuple(report(f"report number {n}", id=f"r{n}") for n in range(40))))

        async def more(pilot: Pilot[int]) -> None:
            link.emit(*(report(f"late {n}", id=f"l{n}") for n in range(3)))

        assert looks_as_accepted("tab", "k", "k", "k", link=link, then=more)

    def test_a_filter_that_hides(self, looks_as_accepted: Compare) -> None:
        assert looks_as_accepted("slash", *"guild")

    def test_many_channels_fold(self, looks_as_accepted: Compare) -> None:
        rows = (*demo_rows(), *(row(f"channel:disc/disc:guild:q{n}") for n in range(FOLDS_AT + 130)))
        assert looks_as_accepted(link=FakeLink(view(rows)), size=(120, 30))

    def test_hostile_text(self, looks_as_accepted: Compare) -> None:
        """F-1, F-4, F-49, K-130"""
        evil = "x\x1b]52;c;cHduZWQ=\x07\x1b[2J\u202e\x00 see [/etc/x] 👨‍👩‍👧✔️🇩🇪 日本語"
        rows = (row("mcp:[/"), row(f"mcp:{evil}"), row("mcp:日本語のサーバー"), row("mcp:e\u0301\u0301x"))
        assert looks_as_accepted(link=FakeLink(view(rows, reports=(report(evil, channel=f"channel:d/{evil}"),))))

    def test_a_question_that_stands(self, looks_as_accepted: Compare) -> None:
        """M-7"""
        link = FakeLink(demo_view())

        async def ask(pilot: Pilot[int]) -> None:
            said = (
                "scout asks to mute user:you: only your side-channel messages would be held (too many pings). Nothing "
                "is muted yet: go=mute target=user:you soft=yes is a yes, go=unmute target=user:you a no"
            )
            link.emit(Failed(START, "mute_asked", said))

        assert looks_as_accepted("m", link=link, then=ask)

    def test_candidates_of_a_verb(self, looks_as_accepted: Compare) -> None:
        assert looks_as_accepted("colon", *"un", "tab")

    def test_turns_that_went_wrong_and_events_that_broke_off(self, looks_as_accepted: Compare) -> None:
        """F-39, T-14"""
        link = FakeLink(replace(demo_view(), read_only=True))

        async def break_off(pilot: Pilot[int]) -> None:
            link.emit(
                Writing(START, "Subconscious", "s1", "You were", report=True, channel="channel:disc/noisy"),
                TurnChanged(START, "Subconscious", "failed", "wake", detail="the model is down"),
                report("the model is down", kind="failure"),
                ToolCalled(START, "scout", "git__log", "max_count=10", ok=False),
                TurnChanged(START, "scout", "failed", "prompt", detail="the model refused to answer"),
                TurnChanged(START, "scout", "stopped", "prompt"),
                Failed(START, "model", "Subconscious: the model is down"),
            )
            await pilot.press("m")
            link.break_off(RuntimeError("the socket is gone"))
            while link.pending:
                await pilot.pause()

        assert looks_as_accepted(link=link, then=break_off, size=(120, 30))

    def test_no_channel_yet(self, looks_as_accepted: Compare) -> None:
        assert looks_as_accepted("m", "P", link=FakeLink(view(())))

    def test_failures_in_one_line(self, looks_as_accepted: Compare) -> None:
        link = FakeLink(demo_view())

        async def fail(pilot: Pilot[int]) -> None:
            link.emit(*(Failed(START, "server", f"lost disc {n}") for n in range(200)))

        assert looks_as_accepted(link=link, then=fail)
