"""The subconscious's pane: streamed, bounded, and still while somebody reads in it."""

from __future__ import annotations

from cockpit.core.events import Reported, ToolCalled, TurnChanged, Writing
from cockpit.testing.driven_screen import Driven, driven
from cockpit.testing.fake_link import START, FakeLink, report, view
from cockpit.ui.intake import MOST
from cockpit.ui.widgets.journal import CAP, KEEP

NOISY = "channel:disc/disc:guild:noisy"


def piece(text: str, *, stream: str = "s1", done: bool = False) -> Writing:
    return Writing(START, "Subconscious", stream, text, report=True, channel=NOISY, done=done)


def many(count: int, *, first: int = 0) -> list[Reported]:
    return [report(f"report number {n}", id=f"r{n}") for n in range(first, first + count)]


def shown(screen: Driven) -> list[str]:
    return [entry.text for entry in screen.app.main.panes.reports.entries]


def top(screen: Driven) -> list[str]:
    """What stands in view, line by line."""
    return [line[61:118].strip() for line in screen.text.split("\n")[2:19]]


async def test_a_report_has_time_and_channel_and_its_words_as_written() -> None:
    """S-9"""
    async with driven(FakeLink(view(reports=(report("You were asked twice.", at=START - 600),)))) as screen:
        assert "08:50 …disc:guild:noisy  You were asked twice." in screen.text


async def test_a_channel_goes_by_the_name_of_its_row() -> None:
    """One name in the heading and in the row, clipped by one rule; `#noisy` where the id is one word (cockpit.md,
    Screen)."""
    for size in ((120, 40), (200, 50)):
        async with driven(FakeLink(view(reports=(report("Lunch."),))), size=size) as screen:
            name = screen.row("guild:noisy").split()[1]
            assert f"09:00 {name}  Lunch." in screen.text
    async with driven(FakeLink(view(reports=(report("Lunch."),))), size=(80, 24)) as screen:
        assert "09:00 …guild:noisy  Lunch." in screen.text
    for target, name in (("channel:disc/noisy", "#noisy"), ("channel:irc/#noisy", "#noisy"), ("mcp:git", "mcp:git")):
        async with driven(FakeLink(view(reports=(report("Lunch.", channel=target),)))) as screen:
            assert f"09:00 {name}  Lunch." in screen.text


async def test_newest_last() -> None:
    async with driven() as screen:
        await screen.tell(report("first", id="1"), report("second", id="2"))
        assert shown(screen) == ["09:00 …disc:guild:noisy  first", "09:00 …disc:guild:noisy  second"]


async def test_triggers_are_set_off_and_failures_stand_out() -> None:
    async with driven() as screen:
        await screen.tell(report("wake 2 of 5", kind="wake", id="1"), report("model down", kind="failure", id="2"))
        assert shown(screen) == [
            "09:00 …disc:guild:noisy  · wake 2 of 5 ·",
            "09:00 …disc:guild:noisy  failed  model down",
        ]


async def test_a_report_streams_and_its_whole_takes_the_drafts_place() -> None:
    """S-9"""
    async with driven() as screen:
        await screen.tell(piece("You were "))
        assert shown(screen) == ["09:00 …disc:guild:noisy  You were "]
        await screen.tell(piece("asked"))
        assert "You were asked" in screen.text
        await screen.tell(piece("", done=True), report("You were asked.", id="9"))
        assert shown(screen) == ["09:00 …disc:guild:noisy  You were asked."]
        await screen.tell(report("You were asked.", id="9"))
        assert len(shown(screen)) == 1


async def test_two_drafts_at_once_find_their_own_reports() -> None:
    async with driven() as screen:
        await screen.tell(piece("aside", stream="a"), piece("summary", stream="b"))
        await screen.tell(report("summary", id="2"), report("aside", kind="prose", id="1"))
        assert shown(screen) == ["09:00 …disc:guild:noisy  aside  aside", "09:00 …disc:guild:noisy  summary"]


async def test_what_was_written_for_another_call_is_no_report() -> None:
    async with driven() as screen:
        await screen.tell(piece("hmm, lunch", done=True))
        await screen.tell(ToolCalled(START, "Subconscious", "think", "text='hmm, lunch'", ok=True))
        assert shown(screen) == []


async def test_what_a_cut_stream_had_written_goes_when_it_is_written_again() -> None:
    """A provider's stream that is retried is void: its half text never stands beside the whole."""
    async with driven() as screen:
        await screen.tell(piece("You were"), piece("", done=True), piece("You were asked", stream="s2"))
        assert shown(screen) == ["09:00 …disc:guild:noisy  You were asked"]
        await screen.tell(
            piece("", stream="s2", done=True), piece("One more", stream="s3"), report("One more.", id="9")
        )
        assert shown(screen) == ["09:00 …disc:guild:noisy  One more."]


async def test_a_turn_that_broke_leaves_what_was_written_and_says_so() -> None:
    """T-14"""
    async with driven() as screen:
        await screen.tell(piece("You were "), TurnChanged(START, "Subconscious", "failed", "wake", detail="down"))
        assert shown(screen) == ["09:00 …disc:guild:noisy  You were  — broken off"]


async def test_a_snapshot_with_many_reports_stands_at_its_end_and_follows() -> None:
    async with driven(FakeLink(view(reports=tuple(many(60))))) as screen:
        assert "report number 59" in screen.text
        await screen.tell(*many(1, first=100))
        assert "report number 100" in screen.text


async def test_a_short_list_stands_at_the_top_and_a_long_one_follows_its_end() -> None:
    async with driven() as screen:
        await screen.tell(report("only one", id="1"))
        assert top(screen)[0].endswith("only one")
        await screen.tell(*many(60))
        await screen.settle()
        assert "report number 59" in screen.text
        assert "report number 0" not in screen.text


async def test_scrolled_up_the_view_holds_and_counts_what_is_new() -> None:
    """F-5, cockpit.md Subconscious"""
    async with driven() as screen:
        await screen.tell(*many(60))
        await screen.press("tab", "k", "k", "k", "k")
        before = top(screen)
        await screen.tell(*many(3, first=100))
        assert top(screen) == before
        assert "3 new" in screen.text
        await screen.press("G")
        assert "3 new" not in screen.text
        assert "report number 102" in screen.text
        await screen.tell(*many(1, first=200))
        assert "report number 200" in screen.text


async def test_new_ones_are_counted_down_as_they_come_into_view() -> None:
    async with driven() as screen:
        await screen.tell(*many(60))
        await screen.press("tab", "k", "k")
        await screen.tell(*many(2, first=100))
        assert "2 new" in screen.text
        await screen.press("j", "j", "j")
        assert "1 new" in screen.text
        await screen.press("j")
        assert "new ━" not in screen.text
        await screen.tell(*many(1, first=200))
        assert "report number 200" in screen.text


async def test_a_growing_draft_does_not_move_the_view() -> None:
    """F-5"""
    async with driven() as screen:
        await screen.tell(*many(60), piece("x"))
        await screen.press("tab", "k", "k", "k", "k", "k", "k")
        before = top(screen)
        await screen.tell(piece("many words " * 60))
        assert top(screen) == before


async def test_the_pane_is_bounded_and_what_it_never_showed_is_marked() -> None:
    """F-27, cockpit.md Subconscious"""
    async with driven() as screen:
        await screen.tell(*many(10_000))
        entries = shown(screen)
        assert len(entries) <= KEEP
        assert entries[0].strip() == f"· {10_000 - MOST} not shown; the store has them ·"
        assert len(entries) - 1 + 10_000 - MOST == 10_000
        assert entries[-1].endswith("report number 9999")
        assert f"{10_000 - MOST} not shown" in screen.text.split("\n")[0]


async def test_a_held_view_is_bounded_too_and_never_moves() -> None:
    """F-5, F-27"""
    async with driven() as screen:
        await screen.tell(*many(150))
        await screen.press("tab", "k", "k", "k")
        before = top(screen)
        for start in range(1000, 1600, 100):
            await screen.tell(*many(100, first=start))
        assert top(screen) == before
        assert len(screen.app.main.panes.reports.entries) <= CAP
        await screen.press("G")
        await screen.settle()
        entries = shown(screen)
        assert entries[-1].endswith("report number 1599")
        assert len(entries) <= KEEP


async def test_hold_stops_both_streams_and_lets_them_go() -> None:
    async with driven() as screen:
        await screen.tell(*many(60))
        await screen.press("P")
        before = top(screen)
        await screen.tell(*many(2, first=100))
        assert top(screen) == before
        assert "held" in screen.text.split("\n")[0]
        await screen.press("P")
        await screen.settle()
        assert "report number 101" in screen.text


async def test_search_finds_upward_and_says_when_there_is_none() -> None:
    async with driven() as screen:
        await screen.tell(*many(60))
        await screen.press("tab", "slash")
        await screen.write("number 7")
        await screen.press("enter")
        assert "report number 7" in screen.text
        await screen.press("slash")
        await screen.write("zzz")
        assert "nothing here holds zzz" in screen.said


async def test_hostile_reports_are_inert() -> None:
    """F-1, F-2, F-4, R-6"""
    async with driven() as screen:
        text = 'see [/etc/x] [/ {"a": ["x"]} \x1b]52;c;cHduZWQ=\x07\x1b[2J\u202e\x00'
        await screen.tell(report(text, id="1", channel="channel:disc/[/\x1b[2J"), piece(text, stream="z"))
        assert "see [/etc/x] [/" in screen.text
        for leak in ("\x1b]52", "\x1b[2J", "\u202e", "\x00", "\x07"):
            assert leak not in screen.raw
