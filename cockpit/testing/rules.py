"""Which test pins which rule and which case: a page made from the numbers that tests carry.

`python -m cockpit.testing.rules`, at the project's root, writes tests/RULES.md anew; a test fails when it is stale. A
number counts where it stands in a test's name, docstring or comments; one in a module's docstring counts for the file.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PAGE = Path("tests/RULES.md")
OWN = "test_rules_page.py"
"""The page's own test, whose numbers are examples."""

ALL = {
    "A": "1-11",
    "D": "1-11",
    "M": "1-14",
    "N": "1-9",
    "R": "1-8",
    "S": "1-9",
    "T": "1-22",
    "V": "1-10",
    "K": "1-2 4-7 9-10 12-13 16-27 30-32 35-40 43-46 48-56 59 61 64-68 70-71 73 75-77 79-81 83-86 88-90 94-95 97-99 "
    "101-102 105-108 110-111 113-117 119-120 122-123 125-127 129-132",
    "F": "1-2 4-5 7-11 13-15 17 19-21 23-24 26-27 29-32 34-36 38-39 41-44 46-47 49-51",
}
"""Every rule of the contract and every case, by letter."""

_WRITTEN = re.compile(r"\b([ADFKMNRSTV])-(\d+)\b")
_MORE = re.compile(r"\s*(,|and|to|\.\.)\s*(?:([ADFKMNRSTV])-)?(\d+)\b(?!\s*(?:%|s\b|ms\b|messages|wakes))")
_NAMED = re.compile(r"_([adfkmnrstv])(\d+)(?=_|$)")


def numbers(spelled: str) -> list[int]:
    """`1-3 7` as [1, 2, 3, 7]."""
    found: list[int] = []
    for part in spelled.split():
        first, _, last = part.partition("-")
        found.extend(range(int(first), int(last or first) + 1))
    return found


def every() -> list[str]:
    """All of them, such as `A-1`, rules before cases."""
    return [f"{letter}-{number}" for letter, spelled in ALL.items() for number in numbers(spelled)]


def named(text: str) -> set[str]:
    """The numbers that a text carries, `T-1 to T-3` and `K-1, 2` written out."""
    found: set[str] = set()
    for first in _WRITTEN.finditer(text):
        letter, number, place = first[1], int(first[2]), first.end()
        found.add(f"{letter}-{number}")
        while more := _MORE.match(text, place):
            if more[2] is not None and more[2] != letter:
                break
            to = int(more[3])
            if more[1] in {"to", ".."}:
                found |= {f"{letter}-{each}" for each in range(number, to + 1)}
            found.add(f"{letter}-{to}")
            number, place = to, more.end()
    return found


def pins(folder: Path) -> dict[str, list[str]]:
    """Which tests carry each number; a test by its file and name, a whole file by its path."""
    known = set(every())
    found: dict[str, set[str]] = {}
    for path in sorted(set(folder.rglob("test_*.py")) - {folder / OWN}):
        for where, text in _texts(path, path.relative_to(folder).as_posix()):
            for rule in named(text) & known:
                found.setdefault(rule, set()).add(where)
    return {rule: sorted(tests) for rule, tests in found.items()}


def page(folder: Path) -> str:
    """The page as it should be."""
    found = pins(folder)
    lines = [
        "# Which test pins which rule",
        "",
        "Made by `python -m cockpit.testing.rules` from the numbers that tests carry; a test fails when it is stale.",
        "",
    ]
    lines += [f"- **{rule}** " + ", ".join(f"`{test}`" for test in found[rule]) for rule in every() if rule in found]
    missing = [rule for rule in every() if rule not in found]
    lines += ["", "## Not yet pinned by number", "", ", ".join(missing) or "None.", ""]
    return "\n".join(lines)


def _texts(path: Path, name: str) -> Iterator[tuple[str, str]]:
    """Each test of a file with its source and the comment above it, and the file itself with its docstring."""
    source = path.read_text(encoding="utf-8")
    rows = source.splitlines()
    tree = ast.parse(source)
    yield name, ast.get_docstring(tree) or ""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield f"{name}::{node.name}", ast.get_docstring(node) or ""
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or not node.name.startswith(
            ("test_", "check_")
        ):
            continue
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)]) - 1
        while first and rows[first - 1].lstrip().startswith("#"):
            first -= 1
        said = "\n".join(rows[first : node.end_lineno])
        short = " ".join(f"{letter.upper()}-{number}" for letter, number in _NAMED.findall(node.name))
        yield f"{name}::{node.name}", f"{said}\n{short}"


def main() -> None:
    PAGE.write_text(page(PAGE.parent), encoding="utf-8")


if __name__ == "__main__":
    main()
