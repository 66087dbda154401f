"""What the shell commands print, and how they end, whatever the cockpit answers."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

import pytest

from cockpit.control import commands, plain
from cockpit.control.shown import answer, report, rows
from cockpit.core.events import Answer, Reported, Result, Spoke, VerbRan
from cockpit.testing.fake_link import report as reported
from cockpit.testing.fake_link import row, view
from cockpit.testing.hand_link import HandLink, client, served


class Writers(TypedDict):
    """Both writers, as a command takes them."""

    write: commands.Writer
    tell: commands.Writer


@dataclass
class Terminal:
    """Both streams of one command, as lines; out breaks after so many."""

    out: list[str] = field(default_factory=list)
    err: list[str] = field(default_factory=list)
    breaks: int = 1_000_000

    def write(self, line: str) -> None:
        if len(self.out) >= self.breaks:
            raise BrokenPipeError
        self.out.append(line)

    @property
    def writers(self) -> Writers:
        return {"write": self.write, "tell": self.err.append}


@pytest.fixture
def path() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="ck") as folder:
        yield Path(folder) / "one.sock"


@pytest.mark.parametrize("what", ["events", "reports"])
async def test_following_ends_with_1_where_the_cockpit_goes_without_a_word(path: Path, what: str) -> None:
    terminal = Terminal()
    async with served(HandLink(), path) as serving, client(path) as link, asyncio.TaskGroup() as group:
        following = (
            commands.events(link, **terminal.writers)
            if what == "events"
            else commands.reports(link, follow=True, **terminal.writers)
        )
        running = group.create_task(following)
        await link.snapshot()
        serving.cancel()
        assert await running == 1
    assert terminal.err == ["the cockpit has gone, or it dropped this reader as too slow"]


async def test_a_pipe_that_closes_ends_a_command_without_a_word(path: Path) -> None:
    """`cockpit reports --follow | head -1`."""
    cockpit, terminal = HandLink(shown=view(reports=(reported("one"), reported("two", at=2.0)))), Terminal(breaks=2)
    async with served(cockpit, path), client(path) as link:
        assert await commands.reports(link, follow=True, **terminal.writers) == 0
        assert await commands.events(link, **terminal.writers) == 0
        assert await commands.channels(link, write=terminal.write) == 0
        for feed in cockpit.feeds:
            await feed.closed.wait()
    assert terminal.err == []


async def test_reports_without_follow_end_by_themselves(path: Path) -> None:
    cockpit, terminal = HandLink(shown=view(reports=(reported("one\ntwo"),))), Terminal()
    async with served(cockpit, path), client(path) as link:
        assert await commands.reports(link, **terminal.writers) == 0
    assert terminal.out == [
        "2026-11-30 09:00Z  Subconscious  channel:disc/disc:guild:noisy  summary",
        "  one",
        "  two",
    ]
    assert cockpit.feeds == []


async def test_a_report_that_comes_between_is_told_once(path: Path) -> None:
    cockpit, terminal = HandLink(shown=view(reports=(reported("one"),))), Terminal()
    async with served(cockpit, path), client(path) as link, asyncio.TaskGroup() as group:
        running = group.create_task(commands.reports(link, follow=True, **terminal.writers))
        await link.snapshot()
        cockpit.tell(reported("one"))
        cockpit.tell(Spoke(1.0, "scout", "no report"))
        cockpit.tell(reported("two", at=2.0))
        cockpit.feeds[0].queue.put_nowait(None)
        await running
    assert [line for line in terminal.out if line.startswith("  ")] == ["  one", "  two"]


async def test_send_says_how_it_went(path: Path) -> None:
    async with served(HandLink(), path), client(path) as link:
        for token, code in (("right", 0), ("wrong", 1), ("", 2)):
            terminal = Terminal()
            sent = commands.send(link, "hedgehog", "hello", token=token, to="feed:general", **terminal.writers)
            assert await sent == code
            assert bool(terminal.out) == (code == 0)
            assert "right" not in "".join(terminal.err)
        assert await commands.send(link, "hedgehog", " ", token="right", to=None, **Terminal().writers) == 2


async def test_go_prints_headless_lines_where_asked(path: Path) -> None:
    terminal = Terminal()
    async with served(HandLink(), path), client(path) as link:
        assert await commands.go(link, "go=mute target=mcp:git", as_json=True, **terminal.writers) == 0
    assert terminal.out[0].startswith('{"event": "verb", ')


def test_a_glob_is_reported_target_by_target() -> None:
    results = (Result("mcp:git", True, "muted"), Result("channel:disc/x", False, "muted already"))
    ran = VerbRan(1.0, "mute *", "mute", False, "mute: 1 of 2 done", "already", "go=unmute", results)
    assert answer(Answer(ran)) == [
        "mute: 1 of 2 done",
        "  done      mcp:git         muted",
        "  not done  channel:disc/x  muted already",
        "  go=unmute",
    ]


def test_a_row_tells_what_its_state_does_not() -> None:
    offline = row("mcp:db", "offline", "muted", held=7, reason="exited with 1")
    assert rows([row("mcp:git"), offline, row("mcp:old", gone=True)]) == [
        "TARGET   STATE            WAIT  NEED  HELD",
        "mcp:git  online              0     0     0",
        "mcp:db   muted · offline     0     0     7  muted by operator; exited with 1",
    ]
    assert rows([]) == ["there are no channels"]


def test_wide_characters_keep_the_columns() -> None:
    lines = plain.table([["日本語", "x"], ["ab", "y"], ["é\u0301", "z"]])
    assert lines == ["日本語  x", "ab      y", "é\u0301       z"]


@pytest.mark.parametrize(
    "hostile", ["\x1b[2J", "\x9b31m", "\r", "\x07", "\u202e", "\u2066", "\ud800", "\u200b", "\x7f"]
)
def test_no_foreign_text_steers_the_terminal(hostile: str) -> None:
    """R-6, K-130: in names as in texts."""
    text = f"a{hostile}b"
    shown = [
        *report(Reported(1.0, text, text, "summary", text, "1")),
        *rows([row(text, reason=text)]),
        *answer(Answer(VerbRan(1.0, text, text, False, text, "refused", text, (Result(text, True, text),)))),
    ]
    assert not any(hostile in line for line in shown)
    assert "".join(shown).isprintable()


def test_no_text_poses_as_a_line_of_ours() -> None:
    """Every kind of line break begins an indented line."""
    forged = "hello\u2028mcp:git  online\x85x\x0bmcp:git"
    assert report(Reported(1.0, "S", "", "summary", forged, "1"))[1:] == [
        "  hello", "  mcp:git  online", "  x", "  mcp:git",
    ]  # fmt: skip
    assert plain.flat("a\r\nb\nc\td") == "a b c d"
