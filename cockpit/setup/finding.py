"""One line of `cockpit doctor`: what was looked at, how it stands, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "note", "bad"]


@dataclass(frozen=True, slots=True)
class Finding:
    """state `bad`: the cockpit, or a part of it, cannot work so. next: what to do, empty where nothing is to be done.
    No text holds a secret (semantics.md R-7)."""

    state: State
    what: str
    says: str
    next: str = ""
