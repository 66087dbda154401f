"""When the screen paints: at once after a pause, then at most four times a second."""

from __future__ import annotations

from collections.abc import Callable

from cockpit.testing.fake_link import FakeLink, row
from cockpit.ui.feed import EVERY, SOONEST, Feed
from cockpit.ui.intake import Batch


class Loop:
    """A clock and its timers, turned by hand."""

    def __init__(self) -> None:
        self.time = 100.0
        self.timers: list[tuple[float, Callable[[], None]]] = []

    def later(self, seconds: float, then: Callable[[], None]) -> None:
        self.timers.append((self.time + seconds, then))

    def turn(self, seconds: float) -> None:
        """Let time pass and run what is due."""
        self.time += seconds
        due = [then for at, then in self.timers if at <= self.time + 1e-9]
        self.timers = [(at, then) for at, then in self.timers if at > self.time + 1e-9]
        for then in due:
            then()


def fed(loop: Loop) -> tuple[Feed, list[Batch]]:
    painted: list[Batch] = []
    return Feed(FakeLink(), painted.append, loop.later, lambda: loop.time), painted


def test_the_first_event_after_a_pause_is_painted_at_once() -> None:
    loop = Loop()
    feed, painted = fed(loop)
    feed.put(row("mcp:git"))
    loop.turn(SOONEST)
    assert len(painted) == 1


def test_a_flood_is_painted_four_times_a_second() -> None:
    """architecture.md, Libraries: at most four times a second"""
    loop = Loop()
    feed, painted = fed(loop)
    for number in range(2000):
        feed.put(row("mcp:git", held=number))
        loop.turn(1 / 2000)
    assert len(painted) <= 1 + round(1 / EVERY)
    assert all(len(batch.rows) == 1 for batch in painted)


def test_one_timer_is_armed_however_much_comes() -> None:
    """Nothing that waits grows unseen."""
    loop = Loop()
    feed, _ = fed(loop)
    for number in range(1000):
        feed.put(row("mcp:git", held=number))
    assert len(loop.timers) == 1


def test_nothing_is_armed_while_nothing_comes() -> None:
    """F-43"""
    loop = Loop()
    feed, painted = fed(loop)
    feed.put(row("mcp:git"))
    loop.turn(10.0)
    assert loop.timers == []
    assert len(painted) == 1


def test_an_operators_own_verb_is_painted_without_waiting() -> None:
    loop = Loop()
    feed, painted = fed(loop)
    feed.put(row("mcp:git"))
    loop.turn(SOONEST)
    feed.put(row("mcp:git", attention="muted"))
    feed.paint_now()
    assert painted[-1].rows[0].attention == "muted"
