"""A recipe as the rest of the product reads it: agents with what they inherit, servers in the file's order."""

from __future__ import annotations

from dataclasses import dataclass, field

from cockpit.core.policy import Policy, TuneOutDefaults
from cockpit.core.target import Target
from cockpit.recipe.gate import Gate
from cockpit.recipe.sections import Intercom, McplServer, McpServer, ModelSettings
from cockpit.recipe.source import Path, Source

CHARACTERS_A_TOKEN = 4
"""What a token counts for in V-5 and D-4, in code points."""


@dataclass(frozen=True, slots=True)
class Resident:
    """`model` is `[model]` with its own fields on top. place: where the file says it."""

    name: str
    system_prompt: str
    model: ModelSettings
    place: Path = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Subconscious:
    """`model` is the primary's with its own fields on top (S-3)."""

    name: str
    system_prompt: str
    model: ModelSettings
    allow_channel_speech: bool = False
    re_anchor_fraction: float = 0.5
    summary_wakes: bool = False
    place: Path = field(default=("subconscious",), repr=False)


Server = McpServer | McplServer


@dataclass(frozen=True, slots=True)
class Recipe:
    """Who listens to what. servers: in the order they stand in the file, as rows stand on the screen. tuned_out:
    applied once, when the store is new. warnings: lines for the operator about what was left out."""

    name: str
    source: Source
    residents: tuple[Resident, ...]
    subconscious: Subconscious | None
    servers: tuple[Server, ...]
    tune_out: TuneOutDefaults
    tuned_out: tuple[Target, ...]
    intercom: Intercom
    gate: Gate | None
    warnings: tuple[str, ...] = ()

    @property
    def primary(self) -> Resident:
        return self.residents[0]

    @property
    def agents(self) -> tuple[Resident | Subconscious, ...]:
        """The residents in the recipe's order, then the subconscious where there is one."""
        return self.residents if self.subconscious is None else (*self.residents, self.subconscious)

    @property
    def mcp(self) -> tuple[McpServer, ...]:
        return tuple(server for server in self.servers if isinstance(server, McpServer))

    @property
    def mcpl(self) -> tuple[McplServer, ...]:
        return tuple(server for server in self.servers if isinstance(server, McplServer))

    @property
    def bound(self) -> int | None:
        """Characters of the longest message that every resident reads whole; None where none has a cap (D-4)."""
        caps = [resident.model.max_message_tokens for resident in self.residents]
        smallest = min((cap for cap in caps if cap is not None), default=None)
        return None if smallest is None else smallest * CHARACTERS_A_TOKEN

    def policy(self) -> Policy:
        """What every step of the core is given."""
        wakes = {f"mcp:{each.name}": each.wakes for each in self.servers if each.wakes is not None}
        wakes |= {f"feed:{each.name}": each.wakes for each in self.intercom.feeds if each.wakes is not None}
        return Policy(
            residents=tuple(resident.name for resident in self.residents),
            subconscious=None if self.subconscious is None else self.subconscious.name,
            bound=self.bound,
            tune_out=self.tune_out,
            integrity=frozenset(each.name for each in self.servers if each.integrity),
            when_muted={each.name: each.when_muted for each in self.servers},
            wakes=wakes,
            operators=frozenset({self.intercom.operator}),
            gate=None if self.gate is None else self.gate.rules(),
            notify_muted=self.intercom.notify_muted == "always",
            wakes_per_hour={
                each.name: each.limits.wakes_per_hour
                for each in self.servers
                if isinstance(each, McplServer) and each.limits.wakes_per_hour is not None
            },
        )
