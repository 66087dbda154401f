"""The top line: what runs, what it costs, what is not heard, and whatever is offline or read-only says so."""

from __future__ import annotations

from collections.abc import Sequence

from cockpit.ui.look import Painted
from cockpit.ui.paint import Line, Part, measure
from cockpit.ui.standing import IDLE, Standing
from cockpit.ui.text import own
from cockpit.ui.theme import Role

_APART = 3
"""Cells between two things that are told."""


class Headline(Painted):
    """One line; what matters least gives way first where the room is small."""

    DEFAULT_CSS = "Headline { height: 1; background: $background; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._standing: Standing | None = None

    def show(self, standing: Standing) -> None:
        """Paint only where the words differ."""
        before, self._standing = self._standing, standing
        if before != standing:
            self.refresh()

    def lines(self, width: int, height: int) -> Sequence[Line]:
        name = (Part(own(" cockpit"), "strong"),)
        if self._standing is None:
            return ((*name, Part(own("   starting…"), "dim")),)
        told = self._told(self._standing)
        while told and measure(name) + sum(measure(line) + _APART for _, line in told) > width - 1:
            told.remove(min(told, key=lambda each: each[0]))
        parts = [*name]
        for _, line in told:
            parts += [Part(own(" " * _APART)), *line]
        return (tuple(parts),)

    def _told(self, standing: Standing) -> list[tuple[int, Line]]:
        """(weight, words): the lightest gives way first."""
        told: list[tuple[int, Line]] = []
        for place, agent in enumerate(standing.agents):
            role: Role = "dim" if agent.activity == IDLE else "accent"
            weight = 60 - place if agent.activity != IDLE else 40 - 30 * (agent.role == "subconscious") - place
            told.append((weight, (Part(standing.doing(agent), role),)))
        usage = standing.usage
        if usage.input or usage.output or usage.cache_read:
            told.append((20, (Part(standing.spent(), "dim"),)))
        if standing.counted():
            told.append((70, (Part(standing.counted(), "text"),)))
        if standing.offline_model:
            told.append((50, (Part(own("offline model"), "warn"),)))
        if standing.read_only:
            told.append((90, (Part(own("read-only"), "warn"),)))
        if standing.held:
            told.append((91, (Part(own("held"), "warn"),)))
        if standing.lost:
            told.append((80, (Part(own(f"{standing.lost} not shown"), "warn"),)))
        if standing.broken:
            told.append((95, (Part(own("events broke off: r"), "error"),)))
        return told
