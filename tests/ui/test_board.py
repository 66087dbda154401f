"""Which rows the table shows and in what order."""

from __future__ import annotations

from dataclasses import replace

from cockpit.core.events import ChannelChanged
from cockpit.testing.fake_link import row
from cockpit.ui.board import FOLDS_AT, Board, FoldLine, RowLine


def begun(*rows: ChannelChanged) -> Board:
    board = Board()
    board.begin(rows)
    return board


def targets(board: Board) -> list[str]:
    return [line.target for line in board.lines()]


def test_a_newcomer_stands_after_the_last_of_its_server() -> None:
    board = begun(row("mcp:disc"), row("channel:disc/a"), row("mcp:git"), row("user:hedgehog"))
    board.update([row("channel:disc/b"), row("feed:general")])
    assert targets(board) == [
        "mcp:disc", "channel:disc/a", "channel:disc/b", "mcp:git", "user:hedgehog", "feed:general",
    ]  # fmt: skip


def test_rows_of_one_server_stand_together() -> None:
    board = begun(row("mcp:disc"), row("mcp:git"), row("feed:a"), row("channel:disc/a"), row("feed:b"))
    assert targets(board) == ["mcp:disc", "channel:disc/a", "mcp:git", "feed:a", "feed:b"]


def test_a_row_that_changes_stays_where_it_is() -> None:
    """K-126"""
    board = begun(row("mcp:git"), row("mcp:web"), row("mcp:db"))
    assert board.update([row("mcp:web", attention="muted")]) == {"mcp:web"}
    assert targets(board) == ["mcp:git", "mcp:web", "mcp:db"]
    assert board.rows["mcp:web"].label == "muted"


def test_a_row_that_did_not_change_is_no_change() -> None:
    """F-43: nothing is painted for what reads the same."""
    board = begun(row("mcp:git"))
    assert board.update([row("mcp:git")]) == set()


def test_a_filter_says_how_many_it_hides() -> None:
    """K-132"""
    board = begun(row("mcp:git"), row("mcp:web"), row("channel:disc/web"), row("feed:general"))
    board.filter = "WEB"
    assert targets(board) == ["mcp:web", "channel:disc/web"]
    assert board.hidden == 2


def test_counting_does_not_depend_on_what_is_shown() -> None:
    """F-20: a filter looks at names and states, never at a count that it changes itself."""
    board = begun(row("mcp:git", held=3), row("mcp:web"))
    board.filter = "3"
    assert targets(board) == []


def test_many_quiet_channels_of_one_server_fold() -> None:
    quiet = [row(f"channel:disc/q{n}") for n in range(FOLDS_AT + 1)]
    board = begun(row("mcp:disc"), row("channel:disc/loud", wait=1), *quiet)
    assert board.lines() == (
        RowLine("mcp:disc"), RowLine("channel:disc/loud"), FoldLine("disc", len(quiet), 0, 0, 0, quiet=True),
    )  # fmt: skip


def test_a_channel_that_speaks_up_leaves_the_fold_and_stays_out() -> None:
    quiet = [row(f"channel:disc/q{n}") for n in range(FOLDS_AT + 2)]
    board = begun(row("mcp:disc"), *quiet)
    board.update([replace(quiet[3], wait=2)])
    board.update([replace(quiet[3], at=quiet[3].at + 1)])
    assert "channel:disc/q3" in targets(board)


def test_a_collapsed_server_keeps_its_sums_in_sight() -> None:
    board = begun(row("mcp:disc"), row("channel:disc/a", wait=2, need=1), row("channel:disc/b", held=5))
    board.set_group("disc", "collapsed")
    assert board.lines() == (RowLine("mcp:disc"), FoldLine("disc", 2, 2, 1, 5, quiet=False))
    board.set_group("disc", "open")
    assert len(board.lines()) == 3


def test_the_next_in_need_is_below_and_then_from_the_top() -> None:
    board = begun(row("mcp:a", need=1), row("mcp:b"), row("mcp:c", need=2))
    assert board.next_in_need("mcp:a") == "mcp:c"
    assert board.next_in_need("mcp:c") == "mcp:a"
    assert begun(row("mcp:b")).next_in_need(None) is None


def test_a_row_that_went_is_gone_with_its_mark() -> None:
    """F-38"""
    board = begun(row("mcp:a"), row("mcp:b"))
    board.marked.add("mcp:a")
    board.update([row("mcp:a", gone=True)])
    board.update([row("mcp:a", gone=True)])
    assert targets(board) == ["mcp:b"]
    assert not board.marked
