"""Themes as data: a palette, and for each state a glyph, its ASCII stand-in, a colour and a weight.

A theme is a TOML file in a themes folder (or any file named by its path). It is read whole before the first frame;
what is wrong in it is a UsageError that names the file and the field. Without a colour (`mono`, or `NO_COLOR`) the
states are still told apart by word, glyph and weight (cases.md F-46, F-47).
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, get_args

from rich.style import Style
from textual.theme import Theme as TextualTheme

from cockpit.core.channel import Attention, Presence
from cockpit.core.verbs import nearest
from cockpit.errors import UsageError

StateName = Literal["online", "offline", "killed", "connecting", "muted", "tuned-out", "closed"]
Colour = Literal["background", "raised", "text", "dim", "accent", "rule", "cursor", "need", "error", "warn", "ok"]
Role = Literal[
    "text", "dim", "strong", "accent", "rule", "rule-focus", "title", "title-focus", "need", "error", "warn", "ok",
    "online", "offline", "killed", "connecting", "muted", "tuned-out", "closed",
]  # fmt: skip

STATES: tuple[StateName, ...] = get_args(StateName)
COLOURS: tuple[Colour, ...] = get_args(Colour)
ROLES: tuple[Role, ...] = get_args(Role)
_HEX = re.compile("#[0-9a-fA-F]{6}")
_WEIGHTS = ("bold", "dim", "italic", "underline", "reverse", "")


@dataclass(frozen=True, slots=True)
class State:
    """How one state looks: a one-cell glyph, what stands for it in a C locale, a colour (`#rrggbb` or empty)."""

    glyph: str
    ascii: str
    colour: str
    weight: str


@dataclass(frozen=True)
class Theme:
    """One theme. `colours` is empty where the terminal's own are to be used (mono). `weights` are roles' attributes."""

    name: str
    title: str
    dark: bool
    colours: Mapping[Colour, str]
    states: Mapping[StateName, State]
    weights: Mapping[Role, str]
    ascii: bool = False

    @property
    def plain(self) -> bool:
        """Whether it names no colour at all."""
        return not self.colours

    def marks(self, presence: Presence, attention: Attention) -> tuple[tuple[str, StateName], ...]:
        """One or two glyphs with the state each stands for: attention first, and the dead glyph on every dead row,
        muted or not (cockpit.md, Channels)."""
        shown: list[StateName] = []
        if attention != "open":
            shown.append(attention)
        if presence != "online" or not shown:
            shown.append(presence)
        return tuple((self.glyph(name), name) for name in shown)

    def glyph(self, name: StateName) -> str:
        """One state's glyph, in ASCII where the terminal wants that."""
        return self.states[name].ascii if self.ascii else self.states[name].glyph

    @cached_property
    def styles(self) -> Mapping[Role, Style]:
        """The Rich style of each role, foreground and weight only; what stands behind is the widget's."""
        return dict(self._styles())

    def cursor(self, focused: bool) -> Style:
        """What a row wears under the cursor, fainter where the focus is elsewhere."""
        if self.plain:
            return Style(reverse=True) if focused else Style(underline=True)
        return Style(bgcolor=self.colours["cursor" if focused else "raised"])

    def _styles(self) -> Iterator[tuple[Role, Style]]:
        for role in ROLES:
            state = next((self.states[name] for name in STATES if name == role), None)
            weight = self.weights.get(role, "") if state is None else state.weight
            colour = self._colour(role) if state is None else state.colour
            yield role, Style.parse(f"{weight} {'' if self.plain else colour}".strip() or "none")

    def _colour(self, role: Role) -> str:
        named: dict[Role, Colour] = {
            "strong": "text", "title": "text", "rule-focus": "accent", "title-focus": "accent",
        }  # fmt: skip
        wanted = named.get(role, role)
        return next((colour for name, colour in self.colours.items() if name == wanted), "")

    def textual(self) -> TextualTheme:
        """The same palette for what Textual itself paints: the input, scrollbars, backgrounds."""
        if self.plain:
            return _plain(self.name, self.dark)
        tone = self.colours
        return TextualTheme(
            name=self.name, primary=tone["accent"], accent=tone["accent"], warning=tone["warn"],
            error=tone["error"], success=tone["ok"], foreground=tone["text"], background=tone["background"],
            surface=tone["background"], panel=tone["raised"], dark=self.dark,
            variables={
                "scrollbar": tone["rule"], "scrollbar-hover": tone["dim"], "scrollbar-active": tone["accent"],
                "scrollbar-background": tone["background"], "scrollbar-background-hover": tone["background"],
                "scrollbar-background-active": tone["background"], "scrollbar-corner-color": tone["background"],
                "input-cursor-background": tone["text"], "input-cursor-foreground": tone["background"],
                "input-selection-background": tone["cursor"], "input-selection-foreground": tone["text"],
                "quiet": tone["dim"], "raised": tone["raised"], "edge": tone["rule"], "lit": tone["accent"],
            },
        )  # fmt: skip


def _plain(name: str, dark: bool) -> TextualTheme:
    own = "ansi_default"
    names = ("scrollbar", "scrollbar-hover", "scrollbar-active", "scrollbar-background",
             "scrollbar-background-hover", "scrollbar-background-active", "scrollbar-corner-color", "quiet",
             "raised", "edge", "lit", "border", "border-blurred", "input-selection-background",
             "input-selection-foreground", "input-cursor-background", "input-cursor-foreground",
             "ansi-background", "ansi-foreground", "screen-selection-background",
             "screen-selection-foreground")  # fmt: skip
    return TextualTheme(
        name=name, primary=own, secondary=own, warning=own, error=own, success=own, accent=own, foreground=own,
        background=own, surface=own, panel=own, boost=own, dark=dark, ansi=True,
        variables=dict.fromkeys(names, own) | {"input-cursor-text-style": "reverse"},
    )  # fmt: skip


def names(folder: Path) -> tuple[str, ...]:
    """The themes of a folder, by name."""
    return tuple(sorted(path.stem for path in folder.glob("*.toml")))


def load(name: str, folder: Path, *, ascii_only: bool = False) -> Theme:
    """The theme `name` of `folder`, or the file that `name` is a path of. Raises UsageError."""
    path = Path(name) if name.endswith(".toml") else folder / f"{name}.toml"
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        known = names(folder)
        close = nearest(name, known)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(known) or 'none'}"
        raise UsageError(f"no theme {name!r}: {hint}") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"theme {path}: {error}") from error
    return _theme(path, data, ascii_only)


def _theme(path: Path, data: Mapping[str, object], ascii_only: bool) -> Theme:
    known = ("title", "dark", "colours", "weights", "states")
    for field in data:
        if field not in known:
            raise UsageError(f"theme {path}: no field {field!r}; there are {', '.join(known)}")
    colours = _table(path, data, "colours", COLOURS)
    for colour, value in colours.items():
        if not isinstance(value, str) or not _HEX.fullmatch(value):
            raise UsageError(f"theme {path}: colours.{colour} is {value!r}, not #rrggbb")
    missing = [colour for colour in COLOURS if colours and colour not in colours]
    if missing:
        raise UsageError(f"theme {path}: colours.{missing[0]} is missing")
    weights = _table(path, data, "weights", ROLES)
    states = _table(path, data, "states", STATES)
    return Theme(
        name=path.stem,
        title=str(data.get("title", path.stem)),
        dark=data.get("dark") is not False,
        colours={colour: str(colours[colour]) for colour in COLOURS if colour in colours},
        states={name: _state(path, name, states.get(name)) for name in STATES},
        weights={role: _weight(path, f"weights.{role}", weights[role]) for role in ROLES if role in weights},
        ascii=ascii_only,
    )


def _table(path: Path, data: Mapping[str, object], field: str, known: tuple[str, ...]) -> Mapping[str, object]:
    table = data.get(field, {})
    if not isinstance(table, Mapping):
        raise UsageError(f"theme {path}: {field} is no table")
    for name in table:
        if name not in known:
            raise UsageError(f"theme {path}: no field {field}.{name}; there are {', '.join(known)}")
    return table


def _state(path: Path, name: str, given: object) -> State:
    if not isinstance(given, Mapping):
        raise UsageError(f"theme {path}: states.{name} is missing")
    glyph, plain = given.get("glyph"), given.get("ascii")
    if not isinstance(glyph, str) or len(glyph) != 1:
        raise UsageError(f"theme {path}: states.{name}.glyph is {glyph!r}, not one character")
    if not isinstance(plain, str) or len(plain) != 1 or not plain.isascii():
        raise UsageError(f"theme {path}: states.{name}.ascii is {plain!r}, not one ASCII character")
    colour = given.get("colour", "")
    if not isinstance(colour, str) or (colour and not _HEX.fullmatch(colour)):
        raise UsageError(f"theme {path}: states.{name}.colour is {colour!r}, not #rrggbb")
    return State(glyph, plain, colour, _weight(path, f"states.{name}.weight", given.get("weight", "")))


def _weight(path: Path, field: str, given: object) -> str:
    if not isinstance(given, str) or any(word not in _WEIGHTS for word in given.split(" ")):
        raise UsageError(f"theme {path}: {field} is {given!r}; it is made of {', '.join(_WEIGHTS[:-1])}")
    return given


def ascii_wanted(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether the locale is the C locale by name.

    Python itself sets LC_CTYPE to C.UTF-8 where it finds LANG=C, so LC_CTYPE is believed only where LANG is not C.
    """
    first = environ.get("LC_ALL") or ""
    if first:
        return first in {"C", "POSIX"}
    ctype, lang = environ.get("LC_CTYPE", ""), environ.get("LANG", "")
    return ctype in {"C", "POSIX"} or (lang in {"C", "POSIX"} and ctype in {"", "C.UTF-8"})
