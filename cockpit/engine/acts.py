"""What changes a channel's decided state, whoever asks: one transaction with its audit row, refusals audited too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Literal

from cockpit.core.channel import Channel, attention, label, presence
from cockpit.core.events import Result
from cockpit.core.message import Json
from cockpit.core.mute import layer_of
from cockpit.core.records import Audit
from cockpit.core.step import Cancel, Input, Keep, Mute, Release, TuneOut, Unmute, Want, reason_of
from cockpit.core.target import Target
from cockpit.core.world import Actor
from cockpit.engine.asks import MuteAsks, words
from cockpit.engine.directory import Directory
from cockpit.engine.done import UNDOABLE, Done, Memory, Undone
from cockpit.engine.ledger import Draft, Ledger
from cockpit.errors import VerbError

UNDO = "undo"
"""The reason of what takes something back."""


@dataclass(slots=True)
class Acts:
    """Each act returns one line for whoever asked, or raises VerbError when it was refused and nothing changed."""

    ledger: Ledger
    directory: Directory
    asks: MuteAsks
    memory: Memory = field(default_factory=Memory)

    async def mute(
        self, target: Target, actor: Actor, *, reason: str = "", override: str | None = None, soft: bool = False
    ) -> str:
        """A resident's mute of the operator only asks for it; `soft` by the operator is the yes to that (M-7)."""
        why = override or reason
        if not self.asks.concerns(target):
            return await self._act("mute", target, Mute(actor, override, soft), actor, why)
        async with self.asks.one:
            waiting = self.asks.waiting.get(target)
            if actor.role == "resident":
                kept = words(reason)
                why = f"asked, and waits for the operator's yes{f': {kept}' if kept else ''}"
                return await self._answer("mute", target, self.asks.ask(target, actor, kept), actor, why)
            if waiting is not None and soft:
                why = _both(f"yes to {waiting.by}, who asked for it", waiting.reason, why)
                return await self._answer("mute", target, self.asks.agree(target, actor), actor, why)
            return await self._act("mute", target, Mute(actor, override, soft), actor, why)

    async def unmute(self, target: Target, actor: Actor, *, deliver: bool = False) -> str:
        """Of a whole server: one notice with the total, and each of its channels released (M-11).

        Where a resident's mute of it waits for the operator's yes, this is the no, whoever says it: the operator, or
        a resident who takes it back. The operator's own layer comes off with it.
        """
        async with self.asks.one if self.asks.concerns(target) else nullcontext():
            waiting, known = self.asks.waiting.get(target), self.ledger.channels.get(target)
            if waiting is None:
                return await self._unmute(target, actor, deliver=deliver)
            own = known is not None and known.span is not None and layer_of(actor) in known.span.layers
            if actor.role == "resident":
                why = f"takes back what {waiting.by} asked for"
            else:
                why = _both(f"no to {waiting.by}, who asked for a mute", waiting.reason, "")
            said = await self._answer("unmute", target, self.asks.decline(target, actor), actor, why)
            if actor.role == "resident":
                self.asks.taken_back(target, actor, self.ledger.wall())
            return f"{said}; {await self._unmute(target, actor, deliver=deliver)}" if own else said

    async def _unmute(self, target: Target, actor: Actor, *, deliver: bool = False, reason: str = "") -> str:
        def whole(draft: Draft) -> str:
            before = draft.channel(target)
            channels = [draft.channel(each) for each in self.directory.channels_of(target.name)]
            total = None
            if target.kind == "mcp" and before is not None:
                total = before.withheld + sum(each.withheld_by_server for each in channels if each is not None)
            done = draft.step(target, Unmute(actor, deliver, total))
            if target.kind == "mcp" and before is not None and before.span and done.channel.span is None:
                for each in channels:
                    if each is not None:
                        draft.step(each.target, Release(before.span, deliver))
            return done.answer

        return await self._commit("unmute", target, whole, actor, reason)

    async def tune_out(self, target: Target, actor: Actor, values: Mapping[str, Json], *, reason: str = "") -> str:
        return await self._act("tune-out", target, TuneOut(actor, values), actor, reason)

    async def cancel(self, target: Target, actor: Actor, *, note: str | None = None, reason: str = "") -> str:
        """The operator's own words for why go to the audit only (T-18)."""
        return await self._act("cancel", target, Cancel(actor, reason_of(actor), note), actor, reason)

    async def want(self, target: Target, actor: Actor, wanted: bool, *, reason: str = "") -> str:
        return await self._act("open" if wanted else "close", target, Want(actor, wanted), actor, reason)

    async def keep(self, target: Target, actor: Actor, alive: bool) -> str:
        return await self._act("start" if alive else "kill", target, Keep(actor, alive), actor, "")

    async def undo(self, actor: Actor) -> Undone:
        """Take back this actor's last mute, unmute, open, close, or tune-out that diverted nothing, a glob's whole.

        Raises VerbError where there is none, or, of a verb on one channel, where taking it back would lose something.
        What is refused stays the last one, unless somebody has taken it back already.
        """
        last = self.memory.take(actor.name)
        if last is None:
            nothing = "there is nothing of yours to take back"
            await self.refuse(UNDO, "", actor, nothing)
            raise VerbError("refused", nothing, "mute, unmute, open, close, tune-out")
        results: list[Result] = []
        left = list(last.parts)
        first: VerbError | None = None
        try:
            with self.memory.one_verb(actor.name, kept=False):
                for done in last.parts:
                    try:
                        results.append(Result(str(done.target), True, await self._inverse(done, actor)))
                        left.remove(done)
                    except VerbError as error:
                        first = first or error
                        if error.code == "already":
                            left.remove(done)
                        tail = f"; {error.hint}" if error.hint and error.hint not in str(error) else ""
                        results.append(Result(str(done.target), False, f"{error}{tail}"))
        finally:
            self.memory.put_back(actor.name, last, left)
        verb = last.parts[0].verb
        if last.glob:
            good = sum(result.ok for result in results)
            return Undone(f"took back {verb}: {good} of {len(results)} done", tuple(results), first)
        if first is not None:
            raise first
        return Undone(f"took back {verb}: {results[0].message}")

    async def _inverse(self, done: Done, actor: Actor) -> str:
        """Raises VerbError, with the verb to use: `already` where nothing is left to take back, else `refused`."""
        channel, target = self.ledger.channels[done.target], done.target
        epoch, layers = channel.epoch, () if channel.span is None else channel.span.layers
        match done.verb:
            case "mute" if layer_of(actor) not in layers:
                raise await self._kept(done, actor, "it has been unmuted since", "mute", code="already")
            case "mute":
                return await self._unmute(target, actor, reason=UNDO)
            case "unmute":  # the operator's own was a soft one: there is no other
                given = Mute(actor, soft=self.asks.concerns(target))
                return await self._act("mute", target, given, actor, UNDO)
            case "open" if epoch is not None:
                raise await self._kept(done, actor, "it is tuned out now", "cancel")
            case "open":
                return await self.want(target, actor, wanted=False, reason=UNDO)
            case "close" if done.epoch is not None:
                raise await self._kept(done, actor, "it has ended a tune-out, whose backlog was delivered", "tune-out")
            case "close":
                return await self.want(target, actor, wanted=True, reason=UNDO)
            case _ if epoch is None or epoch.id != done.epoch:
                raise await self._kept(done, actor, "it has ended", "tune-out", code="already")
            case _ if epoch.held:
                raise await self._kept(done, actor, "messages were diverted", "cancel")
            case _:
                return await self.cancel(target, actor, reason=UNDO)

    async def _kept(
        self, done: Done, actor: Actor, why: str, verb: str, *, code: Literal["already", "refused"] = "refused"
    ) -> VerbError:
        """The refusal to take something back, audited."""
        said = f"{done.verb} of {done.target} is not taken back: {why}"
        await self.refuse(UNDO, str(done.target), actor, said)
        return VerbError(code, said, f"go={verb} target={done.target}")

    async def refuse(self, verb: str, target: str, actor: Actor, why: str) -> None:
        """Put a refusal in the audit that no step has seen, with the state that it left as it was (K-123)."""

        def write(draft: Draft) -> None:
            known = self.directory.get(target)
            state = "" if known is None else self.label(draft, known)
            epoch = None if known is None else _epoch(draft.channel(known))
            draft.write(Audit(draft.wall, actor.name, actor.origin, verb, target, state, state, why, epoch, ok=False))

        await self.ledger.do(write)

    async def _act(self, verb: str, target: Target, given: Input, actor: Actor, reason: str) -> str:
        return await self._commit(verb, target, lambda draft: draft.step(target, given).answer, actor, reason)

    async def _answer(self, verb: str, target: Target, apply: Callable[[Draft], str], actor: Actor, reason: str) -> str:
        """What a wish that waits is asked or answered by; it is no change of one's own, and not taken back as one."""
        return await self._commit(verb, target, apply, actor, reason, undoable=False)

    async def _commit(
        self,
        verb: str,
        target: Target,
        apply: Callable[[Draft], str],
        actor: Actor,
        reason: str,
        *,
        undoable: bool = True,
    ) -> str:
        def audited(draft: Draft) -> tuple[str, str | None]:
            known = draft.channel(target)
            before, epoch = self.label(draft, target), _epoch(known)
            answer = apply(draft)
            after = self.label(draft, target)
            epoch = epoch or _epoch(draft.channel(target))
            draft.write(
                Audit(draft.wall, actor.name, actor.origin, verb, str(target), before, after, reason, epoch, ok=True)
            )
            return answer, epoch if verb in {"tune-out", "close"} else None

        try:
            answer, epoch = await self.ledger.do(audited)
        except VerbError as error:
            await self.refuse(verb, str(target), actor, str(error))
            raise
        if undoable and verb in UNDOABLE:
            self.memory.add(actor.name, Done(verb, target, epoch))
        return answer

    def label(self, draft: Draft, target: Target) -> str:
        """The channel's label as the draft has it; empty for one that is not known."""
        channel = draft.channel(target)
        if channel is None:
            return ""
        parent = self.directory.parent(target)
        server = None if parent is None else draft.channel(parent)
        return label(presence(channel, server), attention(channel, server))


def _both(what: str, asked: str, said: str) -> str:
    """An answer to a resident's wish, with the reasons of both."""
    return "; ".join(filter(None, (f"{what}{f' ({asked})' if asked else ''}", said)))


def _epoch(channel: Channel | None) -> str | None:
    return None if channel is None or channel.epoch is None else channel.epoch.id
