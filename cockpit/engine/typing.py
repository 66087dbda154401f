"""Typing: shown in the channels that woke a running turn, renewed, and never where nothing is heard (A-9)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from cockpit.connect.ports import Server
from cockpit.core.target import Target

RENEWED = 7.0
"""Seconds after which a start is repeated."""


@dataclass(slots=True)
class Typing:
    """heard says whether a channel is neither muted nor tuned out now."""

    servers: Mapping[str, Server]
    heard: Callable[[Target], bool]
    _shown: dict[str, tuple[Target, ...]] = field(default_factory=dict)

    def begin(self, agent: str, woken_by: Iterable[Target]) -> None:
        """An agent's turn began, woken by these channels."""
        targets = tuple(target for target in dict.fromkeys(woken_by) if self._may(target))
        if targets:
            self._shown[agent] = targets
        for target in targets:
            self._send(target, on=True)

    def end(self, agent: str) -> None:
        """Its turn is over."""
        left = self._shown.pop(agent, ())
        for target in left:
            if not self._anywhere(target):
                self._send(target, on=False)

    def renew(self) -> None:
        """Repeat every start that still holds."""
        for target in {target for targets in self._shown.values() for target in targets}:
            self._send(target, on=True)

    def check(self) -> None:
        """Something was muted or tuned out: stop what runs there."""
        for agent, targets in list(self._shown.items()):
            left = tuple(target for target in targets if self.heard(target))
            for target in set(targets) - set(left):
                self._send(target, on=False)
            self._shown[agent] = left

    @property
    def running(self) -> bool:
        return any(self._shown.values())

    def _may(self, target: Target) -> bool:
        server = self.servers.get(target.server or "")
        granted = server is not None and "channels.typing" in server.grant
        return target.kind == "channel" and granted and self.heard(target)

    def _anywhere(self, target: Target) -> bool:
        return any(target in targets for targets in self._shown.values())

    def _send(self, target: Target, *, on: bool) -> None:
        server = self.servers.get(target.server or "")
        if server is not None:
            server.typing(target.id, on=on)
