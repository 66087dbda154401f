"""One channel driven through the pure reducer as the ledger drives it: sequences, a wall clock, and all that it wrote.

lane = Lane.chat()
lane.tune_out(max_wakes=1)
lane.say("are you there?", addressed=True)
lane.due("window", after=2)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from cockpit.core.channel import Channel
from cockpit.core.gate import GateState, Verdict, judge
from cockpit.core.inputs import Arrived
from cockpit.core.message import Json, Message, Text
from cockpit.core.policy import Policy
from cockpit.core.records import Record, width
from cockpit.core.step import Admit, Cancel, Due, Input, Mute, TuneOut, Unmute, step
from cockpit.core.target import Target, channel
from cockpit.core.world import Actor, Effect, Now, Step, World
from cockpit.engine.draft import numbered

R = TypeVar("R")

NINE = 1_796_029_200.0
"""2026-11-30 09:00 UTC in seconds since 1970."""

POLICY = Policy(residents=("scout",), subconscious="Subconscious")
OPERATOR = Actor("operator", "operator", "screen")
RESIDENT = Actor("scout", "resident", "tool")
SUBCONSCIOUS = Actor("Subconscious", "subconscious", "tool")


@dataclass
class Lane:
    """channel: its value as of now. server: the value of the server it belongs to. wall: seconds since 1970.

    records and effects: all that the steps so far gave, oldest first, the records numbered.
    """

    channel: Channel
    server: Channel | None = None
    policy: Policy = POLICY
    grant: frozenset[str] = frozenset({"channels.acknowledge"})
    name: str = "noisy"
    looking: bool = False
    wall: float = NINE
    sequence: int = 1
    gate: GateState = field(default_factory=GateState)
    records: list[Record] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)

    @classmethod
    def chat(cls, policy: Policy = POLICY) -> Lane:
        """A registered chat channel of a server that is online."""
        target = channel("disc", "noisy")
        return cls(Channel(target, registered=True), Channel(Target("mcp", "disc"), presence="online"), policy)

    @classmethod
    def mcp(cls, name: str = "git", policy: Policy = POLICY) -> Lane:
        """A server that is online."""
        target = Target("mcp", name)
        return cls(Channel(target, presence="online", since=NINE), None, policy, name=str(target))

    def step(self, given: Input, *, after: float = 0.0) -> Step:
        """Step it, `after` seconds from now. Raises VerbError where it is refused; then nothing has changed."""
        self.wall += after
        world = World(self.policy, self.name, self.server, self.grant, self.looking)
        done = step(self.channel, world, given, Now(self.wall, self.sequence))
        self.channel = done.channel
        for record in done.records:
            self.records.append(numbered(record, self.sequence))
            self.sequence += width(record)
        self.effects += done.effects
        return done

    def say(
        self,
        text: str = "hello",
        *,
        addressed: bool = False,
        passes: bool | None = None,
        privileged: bool = False,
        tags: Sequence[str] = (),
        given: Arrived | None = None,
        after: float = 0.0,
    ) -> Message:
        """Let a message arrive, under the gate's own verdict unless `passes` says one; gives what was stored of it."""
        marks = ("chat:addressed", *tags) if addressed else tuple(tags)
        arrived = given or Arrived(
            self.channel.target, "chat", "kim", (Text(text),), id=f"m{self.sequence}", tags=marks
        )
        verdict = Verdict(bool(passes), "gate:said", privileged)
        if passes is None:
            verdict, self.gate = judge(arrived, self.policy.gate, self.gate, self.wall + after)
        found = self.step(Admit(arrived, verdict), after=after).records[0]
        if not isinstance(found, Message):
            raise TypeError(f"the first record of an arrival is its message, not {found!r}")
        return found

    def tune_out(self, actor: Actor = OPERATOR, /, **values: Json) -> Step:
        """values by the tool's parameter names."""
        return self.step(TuneOut(actor, values))

    def cancel(self, actor: Actor = OPERATOR, reason: str = "operator request", note: str | None = None) -> Step:
        return self.step(Cancel(actor, reason, note))

    def mute(self, actor: Actor = OPERATOR, *, override: str | None = None, soft: bool = False) -> Step:
        return self.step(Mute(actor, override, soft))

    def unmute(self, actor: Actor = OPERATOR, *, deliver: bool = False, after: float = 0.0) -> Step:
        return self.step(Unmute(actor, deliver), after=after)

    def due(self, what: Literal["window", "cadence", "deadline"], *, after: float = 0.0) -> Step:
        """One of its timers has come, `after` seconds from now."""
        return self.step(Due(what), after=after)

    def mute_server(self, *, off: bool = False) -> None:
        """Put the operator's mute on the server that it belongs to, or take it off."""
        if self.server is None:
            raise ValueError("it belongs to no server")
        above = Lane(self.server, policy=self.policy, wall=self.wall, sequence=self.sequence)
        self.server = (above.unmute() if off else above.mute()).channel
        self.sequence = above.sequence

    def of(self, kind: type[R]) -> list[R]:
        """The records of one kind so far, oldest first."""
        return [record for record in self.records if isinstance(record, kind)]

    def last(self, kind: type[R]) -> R:
        """The newest record of one kind."""
        return self.of(kind)[-1]

    def limit(self, **changes: object) -> None:
        """Change the policy from now on."""
        self.policy = replace(self.policy, **changes)  # type: ignore[arg-type]  # real fields, by name
