"""What the engine tells the world, as plain values, and `Link`, the one thing a screen or a socket speaks to.

Each event's `line()` is the headless line of the contract, keys in the table's order. Events that only a screen
needs (text while it is being written) have no line.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from cockpit.core.channel import Attention, Layer, Presence
from cockpit.core.message import Json
from cockpit.core.records import NoticeKind, ReportKind, TurnReason, TurnState, Usage
from cockpit.core.target import Kind
from cockpit.core.value import value
from cockpit.errors import VerbCode


def iso(at: float) -> str:
    """Seconds since 1970 as `2026-11-30T12:00:00.000Z`."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class Ready:
    at: float
    recipe: str
    store: str
    agents: tuple[str, ...]
    channels: int

    def line(self) -> dict[str, Json]:
        return _line("ready", self.at, recipe=self.recipe, store=self.store, agents=list(self.agents),
                     channels=self.channels)  # fmt: skip


@value
class EpochView:
    """An epoch as a line shows it: cadence in seconds, deadline in seconds since 1970 or None."""

    id: str
    cadence: float
    cap: int
    max_wakes: int
    wakes: int
    deadline: float | None

    def json(self) -> dict[str, Json]:
        return {
            "id": self.id,
            "cadence": _number(self.cadence),
            "cap": self.cap,
            "max_wakes": self.max_wakes,
            "wakes": self.wakes,
            "deadline": None if self.deadline is None else iso(self.deadline),
        }


@value
class ChannelChanged:
    """One row. Beyond its line: `reason` (why it is offline), `proof` (when it last proved to be alive, seconds
    since 1970, or None), `server` (the name it is grouped by) and `given` (its server's label for people)."""

    at: float
    target: str
    kind: Kind
    presence: Presence
    attention: Attention
    label: str
    wait: int
    need: int
    held: int
    epoch: EpochView | None
    muted_by: tuple[Layer, ...]
    reason: str = ""
    proof: float | None = None
    server: str = ""
    given: str = ""
    gone: bool = False

    def line(self) -> dict[str, Json]:
        return _line(
            "channel", self.at, target=self.target, kind=self.kind, presence=self.presence, attention=self.attention,
            label=self.label, wait=self.wait, need=self.need, held=self.held,
            epoch=None if self.epoch is None else self.epoch.json(), muted_by=list(self.muted_by),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reported:
    at: float
    agent: str
    channel: str
    kind: ReportKind
    text: str
    id: str

    def line(self) -> dict[str, Json]:
        return _line("report", self.at, agent=self.agent, channel=self.channel, kind=self.kind, text=self.text,
                     id=self.id)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TurnChanged:
    at: float
    agent: str
    state: TurnState
    reason: TurnReason
    usage: Usage | None = None
    detail: str = ""

    def line(self) -> dict[str, Json]:
        usage: Json = None
        if self.usage is not None:
            usage = {"input": self.usage.input, "output": self.usage.output, "cache_read": self.usage.cache_read,
                     "cache_write": self.usage.cache_write}  # fmt: skip
        return _line("turn", self.at, agent=self.agent, state=self.state, reason=self.reason, usage=usage)


@dataclass(frozen=True, slots=True)
class Spoke:
    """A resident's prose, whole."""

    at: float
    agent: str
    text: str

    def line(self) -> dict[str, Json]:
        return _line("text", self.at, agent=self.agent, text=self.text)


@dataclass(frozen=True, slots=True)
class Noticed:
    """A system-framed message exactly as appended. `channel` is a target, empty where it speaks of several."""

    at: float
    agent: str
    kind: NoticeKind
    channel: str
    text: str

    def line(self) -> dict[str, Json]:
        return _line("notice", self.at, agent=self.agent, kind=self.kind, channel=self.channel, text=self.text)


@dataclass(frozen=True, slots=True)
class Result:
    """What a verb did to one target of a glob."""

    target: str
    ok: bool
    message: str

    def json(self) -> dict[str, Json]:
        return {"target": self.target, "ok": self.ok, "message": self.message}


@dataclass(frozen=True, slots=True)
class VerbRan:
    at: float
    typed: str
    verb: str
    ok: bool
    message: str
    code: VerbCode | None = None
    hint: str = ""
    results: tuple[Result, ...] = ()

    def line(self) -> dict[str, Json]:
        error: Json = None if self.code is None else {"code": self.code, "hint": self.hint}
        return _line("verb", self.at, line=self.typed, verb=self.verb, ok=self.ok, message=self.message, error=error,
                     results=[result.json() for result in self.results])  # fmt: skip


@dataclass(frozen=True, slots=True)
class Held:
    """One message of a peek. held_by: `tune-out`, `mute`, `both`, or empty where it was delivered."""

    id: str
    at: float
    author: str
    text: str
    held_by: str

    def json(self) -> dict[str, Json]:
        return {
            "id": self.id,
            "at": iso(self.at),
            "author": self.author,
            "text": self.text,
            "held_by": self.held_by,
        }


@dataclass(frozen=True, slots=True)
class Peeked:
    at: float
    target: str
    messages: tuple[Held, ...]
    epoch: EpochView | None
    totals: Mapping[str, Json]

    def line(self) -> dict[str, Json]:
        return _line("peek", self.at, target=self.target, messages=[message.json() for message in self.messages],
                     epoch=None if self.epoch is None else self.epoch.json(), totals=self.totals)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Explained:
    at: float
    id: str
    target: str
    decision: str
    stamp: Mapping[str, Json] | None
    rules: tuple[str, ...]
    woke: tuple[str, ...]
    acknowledged: bool

    def line(self) -> dict[str, Json]:
        return _line("why", self.at, id=self.id, target=self.target, decision=self.decision, stamp=self.stamp,
                     rules=list(self.rules), woke=list(self.woke), acknowledged=self.acknowledged)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ContextShown:
    """What an agent would be sent now, as compiled. `request` is JSON: system, tools, messages, cache markers."""

    at: float
    agent: str
    tokens: int
    budget: int
    request: Mapping[str, Json]

    def line(self) -> dict[str, Json]:
        return _line("context", self.at, agent=self.agent, tokens=self.tokens, budget=self.budget,
                     request=self.request)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Audited:
    """Rows newest last, each with at, actor, origin, verb, target, before, after, reason, epoch, ok."""

    at: float
    rows: tuple[Mapping[str, Json], ...]

    def line(self) -> dict[str, Json]:
        return _line("audit", self.at, rows=list(self.rows))


@dataclass(frozen=True, slots=True)
class Counted:
    """The totals of M-14 a channel, and usage, cost and turns an agent."""

    at: float
    channels: tuple[Mapping[str, Json], ...]
    agents: tuple[Mapping[str, Json], ...]

    def line(self) -> dict[str, Json]:
        return _line("stats", self.at, channels=list(self.channels), agents=list(self.agents))


@dataclass(frozen=True, slots=True)
class Failed:
    """Something went wrong that the operator should know; never a traceback. `offline` is why a server is: a row says
    it, a `channel` line has no field for it."""

    at: float
    code: str
    message: str

    def line(self) -> dict[str, Json]:
        return _line("error", self.at, code=self.code, message=self.message)


@dataclass(frozen=True, slots=True)
class Stopped:
    at: float
    reason: str

    def line(self) -> dict[str, Json]:
        return _line("stopped", self.at, reason=self.reason)


@value
class Writing:
    """Screen only: text as an agent writes it. `stream` is one id a text; `report` says which pane; `done` ends it
    (the whole text follows as Spoke or Reported)."""

    at: float
    agent: str
    stream: str
    text: str
    report: bool
    channel: str = ""
    done: bool = False


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """Screen only: a resident's or the subconscious's call, as the one-line entry of its pane."""

    at: float
    agent: str
    tool: str
    summary: str
    ok: bool | None = None


@dataclass(frozen=True, slots=True)
class Prompted:
    """Screen only: the operator's own words to a resident."""

    at: float
    agent: str
    text: str


@dataclass(frozen=True, slots=True)
class Progressed:
    """Screen only: a server's progress on a call (M-2)."""

    at: float
    target: str
    text: str


Lined = (
    Ready | ChannelChanged | Reported | TurnChanged | Spoke | Noticed | VerbRan | Peeked | Explained | ContextShown
    | Audited | Counted | Failed | Stopped
)  # fmt: skip
"""Events with a headless line."""

Event = Lined | Writing | ToolCalled | Prompted | Progressed

Answered = Peeked | Explained | ContextShown | Audited | Counted
"""What a reading verb shows beside its VerbRan."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What `Link.run` gives back: how the verb went and, for a reading verb, what it shows."""

    ran: VerbRan
    shown: tuple[Answered, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentView:
    """One agent's standing for the top line. `activity`: `idle` or what it does now, in words."""

    name: str
    role: str
    activity: str
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class View:
    """Everything a screen needs to begin: rows in order, the newest reports and conversation, newest last."""

    recipe: str
    store: str
    operator: str
    model: str
    read_only: bool
    agents: tuple[AgentView, ...]
    rows: tuple[ChannelChanged, ...]
    reports: tuple[Reported, ...]
    conversation: tuple[Spoke | Prompted | ToolCalled | Noticed, ...]
    defaults: Mapping[str, str] = field(default_factory=dict)


class Link(Protocol):
    """The one thing a screen or a socket speaks to. The engine is one in process; the socket's client from outside.

    Call `events()` first (it subscribes at the call), then `snapshot()`: what the snapshot already holds may come
    again as events, and every event is idempotent on its key (target, id, stream).
    """

    def events(self) -> AsyncIterator[Event]: ...

    async def snapshot(self) -> View: ...

    async def run(self, line: str) -> Answer: ...

    async def ask(self, text: str, agent: str | None = None) -> Answer:
        """Ignition: prompt, or steer the running turn. The text is taken as it is, never parsed."""
        ...


def _line(event: str, at: float, **fields: Json) -> dict[str, Json]:
    return {"event": event, "at": iso(at), **fields}


def _number(value: float) -> int | float:
    return int(value) if value == int(value) else value
