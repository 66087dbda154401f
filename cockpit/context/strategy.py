"""What a strategy decides: which part of an agent's window a request shows, within which budget.

A strategy is a pure function from the units of the filtered view to a plan (semantics.md A-4, V-1), so a dry run is
the same call with its plan thrown away.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from cockpit.context.budget import Calibration
from cockpit.context.speech import Unit
from cockpit.core.message import Json


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where a window begins: all that stands at or after `sequence`, and the few that are `pinned`.

    pinned: sequences below it that no request had held when the anchor moved past them. images: images of messages
    below this sequence are placeholders (V-10).
    """

    sequence: int = 0
    pinned: tuple[int, ...] = ()
    images: int = 0

    def json(self) -> dict[str, Json]:
        return {"sequence": self.sequence, "pinned": list(self.pinned), "images": self.images}


def read_anchor(value: Json) -> Anchor:
    """The anchor that `Anchor.json` wrote; the very beginning where there is none, or none that can be read (R-4)."""
    match value:
        case {"sequence": int(sequence), "pinned": [*pinned], "images": int(images)}:
            return Anchor(sequence, tuple(one for one in pinned if isinstance(one, int)), images)
        case Mapping() | _:
            return Anchor()


@dataclass(frozen=True, slots=True)
class Material:
    """What a strategy is given. units: the window in reading order. bottom: all that the view holds from this
    sequence on is there; it is above the anchor where more stands there than any budget could take.
    waiting and fresh: sequences of the host's notices that no request has held, because a running turn holds them
    back or because they are new; the fresh ones are in the units. usable: tokens that messages may take, as the
    provider counts; calibrated turns estimates into those."""

    units: tuple[Unit, ...]
    waiting: tuple[int, ...]
    fresh: tuple[int, ...]
    bottom: int
    anchor: Anchor
    usable: int
    calibrated: Calibration

    @property
    def whole(self) -> bool:
        """Whether the units reach back to the anchor."""
        return self.bottom <= self.anchor.sequence


@dataclass(frozen=True, slots=True)
class Plan:
    """What a request shows. The anchor is the given one where the window did not jump."""

    units: tuple[Unit, ...]
    anchor: Anchor


class Strategy(Protocol):
    """Deterministic: equal material, equal plan."""

    def plan(self, given: Material) -> Plan:
        """Raises OverBudgetError where the newest message alone exceeds the budget (V-6)."""
        ...
