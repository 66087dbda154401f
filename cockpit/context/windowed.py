"""The windowed strategy: everything from an anchor on, and when that overflows, one jump forward (semantics.md V-3).

A front that slid at each turn would break the provider's cache at each turn. This one stays until the budget is
full, then jumps so far that it can stay for long, and images turn into placeholders at the same moment (V-10).
"""

from __future__ import annotations

from collections.abc import Iterable, Set
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
        images, newest = self._live_from(given), given.units[-1]
        self._check(given, newest, images)
        saved = {newest.sequence, *given.fresh}
        if given.calibrated(size(_among(given.units, saved), images)) > given.usable:
            saved = {newest.sequence}
        cut = max(self._cut(given, saved, images), given.bottom)
        sequences = sorted(unit.sequence for unit in given.units)
        if given.whole and cut <= sequences[0] and len(sequences) > 1:
            # Only images overflowed. The anchor moves all the same, for a jump alone may change what was sent.
            cut = sequences[1]
        pinned = tuple(sorted(one for one in {*saved, *given.waiting} if one < cut))
        kept = tuple(unit for unit in given.units if unit.sequence >= cut or unit.sequence in pinned)
        return Plan(kept, Anchor(cut, pinned, images))

    def _check(self, given: Material, newest: Unit, images: int) -> None:
        tokens = given.calibrated(weight(newest, images))
        if tokens > given.usable:
            reference = str(newest.last)
            raise OverBudgetError(
                f"message {reference} alone takes about {tokens} tokens, and messages may take {given.usable}",
                message_id=reference,
            )

    def _cut(self, given: Material, saved: Set[int], images: int) -> int:
        """The lowest sequence from which on all units, and the saved ones, fit the fraction. It stands between no
        call and its result, for which the window may become larger than that, within the budget; where even so
        nothing else fits, results go without their call."""
        goal = int(given.usable * self.fraction)
        total = size(_among(given.units, saved), images)
        between = _between_calls(given.units)
        whole = split = None
        for unit in sorted(given.units, key=_sequence, reverse=True):
            total += 0 if unit.sequence in saved else weight(unit, images)
            taken = given.calibrated(total)
            if taken > given.usable or (taken > goal and whole is not None):
                break
            if unit.sequence not in between:
                whole = unit.sequence
            elif taken <= goal:
                split = unit.sequence
        return whole or split or max(unit.last for unit in given.units) + 1

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


def _among(units: Iterable[Unit], sequences: Set[int]) -> tuple[Unit, ...]:
    return tuple(unit for unit in units if unit.sequence in sequences)


def _between_calls(units: Iterable[Unit]) -> set[int]:
    """The sequences of what came between a call and its result."""
    found: set[int] = set()
    reach = 0
    for unit in sorted(units, key=_sequence):
        if unit.sequence <= reach:
            found.add(unit.sequence)
        if unit.asked:
            reach = max(reach, unit.last)
    return found


def _sequence(unit: Unit) -> int:
    return unit.sequence


def weight(unit: Unit, images: int) -> int:
    """Its estimate in tokens, where images of messages below `images` are placeholders."""
    return unit.live_tokens if unit.sequence >= images else unit.still_tokens


def size(units: tuple[Unit, ...], images: int) -> int:
    """The estimate of them all, in tokens."""
    return sum(weight(unit, images) for unit in units)
