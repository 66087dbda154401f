"""A recipe says who listens to what. It is read and checked whole before anything starts (cockpit.md, Recipes).

`load` gives a `Recipe` or raises RecipeError with one line; `check_keys` is asked before agents start.
"""

from cockpit.recipe.gate import Behavior, Conditional, Gate, Match, RateLimit, Rule
from cockpit.recipe.grant import CAPABILITY_PATHS, covers
from cockpit.recipe.load import check_keys, load
from cockpit.recipe.program import find_command
from cockpit.recipe.recipe import Recipe, Resident, Server, Subconscious
from cockpit.recipe.sections import Feed, Intercom, Limits, McplServer, McpServer, ModelSettings, Prices, Provider
from cockpit.recipe.show import bare_url, check, describe, listing

__all__ = [
    "CAPABILITY_PATHS",
    "Behavior",
    "Conditional",
    "Feed",
    "Gate",
    "Intercom",
    "Limits",
    "Match",
    "McpServer",
    "McplServer",
    "ModelSettings",
    "Prices",
    "Provider",
    "RateLimit",
    "Recipe",
    "Resident",
    "Rule",
    "Server",
    "Subconscious",
    "bare_url",
    "check",
    "check_keys",
    "covers",
    "describe",
    "find_command",
    "listing",
    "load",
]
