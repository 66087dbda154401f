"""The resident's pane: one conversation at a time, each resident's whole."""

from __future__ import annotations

from cockpit.core.events import AgentView, Noticed, Prompted, Spoke, ToolCalled, TurnChanged, Writing
from cockpit.testing.driven_screen import Driven, driven
from cockpit.testing.fake_link import START, FakeLink, demo_view, view

TWO = (
    AgentView("scout", "resident", "idle"),
    AgentView("ranger", "resident", "idle"),
    AgentView("Subconscious", "subconscious", "idle"),
)


def shown(screen: Driven) -> list[str]:
    return [entry.text for entry in screen.app.main.panes.talk.entries]


async def test_the_conversation_as_the_snapshot_has_it() -> None:
    async with driven(FakeLink(demo_view())) as screen:
        assert shown(screen)[:2] == [
            "08:51 you> what did I miss in git this morning?", "      ✓ git__git_log max_count=10",
        ]  # fmt: skip
        assert shown(screen)[2].startswith("08:51 scout> Four commits")
        assert shown(screen)[3].startswith("08:58 [Mute: mcp:git unmuted")


async def test_prose_streams_and_its_whole_takes_the_drafts_place() -> None:
    async with driven() as screen:
        await screen.tell(Writing(START, "scout", "s1", "Four ", report=False))
        await screen.tell(Writing(START, "scout", "s1", "commits", report=False))
        assert shown(screen) == ["09:00 scout> Four commits"]
        await screen.tell(Spoke(START, "scout", "Four commits."))
        assert shown(screen) == ["09:00 scout> Four commits."]


async def test_what_a_cut_stream_had_written_goes_when_it_is_written_again() -> None:
    """A provider's stream that is retried is void: its half text never stands beside the whole."""
    async with driven() as screen:
        await screen.tell(
            Writing(START, "scout", "s1", "Four com", report=False),
            Writing(START, "scout", "s1", "", report=False, done=True),
            Writing(START, "scout", "s2", "Four commits", report=False),
        )
        assert shown(screen) == ["09:00 scout> Four commits"]
        await screen.tell(Spoke(START, "scout", "Four commits."))
        assert shown(screen) == ["09:00 scout> Four commits."]


async def test_a_call_is_one_line_that_its_end_completes() -> None:
    async with driven() as screen:
        await screen.tell(ToolCalled(START, "scout", "git__log", "max_count=10\nsecond line"))
        assert shown(screen) == ["      · git__log max_count=10 second line"]
        await screen.tell(ToolCalled(START, "scout", "git__log", "max_count=10\nsecond line", ok=False))
        assert shown(screen) == ["      ! git__log max_count=10 second line"]
        await screen.tell(ToolCalled(START, "scout", "git__log", "x" * 500, ok=True))
        assert screen.app.main.panes.talk.entries[-1].size.height == 1


async def test_what_was_written_for_a_call_is_no_prose() -> None:
    """N-2"""
    async with driven() as screen:
        await screen.tell(Writing(START, "scout", "s1:tool", "hi all", report=False, done=True))
        await screen.tell(ToolCalled(START, "scout", "channel_publish", "text='hi all'", ok=True))
        assert shown(screen) == ["      ✓ channel_publish text='hi all'"]


async def test_a_turn_that_failed_or_was_stopped_says_so() -> None:
    async with driven() as screen:
        await screen.tell(TurnChanged(START, "scout", "failed", "prompt", detail="model down"))
        await screen.tell(TurnChanged(START, "scout", "stopped", "prompt"))
        assert shown(screen) == ["09:00 the turn failed: model down", "09:00 interrupted"]


async def test_two_prompts_with_the_same_words_are_two() -> None:
    async with driven() as screen:
        await screen.tell(Prompted(START + 1, "scout", "again"), Prompted(START + 2, "scout", "again"))
        assert len(shown(screen)) == 2


async def test_what_the_snapshot_holds_and_the_events_bring_again_is_shown_once() -> None:
    said = Spoke(START - 5, "scout", "hello")
    async with driven(FakeLink(view(conversation=(said,)))) as screen:
        await screen.tell(said)
        assert shown(screen) == ["08:59 scout> hello"]


async def test_changing_residents_resets_the_pane_and_brings_all_back() -> None:
    """K-129"""
    async with driven(FakeLink(view(agents=TWO))) as screen:
        await screen.tell(Spoke(START, "scout", "I am scout"), Spoke(START, "ranger", "I am ranger"))
        await screen.tell(Noticed(START, "residents", "unmute", "mcp:git", "[Mute: mcp:git unmuted]"))
        assert shown(screen) == ["09:00 scout> I am scout", "09:00 [Mute: mcp:git unmuted]"]
        await screen.press("right_square_bracket")
        assert shown(screen) == ["09:00 ranger> I am ranger", "09:00 [Mute: mcp:git unmuted]"]
        assert "ranger  2 of 2" in screen.text
        await screen.press("i")
        await screen.write("hi")
        await screen.press("enter", "escape")
        assert screen.link.asked == [("hi", "ranger")]
        await screen.press("left_square_bracket")
        assert shown(screen) == ["09:00 scout> I am scout", "09:00 [Mute: mcp:git unmuted]"]


async def test_a_draft_goes_on_while_another_resident_is_shown() -> None:
    """K-129"""
    async with driven(FakeLink(view(agents=TWO))) as screen:
        await screen.tell(Writing(START, "scout", "s1", "one ", report=False))
        await screen.press("right_square_bracket")
        await screen.tell(Writing(START, "scout", "s1", "two", report=False))
        await screen.press("left_square_bracket")
        assert shown(screen) == ["09:00 scout> one two"]


async def test_hostile_prose_is_inert() -> None:
    """F-1, F-2, F-4, R-6"""
    async with driven() as screen:
        await screen.tell(Spoke(START, "sc[/out\x1b[2J", "x"), Prompted(START, "scout", "[/ \x1b]0;owned\x07"))
        await screen.tell(Noticed(START, "scout", "gate", "", "path [/etc/x]\u202e"))
        assert "path [/etc/x]" in screen.text
        for leak in ("\x1b]0", "\x1b[2J", "\u202e", "\x07"):
            assert leak not in screen.raw


async def test_another_branch_resets_the_panes() -> None:
    """K-129: what the panes showed is no longer the past; rows and filter stay the operator's."""
    async with driven(FakeLink(demo_view())) as screen:
        screen.link.view = view(conversation=(Spoke(START, "scout", "on the other branch"),))
        await screen.press("i")
        screen.app.main.composer.put("go=switch branch=other")
        await screen.press("enter")
        assert shown(screen) == ["09:00 scout> on the other branch"]
        assert "Subconscious" in screen.text
        assert "You were asked twice" not in screen.text
        assert screen.said == "switch: done"
