"""The timers of live epochs (wake windows, cadence ticks, deadlines) and of the gate's debounce.

Timers are derived from the channels' values, so they are armed whether or not a server has come back (T-21), and
nothing has to be cancelled when an epoch ends. Windows and cadence follow elapsed time, deadlines the wall clock.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from cockpit.core.channel import Channel, Epoch
from cockpit.core.epoch import WINDOW
from cockpit.core.step import Due
from cockpit.core.target import Target
from cockpit.engine.clock import Clock

LONGEST = 30.0
"""Seconds: no wait is longer, so that a wall clock that jumped is noticed and no platform timer overflows."""


@dataclass(slots=True)
class Scheduler:
    """fire steps one timer and commits it. silent says whether the channel or its server is muted (M-12)."""

    channels: Mapping[Target, Channel]
    clock: Clock
    fire: Callable[[Target, Due], Awaitable[None]]
    silent: Callable[[Channel], bool]
    _ticks: dict[str, float] = field(default_factory=dict)
    _windows: dict[str, tuple[tuple[float, int], float]] = field(default_factory=dict)
    _stirred: dict[tuple[Target, str], tuple[float, float]] = field(default_factory=dict)
    _poked: asyncio.Event = field(default_factory=asyncio.Event)

    def poke(self) -> None:
        """Something changed: look again."""
        self._poked.set()

    async def run(self) -> None:
        while True:
            self._poked.clear()
            for target, due in self.due():
                await self.fire(target, due)
            await self.clock.wait(self._poked, self.rest())

    def due(self) -> list[tuple[Target, Due]]:
        """What has come, deadlines first: an epoch that ends owes no wake."""
        now, wall = self.clock.elapsed(), self.clock.wall()
        found: list[tuple[Target, Due]] = []
        for armed in self._armed(now):
            if armed.deadline is not None and wall >= armed.deadline:
                found.append((armed.target, Due("deadline")))
            elif armed.window is not None and now >= armed.window:
                found.append((armed.target, Due("window")))
            elif now >= armed.tick:
                self._ticks[armed.epoch.id] = now + _period(armed.epoch)
                found.append((armed.target, Due("cadence")))
        found.extend((target, Due("quiet", rule)) for target, rule, ends in self._quiets(now) if now >= ends)
        return found

    def rest(self) -> float | None:
        """Seconds until the next look, or None where no timer is armed."""
        now, wall = self.clock.elapsed(), self.clock.wall()
        waits: list[float] = []
        for armed in self._armed(now):
            waits.append(armed.tick - now)
            if armed.window is not None:
                waits.append(armed.window - now)
            if armed.deadline is not None:
                waits.append(armed.deadline - wall)
        waits.extend(ends - now for _, _, ends in self._quiets(now))
        return max(0.0, min([*waits, LONGEST])) if waits else None

    def _armed(self, now: float) -> list[_Armed]:
        """Every live epoch that is not held by a mute, with its three moments. Forgets ended ones."""
        live = [(channel, channel.epoch) for channel in self.channels.values() if channel.epoch is not None]
        ids = {epoch.id for _, epoch in live}
        for ended in self._ticks.keys() - ids:
            del self._ticks[ended]
        for ended in self._windows.keys() - ids:
            del self._windows[ended]
        armed = []
        for channel, epoch in live:
            tick = self._ticks.setdefault(epoch.id, now + _period(epoch))
            if not self.silent(channel):
                armed.append(_Armed(channel.target, epoch, epoch.deadline, self._window(epoch, now), tick))
        return armed

    def _quiets(self, now: float) -> list[tuple[Target, str, float]]:
        """What the gate's debounce holds, and when each quiet is over; after a restart each waits anew. Under a mute
        it runs, and is heeded at the unmute (M-12)."""
        found, known = [], set()
        for target, channel in self.channels.items():
            for each in channel.quiet:
                last, ends = self._stirred.get((target, each.rule), (None, 0.0))
                if last != each.last:
                    ends = now + each.seconds
                    self._stirred[target, each.rule] = (each.last, ends)
                known.add((target, each.rule))
                if not self.silent(channel):
                    found.append((target, each.rule, ends))
        for gone in self._stirred.keys() - known:
            del self._stirred[gone]
        return found

    def _window(self, epoch: Epoch, now: float) -> float | None:
        """When the open wake window closes; one that a crash left open gets its two seconds anew (T-8)."""
        if epoch.window is None:
            return None
        opening = (epoch.window, epoch.wakes)  # a wall clock that stepped back shows the same moment twice
        opened, closes = self._windows.get(epoch.id, (None, 0.0))
        if opened != opening:
            closes = now + WINDOW
            self._windows[epoch.id] = (opening, closes)
        return closes


@dataclass(frozen=True, slots=True)
class _Armed:
    """deadline by the wall clock; window and tick by elapsed time."""

    target: Target
    epoch: Epoch
    deadline: float | None
    window: float | None
    tick: float


def _period(epoch: Epoch) -> float:
    """One cadence, doubled for each turn that failed in a row, up to eight times (T-14)."""
    return float(epoch.cadence * 2 ** min(epoch.retry, 3))
