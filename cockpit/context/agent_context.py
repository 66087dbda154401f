"""One agent's context: the window that is kept of its view, and the requests that are compiled from it.

The engine tells it of each committed message and asks for a request a round. Nothing here writes to the store: what
is to be written (answers, results, a moved anchor) is handed out as records.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from cockpit.context.budget import Calibration, Prelude, estimate, usable
from cockpit.context.compile import compiled, sendable, turns
from cockpit.context.layout import Sent, lay_out, newest
from cockpit.context.speech import Reader, Unit
from cockpit.context.strategy import Anchor, Material, Strategy, read_anchor
from cockpit.context.view import History, View, resident_view, subconscious_view
from cockpit.context.window import Window
from cockpit.context.windowed import WindowedPassthrough, size
from cockpit.core.message import Json, Message, Text, ToolUse
from cockpit.core.records import Snapshot
from cockpit.core.request import Request

PAGE = 500
"""Messages read at a time when a window is filled from the chronicle."""


@dataclass(frozen=True, slots=True)
class Ceilings:
    """A recipe's ceilings of one agent, in tokens; `max_message_tokens` None is no cap."""

    context_tokens: int = 200_000
    max_tokens: int = 8_192
    max_message_tokens: int | None = 10_000


@dataclass(frozen=True, slots=True)
class Statistics:
    """Sizes in tokens as the provider counts, as far as is known. budget: what messages may take of
    `context_tokens`. units: messages, an answer and its results counting as one. waiting: notices held back."""

    messages: int
    prelude: int
    budget: int
    units: int
    images: int
    waiting: int
    anchor: int


@dataclass(frozen=True, slots=True)
class Compiled:
    """sendable: False where there is nothing to answer, so the turn is skipped. moved: the anchor jumped, and its
    snapshot is to be written before the request is sent."""

    request: Request
    sendable: bool
    moved: bool
    statistics: Statistics


def anchor_slot(agent: str) -> str:
    """The snapshot slot of its anchor."""
    return f"anchor/{agent}"


class AgentContext:
    """What one agent is sent. Calls are for one task at a time; only `load`, `set_anchor` and `find` wait.

    strategy: the windowed one by default, for residents and the subconscious alike (V-3, S-2). ends_turn: the tools
    after which a turn is over, so that their results alone are nothing to answer.
    """

    def __init__(
        self,
        name: str,
        view: View,
        ceilings: Ceilings,
        history: History,
        strategy: Strategy | None = None,
        *,
        ends_turn: Collection[str] = (),
    ) -> None:
        self.name = name
        self.view = view
        self.ceilings = ceilings
        self.strategy = strategy or WindowedPassthrough()
        self.ends_turn = frozenset(ends_turn)
        self.calibration = Calibration()
        self.anchor = Anchor()
        self.head = 0
        self._history = history
        self._reader = Reader(name, view.own, ceilings.max_message_tokens)
        self._window = self._empty(0, 0)
        self._sent: set[Sent] = set()
        self._begun = 0
        self._changes = 0

    @classmethod
    def resident(
        cls,
        name: str,
        ceilings: Ceilings,
        history: History,
        strategy: Strategy | None = None,
        *,
        ends_turn: Collection[str] = (),
    ) -> AgentContext:
        """A resident's: nothing that was diverted is in it (A-3)."""
        return cls(name, resident_view(name), ceilings, history, strategy, ends_turn=ends_turn)

    @classmethod
    def subconscious(
        cls,
        name: str,
        primary: str,
        ceilings: Ceilings,
        history: History,
        strategy: Strategy | None = None,
        *,
        ends_turn: Collection[str] = (),
    ) -> AgentContext:
        """The subconscious's: what was tuned out is in it, what was muted is not (S-2)."""
        return cls(name, subconscious_view(primary), ceilings, history, strategy, ends_turn=ends_turn)

    async def load(self, head: int, anchor: Json = None) -> None:
        """Forget everything, take the stored anchor (the value of its snapshot, None where there is none), and read
        what the window needs. head: the log's last sequence. Also for a store whose branch changed (V-4)."""
        self.anchor = read_anchor(anchor)
        self.head = max(self.head, head)
        self._sent, self._begun = set(), 0
        self._window = self._empty(self.head + 1, self.anchor.images)
        await self._reach(self.anchor)

    def observe(self, *messages: Message) -> None:
        """Messages were committed; to be told of every one, in order. Costs the same however long the log is."""
        for message in messages:
            if message.sequence <= self.head:
                continue
            self.head = message.sequence
            if not self.view.holds(message):
                continue
            self._window.append(message)
            if message.kind == "agent":
                self._answered(message)
            if self._window.overfull:
                self._window.trim(self._unsent)
                self._changes += 1

    def compile(self, prelude: Prelude, *, began: int | None = None) -> Compiled:
        """The next request. began: `head` as it was when the running turn began, None where none runs.

        Moves the anchor where the window overflows. Raises OverBudgetError (V-6), and then nothing has moved.
        """
        done, anchor = self._round(prelude, began, peek=False)
        if done.moved:
            self._settle(anchor)
        if done.sendable:
            sent = Sent(self.head, self.head if began is None else began)
            self._sent.add(sent)
            self._begun = max(self._begun, sent.began)
        return done

    def preview(self, prelude: Prelude, *, began: int | None = None) -> Compiled:
        """What would be sent now, with its statistics: a dry run, which moves nothing (V-3). While calls of the
        running turn are being made it is the request that led to them."""
        return self._round(prelude, began, peek=True)[0]

    def answerable(self, began: int | None = None) -> bool:
        """Whether a request would be sendable, without making it: what is newest is not the agent's own."""
        units = lay_out(newest(self._window.parts()), self._sent, began, peek=True).units
        return bool(units) and bool(units[-1].live or units[-1].still) and not self._over(units)

    def fits(self, prelude: Prelude, text: str) -> bool:
        """Whether a prompt can be sent at all; one that cannot is refused when it is given (V-5)."""
        return self.calibration(estimate((Text(text),))) <= self._usable(self.calibration(prelude.tokens()))

    def calibrate(self, estimated: int, actual: int) -> None:
        """The provider counted `actual` input tokens, cached ones included, for a request of `estimated` (its
        `tokens`). Serves the budget only (V-5)."""
        self.calibration = self.calibration.observed(estimated, actual)

    async def set_anchor(self, sequence: int) -> bool:
        """Move the anchor, in either direction (V-4). True where it moved: its snapshot is to be written then.

        Notices that no request has held yet are pinned.
        """
        if sequence == self.anchor.sequence:
            return False
        pinned = tuple(one for one in self._window.framed if one < sequence and self._unsent(one))
        await self._reach(Anchor(sequence, pinned, self.anchor.images))
        return True

    def snapshot(self, at: float) -> Snapshot:
        """The anchor as a record, so that it survives a restart."""
        return Snapshot(anchor_slot(self.name), self.anchor.json(), at)

    async def find(self, reference: str) -> Message | None:
        """A message by its id, where this view holds it (V-2), whatever the anchor."""
        found = await self._history.message(reference)
        return found if found is not None and self.view.holds(found) else None

    def _round(self, prelude: Prelude, began: int | None, *, peek: bool) -> tuple[Compiled, Anchor]:
        """The one way from the window to a request; with it the anchor that the strategy wants."""
        before = self.calibration(prelude.tokens())
        laid = lay_out(self._window.parts(), self._sent, began, peek=peek)
        given = Material(
            units=laid.units,
            waiting=laid.waiting,
            fresh=laid.fresh,
            bottom=self._window.bottom,
            anchor=self.anchor,
            usable=self._usable(before),
            calibrated=self.calibration,
        )
        plan = self.strategy.plan(given)
        statistics = Statistics(
            messages=self.calibration(size(plan.units, plan.anchor.images)),
            prelude=before,
            budget=given.usable,
            units=len(plan.units),
            images=sum(unit.images for unit in plan.units if unit.sequence >= plan.anchor.images),
            waiting=len(laid.waiting),
            anchor=plan.anchor.sequence,
        )
        messages = turns(plan.units, plan.anchor.images)
        request = compiled(
            self.name,
            prelude,
            messages,
            max_tokens=self.ceilings.max_tokens,
            seen=self.head,
            tokens=statistics.messages + before,
            budget=given.usable,
        )
        asks = sendable(messages) and not self._over(plan.units)
        return Compiled(request, asks, plan.anchor != self.anchor, statistics), plan.anchor

    def _over(self, units: Sequence[Unit]) -> bool:
        """Whether the newest thing is an answer that ended its turn."""
        called = {block.name for block in units[-1].asked if isinstance(block, ToolUse)} if units else set[str]()
        return not called.isdisjoint(self.ends_turn)

    def _usable(self, before: int) -> int:
        return usable(self.ceilings.context_tokens, self.ceilings.max_tokens, before)

    def _unsent(self, sequence: int) -> bool:
        """Whether no request has held a notice: it came after the newest turn that made one had begun (N-8)."""
        return sequence > self._begun

    def _answered(self, message: Message) -> None:
        if message.kind == "agent" and message.author == self.name and message.seen:
            self._sent.discard(Sent(message.seen, message.began))
            self._begun = max(self._begun, message.began or message.seen)

    def _settle(self, anchor: Anchor) -> None:
        self.anchor = anchor
        self._window.keep(anchor.sequence, frozenset(anchor.pinned), anchor.images)
        self._sent = {sent for sent in self._sent if sent.seen >= anchor.sequence}
        self._changes += 1

    async def _reach(self, anchor: Anchor) -> None:
        """Make the window reach down to `anchor`, as far as its room goes, and settle there. Begins again where a
        jump moved the window meanwhile."""
        while True:
            changes = self._changes
            older, bottom = await self._older(self._window.bottom, anchor)
            pinned = [found for one in anchor.pinned if one < bottom and (found := await self.find(str(one)))]
            if self._changes == changes:
                break
        self._window.extend_down([*pinned, *older], bottom)
        self._settle(anchor)

    async def _older(self, before: int, anchor: Anchor) -> tuple[list[Message], int]:
        """The view's messages from the anchor up to `before`, newest first until the room is taken, and the sequence
        from which on none is missing."""
        weighed, found = self._empty(0, anchor.images), list[Message]()
        weighed.rough = self._window.rough
        while before > anchor.sequence and not weighed.full:
            page = await self._history.messages(
                self.view.slots, view=self.view.index, after=anchor.sequence - 1, before=before, limit=PAGE
            )
            for message in filter(self.view.holds, page):
                weighed.append(message)
                self._answered(message)
                found.append(message)
            before = page[0].sequence if len(page) == PAGE else anchor.sequence
        return found, before

    def _empty(self, bottom: int, images_from: int) -> Window:
        room = max(1, self.ceilings.context_tokens - self.ceilings.max_tokens)
        return Window(self._reader, room, bottom, images_from)
