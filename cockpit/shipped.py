"""Finds what ships beside the code: in the package (a wheel), else beside it (a clone, an editable install). It knows
nothing of recipes, so that a theme is found before anything slow is imported."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import cockpit

Shipped = Literal["recipes", "themes"]


def shipped_dir(kind: Shipped) -> Path:
    """The folder of the recipes or themes that ship. Where neither place has it, the package's, which is empty."""
    package = Path(cockpit.__file__).resolve().parent
    beside = package.parent / kind
    inside = package / kind
    return beside if not inside.is_dir() and beside.is_dir() else inside


def shipped_recipes() -> dict[str, Path]:
    """The recipes that ship, by name, in alphabetical order."""
    return {path.stem: path for path in sorted(shipped_dir("recipes").glob("*.toml"))}
