"""The composer: ignition, verbs, completion, history, paste; nothing runs that was not written."""

from __future__ import annotations

import pytest
from textual import events
from textual.geometry import Size

from cockpit.testing.driven_screen import Driven, driven
from cockpit.testing.fake_link import FakeLink, report, row, view
from cockpit.ui.screens.confirm import Confirm


async def paste(screen: Driven, text: str) -> None:
    screen.app.post_message(events.Paste(text))
    await screen.settle()


async def test_plain_text_is_ignition() -> None:
    async with driven() as screen:
        await screen.press("i")
        await screen.write("hello there")
        await screen.press("enter")
        assert screen.link.asked == [("hello there", "scout")]
        assert screen.link.ran == []
        assert screen.app.main.composer.value == ""
        assert "you> hello there" in screen.text


@pytest.mark.parametrize(
    "typed", [":mute mcp:git", "go=mute target=mcp:git", "GO=mute target=mcp:git", " :mute mcp:git"]
)
async def test_a_colon_or_go_makes_it_a_verb(typed: str) -> None:
    async with driven() as screen:
        await screen.press("i")
        screen.app.main.composer.put(typed)
        await screen.press("enter")
        assert screen.link.ran == [typed]
        assert screen.link.asked == []
        assert "muted" in screen.row("mcp:git")


@pytest.mark.parametrize(("typed", "shown"), [(":mute", " > :mute"), ("go=mute", " : go=mute"), ("mute", " > mute")])
async def test_a_verb_has_one_colon(typed: str, shown: str) -> None:
    async with driven() as screen:
        await screen.press("i")
        await screen.write(typed)
        assert screen.text.split("\n")[-2] == shown


async def test_a_refused_verb_says_why_and_what_to_say_instead() -> None:
    async with driven() as screen:
        await screen.press("i")
        await screen.write(":mut mcp:git")
        await screen.press("enter")
        assert screen.said.startswith("no verb 'mut'; did you mean mute")
        assert "!" in next(line for line in screen.text.split("\n") if "no verb" in line)


async def test_an_empty_line_does_nothing() -> None:
    async with driven() as screen:
        await screen.press("i", "enter", "space", "enter")
        assert screen.link.asked == []
        assert screen.link.ran == []


async def test_enter_runs_exactly_what_is_written() -> None:
    """F-24: `mcp:git` is `mcp:git` though `mcp:github` exists, and no suggestion is ever accepted by Enter."""
    async with driven(FakeLink(view((row("mcp:github"), row("mcp:git"))))) as screen:
        await screen.press("i")
        await screen.write("go=mute target=mcp:git")
        await screen.press("enter")
        assert screen.link.ran == ["go=mute target=mcp:git"]
        assert "muted" not in screen.row("mcp:github")


async def test_tab_completes_to_what_is_shared_and_then_in_turn() -> None:
    async with driven(FakeLink(view((row("mcp:git"), row("mcp:github"))))) as screen:
        await screen.press("i")
        await screen.write(":mute target=mcp:g")
        await screen.press("tab")
        assert screen.app.main.composer.value == ":mute target=mcp:git"
        assert "mcp:github" in screen.said
        await screen.press("tab", "tab")
        assert screen.app.main.composer.value == ":mute target=mcp:github"
        await screen.press("tab")
        assert screen.app.main.composer.value == ":mute target=mcp:git"
        assert screen.link.ran == []


async def test_tab_on_words_to_the_resident_goes_on_and_loses_nothing() -> None:
    async with driven() as screen:
        await screen.press("i")
        await screen.write("half a line")
        await screen.press("tab")
        assert screen.app.main.panes.channels.has_focus
        assert screen.app.main.composer.value == "half a line"


async def test_history() -> None:
    async with driven() as screen:
        await screen.press("i")
        for text in ("one", "two"):
            await screen.write(text)
            await screen.press("enter")
        await screen.write("begun")
        seen = []
        for key in ("up", "up", "up", "down", "down", "down"):
            await screen.press(key)
            seen.append(screen.app.main.composer.value)
        assert seen == ["two", "one", "one", "two", "begun", "begun"]


async def test_one_pasted_line_is_written_and_not_run() -> None:
    """F-34"""
    async with driven() as screen:
        await screen.press("i")
        await paste(screen, "go=mute target=mcp:git\n")
        assert screen.app.main.composer.value == "go=mute target=mcp:git"
        assert screen.link.ran == []


async def test_several_pasted_verbs_run_nothing_unasked() -> None:
    """F-34"""
    async with driven() as screen:
        await screen.press("i")
        await paste(screen, "go=mute target=mcp:git\r\ngo=mute target=mcp:web\r\n")
        assert isinstance(screen.app.screen, Confirm)
        assert "go=mute target=mcp:git" in screen.text
        assert "go=mute target=mcp:web" in screen.text
        assert screen.link.ran == []
        await screen.press("n")
        assert screen.link.ran == []
        assert screen.link.asked == []


async def test_several_pasted_lines_lose_nothing_when_refused() -> None:
    """F-34: each is a step back in the history."""
    async with driven() as screen:
        await screen.press("i")
        await paste(screen, "go=mute target=mcp:git\ngo=mute target=mcp:web")
        await screen.press("escape", "i", "up")
        assert screen.app.main.composer.value == "go=mute target=mcp:web"
        await screen.press("up")
        assert screen.app.main.composer.value == "go=mute target=mcp:git"


async def test_several_pasted_verbs_run_in_order_after_a_yes() -> None:
    """F-34"""
    async with driven() as screen:
        await screen.press("i")
        await paste(screen, "go=mute target=mcp:git\n:mute mcp:web")
        await screen.press("y")
        assert screen.link.ran == ["go=mute target=mcp:git", ":mute mcp:web"]


async def test_pasted_words_are_one_message_and_hold_no_verb() -> None:
    """F-34: a line among them that looks like a verb is part of the message."""
    async with driven() as screen:
        await screen.press("i")
        await paste(screen, "look at this:\ngo=mute target=mcp:git\n\nwhat does it do?")
        assert "as one message" in screen.text
        await screen.press("y")
        assert screen.link.ran == []
        assert screen.link.asked == [("look at this:\ngo=mute target=mcp:git\n\nwhat does it do?", "scout")]


async def test_a_paste_into_the_question_is_no_yes() -> None:
    """K-125"""
    async with driven() as screen:
        await screen.press("K")
        await paste(screen, "y")
        assert screen.link.ran == []
        assert isinstance(screen.app.screen, Confirm)


async def test_a_paste_in_the_table_reaches_the_composer() -> None:
    """F-34: nothing that is pasted is lost, and its letters are no keys."""
    async with driven() as screen:
        await paste(screen, "mute me")
        assert screen.app.main.composer.value == "mute me"
        assert screen.link.ran == []


async def test_what_is_pasted_reaches_the_terminal_inert_and_the_link_as_it_is() -> None:
    """F-4, R-6"""
    async with driven() as screen:
        await screen.press("i")
        await paste(screen, "x\x1b]52;c;cHduZWQ=\x07[/\u202e")
        assert "\x1b]52" not in screen.raw
        assert "\x07" not in screen.raw
        assert "\u202e" not in screen.raw
        await screen.press("enter")
        assert screen.link.asked == [("x\x1b]52;c;cHduZWQ=\x07[/\u202e", "scout")]


async def test_ctrl_c_clears_then_quits_at_the_second_press_within_two_seconds() -> None:
    """cockpit.md, Screen"""
    async with driven() as screen:
        await screen.press("i")
        await screen.write("half a line")
        await screen.press("ctrl+c")
        assert screen.app.main.composer.value == ""
        assert screen.app.is_running
        await screen.press("ctrl+c")
        assert screen.said == "Ctrl-C again within 2 s quits"
        screen.hands.run += 2.1
        await screen.press("ctrl+c")
        assert screen.app.is_running
        screen.hands.run += 1.9
        await screen.press("ctrl+c")
        assert screen.app.return_value == 130
        assert screen.app.return_code == 130


async def test_what_ctrl_c_clears_is_a_step_back_in_the_history() -> None:
    async with driven() as screen:
        await screen.press("i")
        await screen.write("half a line")
        await screen.press("ctrl+c", "up")
        assert screen.app.main.composer.value == "half a line"


async def test_ctrl_d_in_an_empty_composer_is_q() -> None:
    """cockpit.md, Screen"""
    async with driven() as screen:
        await screen.press("i", "x", "home", "ctrl+d")
        assert screen.app.main.composer.value == ""
        assert screen.app.is_running
        await screen.press("ctrl+d")
        assert screen.app.return_value == 0


async def test_typed_quit_is_q() -> None:
    async with driven() as screen:
        await screen.press("i")
        await screen.write(":quit")
        await screen.press("enter")
        assert screen.link.ran == []
        assert screen.app.return_value == 0


async def test_the_cursor_does_not_blink() -> None:
    """F-43"""
    async with driven() as screen:
        await screen.press("i")
        assert screen.app.main.composer.cursor_blink is False


@pytest.mark.parametrize(
    ("typed", "ran", "left"),
    [
        ("j:mute mcp:web\r", [":mute mcp:web"], ""),
        (":mute mcp:web\rmore", [":mute mcp:web"], "more"),
        (":mute mcp:webx\x7f\r:stop\r", [":mute mcp:web", ":stop"], ""),
        ("ikill mute tune", [], "kill mute tune"),
    ],
)
async def test_what_is_typed_in_one_go_is_heeded_in_its_order(typed: str, ran: list[str], left: str) -> None:
    """F-24: Enter runs what was written before it, and letters behind `:` are no keys."""
    async with driven() as screen:
        await screen.burst(typed)
        assert screen.link.ran == ran
        assert screen.app.main.composer.value == left


async def test_a_filter_typed_in_one_go_acts_on_nothing() -> None:
    async with driven() as screen:
        await screen.burst("/muted\r")
        assert screen.link.ran == []
        assert screen.app.main.panes.channels.board.filter == "muted"


async def test_keys_typed_in_one_go_act_on_the_row_they_lead_to() -> None:
    async with driven() as screen:
        await screen.burst("jjjc")
        assert screen.link.ran == ["go=cancel target=channel:disc/disc:guild:noisy"]


async def test_letters_in_the_composer_are_no_keys() -> None:
    async with driven() as screen:
        await screen.press("i")
        await screen.write("mtcopKq?/zn[]")
        assert screen.link.ran == []
        assert screen.app.main.composer.value == "mtcopKq?/zn[]"


async def test_a_letter_lays_nothing_out_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """architecture.md, Performance: with 400 entries in the panes a layout takes longer than a key may."""
    async with driven() as screen:
        await screen.press("i", "x")
        laid_out: list[bool] = []
        main = screen.app.main
        original = main._refresh_layout

        def counted(size: Size | None = None, scroll: bool = False) -> None:
            laid_out.append(scroll)
            original(size, scroll)

        monkeypatch.setattr(main, "_refresh_layout", counted)
        await screen.write("yz")
        assert main.composer.value == "xyz"
        assert laid_out == []


async def test_the_end_of_a_long_line_stays_in_view() -> None:
    async with driven(size=(60, 20)) as screen:
        await screen.press("i")
        screen.app.main.composer.put("abcdefghij" * 9 + "END")
        await screen.settle()
        for size in ((60, 20), (50, 20), (80, 24)):
            await screen.pilot.resize_terminal(*size)
            await screen.tell(report("it grows " * 40, id=f"{size}"))
            assert screen.text.split("\n")[-2].endswith("END")
