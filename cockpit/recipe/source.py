"""A recipe's text with the line of every key in it, so that each refusal can say where (R-5)."""

from __future__ import annotations

import pathlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from cockpit.errors import RecipeError

MOST_NAMED = 8
"""Variables that one line names."""

Path = tuple[str | int, ...]
"""Where a value stands: keys of tables and zero-based places in arrays, from the root."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, at one place. `text` is part of a line and holds no secret (R-7). unset: the variables
    that it says are not set."""

    path: Path
    text: str
    unset: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """One recipe's text. file: as the operator is told it. disk: where it was read. lines: one-based, by path.
    aliases: where a value that was made from another really stands (a host's `.mcp.json` has its own words)."""

    file: str
    disk: pathlib.Path
    text: str = field(repr=False)
    lines: Mapping[Path, int] = field(repr=False)
    aliases: Mapping[Path, Path] = field(default_factory=dict, repr=False)

    def line(self, path: Path) -> int:
        """The line of `path`, or of the nearest table around it that is written down; 1 for the root."""
        place = self.origin(path)
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)

    def origin(self, path: Path) -> Path:
        """`path` in the words of the file."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.aliases:
                return self.aliases[path[:length]] + path[length:]
        return path

    def say(self, problem: Problem) -> str:
        """`FILE:LINE: FIELD: what is wrong`, one line whatever the file holds."""
        place = self.origin(problem.path)
        where = f"{shown(self.file)}:{self.line(problem.path)}: "
        return f"{where}{spell(place)}: {problem.text}" if place else f"{where}{problem.text}"

    def error(self, problems: Iterable[Problem]) -> RecipeError:
        """The error to raise: the first problem in the file's order, every variable that is not set, so that all can
        be set at once, and how many more problems there are."""
        first, *others = sorted(problems, key=lambda each: self.line(each.path))
        unset = dict.fromkeys(name for each in others for name in each.unset if name not in first.unset)
        rest = sum(not each.unset for each in others)
        also = f"; {'also ' if first.unset else ''}not set: {_named(unset, MOST_NAMED - len(first.unset))}"
        return RecipeError(self.say(first) + (also if unset else "") + (f" … and {rest} more" if rest else ""))


def _named(names: Iterable[str], most: int) -> str:
    """`A, B and 3 more`, at least one of them by name."""
    listed = list(names)
    told, rest = listed[: max(1, most)], len(listed) - max(1, most)
    return ", ".join(told) + (f" and {rest} more" if rest > 0 else "")


def spell(path: Path) -> str:
    """`mcpl[0].env.TOKEN`; a key that is no bare word is quoted."""
    written = ""
    for part in path:
        if isinstance(part, int):
            written += f"[{part}]"
        else:
            bare = (
                clipped(part) if part and all(each.isalnum() or each in "_-" for each in part) else clipped(repr(part))
            )
            written += f".{bare}" if written else bare
    return written


def shown(text: str) -> str:
    """`text` if it can stand in one line as it is, else its repr."""
    return clipped(text if text.isprintable() else repr(text), 200)


def clipped(text: str, longest: int = 60) -> str:
    """At most `longest` code points of `text`."""
    return text if len(text) <= longest else text[: longest - 1] + "…"
