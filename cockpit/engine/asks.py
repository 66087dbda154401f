"""A resident's wish to mute the operator: it is the soft form, and waits for the operator's own yes (semantics.md M-7).

Nothing is muted while it waits. What waits is one snapshot slot, so that it outlives the process, and is known here
once it is durable and not before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field

from pydantic import TypeAdapter, ValidationError

from cockpit.core import notices
from cockpit.core.events import Event, Failed
from cockpit.core.message import RESIDENTS, Json, Message, Text
from cockpit.core.records import Notice, Snapshot
from cockpit.core.step import Mute
from cockpit.core.target import Target
from cockpit.core.text import clip, sanitise
from cockpit.core.world import OPERATOR, Actor
from cockpit.engine.ledger import Draft
from cockpit.errors import VerbError

SLOT = "mute-asks"
"""The snapshot that holds what waits, by target."""

WORDS = 200
"""Characters of a resident's reason that are kept."""

Drafted = Callable[[Draft], str]
"""What one answer does inside its transaction; the result is the line for whoever gave it."""


@dataclass(frozen=True, slots=True)
class MuteAsk:
    """Who asks, why, and when (seconds since 1970)."""

    by: str
    reason: str
    at: float


_STORED = TypeAdapter(dict[str, MuteAsk])


@dataclass(slots=True)
class MuteAsks:
    """operators: their handles, which a resident mutes by asking only. emit tells the operator.

    one: held while an answer or an ask is under way, so that none is doubled.
    """

    operators: frozenset[str]
    emit: Callable[[Event], None]
    waiting: dict[Target, MuteAsk] = field(default_factory=dict)
    one: asyncio.Lock = field(default_factory=asyncio.Lock)

    def concerns(self, target: Target) -> bool:
        """Whether a mute of this channel may have to be asked for, or be the answer to one that was."""
        return target in self.waiting or (target.kind == "user" and target.name in self.operators)

    def restore(self, value: Json) -> None:
        """What waited when the store was closed, of those who are operators still. Raises ValueError where it is no
        such value (R-4)."""
        try:
            stored = _STORED.validate_python(value)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise ValueError(f"not what waits for the operator's yes: {first['msg']}") from error
        self.waiting = {Target("user", name): ask for name, ask in stored.items() if name in self.operators}

    def committed(self, snapshot: Snapshot) -> None:
        """One more value is durable: it holds from now on, and what is new in it is told."""
        if snapshot.name != SLOT:
            return
        before = self.waiting
        self.restore(snapshot.value)
        for target, ask in self.waiting.items():
            if before.get(target) != ask:
                self.emit(told(target, ask))

    def told(self) -> list[Event]:
        """What waits, for a screen that was not there when it was asked."""
        return [told(target, ask) for target, ask in self.waiting.items()]

    def taken_back(self, target: Target, actor: Actor, at: float) -> None:
        """The operator need not answer any more."""
        self.emit(Failed(at, "mute_asked", f"{actor.name} no longer asks to mute {target}"))

    def ask(self, target: Target, actor: Actor, reason: str) -> Drafted:
        """A resident asks. Refused where one waits already, or the residents' layer is on."""

        def draft_of(draft: Draft) -> str:
            old, channel = self.waiting.get(target), draft.channel(target)
            if old is not None:
                raise VerbError(
                    "already",
                    f"{target} is not muted yet: what {old.by} asked for waits for the operator's yes already",
                    "unmute_channel withdraws it",
                )
            if channel is not None and channel.span is not None and "resident" in channel.span.layers:
                raise VerbError("already", f"{target} is muted by the resident already", f"go=unmute target={target}")
            self._write(draft, {**self.waiting, target: MuteAsk(actor.name, reason, draft.wall)})
            return (
                f"{target} is the operator: this waits for their yes, and nothing is muted yet. "
                "You are told what they say. Prompts and stops of theirs would reach you all the same."
            )

        return draft_of

    def agree(self, target: Target, actor: Actor) -> Drafted:
        """The operator's yes: the residents' layer, in the soft form."""

        def draft_of(draft: Draft) -> str:
            ask = self._answered(draft, target, actor)
            draft.step(target, Mute(Actor(ask.by, "resident", "tool"), soft=True))
            self._tell(draft, target, notices.agreed(target, ask.by))
            return (
                f"{target} is muted in the residents' layer, as {ask.by} asked: only its side-channel messages are "
                "held, and only a resident unmutes it"
            )

        return draft_of

    def decline(self, target: Target, actor: Actor) -> Drafted:
        """The operator's no, or a resident who takes the wish back."""

        def draft_of(draft: Draft) -> str:
            if actor.role == "resident":
                self._write(draft, {each: ask for each, ask in self.waiting.items() if each != target})
                return f"{target} was not muted, and the operator is no longer asked"
            ask = self._answered(draft, target, actor)
            self._tell(draft, target, notices.declined(target, ask.by))
            return f"{ask.by} is told no: {target} is not muted"

        return draft_of

    def _answered(self, draft: Draft, target: Target, actor: Actor) -> MuteAsk:
        """The wish that this answers, taken off the list. Raises VerbError for anybody but the operator."""
        ask = self.waiting[target]
        if actor.role != "operator" or actor.name != OPERATOR:
            raise VerbError(
                "refused",
                f"{ask.by} asked the operator whether to mute {target}, and {actor.name} is not the operator",
                "the operator answers it from the cockpit",
            )
        self._write(draft, {each: ask for each, ask in self.waiting.items() if each != target})
        return ask

    def _write(self, draft: Draft, waiting: Mapping[Target, MuteAsk]) -> None:
        stored: dict[str, Json] = {target.name: dict(asdict(ask)) for target, ask in waiting.items()}
        draft.write(Snapshot(SLOT, stored, draft.wall))

    def _tell(self, draft: Draft, target: Target, text: str) -> None:
        message = Message(RESIDENTS, "system", "system", (Text(text),), draft.wall, str(target), str(target))
        draft.write(Notice(message, "mute", "residents"))


def words(reason: str) -> str:
    """A resident's reason as one line of bounded length."""
    return clip(" ".join(sanitise(reason).split()), WORDS)


def told(target: Target, ask: MuteAsk) -> Failed:
    """What the operator reads, on the screen and everywhere else."""
    why = f" ({ask.reason})" if ask.reason else ""
    return Failed(
        ask.at,
        "mute_asked",
        f"{ask.by} asks to mute {target}: only your side-channel messages would be held{why}. Nothing is muted yet: "
        f"go=mute target={target} soft=yes is a yes, go=unmute target={target} a no",
    )
