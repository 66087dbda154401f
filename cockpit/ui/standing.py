"""What the top line tells, as a value: who does what, tokens, and how many channels are muted, tuned out or killed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from cockpit.core.events import AgentView, ChannelChanged, TurnChanged, View
from cockpit.core.records import Usage
from cockpit.ui.text import Safe, line, own
from cockpit.ui.words import DOING, doing, tokens

IDLE = "idle"


@dataclass(frozen=True, slots=True)
class Standing:
    """Agents in the recipe's order, residents first. counts: rows by `muted`, `tuned-out`, `killed`, `offline`.

    lost: entries that the screen had to drop since the start.
    """

    agents: tuple[AgentView, ...] = ()
    counts: Mapping[str, int] | None = None
    need: int = 0
    offline_model: bool = False
    read_only: bool = False
    held: bool = False
    lost: int = 0
    broken: str = ""

    @classmethod
    def of(cls, view: View) -> Standing:
        """The standing at a snapshot."""
        model = view.model.casefold()
        return cls(view.agents, offline_model="offline" in model, read_only=view.read_only).with_rows(view.rows)

    @property
    def running(self) -> tuple[str, ...]:
        """The agents with a turn running."""
        return tuple(agent.name for agent in self.agents if agent.activity != IDLE)

    @property
    def usage(self) -> Usage:
        return sum((agent.usage for agent in self.agents), Usage())

    @property
    def residents(self) -> tuple[str, ...]:
        return tuple(agent.name for agent in self.agents if agent.role != "subconscious")

    @property
    def subconscious(self) -> str:
        return next((agent.name for agent in self.agents if agent.role == "subconscious"), "Subconscious")

    def with_rows(self, rows: Iterable[ChannelChanged]) -> Standing:
        """The same over these rows."""
        listed = list(rows)
        counts = {
            "muted": sum(row.attention == "muted" for row in listed),
            "tuned-out": sum(row.attention == "tuned-out" for row in listed),
            "killed": sum(row.presence == "killed" and row.kind == "mcp" for row in listed),
            "offline": sum(row.presence == "offline" and row.kind == "mcp" for row in listed),
        }
        return replace(self, counts=counts, need=sum(row.need for row in listed))

    def with_turns(self, turns: Iterable[TurnChanged], *, counted: bool = True) -> Standing:
        """The same after these turns began or ended; usage is added where the snapshot did not hold it yet."""
        agents = self.agents
        for turn in turns:
            does = turn.detail or DOING[turn.reason] if turn.state == "started" else IDLE
            usage = turn.usage if counted and turn.usage is not None else Usage()
            agents = tuple(
                replace(agent, activity=does, usage=agent.usage + usage) if agent.name == turn.agent else agent
                for agent in agents
            )
        return replace(self, agents=agents)

    def doing(self, agent: AgentView) -> Safe:
        """`scout: idle`."""
        return own(f"{line(agent.name, 24)}: {doing(agent.activity)}")

    def counted(self) -> Safe:
        """`2 muted 1 tuned-out 1 killed`, what is nought left out."""
        return own(" ".join(f"{number} {word}" for word, number in (self.counts or {}).items() if number))

    def spent(self) -> Safe:
        return tokens(self.usage)
