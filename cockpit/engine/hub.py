"""Hands every event to every subscriber, each through a bounded queue of its own; what one drops is counted."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable

from cockpit.core.events import Event, Failed


class Subscription(AsyncIterator[Event]):
    """One subscriber's stream. Slow readers lose the oldest events and are told how many, in their place."""

    def __init__(self, hub: Hub, bound: int) -> None:
        self._hub = hub
        self._queue: deque[Event] = deque()
        self._bound = bound
        self._ready = asyncio.Event()
        self._ended = False
        self.dropped = 0

    def put(self, event: Event) -> None:
        if len(self._queue) >= self._bound:
            self._queue.popleft()
            self.dropped += 1
        self._queue.append(event)
        self._ready.set()

    def end(self) -> None:
        """No more events come; what is queued is still read."""
        self._ended = True
        self._ready.set()

    def close(self) -> None:
        self._hub.leave(self)
        self.end()

    def __aiter__(self) -> Subscription:
        return self

    async def __anext__(self) -> Event:
        while not self._queue:
            if self._ended:
                raise StopAsyncIteration
            self._ready.clear()
            await self._ready.wait()
        if self.dropped:
            lost, self.dropped = self.dropped, 0
            return Failed(self._hub.now(), "dropped", f"{lost} events were dropped: this reader was too slow")
        return self._queue.popleft()


class Hub:
    """All subscribers. `emit` never waits."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.now = now
        self._subscribers: list[Subscription] = []
        self._kept: list[Event] = []

    def subscribe(self, bound: int = 20_000) -> Subscription:
        subscription = Subscription(self, bound)
        for event in self._kept:
            subscription.put(event)
        self._subscribers.append(subscription)
        return subscription

    def leave(self, subscription: Subscription) -> None:
        if subscription in self._subscribers:
            self._subscribers.remove(subscription)

    def keep(self, event: Event) -> None:
        """Something that was found before anybody listened: each subscriber hears it first."""
        self._kept.append(event)

    def emit(self, event: Event) -> None:
        for subscriber in self._subscribers:
            subscriber.put(event)

    def end(self) -> None:
        for subscriber in self._subscribers:
            subscriber.end()
