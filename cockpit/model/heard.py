"""A request read back into who said what and where.

The offline model is given what any model is given, so all it knows of channels, notices and dumps it reads from the
texts that the host wrote (semantics.md N-3, T-13, T-18, T-19, D-1). Whatever does not read as one of those is what
it was told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from cockpit.core.backlog import NOTHING_DIVERTED
from cockpit.core.message import Media, Text, ToolResult, ToolUse
from cockpit.core.request import Request
from cockpit.core.text import placeholder

_HEADER = re.compile(r"\[([^\]]*?) · ([^\]]*?) · (\d{4}-\d\d-\d\d \d\d:\d\dZ)\] ?(.*)", re.DOTALL)
_NOTICE = re.compile(r"\[[A-Z][A-Za-z -]{1,40}: .*\]|\[earlier [^\]]*\]")
_OPENING = re.compile(
    r'<(tuned-out-backlog|muted-backlog) channel="([^"]*)" messages=(\d+)(?: truncated=(\d+) [^>]*)?>'
)
_USED = re.compile(r"(.{1,80}?) used ([A-Za-z0-9_-]{1,64})")
_VOICED = re.compile(r"([^\n:]{1,80}): ")
_TRUNCATED = re.compile(r"\[truncated — original was \d+ tokens\]\Z")

_HOST_TOOLS = frozenset(
    re.findall(
        r"\S+",
        "tune_out cancel_tune_out mute_channel unmute_channel channel_list channel_open channel_close channel_publish "
        "fetch_history intercom_send deliver_summary cancel_tuneout note_disposition speak_in_channel think skip_reply "
        "end_turn",
    )
)


@dataclass(frozen=True, slots=True)
class Heard:
    """One message that came over a channel. `channel` as the host spells it; `text` without its indentation."""

    channel: str
    author: str
    time: str
    text: str


@dataclass(frozen=True, slots=True)
class Notice:
    """One system-framed line, brackets and all."""

    text: str


@dataclass(frozen=True, slots=True)
class Dumped:
    """One dump with its notice. `messages` counts the whole backlog, `lines` are those shown, oldest first."""

    notice: str
    channel: str
    messages: int
    truncated: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Voice:
    """Another agent's words, or, with `tool`, that it called one."""

    name: str
    text: str
    tool: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """Text without a header: the operator's own words."""

    text: str


@dataclass(frozen=True, slots=True)
class Own:
    """One assistant turn: what this agent itself said and called."""

    text: str
    uses: tuple[ToolUse, ...]


@dataclass(frozen=True, slots=True)
class Answered:
    """The result of one of its calls, as text."""

    tool_use_id: str
    text: str
    failed: bool


Item = Heard | Notice | Dumped | Voice | Told | Own | Answered


def read(request: Request) -> tuple[Item, ...]:
    """All that the request holds, in its order. Never raises, whatever the texts are."""
    voices = _voices(request)
    found: list[Item] = []
    for turn in request.messages:
        if turn.role == "assistant":
            uses = tuple(block for block in turn.blocks if isinstance(block, ToolUse))
            found.append(Own("\n".join(block.text for block in turn.blocks if isinstance(block, Text)), uses))
            continue
        pictured = False
        for block in turn.blocks:
            last = found[-1] if found else None
            if isinstance(block, Text) and pictured and isinstance(last, Heard) and block.text.startswith("  "):
                found[-1] = replace(last, text=f"{last.text}\n{_dedented(block.text)}")
            elif isinstance(block, Text):
                found.extend(_read_text(block.text, voices, request))
            elif isinstance(block, ToolResult):
                found.append(Answered(block.tool_use_id, _result(block.content), block.is_error))
            pictured = isinstance(block, Media)
    return tuple(found)


def quote_of(text: str, room: int) -> str:
    """The first line of a text that says something, of at most `room` characters, cut with an ellipsis."""
    first = next((line.strip() for line in text.split("\n") if line.strip()), "")
    return first if len(first) <= room else f"{first[: room - 1].rstrip()}…"


def _read_text(text: str, voices: frozenset[str], request: Request) -> Iterator[Item]:
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        header = _HEADER.fullmatch(line)
        if header:
            end = _while(lines, at + 1, lambda more: more.startswith("  "))
            said = "\n".join([header[4], *map(_dedented, lines[at + 1 : end])])
            mark = _TRUNCATED.search(said)
            yield Heard(header[1], header[2], header[3], said[: mark.start()].rstrip() if mark else said)
        elif _NOTICE.fullmatch(line):
            end, item = _framed(lines, at)
            yield item
        else:
            end = len(lines)
            yield from _words("\n".join(lines[at:]).strip(), voices, request)
        at = end


def _dedented(text: str) -> str:
    return "\n".join(line.removeprefix("  ") for line in text.split("\n"))


def _framed(lines: Sequence[str], at: int) -> tuple[int, Item]:
    """A notice line, and with it the dump that it announces. Returns where the next item begins."""
    notice, rest = lines[at], lines[at + 1 : at + 3]
    if len(rest) == 2 and not rest[0]:
        if rest[1] == NOTHING_DIVERTED:
            return at + 3, Dumped(notice, "", 0, 0, ())
        opening = _OPENING.fullmatch(rest[1])
        if opening:
            end = _while(lines, at + 3, lambda more: more != f"</{opening[1]}>")
            shown = tuple(_joined(lines[at + 3 : end]))
            return end + 1, Dumped(notice, opening[2], int(opening[3]), int(opening[4] or 0), shown)
    return at + 1, Notice(notice)


def _joined(lines: Iterable[str]) -> list[str]:
    """The lines of a dump, each with those that the host indented because they belong to it."""
    whole: list[str] = []
    for line in lines:
        if line.startswith("  ") and whole:
            whole[-1] += f"\n{line[2:]}"
        else:
            whole.append(line)
    return whole


def _words(text: str, voices: frozenset[str], request: Request) -> Iterator[Item]:
    """The rest of a block that no header and no notice began: one speaker's, whatever its lines look like."""
    lines = text.split("\n")
    calls: list[Voice] = []
    while lines and (used := _used(lines[-1], request)):
        calls.append(used)
        lines.pop()
    said = "\n".join(lines).strip()
    voiced = _VOICED.match(said)
    if voiced and voiced[1] in voices:
        yield Voice(voiced[1], said[voiced.end() :])
    elif said:
        yield Told(said)
    yield from reversed(calls)


def _voices(request: Request) -> frozenset[str]:
    """The names under which other agents may speak here: whoever is shown to have used a tool, the subconscious under
    its usual name, and whoever the system prompt names."""
    texts = [
        block.text
        for turn in request.messages
        if turn.role == "user"
        for block in turn.blocks
        if isinstance(block, Text)
    ]
    lines = [line for text in texts for line in text.split("\n")]
    prompt = "\n".join(part.text for part in request.system)
    spoken = {voiced[1] for line in lines if line[:1] not in {"[", " "} and (voiced := _VOICED.match(line))}
    named = {name for name in spoken if _names(prompt, name)}
    used = {voice.name for line in lines if (voice := _used(line, request))}
    return frozenset(named | used | {"Subconscious"}) - {request.agent}


def _names(prompt: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", prompt) is not None


def _used(line: str, request: Request) -> Voice | None:
    found = _USED.fullmatch(line)
    if not found:
        return None
    tool = found[2]
    known = tool in _HOST_TOOLS or "__" in tool or any(tool == one.name for one in request.tools)
    return Voice(found[1], "", tool) if known else None


def _while(lines: Sequence[str], at: int, holds: Callable[[str], bool]) -> int:
    while at < len(lines) and holds(lines[at]):
        at += 1
    return at


def _result(content: Iterable[Text | Media]) -> str:
    return "\n".join(part.text if isinstance(part, Text) else placeholder(part) for part in content)
