"""The top line: what runs, what it costs, what is not heard, and whatever is offline or read-only says so."""

from __future__ import annotations

from collections.abc import Sequence

from cockpit.ui.look import Painted, app_of
from cockpit.ui.paint import Line, Part, measure
from cockpit.ui.standing import IDLE, Standing
from cockpit.ui.text import own
from cockpit.ui.theme import Role, StateName

_APART = 3
"""Cells between two things that are told."""

_COUNTS = 70
"""The weight of how many channels are not heard."""

Told = list[tuple[int, Line]]
"""(weight, words): the lightest gives way first."""


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
        room = width - 1 - measure(name)
        told = _fitted(self._told(self._standing), room)
        if self._standing.counted() and not any(weight == _COUNTS for weight, _ in told):
            told = _fitted([*told, (_COUNTS, self._signs(self._standing))], room)
        parts = [*name]
        for _, line in told:
            parts += [Part(own(" " * _APART)), *line]
        return (tuple(parts),)

    def _told(self, standing: Standing) -> Told:
        told: Told = []
        for place, agent in enumerate(standing.agents):
            role: Role = "dim" if agent.activity == IDLE else "accent"
            weight = 60 - place if agent.activity != IDLE else 40 - 30 * (agent.role == "subconscious") - place
            told.append((weight, (Part(standing.doing(agent), role),)))
        usage = standing.usage
        if usage.input or usage.output or usage.cache_read:
            told.append((20, (Part(standing.spent(), "dim"),)))
        if standing.counted():
            told.append((_COUNTS, (Part(standing.counted(), "text"),)))
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

    def _signs(self, standing: Standing) -> Line:
        """The counts by glyph, where their words have no room."""
        look, counts = app_of(self).look, standing.counts or {}
        dead = counts.get("killed", 0) + counts.get("offline", 0)
        shown: tuple[tuple[StateName, int], ...] = (
            ("muted", counts.get("muted", 0)), ("tuned-out", counts.get("tuned-out", 0)), ("offline", dead),
        )  # fmt: skip
        return tuple(Part(own(f"{look.glyph(name)}{number} "), name) for name, number in shown if number)


def _fitted(told: Told, room: int) -> Told:
    """Those that have room, the heaviest first, in the order in which they are told."""
    kept: set[int] = set()
    for place, (_, line) in sorted(enumerate(told), key=lambda each: -each[1][0]):
        if measure(line) + _APART <= room:
            kept.add(place)
            room -= measure(line) + _APART
    return [each for place, each in enumerate(told) if place in kept]
