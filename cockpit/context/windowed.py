"""The windowed strategy: everything from an anchor on, and when that overflows, one jump forward (semantics.md V-3).

A front that slid at each turn would break the provider's cache at each turn. This one stays until the budget is
full, then jumps so far that it can stay for long, and images turn into placeholders at the same moment (V-10).
"""

from __future__ import annotations

from dataclasses import dataclass

from cockpit.context.images import IMAGES, ImagePolicy
from cockpit.context.speech import Unit
from cockpit.context.strategy import Anchor, Material, Plan
from cockpit.errors import OverBudgetError


@dataclass(frozen=True, slots=True)
class WindowedPassthrough:
    """fraction: about how much of the usable budget the window takes after a jump, in (0, 1]."""

    fraction: float = 0.5
    images: ImagePolicy = IMAGES

    def __post_init__(self) -> None:
        if not 0 < self.fraction <= 1:
            raise ValueError(f"re_anchor_fraction is {self.fraction!r}: it must be above 0 and at most 1")

    def plan(self, given: Material) -> Plan:
        """All of it where it fits, else what is left after a jump. Raises OverBudgetError (V-6)."""
        if not given.units or (given.whole and self._fits(given)):
            return Plan(given.units, given.anchor)
        return self._jump(given)

    def _fits(self, given: Material) -> bool:
        live = [unit for unit in given.units if unit.images and unit.sequence >= given.anchor.images]
        return (
            given.calibrated(size(given.units, given.anchor.images)) <= given.usable
            and sum(unit.images for unit in live) <= self.images.most
            and sum(unit.digits for unit in live) <= self.images.digits
        )

    def _jump(self, given: Material) -> Plan:
        units, images = given.units, self._live_from(given)
        first = self._first(given, images)
        if not first and given.whole and len(units) > 1:
            first = 1  # only images overflowed: the anchor moves all the same, for it alone may change what was sent
        kept = units[first:]
        dropped = max((unit.last for unit in units[:first]), default=0)
        below = max(dropped, given.anchor.sequence - 1, given.bottom - 1)
        late = [unit.sequence for unit in kept if unit.sequence <= below]
        pinned = sorted({*late, *(one for one in given.waiting if one <= below)})
        return Plan(kept, Anchor(below + 1, tuple(pinned), images))

    def _first(self, given: Material, images: int) -> int:
        """The index of the first unit that stays: as many of the newest as fit the fraction, and at least one."""
        goal = int(given.usable * self.fraction)
        newest = given.calibrated(weight(given.units[-1], images))
        if newest > given.usable:
            reference = str(given.units[-1].last)
            raise OverBudgetError(
                f"message {reference} alone takes about {newest} tokens, and messages may take {given.usable}",
                message_id=reference,
            )
        total, first = 0, len(given.units)
        for unit in reversed(given.units):
            total += weight(unit, images)
            if given.calibrated(total) > goal and first < len(given.units):
                break
            first -= 1
        return first

    def _live_from(self, given: Material) -> int:
        """The sequence from which images stay live: the policy's newest, or those of the newest message that has
        any, as far as one request may hold them. What is a placeholder already stays one."""
        shown = [unit for unit in given.units if unit.images and unit.sequence >= given.anchor.images]
        shown.sort(key=lambda unit: unit.sequence, reverse=True)
        count = digits = 0
        most, room = self.images.most, self.images.digits
        for unit in shown:
            count, digits = count + unit.images, digits + unit.digits
            if count > most or digits > room:
                return unit.sequence + 1
            most, room = self.images.keep, self.images.digits // 2
        return given.anchor.images


def weight(unit: Unit, images: int) -> int:
    """Its estimate in tokens, where images of messages below `images` are placeholders."""
    return unit.live_tokens if unit.sequence >= images else unit.still_tokens


def size(units: tuple[Unit, ...], images: int) -> int:
    """The estimate of them all, in tokens."""
    return sum(weight(unit, images) for unit in units)
