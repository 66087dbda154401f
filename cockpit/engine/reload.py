"""Watches the recipe's file while the cockpit runs: `[gate]`, `[tune_out]` and `prices` apply at once.

For anything else it says that a restart is needed; a file that has become wrong changes nothing and says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from cockpit.core.events import Event, Failed
from cockpit.engine.clock import Clock
from cockpit.errors import RecipeError
from cockpit.recipe import Recipe, load

EVERY = 1.0
"""Seconds between two looks at the file."""


@dataclass(slots=True)
class Reload:
    """recipe as it was last applied. apply puts the live parts of a new one into force."""

    recipe: Recipe
    environment: Mapping[str, str]
    clock: Clock
    apply: Callable[[Recipe], None]
    emit: Callable[[Event], None]

    async def run(self) -> None:
        """Look, for ever."""
        path = self.recipe.source.disk
        never, seen = asyncio.Event(), _mark(path)
        while True:
            await self.clock.wait(never, EVERY)
            now = _mark(path)
            if now != seen:
                seen = now
                await self.look()

    async def look(self) -> None:
        """Read the file again and apply what can be applied."""
        try:
            fresh = await asyncio.to_thread(load, str(self.recipe.source.disk), self.environment)
        except RecipeError as error:
            self._say("recipe", f"the changed recipe is wrong, and nothing was changed: {error}")
            return
        old, self.recipe = self.recipe, fresh
        self.apply(fresh)
        applied = _differing(_live(old), _live(fresh))
        waiting = _differing(_fixed(old), _fixed(fresh))
        if applied:
            self._say("recipe", f"the recipe changed: {', '.join(applied)} applied")
        if waiting:
            self._say("restart", f"the recipe changed: {', '.join(waiting)} applies after a restart")

    def _say(self, code: str, text: str) -> None:
        self.emit(Failed(self.clock.wall(), code, text))


def _live(recipe: Recipe) -> dict[str, object]:
    return {
        "[gate]": recipe.gate,
        "[tune_out]": recipe.tune_out,
        "prices": [each.model.prices for each in recipe.agents],
    }


def _fixed(recipe: Recipe) -> dict[str, object]:
    """Everything else, by the table that says it."""
    agents = [replace(each, model=each.model.model_copy(update={"prices": None}), place=()) for each in recipe.agents]
    return {
        "name": recipe.name,
        "[[resident]], [subconscious] or [model]": agents,
        "[[mcp]]": recipe.mcp,
        "[[mcpl]]": recipe.mcpl,
        "[intercom]": recipe.intercom,
    }


def _differing(old: Mapping[str, object], new: Mapping[str, object]) -> list[str]:
    return [name for name in old if old[name] != new[name]]


def _mark(path: Path) -> tuple[int, int] | None:
    """What tells one version of the file from another; None while it is away."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
