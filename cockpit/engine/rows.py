"""Turns channel values into rows, and lets at most ten changes a second of each through."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from cockpit.core.channel import Channel, Epoch, attention, held, label, muted_by, need, presence
from cockpit.core.events import ChannelChanged, EpochView
from cockpit.core.target import Target
from cockpit.engine.clock import Clock
from cockpit.engine.directory import Directory

GAP = 0.1
"""Seconds between two lines of one channel."""


def epoch_view(epoch: Epoch | None) -> EpochView | None:
    if epoch is None:
        return None
    return EpochView(epoch.id, epoch.cadence, epoch.cap, epoch.max_wakes, epoch.wakes, epoch.deadline)


class Rows:
    """Marks what changed and emits it: at once where the last one is long enough ago, else when the gap is over."""

    def __init__(
        self,
        channels: Mapping[Target, Channel],
        directory: Directory,
        clock: Clock,
        emit: Callable[[ChannelChanged], None],
    ) -> None:
        self._channels = channels
        self._directory = directory
        self._clock = clock
        self._emit = emit
        self._sent: dict[Target, tuple[float, ChannelChanged]] = {}
        self._dirty: dict[Target, None] = {}
        self._changed = asyncio.Event()
        self.proofs: dict[str, float] = {}

    def row(self, target: Target) -> ChannelChanged:
        """How it stands now."""
        channel = self._channels[target]
        parent = self._directory.parent(target)
        server = None if parent is None else self._channels.get(parent)
        seen, decided = presence(channel, server), attention(channel, server)
        reason = (server.reason or "not registered by its server") if server and seen != "online" else channel.reason
        return ChannelChanged(
            at=self._clock.wall(),
            target=str(target),
            kind=target.kind,
            presence=seen,
            attention=decided,
            label=label(seen, decided),
            wait=channel.wait,
            need=need(channel, server),
            held=held(channel),
            epoch=epoch_view(channel.epoch),
            muted_by=muted_by(channel, server),
            reason=reason if seen != "online" else "",
            proof=self.proofs.get(target.server or ""),
            server=target.server or "",
            given=channel.label_given,
        )

    def all(self) -> tuple[ChannelChanged, ...]:
        return tuple(self.row(target) for target in self._directory.targets())

    def changed(self, target: Target) -> None:
        """The channel may read otherwise now; a server's change is its channels' too."""
        self._mark(target)
        if target.kind == "mcp":
            for each in self._directory.channels_of(target.name):
                self._mark(each)

    def flush(self) -> None:
        """Emit all that is marked, whatever the gap: at the end, and before an answer that speaks of it."""
        for target in list(self._dirty):
            self._send(target)

    async def run(self) -> None:
        """Emit what had to wait for its gap."""
        never = asyncio.Event()
        while True:
            await self._changed.wait()
            self._changed.clear()
            while self._dirty:
                await self._clock.wait(never, GAP)
                now = self._clock.elapsed()
                for target in list(self._dirty):
                    if now - self._sent[target][0] >= GAP:
                        self._send(target)

    def _mark(self, target: Target) -> None:
        if target not in self._channels:
            return
        last = self._sent.get(target)
        if last is None or self._clock.elapsed() - last[0] >= GAP:
            self._send(target)
        elif target not in self._dirty:
            self._dirty[target] = None
            self._changed.set()

    def _send(self, target: Target) -> None:
        self._dirty.pop(target, None)
        row = self.row(target)
        last = self._sent.get(target)
        if last is not None and _same(last[1], row):
            return
        self._sent[target] = (self._clock.elapsed(), row)
        self._emit(row)


def _same(one: ChannelChanged, other: ChannelChanged) -> bool:
    names = ("presence", "attention", "wait", "need", "held", "epoch", "muted_by", "reason", "given")
    return all(getattr(one, name) == getattr(other, name) for name in names)
