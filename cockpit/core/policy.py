"""What the recipe decides, as one plain value that every step is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from cockpit.core.gate import Gate
from cockpit.core.target import Target

WhenMuted = Literal["hide", "mark"]


@dataclass(frozen=True, slots=True)
class TuneOutDefaults:
    """Defaults of the tune-out's parameters (T-1): cadence and duration in seconds, cap in messages."""

    cadence: float = 1800.0
    cap: int = 200
    wakes: int = 5
    duration: float | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """residents in the recipe's order, the primary first. bound: of a dump, in characters, None for none (D-4).

    integrity: servers that are not muted without an override (M-8). wakes: whom a server's or feed's events may
    wake, by target; absent means every resident (N-7). operators: the Intercom's handles that are operators (M-7).
    gate: the residents' wake gate, None for N-6. notify_muted: a muted participant is told (M-5). wakes_per_hour: the
    most wakes that a server's messages may ask for, by the server's name; absent means no limit.
    """

    residents: tuple[str, ...]
    subconscious: str | None = None
    bound: int | None = None
    tune_out: TuneOutDefaults = field(default_factory=TuneOutDefaults)
    integrity: frozenset[str] = frozenset()
    when_muted: Mapping[str, WhenMuted] = field(default_factory=dict)
    wakes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    operators: frozenset[str] = frozenset()
    gate: Gate | None = None
    notify_muted: bool = True
    wakes_per_hour: Mapping[str, int] = field(default_factory=dict)

    @property
    def primary(self) -> str:
        return self.residents[0]

    def may_wake(self, target: Target) -> tuple[str, ...]:
        """The residents that this channel's events may wake, in the recipe's order (N-7)."""
        named = self.wakes.get(f"mcp:{target.server}") if target.server else self.wakes.get(str(target))
        return self.residents if named is None else tuple(name for name in self.residents if name in named)
