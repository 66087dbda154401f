"""Help: the keys of the pane one came from, and all verbs, from the same tables that bind and parse them."""

from __future__ import annotations

from collections.abc import Sequence

from cockpit.core.verbs import VERBS
from cockpit.ui.keys import SCOPES, Key, Scope, of_scope
from cockpit.ui.paint import Part
from cockpit.ui.screens.sheet import Sheet
from cockpit.ui.text import own
from cockpit.ui.widgets.reader import Item

_KEY_COLUMN = 12


def help_sheet(keys: Sequence[Key], scope: Scope) -> Sheet:
    """Help as `?` shows it in a pane: that pane's keys first. keys: as the operator has them."""
    scopes: list[Scope] = [scope, "anywhere"] if scope in {"composer", "move"} else [scope, "move", "anywhere"]
    scopes += [other for other in SCOPES if other not in scopes and other != "search"]
    items: list[Item] = []
    for place in dict.fromkeys(scopes):
        items.append(Item(place, (Part(own(SCOPES[place]), "strong"),), own(""), indent=0))
        items += [_key(key) for key in of_scope(place, keys=keys)]
        items.append(Item(f"{place} end", (), own("")))
    items.append(Item("verbs", (Part(own("Verbs"), "strong"),), own("   (after : in the composer)"), "dim"))
    for verb in VERBS:
        items.append(Item(f"usage {verb.name}", (Part(own("  ")),), own(verb.usage), "accent", 4))
        items.append(Item(f"does {verb.name}", (Part(own("      ")),), own(verb.does)))
    return Sheet(own("help"), items)


def _key(key: Key) -> Item:
    head = (Part(own(f"  {key.shown:<{_KEY_COLUMN}}"), "accent"),)
    return Item(key.id, head, own(key.does), indent=_KEY_COLUMN + 2)
