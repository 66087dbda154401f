"""Which records a store may let go without breaking a promise: the rule behind `cockpit compact`.

What an agent may still be sent, what a live epoch or span holds, what nobody has read yet, the audit, and what makes a
duplicate be known stay whatever their age (semantics.md A-3, A-6, A-7, A-11, T-9, M-11, V-3, V-4).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cockpit.context.agent_context import anchor_slot
from cockpit.context.strategy import Anchor, read_anchor
from cockpit.core.duration import spell
from cockpit.core.records import Audit
from cockpit.recipe import Recipe
from cockpit.store.compact import Retention
from cockpit.store.protocol import Opened

DEFAULT = "90d"


@dataclass(frozen=True, slots=True)
class Standing:
    """Where one agent's window begins. residents: whether it is known to be a resident, which never sees what was
    tuned out (A-3)."""

    name: str
    anchor: Anchor
    resident: bool


def standings(opened: Opened, recipe: Recipe | None) -> tuple[Standing, ...]:
    """Every agent that the store or the recipe knows. One that never moved its anchor may be sent all of the log."""
    prefix = anchor_slot("")
    stored = [slot.removeprefix(prefix) for slot in opened.snapshots if slot.startswith(prefix)]
    residents = set() if recipe is None else {each.name for each in recipe.residents}
    named = () if recipe is None else (each.name for each in recipe.agents)
    names = dict.fromkeys([*named, *opened.turns, *stored])
    return tuple(
        Standing(name, read_anchor(opened.snapshots.get(anchor_slot(name))), name in residents) for name in names
    )


def retention(opened: Opened, recipe: Recipe | None, *, keep: float, now: float) -> Retention:
    """What may go of a store in this state. keep in seconds; now in seconds since 1970. recipe: where it is not known,
    any agent may be one that sees what was tuned out, and less goes."""
    known = standings(opened, recipe)
    begun = [channel.epoch.began for channel in opened.channels if channel.epoch is not None]
    heard = [each.anchor.sequence for each in known]
    tuned_out = [each.anchor.sequence for each in known if not each.resident]
    if recipe is None and not tuned_out:
        tuned_out = [0]
    every = opened.head + 1
    return Retention(
        before=now - keep,
        heard=min([*heard, *begun], default=0),
        tuned_out=min([*tuned_out, *begun], default=every),
        live=frozenset(_live(opened)),
        pinned=frozenset(one for each in known for one in each.anchor.pinned),
        unread={str(channel.target): channel.wait for channel in opened.channels if channel.wait},
        audit=Audit(
            at=now,
            actor="operator",
            origin="compact",
            verb="compact",
            target="",
            before="",
            after="",
            reason=f"kept {spell(keep)}",
            epoch=None,
            ok=True,
        ),
    )


def holding(opened: Opened, recipe: Recipe | None) -> tuple[str, ...]:
    """The agents whose whole log stays, since their window still begins at its start."""
    return tuple(each.name for each in standings(opened, recipe) if each.anchor.sequence == 0)


def _live(opened: Opened) -> Iterator[str]:
    for channel in opened.channels:
        if channel.epoch is not None:
            yield channel.epoch.id
        if channel.span is not None:
            yield channel.span.id
