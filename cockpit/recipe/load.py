"""From what the operator named to a whole, checked recipe; or one line that says what is wrong, and where."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from cockpit.errors import RecipeError
from cockpit.recipe.connectome import connectome_document, is_connectome
from cockpit.recipe.explain import problems
from cockpit.recipe.host import host_document
from cockpit.recipe.json_lines import json_lines
from cockpit.recipe.recipe import Recipe
from cockpit.recipe.sections import Document
from cockpit.recipe.source import Problem, Source, shown
from cockpit.recipe.toml_lines import toml_lines
from cockpit.recipe.values import nearest, quote
from cockpit.recipe.whole import assemble
from cockpit.shipped import shipped_recipes

LONGEST = 1_048_576
"""Bytes of a recipe; more is no recipe."""

_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def load(reference: str, env: Mapping[str, str]) -> Recipe:
    """Read and check a recipe whole; nothing is started and nothing is written.

    reference: the name of one that ships, a path to a TOML file, or to a host's `.mcp.json`. env: the variables
    that `${NAME}` may name. Raises RecipeError, one line: `FILE:LINE: FIELD: what is wrong` (R-5).
    """
    file, path = _find(reference)
    text = _read(file, path)
    if not text.strip():
        raise RecipeError(f"{shown(file)}: is empty: `cockpit init` writes a first recipe")
    if path.suffix.lower() == ".json":
        return _from_json(file, path, text, env)
    return _from_toml(file, path, text, env)


def check_keys(recipe: Recipe, env: Mapping[str, str]) -> None:
    """Raises RecipeError where an agent's provider needs a key that `env` does not have.

    Apart from `load`, so that a recipe can be checked on a machine without keys. No key is ever shown (R-7).
    """
    missing: dict[str, Problem] = {}
    for agent in recipe.agents:
        name = agent.model.api_key_env
        if agent.model.provider == "anthropic" and not env.get(name, "").strip():
            text = f'the variable {name} is not set; provider "anthropic" needs it (provider "offline" needs none)'
            written = ((*table, "api_key_env") for table in (agent.place, ("model",)))
            path = next((each for each in written if each in recipe.source.lines), ("model", "api_key_env"))
            missing.setdefault(name, Problem(path, text, (name,)))
    if missing:
        raise recipe.source.error(missing.values())


def _find(reference: str) -> tuple[str, Path]:
    """What to call the recipe, and where it is."""
    ships = shipped_recipes()
    if reference in ships:
        return ships[reference].name, ships[reference]
    path = Path(reference).expanduser() if reference.startswith("~/") else Path(reference)
    if "/" in reference or path.suffix.lower() in {".toml", ".json"} or _is_there(path, reference):
        return reference, path
    close = nearest(reference, ships)
    raise RecipeError(
        f"no recipe {quote(reference)}: neither a file nor one that ships ({', '.join(ships)}); nearest: {close}"
    )


def _is_there(path: Path, reference: str) -> bool:
    """Whether it is a file or a folder. What the system cannot even look for is none."""
    try:
        return bool(reference) and path.exists()
    except OSError:
        return False


def _read(file: str, path: Path) -> str:
    try:
        with path.open("rb") as stream:
            data = stream.read(LONGEST + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else "no such file"
        raise RecipeError(f"{shown(file)}: cannot be read: {why}") from None
    if len(data) > LONGEST:
        raise RecipeError(f"{shown(file)}: cannot be read: longer than {LONGEST} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RecipeError(f"{shown(file)}:{line}: not UTF-8 text") from None


def _from_toml(file: str, path: Path, text: str, env: Mapping[str, str]) -> Recipe:
    # The reader treats both line ends alike, and so must the counting.
    text = text.replace("\r\n", "\n")
    try:
        data = tomllib.loads(text)
        source = Source(file, path, text, toml_lines(text))
    except RecursionError:
        raise RecipeError(f"{shown(file)}: not TOML: nested too deep") from None
    except ValueError as error:
        raise RecipeError(_toml_error(file, text, str(error))) from None
    return assemble(_validated(data, source, env), source)


def _toml_error(file: str, text: str, said: str) -> str:
    found = _TOML_PLACE.search(said)
    last = text.count("\n") + (not text.endswith("\n"))
    line = last if found is None or found.group(1) is None else int(found.group(1))
    return f"{shown(file)}:{line}: not TOML: {shown(_TOML_PLACE.sub('', said))}"


def _from_json(file: str, path: Path, text: str, env: Mapping[str, str]) -> Recipe:
    try:
        data = json.loads(text)
        lines, repeated = json_lines(text)
    except RecursionError:
        raise RecipeError(f"{shown(file)}: not JSON: nested too deep") from None
    except json.JSONDecodeError as error:
        raise RecipeError(f"{shown(file)}:{error.lineno}: not JSON: {shown(error.msg)}") from None
    except ValueError as error:
        raise RecipeError(f"{shown(file)}: not JSON: {shown(str(error))}") from None
    source = Source(file, path, text, lines)
    if repeated:
        raise source.error(Problem(each, "is given twice") for each in repeated)
    read = connectome_document if is_connectome(data) else host_document
    document, source, warnings = read(data, source, env)
    return assemble(_validated(document, source, env), source, warnings)


def _validated(data: object, source: Source, env: Mapping[str, str]) -> Document:
    try:
        return Document.model_validate(data, context={"env": env})
    except ValidationError as error:
        found = list(problems(error.errors(include_url=False), Document))
    # Outside the handler, so that no traceback can carry what a secret field held.
    raise source.error(found)
