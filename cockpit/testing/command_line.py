"""How one command of the command line ended, as tests compare it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Done:
    """code: the exit code. output: standard output, whole. errors: standard error's lines."""

    code: int
    output: str
    errors: tuple[str, ...]


Cockpit = Callable[..., Done]
"""`cockpit("init", "x.toml", given="scout\\n")` runs one command; given is its standard input."""
