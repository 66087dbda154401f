"""Finds the line of every key and array item of a JSON text, and the keys that one object holds twice."""

from __future__ import annotations

import json
import re
from bisect import bisect_left

from cockpit.recipe.source import Path

_SPACE = re.compile(r"[ \t\r\n]*")


def json_lines(text: str) -> tuple[dict[Path, int], tuple[Path, ...]]:
    """The one-based line of each path of `text`, which `json` has read without an error; and the repeated keys."""
    scan = _Scan(text)
    scan.value(())
    return scan.lines, tuple(scan.repeated)


class _Scan:
    """One pass over a valid text. `at` is the offset of the next character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[Path, int] = {}
        self.repeated: list[Path] = []
        self.decoder = json.JSONDecoder()
        self.breaks = [place for place, letter in enumerate(text) if letter == "\n"]

    def value(self, path: Path) -> None:
        self.space()
        self.lines[path] = bisect_left(self.breaks, self.at) + 1
        match self.text[self.at]:
            case "{":
                self.table(path)
            case "[":
                self.array(path)
            case _:
                self.scalar()
        self.space()

    def table(self, path: Path) -> None:
        self.at += 1
        self.space()
        seen: set[str] = set()
        while self.text[self.at] != "}":
            line = bisect_left(self.breaks, self.at) + 1
            key = str(self.scalar())
            self.space()
            self.at += 1
            inner = (*path, key)
            if key in seen:
                self.repeated.append(inner)
            seen.add(key)
            self.value(inner)
            self.lines[inner] = line
            self.comma()
        self.at += 1

    def array(self, path: Path) -> None:
        self.at += 1
        self.space()
        place = 0
        while self.text[self.at] != "]":
            self.value((*path, place))
            place += 1
            self.comma()
        self.at += 1

    def scalar(self) -> object:
        found: object
        found, self.at = self.decoder.raw_decode(self.text, self.at)
        return found

    def comma(self) -> None:
        if self.text[self.at] == ",":
            self.at += 1
            self.space()

    def space(self) -> None:
        found = _SPACE.match(self.text, self.at)
        self.at = self.at if found is None else found.end()
