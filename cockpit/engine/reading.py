"""What the reading verbs show: a backlog, why a message was or wasn't heard, the audit, the totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from cockpit.core.channel import Channel, Totals
from cockpit.core.events import Audited, Counted, Explained, Held, Peeked, iso
from cockpit.core.message import RESIDENTS, Json, Message
from cockpit.core.records import Audit, Lifecycle, Usage
from cockpit.core.target import Target
from cockpit.core.text import render
from cockpit.core.verbs import repeated
from cockpit.engine.directory import Directory
from cockpit.engine.rows import epoch_view
from cockpit.errors import VerbError
from cockpit.store.protocol import Reads

LOOKED = 1_000
"""Newest changes of a channel, and newest reports, that are searched for what a message has led to."""


def totals_json(channel: Channel, server: Channel | None, now: float) -> dict[str, Json]:
    """M-14 of one channel, open stretches added. All seconds are wall clock."""
    totals: Totals = channel.totals
    muted, tuned, offline = totals.seconds_muted, totals.seconds_tuned_out, totals.seconds_offline
    spans = (channel.span, server.span if server else None)
    muted += max(0.0, *(now - span.since if span is not None else 0.0 for span in spans))
    if channel.epoch is not None:
        tuned += max(0.0, now - channel.epoch.since)
    if channel.target.kind == "mcp" and channel.presence in {"offline", "killed"}:
        offline += max(0.0, now - channel.since)
    return {
        "seconds_muted": round(muted, 3),
        "seconds_tuned_out": round(tuned, 3),
        "seconds_offline": round(offline, 3),
        "crashes": totals.crashes,
        "kills": totals.kills,
        "diverted": totals.diverted,
        "delivered": totals.delivered,
        "dumped": totals.dumped,
    }


def audit_row(row: Audit) -> dict[str, Json]:
    return {
        "at": iso(row.at),
        "actor": row.actor,
        "origin": row.origin,
        "verb": row.verb,
        "target": row.target,
        "before": row.before,
        "after": row.after,
        "reason": row.reason,
        "epoch": row.epoch,
        "ok": row.ok,
    }


def explained(message: Message, now: float, later: tuple[str, ...] = ()) -> Explained:
    """A message's admission, as it was decided when it came in (A-3). later: whom it woke after that."""
    return Explained(
        at=now,
        id=str(message.sequence),
        target=message.target or "",
        decision="diverted" if message.stamp else "delivered",
        stamp=message.stamp.json() if message.stamp else None,
        rules=message.rules,
        woke=(*message.woke, *later),
        acknowledged=message.acknowledged,
    )


@dataclass(slots=True)
class Reading:
    """Reads of the live store; none of them changes anything."""

    chronicle: Reads
    directory: Directory
    channels: Mapping[Target, Channel]

    async def peek(self, target: Target, last: int, now: float) -> Peeked:
        """The channel's backlog, newest last, without ending anything."""
        channel, server = self.channels[target], self._server(target)
        keys = [channel.epoch.id if channel.epoch else None, channel.span.id if channel.span else None]
        keys.append(server.span.id if server and server.span else None)
        found: list[Message] = []
        for key in filter(None, keys):
            found.extend(
                await self.chronicle.messages(
                    (RESIDENTS,), view="all", limit=max(1, last), target=str(target), stamp=key, edits=False
                )
            )
        found.sort(key=lambda message: message.sequence)
        return Peeked(
            at=now,
            target=str(target),
            messages=tuple(_held(message) for message in (found[-last:] if last else [])),
            epoch=epoch_view(channel.epoch),
            totals=totals_json(channel, server, now),
        )

    async def why(self, reference: str, now: float) -> Explained:
        message = await self.chronicle.message(reference)
        if message is None:
            raise VerbError(
                "bad_value",
                f"no message {repeated(reference)}: an id is a number from peek, or SERVER/MESSAGE-ID",
                "go=peek target=… shows the ids",
            )
        return explained(message, now, await self._woken_later(message))

    async def _woken_later(self, message: Message) -> tuple[str, ...]:
        """The subconscious, where this message's own wake was counted against its epoch (T-8, T-9).

        Known of what was acknowledged when it came in, which asked for a wake at once: its epoch's next wake, or its
        end, is that of this message. Of what waited for the gate's quiet the log keeps how many they were, not which.
        """
        epoch = message.stamp.epoch if message.stamp is not None else None
        if epoch is None or not message.acknowledged or message.target is None:
            return ()
        steps = await self.chronicle.lifecycle(target=message.target, limit=LOOKED)
        after = (each for each in steps if each.sequence > message.sequence and each.what in {"woken", "cancelled"})
        first = next(after, None)
        match first:
            case Lifecycle(what="woken", body={"channel": {"epoch": {"id": str(of)}}}) if of == epoch:
                pass
            case _:
                return ()
        reports = await self.chronicle.reports(limit=LOOKED)
        told = (each for each in reports if each.sequence > first.sequence and each.channel == message.target)
        return tuple(each.agent for each in islice(told, 1) if each.kind == "wake")

    async def audit(self, targets: Sequence[Target | None], last: int, now: float) -> Audited:
        """The newest rows of these channels together, newest last; None stands for every channel."""
        rows: list[Audit] = []
        for target in targets:
            rows += await self.chronicle.audit(target=None if target is None else str(target), limit=last)
        rows.sort(key=lambda row: row.sequence)
        return Audited(now, tuple(audit_row(row) for row in (rows[-last:] if last else [])))

    def stats(self, agents: Mapping[str, tuple[Usage, int, float | None]], now: float) -> Counted:
        """agents: usage, ended turns, and cost (None without prices) by name."""
        channels: list[dict[str, Json]] = [
            {"target": str(target), **totals_json(self.channels[target], self._server(target), now)}
            for target in self.directory.targets()
            if target in self.channels
        ]
        rows: list[dict[str, Json]] = [
            {
                "agent": name,
                "input": usage.input,
                "output": usage.output,
                "cache_read": usage.cache_read,
                "cache_write": usage.cache_write,
                "cost": cost,
                "turns": turns,
            }
            for name, (usage, turns, cost) in agents.items()
        ]
        return Counted(now, tuple(channels), tuple(rows))

    def _server(self, target: Target) -> Channel | None:
        parent = self.directory.parent(target)
        return None if parent is None else self.channels.get(parent)


def _held(message: Message) -> Held:
    stamp = message.stamp
    by = ""
    if stamp is not None:
        by = "both" if stamp.epoch and stamp.span else "tune-out" if stamp.epoch else "mute"
    text = render(message.blocks, deleted=message.deleted)
    return Held(str(message.sequence), message.at, message.author, text, by)
