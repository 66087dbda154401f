"""What the palette offers, as plain values: every verb of the registry and every key of the place one came from.

Made from `VERBS` and `KEYS` alone, so it cannot disagree with them. What a choice does is said before it is done: the
very lines that run, or the line that goes to the composer because a value is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from cockpit.core.verbs import BY_NAME, VERBS, Param, Verb
from cockpit.ui import lines
from cockpit.ui.keys import BY_ID, Key, Scope, of_scope
from cockpit.ui.text import Safe, own

_ALSO = {"peek": "table.peek"}
"""Verbs that a second key of the table says too, by its id: one entry has both."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One line of the palette. verb: what it says; None where it only moves about the screen, by the `action` of a key
    of `scope`.

    refused: it writes, and this cockpit is read-only. run: the verb lines that it says, in order. ask: the line that
    goes to the composer instead, because the verb needs a value that only the operator has.
    """

    id: str
    name: str
    does: str
    key: str = ""
    verb: Verb | None = None
    action: str = ""
    scope: Scope = "anywhere"
    refused: bool = False
    run: tuple[str, ...] = ()
    ask: str = ""


@dataclass(frozen=True, slots=True)
class Around:
    """Where a palette is opened. keys: as the operator has them. targets: the marked rows, or the one under the cursor.
    agent: the resident that is shown. defaults: the recipe's for a tune-out."""

    keys: Sequence[Key]
    scope: Scope
    targets: Sequence[str] = ()
    agent: str = ""
    defaults: Mapping[str, str] = field(default_factory=dict)
    read_only: bool = False


def choices(around: Around) -> tuple[Choice, ...]:
    """Everything that can be done from there: verbs in the registry's order, then keys."""
    return (*(_of_verb(verb, around) for verb in VERBS), *_moves(around.keys, around.scope))


def refusal(verb: Verb) -> Safe:
    """What a read-only screen says of a verb that writes."""
    return own(f"read-only: {verb.name} is refused here")


def matching(offered: Iterable[Choice], words: str) -> tuple[Choice, ...]:
    """Those that hold each of the words, in any case; what begins with the first one, by name, stands first."""
    wanted = words.casefold().split()
    found = [each for each in offered if all(word in _searched(each) for word in wanted)]
    first = wanted[0] if wanted else ""
    return tuple(sorted(found, key=lambda each: _rank(each, first)))


def _rank(choice: Choice, word: str) -> int:
    """0 for the name itself, then names that begin with it, then that hold it, then the rest; 0 for all without one."""
    name = choice.name.casefold()
    if not word or name == word:
        return 0
    return 1 if name.startswith(word) else 2 if word in name else 3


def _searched(choice: Choice) -> str:
    usage = choice.verb.usage if choice.verb is not None else ""
    return f"{choice.name} {choice.does} {usage}".casefold()


def _shown(verb: Verb, around: Around) -> str:
    """The verb's keys as people write them and as the operator has them."""
    known = {key.id: key.shown for key in around.keys}
    other = known.get(_ALSO.get(verb.name, ""), "") if around.scope == "table" else ""
    own = next((known[id_] for id_, verbs in BY_ID.items() if verb in verbs and id_ in known), "")
    return f"{own} {other}".strip() or ("Esc Esc" if verb.key == "escape escape" else verb.key or "")


def _of_verb(verb: Verb, around: Around) -> Choice:
    wants = [param for param in verb.params if param.required]
    on = around.targets if any(param.kind == "target" for param in wants) else ()
    on = on if verb.writes else on[:1]  # one answer is shown at a time
    missing = [param for param in wants if param.kind != "target" or not on]
    run: tuple[str, ...] = ()
    ask = ""
    if verb.name == "tune-out" and len(on) == 1:
        ask = lines.tune_out(on[0], around.defaults)
    elif missing:
        ask = _begun(verb, on, missing)
    elif verb.name == "tune-out":
        run = tuple(lines.tune_out(target, around.defaults) for target in on)
    elif on:
        run = tuple(lines.verb_line(verb, target=target) for target in on)
    else:
        run = (lines.verb_line(verb, agent=around.agent) if around.agent else lines.verb_line(verb),)
    key, refused = _shown(verb, around), around.read_only and verb.writes
    return Choice(f"verb {verb.name}", verb.name, verb.does, key, verb, refused=refused, run=run, ask=ask)


def _begun(verb: Verb, targets: Sequence[str], missing: Sequence[Param]) -> str:
    """The verb with what is known, ending in the first name that is not."""
    given = lines.verb_line(verb, **({"target": targets[0]} if targets else {}))
    return f"{given} {missing[0].name}="


def _moves(keys: Sequence[Key], scope: Scope) -> Iterator[Choice]:
    """What is no verb: the keys of the pane and those that hold everywhere, but the one that opens this. One that is
    called as a verb is says what it is of."""
    for key in of_scope(scope, "anywhere", keys=keys):
        if key.id not in BY_ID and key.id not in {"go.palette", *_ALSO.values()}:
            name = key.id.partition(".")[2].replace("_", " ")
            name = f"{name} report" if name in BY_NAME and scope == "reports" else name
            yield Choice(f"key {key.id}", name, key.does, key.shown, action=key.action, scope=key.scope)
