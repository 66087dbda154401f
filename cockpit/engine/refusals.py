"""What the audit keeps of a verb that was refused before any act saw it: misread, misspelt, of no channel, read-only.

A refusal of a verb that only reads changes nothing and would have changed nothing: it is answered and not audited, nor
is a line that names no verb. What somebody wanted to say is never copied (R-7, K-123).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import assert_never

from cockpit.core.message import Json
from cockpit.core.target import KINDS
from cockpit.core.text import clip, sanitise
from cockpit.core.verbs import BY_NAME, VERBS, Command, nearest
from cockpit.core.world import Actor
from cockpit.engine.acts import Acts
from cockpit.errors import CockpitError, StoreError, ToolError, VerbCode, VerbError

WORDS, NAME = 300, 120
"""Characters that are kept: of a reason, and of a verb's word or a target as it was typed."""

TOOLS: Mapping[str, str] = {
    "tune_out": "tune-out",
    "cancel_tune_out": "cancel",
    "cancel_tuneout": "cancel",
    "mute_channel": "mute",
    "unmute_channel": "unmute",
    "channel_open": "open",
    "channel_close": "close",
    "intercom_send": "say",
}
"""The verb that each of an agent's tools is."""

READ = 4000
"""Characters of a line that are searched for its verb and target: a line has no bound, and the loop waits."""

_TARGET = re.compile(r"""(?:^|\s)target=(?:"([^"]*)|'([^']*)|(\S+))""", re.IGNORECASE)
_QUOTED = re.compile(r"""(?:^|(?<=[\s=]))(["']).*?(?:\1|$)""", re.DOTALL)
_KIND = re.compile(rf"""(?:^|\s)["']?((?:{"|".join(KINDS)}):\S+)""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Refusal:
    """One row in the making. target: as it was typed, or empty."""

    verb: str
    target: str
    why: str


def refused(line: str, command: Command | None, error: VerbError) -> Refusal | None:
    """What the audit keeps of a refused line; None where it keeps nothing. command: None where it was not read."""
    word = verb_word(line)
    verb = command.verb if command is not None else BY_NAME.get(word.lower())
    if verb is None:
        close = [BY_NAME[each] for each in nearest(word, (each.name for each in VERBS if each.writes))]
        if not (_explicit(line) or close):
            return None
        aimed = bool(close) and not any(each.says for each in close)  # else what looks like a target may be words
        near = _target(line) if aimed else ""
        return Refusal(_one_line(word, NAME), _one_line(near, NAME), f"no verb {_one_line(word, NAME)!r}")
    if not verb.writes:
        return None
    if verb.says:
        return Refusal(verb.name, "", unquoted(error))
    typed = command.target if command is not None else _target(line) if verb.param("target") is not None else ""
    return Refusal(verb.name, _one_line(typed or "", NAME), _one_line(str(error), WORDS))


def unquoted(error: CockpitError) -> str:
    """Why words were not said, without any of them: an error may quote what it refuses."""
    if not isinstance(error, VerbError):
        return "refused"
    code: VerbCode = error.code
    match code:
        case "read_only" | "not_running" | "refused" | "already":
            return _one_line(str(error), WORDS)
        case "missing_value":
            return "a value is missing"
        case "bad_value" | "wrong_kind":
            return "a value is wrong"
        case "unknown_target" | "ambiguous_target":
            return "there is nobody of that name"
        case "unknown_verb":
            return "there is no such verb"
        case _:
            assert_never(code)


def verb_word(line: str) -> str:
    """The verb of a line that could not be read, as far as it can be told. What is quoted, or said, holds none."""
    words = _bare(line).removeprefix(":").split()
    said = BY_NAME.get(words[0].lower()) if words else None
    if said is not None and said.says:
        return words[0]
    word = next((each for each in words if each.lower().startswith("go=")), words[0] if words else "")
    return word[3:] if word.lower().startswith("go=") else word


@dataclass(frozen=True, slots=True)
class AuditedTools:
    """An agent's own tools, with an audit row for what they refuse before any act has seen it. inner: the tools."""

    actor: Actor
    acts: Acts
    inner: Callable[[str, Mapping[str, Json]], Awaitable[str]]

    async def call(self, name: str, values: Mapping[str, Json]) -> str:
        try:
            return await self.inner(name, values)
        except (ToolError, VerbError) as error:
            verb = TOOLS.get(name)
            if verb is not None and (isinstance(error, ToolError) or BY_NAME[verb].says):  # acts audit their own
                said, given = BY_NAME[verb].says, values.get("channel")
                typed = given if isinstance(given, str) and not said else ""
                with suppress(ToolError):
                    typed = str(self.acts.directory.find(typed))
                why = unquoted(error) if said else str(error)
                await record(self.acts, Refusal(verb, _one_line(typed, NAME), _one_line(why, WORDS)), self.actor)
            raise


async def record(acts: Acts, refusal: Refusal, actor: Actor) -> None:
    """Write it, under the channel's own name where the typed one means a channel. A store that fails was told of."""
    kind, colon, name = refusal.target.partition(":")
    target = f"{kind.strip().lower()}:{name.strip()}" if colon else refusal.target
    if target.startswith("channel:") and acts.directory.get(target) is None:
        with suppress(ToolError):
            target = str(acts.directory.find(name.strip()))
    with suppress(StoreError):
        await acts.refuse(refusal.verb, target, actor, refusal.why)


def _explicit(line: str) -> bool:
    return any(each.lower().startswith("go=") for each in _bare(line).split())


def _bare(line: str) -> str:
    """A line without what stands in quotes, unless that is the name of a verb."""

    def kept(found: re.Match[str]) -> str:
        inside = found.group().strip("\"'")
        return inside if inside.lower().removeprefix("go=") in BY_NAME else "_"

    return _QUOTED.sub(kept, line[:READ].strip())


def _target(line: str) -> str:
    """The target of a line that could not be read, as far as it can be told."""
    named = _TARGET.search(line, 0, READ)
    if named is not None:
        return next(filter(None, named.groups()), "")
    bare = _KIND.search(line, 0, READ)
    return "" if bare is None else bare.group(1)


def _one_line(text: str, most: int) -> str:
    flat = " ".join(sanitise(text[: 4 * most]).split())
    return flat if len(flat) <= most and len(text) <= 4 * most else f"{clip(flat, most)}…"
