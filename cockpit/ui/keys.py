"""Every key of the screen as data: what it is called, what it does, where it works.

Keys of verbs come from the one registry; what only moves about the screen is listed here. Bindings, the legend at the
bottom and help are all made from `KEYS`, so they cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from textual.binding import Binding, BindingType

from cockpit.core.verbs import Verb
from cockpit.ui.lines import KEYED

Scope = Literal["move", "table", "reports", "resident", "composer", "search", "palette", "peek", "sheet", "anywhere"]

SCOPES: dict[Scope, str] = {
    "table": "Channels",
    "reports": "Subconscious",
    "resident": "Resident",
    "composer": "Composer",
    "search": "Filter and search",
    "palette": "Palette",
    "peek": "Peek",
    "move": "Moving",
    "sheet": "Dialogs",
    "anywhere": "Everywhere but in the composer",
}


@dataclass(frozen=True, slots=True)
class Key:
    """One key. keys: Textual's names, comma between alternatives. shown: how people write it. foot: its word in the
    legend, empty where it has no place there. id: what a remapping names."""

    id: str
    keys: str
    shown: str
    does: str
    action: str
    scope: Scope
    foot: str = ""

    @property
    def at_once(self) -> bool:
        """Whether it is heeded in the order it was typed in, before any widget sees it: keys typed in one go act one
        after the other, and letters behind `:` are text. What is typed on a line keeps that line's own order."""
        return self.scope not in {"composer", "search", "palette"}


def _of_verb(key: str, verbs: tuple[Verb, ...]) -> Key:
    does = "; or ".join(verb.does for verb in verbs)
    target = verbs[0].param("target")
    at_message = verbs[0].param("message") is not None
    scope: Scope = "table" if target is not None and target.required else "peek" if at_message else "anywhere"
    return Key(f"verb.{verbs[0].name}", key, key, does, f"keyed('{key}')", scope, verbs[0].name.replace("-", " "))


_VERBS = tuple(_of_verb(key, verbs) for key, verbs in KEYED.items() if len(key) == 1)

BY_ID: Mapping[str, tuple[Verb, ...]] = {f"verb.{verbs[0].name}": verbs for verbs in KEYED.values()}
"""The verbs that a key of the table means, by the key's id."""

KEYS: tuple[Key, ...] = (
    *_VERBS,
    Key("table.peek", "enter", "Enter", "peek at the row, or open a fold", "enter", "table"),
    Key("table.mark", "space", "Space", "mark the row, to act on several together", "mark", "table"),
    Key("table.fold", "left", "←", "fold the server's channels", "fold('collapsed')", "table"),
    Key("table.unfold", "right", "→", "unfold them", "fold('open')", "table"),
    Key("reports.peek", "enter", "Enter", "peek at what the marked report speaks of", "enter", "reports",
        "peek"),
    Key("move.down", "j,down", "j ↓", "down", "step(1)", "move"),
    Key("move.up", "k,up", "k ↑", "up", "step(-1)", "move"),
    Key("move.page_down", "pagedown", "PgDn", "a page down", "page(1)", "move"),
    Key("move.page_up", "pageup", "PgUp", "a page up", "page(-1)", "move"),
    Key("move.first", "g,home", "g Home", "to the first", "edge(-1)", "move"),
    Key("move.last", "G,end", "G End", "to the last, and follow", "edge(1)", "move"),
    Key("go.next", "n", "n", "go to the next channel that needs someone", "next_in_need", "anywhere", "next"),
    Key("go.search", "slash", "/", "filter the channels, or search the pane", "search", "anywhere", "filter"),
    Key("go.verb", "colon", ":", "say a verb", "compose(':')", "anywhere", "verb"),
    Key("go.palette", "v", "v", "every verb and key by name: type to narrow", "palette", "anywhere", "palette"),
    Key("go.compose", "i", "i", "write to the resident", "compose('')", "anywhere"),
    Key("go.help", "question_mark", "?", "keys and verbs", "help", "anywhere", "help"),
    Key("go.pane", "tab", "Tab", "the next pane", "pane(1)", "anywhere"),
    Key("go.pane_back", "shift+tab", "Shift-Tab", "the pane before", "pane(-1)", "anywhere"),
    Key("go.agent_back", "left_square_bracket", "[", "the resident before", "agent(-1)", "anywhere"),
    Key("go.agent", "right_square_bracket", "]", "the next resident", "agent(1)", "anywhere"),
    Key("go.zoom", "z", "z", "this pane alone, and back", "zoom", "anywhere"),
    Key("go.hold", "P", "P", "hold the streams, and let them go", "hold", "anywhere"),
    Key("go.copy", "y", "y", "copy, and say where to", "copy", "anywhere"),
    Key("go.theme", "T", "T", "the next theme", "theme", "anywhere"),
    Key("go.save", "Y", "Y", "write it to a file, and say where", "save", "anywhere"),
    Key("go.log", "l", "l", "what went wrong and what was answered", "log", "anywhere"),
    Key("go.reconnect", "r", "r", "read the events again after they broke off", "reconnect", "anywhere"),
    Key("go.back", "escape", "Esc", "back one step; twice: interrupt the running turn", "back", "anywhere"),
    Key("go.interrupt", "ctrl+c", "Ctrl-C", "clear the composer; twice within 2 s: quit", "interrupt", "anywhere"),
    Key("go.suspend", "ctrl+z", "Ctrl-Z", "to the shell; fg comes back", "suspend", "anywhere"),
    Key("composer.run", "enter", "Enter", "run exactly what is written", "submit", "composer"),
    Key("composer.complete", "tab", "Tab", "complete a verb, or go to the next pane", "complete", "composer"),
    Key("composer.older", "up", "↑", "an earlier line", "older", "composer"),
    Key("composer.newer", "down", "↓", "a later line", "newer", "composer"),
    Key("composer.back", "escape", "Esc", "back to the pane", "back", "composer"),
    Key("composer.pane_back", "shift+tab", "Shift-Tab", "the pane before", "leave_back", "composer"),
    Key("composer.end", "ctrl+d", "Ctrl-D", "quit where the line is empty", "delete_or_quit", "composer"),
    Key("composer.clear", "ctrl+c", "Ctrl-C", "clear; twice within 2 s: quit", "interrupt", "composer"),
    Key("composer.suspend", "ctrl+z", "Ctrl-Z", "to the shell; fg comes back", "app.suspend_process", "composer"),
    Key("search.keep", "enter,tab", "Enter", "keep it", "keep", "search"),
    Key("search.drop", "escape,ctrl+c", "Esc", "forget it", "drop", "search"),
    Key("palette.run", "enter", "Enter", "do what is highlighted", "screen.run", "palette", "do it"),
    Key("palette.down", "down", "↓", "down", "screen.step(1)", "palette"),
    Key("palette.up", "up", "↑", "up", "screen.step(-1)", "palette"),
    Key("palette.page_down", "pagedown", "PgDn", "a page down", "screen.page(1)", "palette"),
    Key("palette.page_up", "pageup", "PgUp", "a page up", "screen.page(-1)", "palette"),
    Key("palette.close", "escape,ctrl+c", "Esc", "close, and do nothing", "screen.close", "palette", "close"),
    Key("sheet.close", "escape,q", "Esc q", "close", "close", "sheet", "close"),
    Key("sheet.interrupt", "ctrl+c", "Ctrl-C", "close", "close", "sheet"),
    Key("sheet.search", "slash", "/", "search", "search", "sheet", "search"),
    Key("sheet.again", "n", "n", "the next that matches", "again", "sheet", "next"),
    Key("sheet.copy", "y", "y", "copy the line", "copy", "sheet", "copy"),
)  # fmt: skip


FOOT = (
    "verb.mute", "verb.tune-out", "verb.cancel", "verb.peek", "reports.peek", "go.next", "go.search", "go.verb",
    "go.help", "verb.quit", "go.palette", "verb.open", "verb.kill", "verb.undo", "verb.audit", "verb.stats",
    "verb.context",
)  # fmt: skip
"""The order of the legend; what comes last gives way where the room is small."""

TOGETHER: tuple[tuple[Scope, ...], ...] = (
    ("table", "move", "anywhere"), ("reports", "move", "anywhere"), ("resident", "move", "anywhere"),
    ("peek", "sheet", "move"), ("composer",), ("search",), ("palette",),
)  # fmt: skip
"""The scopes that hold at one time: within each of these a key means one thing."""


def legend(keys: Iterable[Key], *scopes: Scope) -> list[Key]:
    """The keys of some places that have a word in the legend, in its order."""
    shown = [key for key in keys if key.foot and key.scope in scopes]
    return sorted(shown, key=lambda key: FOOT.index(key.id) if key.id in FOOT else len(FOOT))


def of_scope(*scopes: Scope, keys: Iterable[Key] = KEYS) -> tuple[Key, ...]:
    """The keys of some places, verbs first."""
    return tuple(key for key in keys if key.scope in scopes)


def bindings(*scopes: Scope) -> list[BindingType]:
    """The same as Textual wants them, each under the id by which it can be remapped."""
    return [
        Binding(key.keys, key.action, key.does, show=False, id=key.id, priority=key.at_once)
        for key in of_scope(*scopes)
    ]


def clashes(keys: Iterable[Key] = KEYS) -> list[str]:
    """Keys that two things of one place want, in sentences; none, unless somebody changed the tables."""
    listed = list(keys)
    found: dict[str, None] = {}
    for scopes in TOGETHER:
        seen: dict[str, Key] = {}
        for key in of_scope(*scopes, keys=listed):
            for name in key.keys.split(","):
                other = seen.setdefault(name, key)
                if other is not key:
                    found[f"{name} is both {other.id} and {key.id}"] = None
    return list(found)
