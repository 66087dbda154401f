"""Tags of a message: expanded by the closure that needs no server's word, and never trusted (mcpl.md 9.2)."""

from __future__ import annotations

from cockpit.core.inputs import Change
from cockpit.core.message import Json

_IMPLIED: dict[str, tuple[str, ...]] = {
    "chat:mention": ("chat:addressed",),
    "chat:reply": ("chat:addressed",),
    "chat:dm": ("chat:addressed", "chat:private"),
}
_LIFE_CYCLE = ("chat:edited", "chat:deleted", "chat:reaction", "chat:reaction-remove")
_CHANGES: dict[str, Change] = {"chat:edited": "edited", "chat:deleted": "deleted"}
_MOST_TAGS = 64
_LONGEST_TAG = 256


def expand(given: Json) -> tuple[str, ...]:
    """The tags as they hold: strings without a namespace are none, each once, and what mention, reply and dm imply.

    What is addressed is not ambient. At most 64 of at most 256 code points are read."""
    if not isinstance(given, list):
        return ()
    found = dict.fromkeys(
        tag for tag in given[:_MOST_TAGS] if isinstance(tag, str) and tag.find(":") > 0 and len(tag) <= _LONGEST_TAG
    )
    for tag in tuple(found):
        for implied in _IMPLIED.get(tag, ()):
            found.setdefault(implied)
    if "chat:addressed" in found:
        found.pop("chat:ambient", None)
    return tuple(found)


def life_cycle(tags: tuple[str, ...]) -> str | None:
    """The first tag that says that this is about an earlier message; creation has none."""
    return next((tag for tag in tags if tag in _LIFE_CYCLE), None)


def change(tags: tuple[str, ...]) -> Change:
    """Whether it edits or deletes the message whose id it carries."""
    return next((_CHANGES[tag] for tag in tags if tag in _CHANGES), "")
