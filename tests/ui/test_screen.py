"""The screen as a whole: sizes, starting, ending, failing, and who may write."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from cockpit.core.events import AgentView, Answer, Event, Failed, Stopped, TurnChanged, View
from cockpit.core.records import Usage
from cockpit.core.verbs import VERBS
from cockpit.testing.driven_screen import THEMES, driven
from cockpit.testing.fake_link import START, FakeLink, demo_view, report, row, view
from cockpit.ui.app import CockpitApp
from cockpit.ui.keys import KEYS
from cockpit.ui.screens.main import MainScreen

GENERAL = "channel:disc/disc:guild:general"


async def test_the_top_line_as_the_contract_draws_it() -> None:
    """cockpit.md, Screen"""
    agents = (
        AgentView("scout", "resident", "idle", Usage(1_000, 1_100, 11_284, 116)),
        AgentView("Subconscious", "subconscious", "reading #noisy"),
    )
    rows = (row("mcp:a", attention="muted"), row("mcp:b", attention="muted"), row("mcp:c", "killed"),
            row("channel:d/x", attention="tuned-out"))  # fmt: skip
    async with driven(FakeLink(view(rows, agents=agents, model="claude"))) as screen:
        assert screen.text.split("\n")[0] == (
            " cockpit   scout: idle   Subconscious: reading #noisy   in 12.4k (cache 91 %) out 1.1k   "
            "2 muted 1 tuned-out 1 killed"
        )


async def test_what_is_offline_says_so() -> None:
    async with driven() as screen:
        assert "offline model" in screen.text.split("\n")[0]


async def test_turns_show_what_an_agent_does_and_add_what_it_took() -> None:
    async with driven(FakeLink(view((row("mcp:a"),), model="claude"))) as screen:
        screen.hands.run += 10
        await screen.tell(TurnChanged(START, "scout", "started", "prompt"))
        assert "scout: answering you" in screen.text
        await screen.tell(TurnChanged(START, "scout", "ended", "prompt", Usage(1_000_000, 500)))
        assert "scout: idle" in screen.text
        assert "in 1.0M" in screen.text


@pytest.mark.parametrize("size", [(120, 40), (100, 30), (80, 24), (72, 18)])
async def test_all_three_panes_fit(size: tuple[int, int]) -> None:
    """cockpit.md: 80×24 must hold it all"""
    async with driven(FakeLink(demo_view()), size=size) as screen:
        for wanted in ("Channels", "mcp:git", "Subconscious", "wake 2 of 5", "scout", "withheld", " > text to scout"):
            assert wanted in screen.text, wanted
        assert max(len(line) for line in screen.text.split("\n")) <= size[0]


async def test_40_by_12_holds_the_table_and_the_prompt() -> None:
    """cockpit.md, Screen"""
    async with driven(FakeLink(demo_view()), size=(40, 12)) as screen:
        assert "mcp:git" in screen.text
        assert "⊘2 ◐1 ✕2" in screen.text.split("\n")[0]
        assert " > text to scout" in screen.text
        await screen.press("tab")
        assert "wake 2 of 5" in screen.text
        assert "mcp:git" not in screen.text
        await screen.press("tab", "tab", "tab")
        assert "mcp:git" in screen.text


@pytest.mark.parametrize("size", [(39, 12), (40, 11), (44, 10), (20, 5), (5, 3), (1, 1)])
async def test_below_that_there_is_one_sentence(size: tuple[int, int]) -> None:
    """F-36"""
    async with driven(size=size) as screen:
        assert "mcp:git" not in screen.text
        if size[0] >= 20:
            assert "cockpit needs" in screen.text
        await screen.press("j", "m", "p", "escape", "question_mark", "escape")
        assert screen.app.is_running


async def test_a_storm_of_resizes() -> None:
    """F-36"""
    async with driven(FakeLink(demo_view())) as screen:
        for size in [(1, 1), (200, 60), (65, 20), (5, 3), (44, 10), (40, 12), (72, 18), (300, 4), (120, 40)] * 3:
            await screen.pilot.resize_terminal(*size)
            await screen.tell(report("while it moves", id=f"{size}"))
        assert "mcp:git" in screen.text
        assert "while it moves" in screen.text


class Slow(FakeLink):
    """A link that has not answered yet."""

    def __init__(self) -> None:
        super().__init__()
        self.answer = asyncio.Event()

    async def snapshot(self) -> View:
        await self.answer.wait()
        return self.view


async def test_it_says_starting_until_the_snapshot_answers() -> None:
    link = Slow()
    async with driven(link) as screen:
        assert "starting…" in screen.text
        await screen.press("m", "p", "n", "z", "z", "tab", "i", "escape")
        link.answer.set()
        await screen.settle()
        assert "starting…" not in screen.text
        assert "mcp:git" in screen.text


async def test_the_link_is_asked_after_the_first_frame() -> None:
    """architecture.md: nothing slow before the first frame"""
    link, order = FakeLink(), []
    app = CockpitApp(link, theme="dark", themes=THEMES, first_frame=lambda: order.append(("frame", link.subscriptions)))
    async with app.run_test() as pilot:
        while not link.subscriptions:
            await pilot.pause()
    assert order == [("frame", 0)]


async def test_what_the_snapshot_already_holds_does_not_go_back_in_time() -> None:
    link = FakeLink(view((row("mcp:git", held=5, at=START),)))
    link.emit(row("mcp:git", held=2, at=START - 1))
    async with driven(link) as screen:
        assert screen.row("mcp:git").split()[-1] == "5"
        screen.hands.run += 10
        await screen.tell(row("mcp:git", held=6, at=START - 3600))  # the clock was set back
        assert screen.row("mcp:git").split()[-1] == "6"


async def test_esc_twice_interrupts_the_running_turn() -> None:
    """cockpit.md, Verbs; F-35: at once, whether or not a run is known"""
    async with driven() as screen:
        await screen.press("escape", "escape")
        assert screen.link.ran == ["go=stop"]


async def test_esc_twice_from_the_composer_with_candidates_shown() -> None:
    """F-35: no Esc is eaten while a turn runs, nor in the gap before it is known to run."""
    async with driven() as screen:
        await screen.tell(TurnChanged(START, "scout", "started", "prompt"))
        await screen.press("i")
        await screen.write(":m")
        await screen.press("tab", "escape", "escape")
        assert screen.link.ran == ["go=stop"]
        await screen.tell(TurnChanged(START, "scout", "stopped", "prompt"))
        await screen.press("i", "ctrl+c")
        await screen.write("again")
        await screen.press("enter", "escape", "escape")
        assert screen.link.ran == ["go=stop", "go=stop"]


async def test_esc_out_of_the_composer_is_a_step_back_and_no_half_of_a_stop() -> None:
    """cockpit.md, Verbs: where nothing runs, leaving the line and going on back says nothing."""
    async with driven() as screen:
        await screen.press("i", "x", "escape", "escape")
        assert screen.link.ran == []
        await screen.press("escape")
        assert screen.link.ran == ["go=stop"]


async def test_two_steps_back_with_time_between_interrupt_nothing() -> None:
    async with driven() as screen:
        await screen.press("escape")
        screen.hands.run += 1.0
        await screen.press("escape")
        assert screen.link.ran == []


async def test_esc_goes_back_one_step() -> None:
    async with driven() as screen:
        await screen.press("tab", "i")
        await screen.press("escape")
        assert type(screen.app.focused).__name__ == "Reports"
        screen.hands.run += 1.0
        await screen.press("escape")
        assert type(screen.app.focused).__name__ == "Channels"


async def test_q_ends_and_asks_where_a_turn_runs() -> None:
    """cockpit.md, Verbs; K-125"""
    async with driven() as screen:
        await screen.tell(TurnChanged(START, "scout", "started", "prompt"))
        await screen.press("q")
        assert "scout is in a turn" in screen.text
        await screen.press("n")
        assert screen.app.is_running
        assert screen.said == "not sent: quit (only y is a yes)"
        await screen.press("q", "y")
        assert screen.app.return_value == 0
    async with driven() as screen:
        await screen.press("q")
        assert screen.app.return_value == 0


async def test_the_engines_end_is_the_screens() -> None:
    async with driven() as screen:
        await screen.tell(Stopped(START, "quit"))
        assert screen.app.return_value == 0


async def test_events_that_break_off_are_told_and_can_be_read_again() -> None:
    """F-39"""
    async with driven() as screen:
        screen.link.break_off(RuntimeError("socket [/gone]"))
        await screen.settle()
        assert "events broke off: socket [/gone]" in screen.said
        assert "events broke off: r" in screen.text.split("\n")[0]
        screen.link.view = replace(screen.link.view, rows=(row("mcp:other"),))
        await screen.press("m", "r")
        await screen.settle()
        assert "mcp:other" in screen.text
        assert "mcp:git" not in screen.text
        await screen.tell(row("mcp:other", held=4))
        assert screen.row("mcp:other").split()[-1] == "4"


async def test_events_that_end_are_told() -> None:
    """F-39"""
    async with driven() as screen:
        screen.link.break_off()
        await screen.settle()
        assert "the cockpit's events ended" in screen.said
        assert screen.app.is_running


class Broken(FakeLink):
    """A link that raises on every verb."""

    async def run(self, line: str) -> Answer:
        raise OSError("disk full [/")

    def events(self) -> AsyncIterator[Event]:
        return super().events()


async def test_an_action_that_fails_is_told_and_the_screen_lives() -> None:
    """F-39"""
    async with driven(Broken()) as screen:
        for key in ("m", "p", "a"):
            await screen.press(key)
            assert screen.said == "that failed: disk full [/"
        assert screen.app.is_running


async def test_two_hundred_failures_at_once_are_one_line_and_a_log() -> None:
    """F-7"""
    rows = [row(f"channel:disc/c{n}") for n in range(200)]
    async with driven(FakeLink(view(rows))) as screen:
        gone = [replace(each, presence="offline", label="offline", at=START + 1) for each in rows]
        lost = [Failed(START, "server", f"disc lost c{n}") for n in range(200)]
        before = screen.text.count("\n")
        await screen.tell(*gone, *lost)
        assert screen.told == "disc lost c199 (server) — and 199 more (l lists them)"
        assert screen.text.count("\n") == before
        await screen.press("l")
        assert "disc lost c198" in screen.text


async def test_hostile_answers_are_inert() -> None:
    """F-1, F-2, F-4"""
    link = FakeLink()
    link.refusals["mute"] = ("refused", 'path [/etc/x] {"a": ["b"]} \x1b]52;c;cHduZWQ=\x07[/', "")
    async with driven(link) as screen:
        await screen.press("m")
        assert screen.said.startswith('path [/etc/x] {"a": ["b"]}')
        assert "\x1b]52" not in screen.raw


async def test_read_only_refuses_every_writing_verb_said_as_a_line() -> None:
    """F-26: this screen writes nothing, though the link would let it."""
    async with driven(read_only=True) as screen:
        await screen.press("i")
        for verb in (verb for verb in VERBS if verb.writes):
            needed = [param.name for param in verb.params if param.required]
            screen.app.main.composer.put(" ".join([f"go={verb.name}", *(f"{name}=mcp:git" for name in needed)]))
            await screen.press("enter")
            assert screen.link.ran == []
            assert screen.said == f"read-only: {verb.name} is refused here"


async def test_read_only_refuses_every_writing_key_and_words() -> None:
    """F-26"""
    writing = {verb.name for verb in VERBS if verb.writes}
    async with driven(read_only=True) as screen:
        assert "read-only" in screen.text.split("\n")[0]
        for key in KEYS:
            if key.scope in {"table", "anywhere"} and key.id not in {"verb.quit", "go.suspend"}:
                await screen.press(*key.keys.split(",")[:1])
                screen.hands.run += 10
                await screen.press("escape", "escape")
        await screen.press("i")
        await screen.write("hello")
        await screen.press("enter")
        assert screen.link.asked == []
        assert not [line for line in screen.link.ran if line.split(" ")[0].removeprefix("go=") in writing]


@pytest.mark.parametrize("read_only", [False, True])
async def test_a_read_only_link_refuses_for_itself_and_so_audits(read_only: bool) -> None:
    """F-26, K-123: what is refused is told to the link, whatever way it was said, and nothing is asked first."""
    async with driven(FakeLink(view(read_only=True)), read_only=read_only) as screen:
        await screen.press("m")
        assert screen.said == "read-only: mute is refused"
        await screen.press("K", "j", "j", "t", "v", "enter", "i")
        await screen.write("hello")
        await screen.press("enter")
        assert [line.split(" cadence")[0].removeprefix("go=") for line in screen.link.ran] == [
            "mute target=mcp:git", "kill target=mcp:git", f"tune-out target={GENERAL}", f"mute target={GENERAL}",
        ]  # fmt: skip
        assert screen.link.asked == [("hello", "scout")]
        assert "muted" not in screen.row("mcp:git")


async def test_what_is_wrong_at_the_start_is_told_and_stands_in_the_log() -> None:
    """F-32, R-5"""
    wrong = ("keys k.toml, line 3: c is both verb.mute and verb.cancel", "settings s.toml: bad")
    async with driven() as screen:
        main = MainScreen(screen.link, read_only=False, first_frame=lambda: None, told=wrong)
        await screen.app.push_screen(main)
        main.drawn()
        await screen.settle()
        assert main.told.said == "settings s.toml: bad — and 1 more (l lists them)"
        await screen.press("l")
        assert "keys k.toml, line 3: c is both" in screen.text


async def test_a_hint_is_told_unless_the_refusal_said_it() -> None:
    """R-5"""
    link = FakeLink()
    async with driven(link) as screen:
        link.refusals["mute"] = ("unknown_target", "no target 'x'; did you mean mcp:a or mcp:b?", "mcp:a, mcp:b")
        await screen.press("m")
        assert screen.said == "no target 'x'; did you mean mcp:a or mcp:b?"
        link.refusals["mute"] = ("refused", "mcp:git carries integrity", "go=mute target=mcp:git override=…")
        await screen.press("m")
        assert screen.said == "mcp:git carries integrity — go=mute target=mcp:git override=…"
