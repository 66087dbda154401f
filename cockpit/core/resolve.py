"""Which channels a typed target means: one, several by a glob, or a refusal with the nearest candidates."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection

from cockpit.core.target import KINDS, Target
from cockpit.core.verbs import VERBS, Verb, nearest, repeated
from cockpit.errors import VerbError


def resolve(text: str, known: Collection[Target], verb: Verb) -> tuple[tuple[Target, ...], bool]:
    """The channels that `text` names, and whether it was a glob (which acts on each and reports each).

    What is written exactly always wins over a glob; `channel:ID` alone names the one channel with that id. Raises
    VerbError: `unknown_target`, `ambiguous_target`, or `wrong_kind` where the verb does not take that kind.
    """
    kind, _, name = text.strip().partition(":")
    lowered = kind.strip().lower()
    wanted = f"{lowered}:{name.strip()}"
    exact = [target for target in known if str(target) == wanted]
    if not exact and lowered == "channel":
        exact = sorted(target for target in known if target.kind == "channel" and target.id == name.strip())
        if len(exact) > 1:
            listed = ", ".join(map(str, exact))
            raise VerbError("ambiguous_target", f"{repeated(text)} names {len(exact)} channels: {listed}", listed)
    if exact:
        if exact[0].kind not in verb.kinds:
            raise VerbError("wrong_kind", wrong_kind(exact[0], verb), f"{verb.name} takes {', '.join(verb.kinds)}")
        return (exact[0],), False
    if "*" in text or "?" in text:
        found = _matching(wanted, known)
        if found:
            return found, True
    close = nearest(wanted if lowered in KINDS else text.strip(), [str(target) for target in known])
    close = close or tuple(str(target) for target in known if target.name.endswith(text.strip()))[:3]
    hint = f"did you mean {' or '.join(close)}?" if close else f"known: {_some(known)}"
    raise VerbError("unknown_target", f"no target {repeated(text)}; {hint}", ", ".join(close) or _some(known))


def wrong_kind(target: Target, verb: Verb) -> str:
    """Why the verb does not take this target, in one line."""
    return f"{verb.name} takes {' or '.join(f'{kind}:' for kind in verb.kinds)}, and {target} is none"


def complete(text: str, known: Collection[Target]) -> list[str]:
    """Whole lines that `text` could become by completing its last word; for Tab, never for Enter (F-24)."""
    head, space, last = text.rpartition(" ")
    prefix = f"{head}{space}"
    if not head.strip():
        lead = "go=" if last.lower().startswith("go=") else (":" if last.startswith(":") else "")
        word = last[len(lead) :].lower()
        return [f"{lead}{verb.name} " for verb in VERBS if verb.name.startswith(word)]
    first = head.split()[0].lower().removeprefix(":").removeprefix("go=")
    verb = next((each for each in VERBS if each.name == first), None)
    if verb is None:
        return []
    name, equals, value = last.partition("=")
    if equals:
        param = verb.param(name.lower())
        choices = () if param is None else param.choices
        if param is not None and param.kind == "target":
            choices = tuple(str(target) for target in known if target.kind in verb.kinds)
        return [f"{prefix}{name}={choice}" for choice in choices if choice.lower().startswith(value.lower())]
    targets = [f"{prefix}{target}" for target in known if target.kind in verb.kinds and str(target).startswith(last)]
    names = [f"{prefix}{param.name}=" for param in verb.params if param.name.startswith(last.lower())]
    has_target = verb.param("target") is not None and "target=" not in head and len(head.split()) == 1
    return ([*targets, *names] if has_target else names) if last or has_target else names


def _matching(pattern: str, known: Collection[Target]) -> tuple[Target, ...]:
    """Those that a glob of `*` and `?` names, however long it is and however many stars it has."""
    if len(pattern.replace("*", "")) > max((len(str(target)) for target in known), default=0):
        return ()
    written = re.sub(r"\*+", "*", pattern).replace("[", "[[]")
    glob = re.compile(fnmatch.translate(written))  # it never goes back over what a star has taken
    return tuple(target for target in known if glob.match(str(target)))


def _some(known: Collection[Target], most: int = 6) -> str:
    names = [str(target) for target in known]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
