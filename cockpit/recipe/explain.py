"""Turns what pydantic found into sentences for an operator, each at its place in the file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import get_args

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from cockpit.recipe.fields import NO_RESIDENT
from cockpit.recipe.source import Path, Problem
from cockpit.recipe.values import Nested, kind_of, nearest, quote

_WANTED = {
    "string_type": "a string",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "an array",
    "dict_type": "a table",
    "mapping_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
}


def problems(errors: Iterable[ErrorDetails], section: type[BaseModel], at: Path = ()) -> Iterator[Problem]:
    """The problems of one validation of `section`, which stands at `at`. Values are shown only where the field is
    one of a few words or a number, never where it may hold a secret (R-7)."""
    found_here = list(errors)
    misspelled = {
        (error["loc"][:-1], nearest(str(error["loc"][-1]), _fields(section, error["loc"][:-1])))
        for error in found_here
        if error["type"] == "extra_forbidden"
    }
    for error in found_here:
        if error["type"] == "missing" and (error["loc"][:-1], error["loc"][-1]) in misspelled:
            continue  # it is there, under another name, and that is said
        path = (*at, *error["loc"])
        context: Mapping[str, object] = error.get("ctx") or {}
        match error["type"], context:
            case "nested", {"error": Nested(section=inner, errors=found)}:
                yield from problems(found, inner, path)
            case "default_factory_not_called", _:
                continue
            case "extra_forbidden", _:
                yield Problem(path, _unknown(path[-1], _fields(section, error["loc"][:-1])))
            case kind, _:
                yield Problem(path, _sentence(kind, error["loc"], error["input"], context), unset(context))


def unset(context: Mapping[str, object]) -> tuple[str, ...]:
    """The variables that a refusal of ours (values.refusal) says are not set."""
    match context.get("unset"):
        case tuple() as names:
            return tuple(map(str, names))
        case _:
            return ()


def _unknown(name: str | int, known: Sequence[str]) -> str:
    return f"unknown field; nearest: {nearest(str(name), known)}"


def _sentence(kind: str, loc: tuple[int | str, ...], given: object, context: Mapping[str, object]) -> str:
    match kind, context:
        case "recipe", {"text": str(text)}:
            return text
        case "missing", _:
            return NO_RESIDENT if loc == ("resident",) else "missing"
        case "literal_error", {"expected": str(expected)}:
            if not isinstance(given, str):
                return f"must be {expected}, not {kind_of(given)}"
            words = re.findall(r"'([^']*)'", expected)
            listed = ", ".join(map(repr, words))
            return f"{quote(given)} is none of {listed}; nearest: {nearest(given, words)}"
        case "greater_than_equal", {"ge": int() | float() as limit}:
            return f"must be at least {limit:g}, not {given}"
        case "greater_than", {"gt": int() | float() as limit}:
            return f"must be more than {limit:g}, not {given}"
        case "less_than_equal", {"le": int() | float() as limit}:
            return f"must be at most {limit:g}, not {given}"
        case "finite_number", _:
            return "must be a finite number"
        case (("model_type" | "model_attributes_type" | "tuple_type"), _) if _is_table_of_tables(loc, given):
            return f"must be an array of tables: write [[{loc[0]}]], not [{loc[0]}]"
        case _ if kind in _WANTED:
            return f"must be {_WANTED[kind]}, not {kind_of(given)}"
        case _:
            return "is not a value that this field takes"


def _is_table_of_tables(loc: tuple[int | str, ...], given: object) -> bool:
    return len(loc) == 1 and isinstance(given, Mapping)


def _fields(section: type[BaseModel], loc: Sequence[int | str]) -> tuple[str, ...]:
    """The field names of the table at `loc` inside `section`."""
    for part in loc:
        if isinstance(part, str):
            found = _section_of(section.model_fields[part].annotation)
            section = section if found is None else found
    return tuple(section.model_fields)


def _section_of(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for inner in get_args(annotation) if (found := _section_of(inner))), None)
