"""Keys as the operator wants them: a TOML file that names an id of `keys.KEYS` and its new key.

Read whole before the first frame. An unknown id, a key that is none, and two things on one key are refused at once,
with what is near; an old key never keeps its old meaning (cases.md F-32).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from textual.binding import Binding

from cockpit.core.verbs import nearest
from cockpit.errors import UsageError
from cockpit.ui.keys import KEYS, Key, clashes


def remapped(path: Path) -> tuple[Key, ...]:
    """`KEYS` with what the file changes, such as `"verb.mute" = "M"`. Raises UsageError with the file and the id."""
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"keys {path}: {error}") from error
    wanted = dict(_flat(data))
    known = {key.id: key for key in KEYS}
    for name, value in wanted.items():
        if name not in known:
            close = nearest(name, known)
            hint = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(known)}"
            raise UsageError(f"keys {path}: no key is called {name!r}; {hint}")
        if not known[name].at_once:
            raise UsageError(f"keys {path}: {name} is a line's own key and stays what it is")
        if not isinstance(value, str) or not _named(value):
            raise UsageError(f"keys {path}: {name} is {value!r}, not a key such as 'M', 'f5' or 'ctrl+t'")
    keys = tuple(
        replace(key, keys=_named(str(wanted[key.id])), shown=str(wanted[key.id])) if key.id in wanted else key
        for key in KEYS
    )
    found = clashes(keys)
    if found:
        raise UsageError(f"keys {path}: {'; '.join(found)}")
    return keys


def changes(keys: tuple[Key, ...]) -> dict[str, str]:
    """What Textual is to be told: the ids whose keys are not the usual ones."""
    usual = {key.id: key.keys for key in KEYS}
    return {key.id: key.keys for key in keys if usual.get(key.id) != key.keys}


def _flat(table: Mapping[str, object], before: str = "") -> Iterator[tuple[str, object]]:
    """`verb.mute = "M"` and `"verb.mute" = "M"` alike."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def _named(written: str) -> str:
    """Textual's names of the keys that are written, or empty where one is none."""
    parts = [part.strip() for part in written.split(",")] if written != "," else [","]
    if not all(len(part) == 1 or re.fullmatch("[a-z0-9]+([+_][a-z0-9]+)*", part) for part in parts):
        return ""
    return ",".join(each.key for part in parts for each in Binding.make_bindings([Binding(_long(part), "x")]))


def _long(part: str) -> str:
    return "comma" if part == "," else part
