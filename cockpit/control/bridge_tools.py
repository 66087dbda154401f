"""The bridge's tools as plain values: one for each verb of the registry, and those that only read.

Made from `VERBS`, so that a verb that is added is a tool at once, with the same words and the same parameters.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from cockpit.core.message import Json
from cockpit.core.verbs import VERBS, Param, Verb, nearest
from cockpit.errors import VerbError

ENDING = frozenset({"kill", "quit"})
"""Verbs that end a process: a host should ask before it calls them."""

REPORTS = 20
"""Reports that are told unless asked otherwise."""


@dataclass(frozen=True, slots=True)
class BridgeTool:
    """One tool. schema: of its arguments, as JSON Schema. verb: what it runs; None for a tool of the bridge's own."""

    name: str
    description: str
    schema: Mapping[str, Json]
    read_only: bool
    destructive: bool = False
    verb: Verb | None = None


def tools() -> tuple[BridgeTool, ...]:
    """Every tool, the bridge's own first; each name is there once."""
    return (*_OWN, *map(_of, VERBS))


def tool(name: str) -> BridgeTool:
    """Raises VerbError with the nearest names where there is none."""
    found = {each.name: each for each in tools()}
    if name not in found:
        close = nearest(name, found)
        hint = f"did you mean {' or '.join(close)}?" if close else f"tools: {', '.join(found)}"
        raise VerbError("unknown_verb", f"no tool {name!r}; {hint}", ", ".join(close or found))
    return found[name]


def checked(used: BridgeTool, arguments: Mapping[str, Json]) -> dict[str, str]:
    """The arguments as the verb grammar would have them typed; those that are null are left out.

    Raises VerbError, before anything is sent: `bad_value` for one that the tool does not take or that is no text or
    number, `missing_value` for one that it needs.
    """
    properties, needed = used.schema["properties"], used.schema["required"]
    known = list(properties) if isinstance(properties, Mapping) else []
    given: dict[str, str] = {}
    for name, value in arguments.items():
        if name not in known:
            takes = ", ".join(known) or "nothing"
            raise VerbError("bad_value", f"{used.name} takes no {name!r}: it takes {takes}", takes)
        if value is not None:
            given[name] = _typed(used, name, value)
    for name in needed if isinstance(needed, list) else []:
        if name not in given:
            raise VerbError("missing_value", f"{used.name} needs {name}", str(used.description))
    return given


def line(verb: Verb, given: Mapping[str, str]) -> str:
    """`go=mute target="mcp:git" …`: values quoted, so that nothing in one of them is read as a parameter."""
    words = [f"go={verb.name}"]
    for name, value in given.items():
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        words.append(f'{name}="{escaped}"')
    return " ".join(words)


def count(given: Mapping[str, str], name: str, default: int, *, least: int = 1) -> int:
    """A whole number of the arguments, at least `least`. Raises VerbError where it is none."""
    text = given.get(name)
    if text is None:
        return default
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or number < least:
        raise VerbError("bad_value", f"{name} is a whole number of at least {least}, and {text!r} is none", name)
    return int(number)


def _of(verb: Verb) -> BridgeTool:
    return BridgeTool(
        name=verb.name.replace("-", "_"),
        description=f"{verb.does[0].upper()}{verb.does[1:]}.",
        schema=_object(
            {param.name: _property(param, verb) for param in verb.params},
            [param.name for param in verb.params if param.required],
        ),
        read_only=not verb.writes and verb.name not in ENDING,
        destructive=verb.name in ENDING,
        verb=verb,
    )


def _property(param: Param, verb: Verb) -> dict[str, Json]:
    match param.kind:
        case "target":
            kinds = ", ".join(f"{kind}:…" for kind in verb.kinds)
            return _text(f"A channel as `channels` names it ({kinds}); a glob acts on all that match")
        case "duration":
            return _text("A duration: 90, 90s, 30m, 2h or 1d; a bare number is seconds")
        case "count":
            return {"type": "integer", "minimum": 0, "description": f"A whole number, as {param.example}"}
        case "choice":
            return {"type": "string", "enum": list(param.choices)}
        case "text":
            return _text("" if param.example in {"…", '"…"'} else param.example)


def _object(properties: Mapping[str, Json], required: list[str]) -> dict[str, Json]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _text(description: str) -> dict[str, Json]:
    return {"type": "string", **({"description": description} if description else {})}


def _typed(used: BridgeTool, name: str, value: Json) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value)
    raise VerbError("bad_value", f"{used.name}: {name} is a text or a number", name)


_LAST: dict[str, Json] = {"type": "integer", "minimum": 1, "description": "How many, the newest"}

_OWN = (
    BridgeTool(
        "channels",
        "List every channel with its state, who muted it, its epoch, and its three counts: wait (delivered, not yet "
        "read by the resident), need (addressed to it), held (diverted by a mute or a tune-out).",
        _object({}, []),
        read_only=True,
    ),
    BridgeTool(
        "backlog",
        "Show what is held: of one channel, or of every channel that holds something. Ends nothing.",
        _object({"target": _text("A channel as `channels` names it; all unless said"), "last": _LAST}, []),
        read_only=True,
    ),
    BridgeTool(
        "reports",
        f"Read the subconscious's newest reports, {REPORTS} unless said, oldest first.",
        _object({"channel": _text("Only those about this channel"), "last": _LAST}, []),
        read_only=True,
    ),
    BridgeTool(
        "send",
        "Say something in the Intercom under this client's own handle, by the token in the bridge's COCKPIT_TOKEN.",
        _object({
            "text": _text("What to say"),
            "to": _text("feed:NAME, or a resident; the primary resident unless said"),
        }, ["text"]),
        read_only=False,
    ),
    BridgeTool(
        "inbox",
        "Read what was said over the Intercom to this client's own handle, and in its feeds, by the token in the "
        "bridge's COCKPIT_TOKEN: what was not read yet, oldest first. `after` says up to where you have read.",
        _object({"after": {
            "type": "integer", "minimum": 0, "description": "The id of the last message that you have read",
        }}, []),
        read_only=False,
    ),
)  # fmt: skip
