"""Messages and notices as rows and back. The body of a row is the whole message as JSON; the other columns repeat
what is looked up.

Written by hand, field by field: ingest pays for it on every message. Fields that hold their default are left out, and
read as it.
"""

from __future__ import annotations

from typing import TypeAlias, get_args

from cockpit.core.message import Json, Message, MessageKind, Stamp, decode, encode
from cockpit.core.records import Notice, NoticeKind
from cockpit.store import fields
from cockpit.store.fields import Body

Row: TypeAlias = tuple[int, str, str | None, str | None, str | None, int, str | None, str | None, int | None, str]

INSERT_RECORD = "INSERT INTO record (sequence, kind, slot, target, stamp, muted, key, reference, edits, body) VALUES {}"
"""Writes Rows, whose order it gives."""

_MESSAGE_KINDS: tuple[MessageKind, ...] = get_args(MessageKind)
_NOTICE_KINDS: tuple[NoticeKind, ...] = get_args(NoticeKind)


def encode_message(message: Message) -> Row:
    """The row of a message."""
    return _message_row(message, _message(message))


def encode_notice(notice: Notice) -> Row:
    """The row of a notice: its message's, with what an event says of it in the body."""
    return _message_row(notice.message, _message(notice.message) | {"notice": notice.kind, "owner": notice.owner})


def reference_of(message: Message) -> str | None:
    """`SERVER/MESSAGE-ID`, by which an operator may ask for it; None for an edit, and where no server named it."""
    if message.id is None or message.target is None or message.edits is not None:
        return None
    kind, _, name = message.target.partition(":")
    if kind == "channel":
        return f"{name.partition('/')[0]}/{message.id}"
    return f"{name}/{message.id}" if kind == "mcp" else None


def _message_row(message: Message, body: Body) -> Row:
    stamp = message.stamp
    return (
        message.sequence,
        "message",
        message.slot,
        message.target,
        stamp.key if stamp is not None else None,
        1 if stamp is not None and stamp.span else 0,
        message.key,
        reference_of(message),
        message.edits,
        fields.write(body),
    )


def _message(message: Message) -> dict[str, Json]:
    body: dict[str, Json] = {
        "slot": message.slot,
        "kind": message.kind,
        "author": message.author,
        "blocks": [encode(block) for block in message.blocks],
        "at": message.at,
    }
    if message.target is not None:
        body["target"] = message.target
    if message.channel is not None:
        body["channel"] = message.channel
    if message.id is not None:
        body["id"] = message.id
    if message.author_id is not None:
        body["author_id"] = message.author_id
    if message.tags:
        body["tags"] = message.tags
    if message.stamp is not None:
        body["stamp"] = message.stamp.json()
    if message.key is not None:
        body["key"] = message.key
    if message.rules:
        body["rules"] = message.rules
    if message.woke:
        body["woke"] = message.woke
    if message.acknowledged:
        body["acknowledged"] = True
    if message.seen:
        body["seen"] = message.seen
    if message.began:
        body["began"] = message.began
    if message.edits is not None:
        body["edits"] = message.edits
    if message.deleted:
        body["deleted"] = True
    return body


def decode_message(sequence: int, line: str) -> Message:
    """The message of a row, a notice's too."""
    return _message_of(sequence, fields.read(line))


def decode_notice(sequence: int, line: str) -> Message | Notice:
    """The notice of a row where it is one, else its message."""
    body = fields.read(line)
    message = _message_of(sequence, body)
    if "notice" not in body:
        return message
    return Notice(message, fields.choice(body, "notice", _NOTICE_KINDS), fields.text(body, "owner"))


def _message_of(sequence: int, body: Body) -> Message:
    return Message(
        slot=fields.text(body, "slot"),
        kind=fields.choice(body, "kind", _MESSAGE_KINDS),
        author=fields.text(body, "author"),
        blocks=tuple(map(decode, fields.items(body, "blocks"))),
        at=fields.number(body, "at"),
        target=fields.optional_text(body, "target"),
        channel=fields.optional_text(body, "channel"),
        id=fields.optional_text(body, "id"),
        author_id=fields.optional_text(body, "author_id"),
        tags=fields.texts(body, "tags"),
        stamp=_stamp(body["stamp"]) if "stamp" in body else None,
        key=fields.optional_text(body, "key"),
        rules=fields.texts(body, "rules"),
        woke=fields.texts(body, "woke"),
        acknowledged=fields.flag(body, "acknowledged"),
        seen=fields.whole(body, "seen", 0),
        began=fields.whole(body, "began", 0),
        edits=fields.whole(body, "edits") if "edits" in body else None,
        deleted=fields.flag(body, "deleted"),
        sequence=sequence,
    )


def _stamp(value: Json) -> Stamp:
    body = fields.as_object(value)
    epoch = fields.text(fields.as_object(body["tuneOut"]), "epochId") if "tuneOut" in body else None
    span = fields.text(fields.as_object(body["mute"]), "spanId") if "mute" in body else None
    if not epoch and not span:
        raise ValueError("a stamp without an epoch and without a span")
    return Stamp(epoch, span)
