"""Verb lines that the screen writes itself: by key, by row, from the recipe's defaults."""

from __future__ import annotations

from collections.abc import Mapping

from cockpit.core.events import ChannelChanged
from cockpit.core.verbs import BY_NAME, VERBS, Verb
from cockpit.ui.words import spans

KEYED: Mapping[str, tuple[Verb, ...]] = {
    key: tuple(verb for verb in VERBS if verb.key == key) for key in dict.fromkeys(v.key for v in VERBS) if key
}
"""The verbs of each key; where there are two, the row's state decides (`chosen`)."""


def quoted(value: str) -> str:
    """A value as the grammar reads it back: quoted where a space or a quote would end it."""
    if value and not any(letter.isspace() or letter in "\"'" for letter in value):
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def verb_line(verb: Verb, **values: str) -> str:
    """`go=mute target=mcp:git`, in the registry's own order of parameters."""
    given = [f"{param.name}={quoted(values[param.name])}" for param in verb.params if param.name in values]
    return " ".join([f"go={verb.name}", *given])


def chosen(verbs: tuple[Verb, ...], row: ChannelChanged) -> Verb:
    """The verb a key means on this row: the one that changes the state it is in."""
    wanted = {
        "mute": row.attention != "muted",
        "unmute": row.attention == "muted",
        "open": row.attention == "closed",
        "close": row.attention != "closed",
        "kill": row.presence not in {"killed", "offline"},
        "start": row.presence in {"killed", "offline"},
    }
    return next((verb for verb in verbs if wanted.get(verb.name, True)), verbs[0])


def tune_out(target: str, defaults: Mapping[str, str]) -> str:
    """The tune-out line with the recipe's defaults, to be adjusted before Enter."""
    verb = BY_NAME["tune-out"]
    known = {param.name: defaults[param.name] for param in verb.params if param.name in defaults}
    for param in verb.params:
        if param.kind == "duration" and known.get(param.name, "").isdecimal():
            known[param.name] = spans(float(known[param.name]))
    return verb_line(verb, **(known | {"target": target}))


def is_verb(text: str) -> bool:
    """Whether a line of the composer is a verb rather than words to the resident (cockpit.md, Composer)."""
    return text.lstrip().startswith(":") or text.lstrip().lower().startswith("go=")
