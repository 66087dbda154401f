"""The bell and the desktop notice: rare, off unless asked for, silent about what is muted, without a foreign word."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cockpit.core.events import ChannelChanged
from cockpit.testing.driven_screen import Hands
from cockpit.testing.fake_link import row
from cockpit.ui.alert import SILENT, Alerts, Ringer, asked, settings

BOTH = Alerts(bell=True, notify=True)


class Table:
    """Rows that change, and what rang."""

    def __init__(self, alerts: Alerts = BOTH) -> None:
        self.hands = Hands()
        self.ringer = Ringer(alerts, self.hands.elapsed)
        self.rows: dict[str, ChannelChanged] = {}

    def change(self, *rows: ChannelChanged, looking: bool = False) -> str:
        before = dict(self.rows)
        self.rows |= {each.target: each for each in rows}
        return self.ringer.ring(before, rows, total=sum(each.need for each in self.rows.values()), looking=looking)


def test_it_rings_where_need_rises() -> None:
    table = Table()
    assert table.change(row("channel:d/noisy", wait=4)) == ""
    assert table.change(row("channel:d/noisy", need=1)) == "\x07\x1b]9;cockpit: #noisy needs you (1 in all)\x1b\\"
    table.hands.run += 60
    assert table.change(row("channel:d/noisy", need=1, wait=9)) == ""
    assert table.change(row("channel:d/noisy")) == ""
    assert table.change(row("channel:d/noisy", need=1)) != ""


def test_a_muted_participants_direct_question_rings_nothing() -> None:
    """F-17: muting wins over being addressed; a tune-out does not hide that somebody asks."""
    table = Table()
    assert table.change(row("user:hedgehog", attention="muted", need=1)) == ""
    assert table.change(row("user:hedgehog", attention="muted", need=2)) == ""
    assert table.change(row("channel:d/a", attention="tuned-out", need=1)) != ""


def test_at_most_once_in_so_many_seconds() -> None:
    table = Table()
    rang = 0
    for need in range(1, 61):
        rang += bool(table.change(row("mcp:a", need=need), row("mcp:b", need=need)))
        table.hands.run += 1
    assert rang == 6


def test_it_is_silent_while_somebody_looks_and_unless_asked_for() -> None:
    assert Table().change(row("mcp:a", need=1), looking=True) == ""
    assert Table(SILENT).change(row("mcp:a", need=1)) == ""
    assert Table(Alerts(bell=True)).change(row("mcp:a", need=1)) == "\x07"
    assert "\x07" not in Table(Alerts(notify=True)).change(row("mcp:a", need=1))


def test_what_leaves_rings_nothing() -> None:
    assert Table().change(row("mcp:a", need=1, gone=True)) == ""


def test_a_notice_holds_no_control_sequence_of_a_name() -> None:
    """F-4, R-6"""
    said = Table(Alerts(notify=True)).change(row("channel:d/x\x1b\\\x1b]52;c;cHduZWQ=\x07\x9c\u202e", need=1))
    assert re.fullmatch("\x1b\\]9;[^\x00-\x1f\x7f-\x9f\u202e]*\x1b\\\\", said)


def test_several_are_counted() -> None:
    said = Table(Alerts(notify=True)).change(row("mcp:a", need=2), row("mcp:b", need=3))
    assert "mcp:b and 1 more need you (5 in all)" in said


def test_the_settings_file(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text('bell = true\nring_every = "1m"\n', "utf-8")
    assert settings(path) == (Alerts(bell=True, every=60.0), ())
    assert asked(path, bell=False, notify=True)[0] == Alerts(bell=True, notify=True, every=60.0)
    path.write_text("", "utf-8")
    assert settings(path) == (SILENT, ())


def test_what_is_wrong_in_it_is_told_and_the_rest_holds(tmp_path: Path) -> None:
    """R-5: the cockpit starts all the same."""
    path = tmp_path / "settings.toml"
    path.write_text('bell = true\n\nnotfy = true\nring_every = "soon"\n', "utf-8")
    alerts, told = asked(path, bell=False, notify=False)
    assert alerts == Alerts(bell=True)
    assert told[0] == f"settings {path}, line 3: no field 'notfy'; did you mean notify?"
    assert told[1].startswith(f"settings {path}, line 4: ring_every is 'soon'")
    path.write_text("bell = ", "utf-8")
    assert asked(path, bell=True, notify=False)[0] == Alerts(bell=True)
    assert asked(None, bell=True, notify=False) == (Alerts(bell=True), ())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("bel = true", "no field 'bel'; did you mean bell?"),
        ('bell = "yes"', "bell is 'yes', not true or false"),
        ('ring_every = "soon"', "ring_every is 'soon': a duration is written"),
        ("bell = ", "Invalid value"),
    ],
)
def test_what_is_wrong_in_it_is_told(tmp_path: Path, text: str, says: str) -> None:
    """R-5"""
    path = tmp_path / "settings.toml"
    path.write_text(text, "utf-8")
    alerts, (told,) = settings(path)
    assert alerts == SILENT
    assert says in told
    assert str(path) in told
