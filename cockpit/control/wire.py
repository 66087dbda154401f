"""The lines that a cockpit and its clients exchange over the socket: newline-delimited JSON, one version.

The cockpit says hello first. Then each request carries an `id` and what to `do`, and each reply that `id`: a `result`,
an `error`, or, for a subscription, an `event` each and at last an `end`. A line that cannot be read is answered by one
`error`, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, assert_never, get_args

from cockpit.control.codec import dumps, encode, loads
from cockpit.core.events import Event
from cockpit.core.message import Json
from cockpit.core.verbs import nearest

PROTOCOL = 1

LIMIT = 16 << 20
"""Bytes of one line, its newline included."""

Origin = Literal["socket", "bridge"]
"""Where a request comes from, for the audit: a client of the operator's own, or the MCP bridge."""

Id = int | str


@dataclass(frozen=True, slots=True)
class About:
    """What a cockpit says of itself. store: its real path. bridge_as_operator: the recipe's word.
    names: those that a bridge's client may not bear: the agents', and the operator's handle."""

    recipe: str
    store: str
    pid: int
    version: str
    bridge_as_operator: bool = False
    names: tuple[str, ...] = ()

    def hello(self) -> bytes:
        return dumps({
            "cockpit": PROTOCOL, "version": self.version, "recipe": self.recipe, "store": self.store, "pid": self.pid,
            "bridge_as_operator": self.bridge_as_operator,
        })  # fmt: skip


@dataclass(frozen=True, slots=True)
class Run:
    """Run one verb line. actor: the name of a bridge's client; the operator's own clients give none."""

    id: Id
    line: str
    origin: Origin = "socket"
    actor: str = ""


@dataclass(frozen=True, slots=True)
class Ask:
    """Prompt a resident, the primary unless said."""

    id: Id
    text: str
    agent: str | None = None
    origin: Origin = "socket"
    actor: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    id: Id


@dataclass(frozen=True, slots=True)
class Subscribe:
    """Every event from now on; subscribed before the next request is read."""

    id: Id


@dataclass(frozen=True, slots=True)
class Leave:
    """End the subscription whose id is `of`."""

    id: Id
    of: Id


@dataclass(frozen=True, slots=True)
class Send:
    """Speak in the Intercom as `handle`, by its token; to the primary resident unless said."""

    id: Id
    handle: str
    token: str
    text: str
    to: str | None = None

    def __repr__(self) -> str:
        return f"Send(id={self.id!r}, handle={self.handle!r}, to={self.to!r})"  # never the token


@dataclass(frozen=True, slots=True)
class Inbox:
    """What the Intercom holds for `handle`, by its token: what came after the message `after`, which with all before
    it is thereby read; without it, what came after the last one that was read."""

    id: Id
    handle: str
    token: str
    after: int | None = None

    def __repr__(self) -> str:
        return f"Inbox(id={self.id!r}, handle={self.handle!r}, after={self.after!r})"  # never the token


Request = Run | Ask | Snapshot | Subscribe | Leave | Send | Inbox

DOINGS = ("run", "ask", "snapshot", "events", "leave", "send", "inbox")


class Unreadable(ValueError):
    """A line that is no request. `id` is the one it carries, as far as it carries one."""

    def __init__(self, why: str, found: Id | None = None) -> None:
        super().__init__(why)
        self.id = found


def read_hello(raw: bytes | bytearray) -> About:
    """Raises ValueError where the other side is no cockpit, or speaks another version."""
    said = loads(raw)
    match said:
        case {"cockpit": int(version)} if version != PROTOCOL:
            raise ValueError(f"it speaks version {version} of the socket's protocol, and this program {PROTOCOL}")
        case {"cockpit": int(), "version": str(version), "recipe": str(recipe), "store": str(store), "pid": int(pid)}:
            return About(recipe, store, pid, version, said.get("bridge_as_operator") is True)
        case _:
            raise ValueError("what listens there is no cockpit")


def write_request(request: Request) -> bytes:
    """Raises ValueError where it is longer than a line may be."""
    match request:
        case Run(found, line, origin, actor):
            said: dict[str, Json] = {"id": found, "do": "run", "line": line, "origin": origin, "actor": actor}
        case Ask(found, text, agent, origin, actor):
            said = {"id": found, "do": "ask", "text": text, "agent": agent, "origin": origin, "actor": actor}
        case Snapshot(found):
            said = {"id": found, "do": "snapshot"}
        case Subscribe(found):
            said = {"id": found, "do": "events"}
        case Leave(found, of):
            said = {"id": found, "do": "leave", "of": of}
        case Send(found, handle, token, text, to):
            said = {"id": found, "do": "send", "as": handle, "token": token, "to": to, "text": text}
        case Inbox(found, handle, token, after):
            said = {"id": found, "do": "inbox", "as": handle, "token": token, "after": after}
        case _:
            assert_never(request)
    raw = dumps(said)
    if len(raw) > LIMIT:
        raise ValueError(f"this is {len(raw)} bytes long, and a line holds {LIMIT}")
    return raw


def read_request(raw: bytes) -> Request:
    """Raises Unreadable with a sentence that repeats no value of the line (R-7)."""
    try:
        said = loads(raw)
    except ValueError as error:
        raise Unreadable(str(error)) from error
    found = said.get("id")
    if not isinstance(found, int | str) or isinstance(found, bool):
        raise Unreadable("a request carries an id, a number or a text")
    origin = _origin(said, found)
    match said.get("do"):
        case "run":
            return Run(found, _text(said, "line", found), origin, _text(said, "actor", found, ""))
        case "ask":
            agent = _maybe(said, "agent", found)
            return Ask(found, _text(said, "text", found), agent, origin, _text(said, "actor", found, ""))
        case "snapshot":
            return Snapshot(found)
        case "events":
            return Subscribe(found)
        case "leave":
            of = said.get("of")
            if not isinstance(of, int | str):
                raise Unreadable("leave needs of=, the id of a subscription", found)
            return Leave(found, of)
        case "send":
            handle, token = _text(said, "as", found), _text(said, "token", found, "")
            return Send(found, handle, token, _text(said, "text", found), _maybe(said, "to", found))
        case "inbox":
            return Inbox(found, _text(said, "as", found), _text(said, "token", found, ""), _number(said, found))
        case str(other):
            close = nearest(other, DOINGS, 1)
            raise Unreadable(f"a request does one of {', '.join(DOINGS)}{_meant(close)}", found)
        case _:
            raise Unreadable(f"a request says what to do: {', '.join(DOINGS)}", found)


def result(found: Id, value: object) -> bytes:
    """The reply to a request. Too long for a line, it is an error instead."""
    raw = dumps({"id": found, "result": encode(value)})
    if len(raw) > LIMIT:
        return error(found, "refused", f"the answer is {len(raw)} bytes long, and a line holds {LIMIT}")
    return raw


def too_long(found: Id, value: object) -> bool:
    """Whether its reply would be longer than a line may be."""
    return len(dumps({"id": found, "result": encode(value)})) > LIMIT


def event(found: Id, value: Event) -> bytes | None:
    """One event of the subscription `found`; None where it is too long for a line."""
    raw = dumps({"id": found, "event": encode(value)})
    return raw if len(raw) <= LIMIT else None


def end(found: Id) -> bytes:
    """The subscription has no more events."""
    return dumps({"id": found, "end": True})


def error(found: Id | None, code: str, message: str, hint: str = "") -> bytes:
    return dumps({"id": found, "error": {"code": code, "message": message, "hint": hint}})


def _origin(said: Mapping[str, Json], found: Id) -> Origin:
    given = said.get("origin", "socket")
    for known in get_args(Origin):
        if given == known:
            origin: Origin = known
            return origin
    raise Unreadable(f"an origin is one of {', '.join(get_args(Origin))}", found)


def _text(said: Mapping[str, Json], name: str, found: Id, default: str | None = None) -> str:
    value = said.get(name, default)
    if not isinstance(value, str):
        raise Unreadable(f"{said.get('do')} needs {name}=, a text", found)
    return value


def _maybe(said: Mapping[str, Json], name: str, found: Id) -> str | None:
    return None if said.get(name) is None else _text(said, name, found)


def _number(said: Mapping[str, Json], found: Id) -> int | None:
    value = said.get("after")
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63):
        return value
    raise Unreadable("inbox needs after=, the number of a message, or nothing", found)


def _meant(close: tuple[str, ...]) -> str:
    return f"; did you mean {close[0]}?" if close else ""
