"""Finds the line of every key and array item of a TOML text, which the standard library's reader does not tell."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left

from cockpit.recipe.source import Path

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)+")
_SPACE = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_QUOTED = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?:"{0,2})'
    r"|'''.*?'''(?:'{0,2})"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}#\n]+")


def toml_lines(text: str) -> dict[Path, int]:
    """The one-based line of each key path of `text`, which `tomllib` has read without an error.

    A table's line is that of its first header, or of the first key that implies it.
    """
    return _Scan(text).document()


class _Scan:
    """One pass over a valid text. `at` is the offset of the next character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[Path, int] = {}
        self.items: dict[Path, int] = {}
        self.breaks = [place for place, letter in enumerate(text) if letter == "\n"]

    def document(self) -> dict[Path, int]:
        table: Path = ()
        self.blank()
        while self.at < len(self.text):
            if self.text.startswith("[", self.at):
                table = self.header()
            else:
                self.pair(table)
            self.blank()
        return self.lines

    def header(self) -> Path:
        """`[a.b]` or `[[a.b]]`; a name that is an array of tables means its newest item."""
        start = self.at
        width = 2 if self.text.startswith("[[", self.at) else 1
        self.at += width
        keys = self.keys()
        self.at += width
        path: Path = ()
        for place, key in enumerate(keys):
            path = (*path, key)
            self.note(path, start)
            if width == 2 and place == len(keys) - 1:
                self.items[path] = self.items.get(path, 0) + 1
            if path in self.items:
                path = (*path, self.items[path] - 1)
                self.note(path, start)
        return path

    def pair(self, table: Path) -> None:
        start = self.at
        path = table
        for key in self.keys():
            path = (*path, key)
            self.note(path, start)
        self.at += 1
        self.value(path)

    def keys(self) -> list[str]:
        """A dotted key, up to the `=` or `]` that ends it."""
        found: list[str] = []
        while True:
            self.space()
            match = _BARE_KEY.match(self.text, self.at)
            if match:
                found.append(match.group())
                self.at = match.end()
            else:
                found.append(_unquoted(self.quoted()))
            self.space()
            if not self.text.startswith(".", self.at):
                return found
            self.at += 1

    def value(self, path: Path) -> None:
        self.space()
        match self.text[self.at]:
            case "[":
                self.array(path)
            case "{":
                self.inline(path)
            case '"' | "'":
                self.quoted()
            case _:
                self.at = _end(_SCALAR, self.text, self.at)

    def array(self, path: Path) -> None:
        self.at += 1
        self.blank()
        place = 0
        while not self.text.startswith("]", self.at):
            self.note((*path, place), self.at)
            self.value((*path, place))
            place += 1
            self.comma()
        self.at += 1

    def inline(self, path: Path) -> None:
        self.at += 1
        self.blank()
        while not self.text.startswith("}", self.at):
            self.pair(path)
            self.comma()
        self.at += 1

    def comma(self) -> None:
        self.blank()
        if self.text.startswith(",", self.at):
            self.at += 1
            self.blank()

    def quoted(self) -> str:
        start = self.at
        self.at = _end(_QUOTED, self.text, self.at)
        return self.text[start : self.at]

    def blank(self) -> None:
        self.at = _end(_BLANK, self.text, self.at)

    def space(self) -> None:
        self.at = _end(_SPACE, self.text, self.at)

    def note(self, path: Path, at: int) -> None:
        self.lines.setdefault(path, bisect_left(self.breaks, at) + 1)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return at if found is None else found.end()


def _unquoted(key: str) -> str:
    return next(iter(tomllib.loads(f"{key} = 0")))
