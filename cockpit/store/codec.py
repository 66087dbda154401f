"""Records of every kind as rows and back, strictly: what is malformed raises ValueError, so that whoever reads can
skip it and say so (R-4)."""

from __future__ import annotations

from typing import TypeAlias, assert_never, get_args

from cockpit.core.message import Json, Message
from cockpit.core.records import (
    Audit,
    Lifecycle,
    Notice,
    Report,
    ReportKind,
    Snapshot,
    TurnEnded,
    TurnReason,
    TurnState,
    Usage,
    WakeRequest,
)
from cockpit.store import fields
from cockpit.store.fields import Body
from cockpit.store.message_codec import Row, decode_notice, encode_message, encode_notice

Stored: TypeAlias = Message | Notice | Lifecycle | WakeRequest | Report | TurnEnded | Audit | Snapshot
"""What a row can hold: every record but a DumpOf, which the chronicle expands."""

_REPORT_KINDS: tuple[ReportKind, ...] = get_args(ReportKind)
_TURN_REASONS: tuple[TurnReason, ...] = get_args(TurnReason)
_TURN_STATES: tuple[TurnState, ...] = get_args(TurnState)


def encode_record(record: Stored) -> Row:
    """The row of a record, with the sequence that it was given."""
    match record:
        case Message():
            return encode_message(record)
        case Notice():
            return encode_notice(record)
        case Lifecycle():
            return _row(record.sequence, "lifecycle", _lifecycle(record), record.target)
        case WakeRequest():
            return _row(record.sequence, "wake", _wake(record))
        case Report():
            return _row(record.sequence, "report", _report(record))
        case TurnEnded():
            return _row(record.sequence, "turn", _turn(record))
        case Audit():
            return _row(record.sequence, "audit", _audit(record), record.target)
        case Snapshot():
            body = {"name": record.name, "value": record.value, "at": record.at}
            return _row(record.sequence, "snapshot", body)
        case _ as never:
            assert_never(never)


def decode_record(kind: str, sequence: int, line: str) -> Stored:
    """The record of a row. Raises ValueError where it is none (R-4)."""
    match kind:
        case "message":
            return decode_notice(sequence, line)
        case "lifecycle":
            return decode_lifecycle(sequence, line)
        case "wake":
            return decode_wake(sequence, line)
        case "report":
            return decode_report(sequence, line)
        case "turn":
            return decode_turn(sequence, line)
        case "audit":
            return decode_audit(sequence, line)
        case "snapshot":
            return decode_snapshot(sequence, line)
        case _:
            raise ValueError(f"no kind of record: {kind!r}")


def _row(sequence: int, kind: str, body: Body, target: str | None = None) -> Row:
    return (sequence, kind, None, target, None, 0, None, None, None, fields.write(body))


def _lifecycle(record: Lifecycle) -> Body:
    return {"target": record.target, "what": record.what, "at": record.at, "body": record.body}


def decode_lifecycle(sequence: int, line: str) -> Lifecycle:
    """The lifecycle record of a row."""
    body = fields.read(line)
    inner = fields.as_object(body.get("body"))
    return Lifecycle(
        fields.text(body, "target"), fields.text(body, "what"), fields.number(body, "at"), inner, sequence
    )  # fmt: skip


def _wake(record: WakeRequest) -> Body:
    body: dict[str, Json] = {"agent": record.agent, "reason": record.reason, "at": record.at}
    if record.target is not None:
        body["target"] = record.target
    if record.epoch is not None:
        body["epoch"] = record.epoch
    if record.hops:
        body["hops"] = record.hops
    return body


def decode_wake(sequence: int, line: str) -> WakeRequest:
    """The wake request of a row."""
    body = fields.read(line)
    return WakeRequest(
        agent=fields.text(body, "agent"),
        reason=fields.choice(body, "reason", _TURN_REASONS),
        at=fields.number(body, "at"),
        target=fields.optional_text(body, "target"),
        epoch=fields.optional_text(body, "epoch"),
        sequence=sequence,
        hops=fields.whole(body, "hops", 0),
    )


def _report(record: Report) -> Body:
    return {
        "agent": record.agent,
        "kind": record.kind,
        "text": record.text,
        "at": record.at,
        "channel": record.channel,
    }


def decode_report(sequence: int, line: str) -> Report:
    """The report of a row."""
    body = fields.read(line)
    return Report(
        agent=fields.text(body, "agent"),
        kind=fields.choice(body, "kind", _REPORT_KINDS),
        text=fields.text(body, "text"),
        at=fields.number(body, "at"),
        channel=fields.text(body, "channel"),
        sequence=sequence,
    )


def _turn(record: TurnEnded) -> Body:
    body: dict[str, Json] = {
        "agent": record.agent,
        "state": record.state,
        "reason": record.reason,
        "at": record.at,
        "served": record.served,
    }
    if record.usage is not None:
        used = record.usage
        body["usage"] = [used.input, used.output, used.cache_read, used.cache_write]
    return body


def decode_turn(sequence: int, line: str) -> TurnEnded:
    """The end of a turn of a row."""
    body = fields.read(line)
    served = _wholes(fields.items(body, "served"))
    return TurnEnded(
        agent=fields.text(body, "agent"),
        state=fields.choice(body, "state", _TURN_STATES),
        reason=fields.choice(body, "reason", _TURN_REASONS),
        at=fields.number(body, "at"),
        usage=decode_usage(fields.items(body, "usage")) if "usage" in body else None,
        served=served,
        sequence=sequence,
    )


def decode_usage(values: tuple[Json, ...]) -> Usage:
    """Tokens as input, output, cache read, cache write."""
    match _wholes(values):
        case (read, written, cache_read, cache_write):
            return Usage(read, written, cache_read, cache_write)
        case _:
            raise ValueError(f"usage has {len(values)} numbers, not 4")


def _wholes(values: tuple[Json, ...]) -> tuple[int, ...]:
    found = tuple(value for value in values if isinstance(value, int) and not isinstance(value, bool))
    if len(found) != len(values):
        raise ValueError("a list holds what is no whole number")
    return found


def _audit(record: Audit) -> Body:
    body: dict[str, Json] = {
        "at": record.at,
        "actor": record.actor,
        "origin": record.origin,
        "verb": record.verb,
        "target": record.target,
        "before": record.before,
        "after": record.after,
        "reason": record.reason,
        "ok": record.ok,
    }
    if record.epoch is not None:
        body["epoch"] = record.epoch
    return body


def decode_audit(sequence: int, line: str) -> Audit:
    """The audit record of a row."""
    body = fields.read(line)
    return Audit(
        at=fields.number(body, "at"),
        actor=fields.text(body, "actor"),
        origin=fields.text(body, "origin"),
        verb=fields.text(body, "verb"),
        target=fields.text(body, "target"),
        before=fields.text(body, "before"),
        after=fields.text(body, "after"),
        reason=fields.text(body, "reason"),
        epoch=fields.optional_text(body, "epoch"),
        ok=fields.flag(body, "ok"),
        sequence=sequence,
    )


def decode_snapshot(sequence: int, line: str) -> Snapshot:
    """The value of a snapshot slot of a row."""
    body = fields.read(line)
    if "value" not in body:
        raise ValueError("a snapshot without a value")
    return Snapshot(fields.text(body, "name"), body["value"], fields.number(body, "at"), sequence)
