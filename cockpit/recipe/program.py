"""Finds the program that a recipe names."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path


def find_command(command: str, env: Mapping[str, str]) -> str | None:
    """The program that `command` means: as PATH has it, else beside the running interpreter, or None.

    The second place makes a recipe work from a virtual environment that is not activated.
    """
    found = shutil.which(command, path=env.get("PATH", ""))
    if found is None and "/" not in command:
        found = shutil.which(command, path=str(Path(sys.executable).parent))
    return found
