"""Under which name a bridge's client acts: its own, made plain, and never one that means somebody else."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

OPERATOR = "operator"
"""The actor of whoever sits at this machine: the screen, and the operator's own clients of the socket."""

NAMELESS = "mcp-client"

_LONGEST = 40
_TAKEN = ("operator", "engine", "system", "recipe", "resident", "residents", "subconscious")


def client_name(given: str, taken: Iterable[str] = ()) -> str:
    """`given` as letters, digits, dots, dashes and underscores, at most 40 of them; `mcp-client` where nothing is left.

    A name of the host's own, or one of `taken` (agents, participants, the operator's handle), gets `-client` after it.
    """
    plain = re.sub(r"[^\w.-]+", "-", unicodedata.normalize("NFKC", given))[:_LONGEST].strip("-.")
    name = plain or NAMELESS
    others = {each.casefold() for each in (*_TAKEN, *taken)}
    while name.casefold() in others:
        name = f"{name}-client"
    return name
