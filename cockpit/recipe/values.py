"""What every table of a recipe shares: its strictness, and the words in which a value is refused.

A sentence never repeats what may be a secret (R-7).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic import ValidationInfo as Info
from pydantic_core import ErrorDetails, PydanticCustomError

from cockpit.recipe.source import clipped

_M = TypeVar("_M", bound=BaseModel)

_LONGEST_WORD = 60


class Section(BaseModel):
    """A table of a recipe: unknown fields and values of another type are refused, and nothing changes later."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True)


def refusal(text: str, unset: Sequence[str] = ()) -> PydanticCustomError:
    """What a validator raises: `text` becomes the end of the operator's line as it is. unset: the variables that it
    says are not set."""
    return PydanticCustomError("recipe", "{text}", {"text": text, "unset": tuple(unset)})


@dataclass(frozen=True, slots=True)
class Nested:
    """What was wrong inside a field that has several forms, kept for `explain`."""

    section: type[BaseModel]
    errors: tuple[ErrorDetails, ...]


def nested(section: type[_M], value: object, info: Info) -> _M:
    """Validate one form of a field that has several, so that its problems keep their own places."""
    try:
        return section.model_validate(value, context=info.context)
    except ValidationError as error:
        found = Nested(section, tuple(error.errors(include_url=False)))
    # Outside the handler, so that no traceback can carry what a secret field held.
    raise PydanticCustomError("nested", "nested", {"error": found})


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that comes closest, however far it is; empty only where nothing is known."""
    words = {each.casefold(): each for each in known}
    found = get_close_matches(word[:_LONGEST_WORD].casefold(), list(words), 1, 0.0)
    return words[found[0]] if found else ""


def quote(text: str) -> str:
    """`text` between quotes, escaped and clipped, as a value that is no secret is shown."""
    return repr(clipped(text, _LONGEST_WORD))


def kind_of(value: object) -> str:
    """What TOML calls a value of this type, with its article."""
    match value:
        case bool():
            return "a boolean"
        case int():
            return "an integer"
        case float():
            return "a float"
        case str():
            return "a string"
        case Mapping():
            return "a table"
        case Sequence():
            return "an array"
        case None:
            return "null"
        case _:
            return "a date or time"
