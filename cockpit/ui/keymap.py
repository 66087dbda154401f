"""Keys as the operator wants them: a TOML file that names an id of `keys.KEYS` and its new key.

Read whole before the first frame. An unknown id, a key that is none, and two things on one key are told at once, with
what is near, and the rest of the file holds; an old key never keeps its old meaning (cases.md F-32).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from textual.binding import Binding

from cockpit.core.verbs import nearest
from cockpit.ui.keys import KEYS, Key, clashes


def remapped(path: Path) -> tuple[tuple[Key, ...], tuple[str, ...]]:
    """`KEYS` with what the file changes, such as `"verb.mute" = "M"`; and what is wrong, a line each with the file and
    the id. A wrong entry, or one that clashes, is its key's default, and the rest of the file holds."""
    try:
        text = path.read_text("utf-8")
        data = tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        return KEYS, (f"keys {path}: {error}",)
    wanted: dict[str, str] = {}
    told: list[str] = []
    for name, value in _flat(data):
        wrong = _wrong(name, value)
        if wrong:
            told.append(f"keys {path}{line_of(name, text)}: {wrong}")
        else:
            wanted[name] = str(value)
    keys = _with(wanted)
    while found := clashes(keys):
        # the last one of the file gives way: without any there is no clash
        name = next((each for each in reversed(wanted) if any(each in clash.split() for clash in found)), "")
        told.append(f"keys {path}{line_of(name, text)}: {'; '.join(found)}")
        del wanted[name]
        keys = _with(wanted)
    return keys, tuple(told)


def line_of(name: str, text: str) -> str:
    """`, line 3` where a TOML text gives this field, or empty where that cannot be told."""
    last = name.rpartition(".")[2]
    spelt = "|".join(re.escape(each) for each in dict.fromkeys((f'"{name}"', f"'{name}'", name, f'"{last}"', last)))
    found = re.search(rf"^[ \t]*(?:{spelt})[ \t]*=", text, re.MULTILINE) if name else None
    return "" if found is None else f", line {text.count(chr(10), 0, found.start()) + 1}"


def _wrong(name: str, value: object) -> str:
    """What is wrong with one entry, or empty."""
    known = {key.id: key for key in KEYS}
    if name not in known:
        close = nearest(name, known)
        hint = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(known)}"
        return f"no key is called {name!r}; {hint}"
    if not known[name].at_once:
        return f"{name} is a line's own key and stays what it is"
    if not isinstance(value, str) or not _named(value):
        return f"{name} is {value!r}, not a key such as 'M', 'f5' or 'ctrl+t'"
    return ""


def _with(wanted: Mapping[str, str]) -> tuple[Key, ...]:
    return tuple(
        replace(key, keys=_named(wanted[key.id]), shown=wanted[key.id]) if key.id in wanted else key for key in KEYS
    )


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
