"""Where a key stands in its file, which neither reader of the standard library tells (R-5)."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cockpit.recipe.json_lines import json_lines
from cockpit.recipe.source import Path
from cockpit.recipe.toml_lines import toml_lines

TRICKY = '''\
# a comment with [brackets] = "and quotes
"quoted key" = 1
'literal.key' = 2
dotted . "key" . third = 3
text = """
[not.a.table]
key = "not one" \\
""quotes"" \\""" inside
"""
literal = \'\'\'
[[nor.this]] # '' \'\'\'
ends = """"two quotes at the end"""""
inline = { a = 1, "b c" = { d = [ { e = "]},#" }, 2 ] }, date = 1979-05-27 07:32:00Z }
array = [ # comment ]
  1, "two", # three
  [ { x = \'}\' },
    4 ],
]

[table . "sub.table"]
key = true
[[list]]
one = 1
[[list]]
one = 1
  [list.inner]
  x = 0x10
  [[list.inner.deep]]
  y = inf
  [[list.inner.deep]]
  y = -nan
[[list]]
last = 00:00:01
'''


def paths(data: object, at: Path = ()) -> Iterator[Path]:
    """Every path in what the reader gave."""
    if at:
        yield at
    if isinstance(data, dict):
        for key, value in data.items():
            yield from paths(value, (*at, key))
    elif isinstance(data, list):
        for place, value in enumerate(data):
            yield from paths(value, (*at, place))


def test_every_key_of_a_tricky_toml_text_is_found() -> None:
    assert set(toml_lines(TRICKY)) == set(paths(tomllib.loads(TRICKY)))


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("quoted key",), 2),
        (("literal.key",), 3),
        (("dotted", "key", "third"), 4),
        (("text",), 5),
        (("literal",), 10),
        (("ends",), 12),
        (("inline", "b c", "d", 0, "e"), 13),
        (("inline", "date"), 13),
        (("array",), 14),
        (("array", 1), 15),
        (("array", 2, 0, "x"), 16),
        (("array", 2, 1), 17),
        (("table", "sub.table", "key"), 21),
        (("list",), 22),
        (("list", 0, "one"), 23),
        (("list", 1), 24),
        (("list", 1, "inner", "x"), 27),
        (("list", 1, "inner", "deep", 0, "y"), 29),
        (("list", 1, "inner", "deep", 1), 30),
        (("list", 2, "last"), 33),
    ],
)
def test_a_path_has_the_line_it_is_written_on(path: Path, line: int) -> None:
    assert toml_lines(TRICKY)[path] == line


KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.integers(-9, 9) | st.booleans() | KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def as_toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{quoted(key)} = {as_toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[\n" + "".join(f"{as_toml(each)}, # ] }}\n" for each in value) + "]"
    if isinstance(value, str):
        return quoted(value)
    return json.dumps(value)


@given(st.dictionaries(KEYS, VALUES, max_size=4))
def test_whatever_the_values_are_each_key_is_found_on_its_line(data: dict[str, object]) -> None:
    text = ""
    begins: dict[Path, int] = {}
    for key, value in data.items():
        begins[(key,)] = text.count("\n") + 1
        text += f"{quoted(key)} = {as_toml(value)}\n"
    found = toml_lines(text)
    assert set(found) == set(paths(tomllib.loads(text)))
    assert {path: found[path] for path in begins} == begins


@given(VALUES)
def test_each_key_of_a_json_text_is_found(data: object) -> None:
    text = json.dumps(data, indent=2)
    found, repeated = json_lines(text)
    assert set(found) == {(), *paths(data)}
    assert repeated == ()


def test_a_json_key_has_the_line_it_is_written_on_and_a_repeated_one_is_told() -> None:
    text = '{\n  "a": {\n    "b": [\n      1,\n      {"c": "}"}]},\n  "a":\n   2\n}\n'
    found, repeated = json_lines(text)
    assert found[("a", "b")] == 3
    assert found[("a", "b", 1, "c")] == 5
    assert found[("a",)] == 6
    assert repeated == (("a",),)
