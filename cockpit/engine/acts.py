"""What changes a channel's decided state, whoever asks: one transaction with its audit row, refusals audited too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field

from cockpit.core.channel import Channel, attention, label, presence
from cockpit.core.message import Json
from cockpit.core.mute import layer_of
from cockpit.core.records import Audit
from cockpit.core.step import Cancel, Input, Keep, Mute, Release, TuneOut, Unmute, Want, reason_of
from cockpit.core.target import Target
from cockpit.core.world import Actor
from cockpit.engine.asks import MuteAsks, words
from cockpit.engine.directory import Directory
from cockpit.engine.ledger import Draft, Ledger
from cockpit.errors import VerbError

UNDOABLE = frozenset({"mute", "unmute", "open", "close", "tune-out"})
REMEMBERED = 50


@dataclass(frozen=True, slots=True)
class _Done:
    """One act that may be taken back. ended: the epoch that a close has cancelled."""

    verb: str
    target: Target
    ended: str | None


@dataclass(slots=True)
class Acts:
    """Each act returns one line for whoever asked, or raises VerbError when it was refused and nothing changed."""

    ledger: Ledger
    directory: Directory
    asks: MuteAsks
    _done: dict[str, list[_Done]] = field(default_factory=dict)

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

    async def _unmute(self, target: Target, actor: Actor, *, deliver: bool = False) -> str:
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

        return await self._commit("unmute", target, whole, actor, "")

    async def tune_out(self, target: Target, actor: Actor, values: Mapping[str, Json], *, reason: str = "") -> str:
        return await self._act("tune-out", target, TuneOut(actor, values), actor, reason)

    async def cancel(self, target: Target, actor: Actor, *, note: str | None = None, reason: str = "") -> str:
        """The operator's own words for why go to the audit only (T-18)."""
        return await self._act("cancel", target, Cancel(actor, reason_of(actor), note), actor, reason)

    async def want(self, target: Target, actor: Actor, wanted: bool) -> str:
        return await self._act("open" if wanted else "close", target, Want(actor, wanted), actor, "")

    async def keep(self, target: Target, actor: Actor, alive: bool) -> str:
        return await self._act("start" if alive else "kill", target, Keep(actor, alive), actor, "")

    async def undo(self, actor: Actor) -> str:
        """Take back this actor's last mute, unmute, open, close, or tune-out that diverted nothing.

        Raises VerbError where there is none, or where taking it back would lose something; it stays then.
        """
        mine = self._done.setdefault(actor.name, [])
        if not mine:
            nothing = "there is nothing of yours to take back"
            await self.refuse("undo", "", actor, nothing)
            raise VerbError("refused", nothing, "mute, unmute, open, close, tune-out")
        last, kept = mine[-1], len(mine) - 1
        said = await self._inverse(last, actor)
        del mine[kept:]
        return f"took back {last.verb}: {said}"

    async def _inverse(self, last: _Done, actor: Actor) -> str:
        channel = self.ledger.channels[last.target]
        match last.verb:
            case "mute":
                return await self._unmute(last.target, actor)
            case "unmute":  # the operator's own was a soft one: there is no other
                given = Mute(actor, soft=self.asks.concerns(last.target))
                return await self._act("mute", last.target, given, actor, "undo")
            case "open":
                return await self.want(last.target, actor, wanted=False)
            case "close" if last.ended is None:
                return await self.want(last.target, actor, wanted=True)
            case "tune-out" if channel.epoch is not None and channel.epoch.held == 0:
                return await self.cancel(last.target, actor, reason="undo")
        verb = "tune-out" if last.verb == "close" else "cancel"
        why = f"{last.verb} of {last.target} is not taken back: messages were diverted"
        await self.refuse("undo", str(last.target), actor, why)
        raise VerbError("refused", why, f"go={verb} target={last.target}")

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
            return answer, epoch if verb == "close" else None

        try:
            answer, ended = await self.ledger.do(audited)
        except VerbError as error:
            await self.refuse(verb, str(target), actor, str(error))
            raise
        if undoable and verb in UNDOABLE:
            mine = self._done.setdefault(actor.name, [])
            mine.append(_Done(verb, target, ended))
            del mine[:-REMEMBERED]
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
