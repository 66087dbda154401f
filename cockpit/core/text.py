"""How foreign text is written so that it cannot forge what the host writes, and where it may be cut.

`inert` and its kin apply semantics.md D-9, `clip` and `cut` D-7, `render` D-10. Lengths are code points throughout.
What is written for one character is an escape (`&lt;`, `&quot;`, a newline and two spaces) and is never cut in two.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import assert_never
from unicodedata import category, normalize

from wcwidth import iter_graphemes

from cockpit.core.message import Block, Media, Text, Thinking, ToolResult, ToolUse

UNKNOWN = "unknown"
"""What stands for an author, or a header field, of which nothing is left."""

NAME_LIMIT = 80
"""Code points of an author that are shown (D-9)."""

DUMP_TAGS = ("tuned-out-backlog", "muted-backlog")

_DETAIL_LIMIT = 200  # of a type, a mime or a name in a placeholder: a data URI may be megabytes
_BASE64_DIGITS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_INDENTED_BREAK = "\n  "

_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
# Unicode's default ignorables, the annotation controls and the blank braille cell: a reader sees none of them.
_HIDDEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_BLANK = rf"\s{_HIDDEN}"

_SURROGATE = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")
_LONE = re.compile("[\ud800-\udfff]")
_BREAK = re.compile("\r\n|[\n\x0b\x0c\r\x85\u2028\u2029]")
_CONTROL = re.compile(f"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff{_BIDI}]")
_FLATTENED = re.compile(f"\r\n|[\x00-\x1f\x7f-\x9f\u2028\u2029{_BIDI}]")
_LESS_THAN = re.compile("[<＜﹤]")
_LEADING_BLANKS = re.compile(f"^[{_BLANK}]+")
_SPACED_COLON = re.compile(f"([:：﹕︓∶꞉])[{_BLANK}]+")
_CLOSING_BRACKET = re.compile("[]］]")
_SEPARATORS = "·\u0387‧∙⋅—―"
_SPACED_SEPARATOR = re.compile(f"(?<![^{_BLANK}])[{_SEPARATORS}]|[{_SEPARATORS}](?![^{_BLANK}])")
_ESCAPE = re.compile(r"\n  |&(?:lt|quot|#93|middot|mdash);")
_LONGEST_ESCAPE = len("&middot;")
_HIDDEN_ONE = re.compile(f"[{_BLANK}{_REPLACEMENT}]")


def sanitise(text: str) -> str:
    """`text` as it may be stored: a surrogate pair is the character it means, a lone surrogate U+FFFD (D-7)."""
    return text if text.isascii() else _SURROGATE.sub(lambda found: _paired(found.group()), text)


def inert(text: str, *, follows: str = "") -> str:
    """A message's text as it may stand after `<author>: ` (D-9).

    Never shorter than `text`. `follows` is what the host will write on the next line: a tag that begins at the end
    of the text and ends there, in the name of the next author, is a tag as well.
    """
    return _written(text, _plain, follows=follows)[0]


def inert_cut(text: str, room: int) -> str:
    """The longest prefix of `inert(text)` of at most `room` code points that splits no character (D-6, D-7).

    Exact where `cut` has to guess: an `&lt;` that somebody typed is four characters, one that this module wrote is
    one. Writes no more of `text` than the room.
    """
    if room <= 0:
        return ""
    written, escapes = _written(text, _plain, stop=room + 1)

    def inside(at: int) -> bool:
        before = bisect_left(escapes, at)
        return "\n" in written[max(0, at - 2) : at] or (before > 0 and at - escapes[before - 1] < len("&lt;"))

    return written[: _end(written, room, inside)]


def inert_name(name: str) -> str:
    """An author as it may begin a line (D-9): at most NAME_LIMIT code points, no space at either end, none after a
    colon (full-width or look-alike colons too, nor anything blank or unseen), so that the first `: ` of a line is
    the host's. `unknown` where nothing is left that a reader can see. Idempotent."""
    clipped = cut(_LEADING_BLANKS.sub("", _flat(name)), NAME_LIMIT)
    return _SPACED_COLON.sub(r"\1", clipped).rstrip() or UNKNOWN


def inert_channel(channel: str) -> str:
    """A channel id as it may stand between the quotes of the opening tag (D-9)."""
    return _flat(channel).replace('"', "&quot;")


def header_field(text: str, limit: int | None = None) -> str:
    """One field of a header `[<channel> · <author> · <time>]` (N-3), of at most `limit` code points.

    Flattened as in D-9. What ends or parts a header or a notice is written as an escape: every `]` as `&#93;`, and
    a middle dot or em dash that has a blank or the field's end beside it as `&middot;` or `&mdash;`. So the first
    `]` ends the header, ` · ` parts its fields, and a name like `a·b` stays. `unknown` where nothing is left.
    """
    flat = _LEADING_BLANKS.sub("", _flat(text)).rstrip()
    field = _CLOSING_BRACKET.sub("&#93;", _SPACED_SEPARATOR.sub(_separator, flat))
    if limit is not None and len(field) > limit:
        # A separator that stood between letters must not stand bare at the new end.
        field = cut(field, limit).rstrip().rstrip(_SEPARATORS)
    return field or UNKNOWN


def notice_channel(channel: str) -> str:
    """A channel as it may stand in a bracket notice (`[Tune-out: <channel> cancelled — …]`): it can neither end the
    notice nor pose as its reason."""
    return header_field(channel)


def render(blocks: Sequence[Block], *, deleted: bool = False) -> str:
    """A message's content as text, raw (D-10): its blocks joined by newlines, each that is not text as a placeholder
    in its place. `[deleted]` for a deleted message, `[empty]` for one that says nothing. Never raises."""
    if deleted:
        return "[deleted]"
    if all(isinstance(block, Text) and not block.text for block in blocks):
        return "[empty]"
    return "\n".join(map(_rendered, blocks))


def placeholder(media: Media) -> str:
    """`[image image/png 34 kB]`, of decoded data (1 kB is 1,000 bytes, rounded up); without data its type and what
    it names, `[resource notes.txt]`. Data that is no base64 has no size; a mime is shown as it came, made inert."""
    if not media.data:
        return _bracketed(media.type, media.names)
    size = _decoded_size(media.data)
    return _bracketed(media.type, media.mime, None if size is None else f"{-(-size // 1000)} kB")


def clip(text: str, room: int) -> str:
    """The longest prefix of any text of at most `room` code points that splits no grapheme cluster (D-7, V-5)."""
    return text[: _end(text, room, lambda _: False)]


def cut(text: str, room: int) -> str:
    """`clip` for text that this module wrote: it splits no escape either. What was typed and reads like an escape
    counts as one."""
    return text[: _end(text, room, lambda at: _in_escape(text, at))]


def _rendered(block: Block) -> str:
    match block:
        case Text(text):
            return text
        case Media():
            return placeholder(block)
        case ToolUse(name=name):
            return _bracketed("tool_use", name)
        case ToolResult(content=content, is_error=failed):
            label = _bracketed("tool_result", "error" if failed else None)
            return "\n".join([*([label] if failed or not content else []), *map(_rendered, content)])
        case Thinking():
            return "[thinking]"
        case _:
            assert_never(block)


def _bracketed(kind: str, *details: str | None) -> str:
    shown = [header_field(word, _DETAIL_LIMIT) for word in (kind, *details) if word]
    return f"[{' '.join(shown) or UNKNOWN}]"


def _decoded_size(data: str) -> int | None:
    """Bytes that base64 `data` decodes to, plain or URL-safe, padded or not; None where it is no base64. Reckoned,
    not decoded: a dump may pass many megabytes."""
    digits = "".join(data.split()).rstrip("=")
    foreign = digits.encode("utf-8", "replace").translate(None, _BASE64_DIGITS)
    return None if foreign or len(digits) % 4 == 1 else len(digits) * 3 // 4


def _end(text: str, room: int, inside: Callable[[int], bool]) -> int:
    """The last boundary of `text` at or before `room` that is not inside an escape.

    Looks backward for a place where clusters surely part, and segments only from there: linear in the room at
    worst, and a few characters in ordinary text.
    """
    if len(text) <= room:
        return len(text)
    start = room = max(room, 0)
    while start and (not _surely_part(text[start - 1], text[start]) or inside(start)):
        start -= 1
    ends = list(accumulate(map(len, iter_graphemes(text[start : room + 1])), initial=start))
    while ends[-1] > start and (ends[-1] > room or inside(ends[-1])):
        ends.pop()
    return ends[-1]


def _surely_part(before: str, after: str) -> bool:
    """Whether a cluster boundary stands between two characters whatever is around them (UAX 29, GB4 and GB999)."""
    return before == "\n" or (" " <= before <= "~" and " " <= after <= "~")


def _in_escape(text: str, at: int) -> bool:
    starts = range(max(0, at - _LONGEST_ESCAPE + 1), at)
    found = (_ESCAPE.match(text, start) for start in starts)
    return any(escape is not None and escape.end() > at for escape in found)


def _written(
    text: str, write: Callable[[str], str], *, stop: int | None = None, follows: str = ""
) -> tuple[str, list[int]]:
    """The first `stop` code points of `text` with each `<` of a dump's tag as `&lt;` and the rest through `write`,
    and where in the result each `&lt;` stands. Whether a `<` begins a tag is read from the whole text."""
    end = len(text) if stop is None else min(stop, len(text))
    pieces: list[str] = []
    escapes: list[int] = []
    length = last = 0
    for found in _LESS_THAN.finditer(text, 0, end):
        if _begins_tag(text, found.end(), follows):
            piece = write(text[last : found.start()])
            escapes.append(length + len(piece))
            pieces += (piece, "&lt;")
            length = escapes[-1] + len("&lt;")
            last = found.end()
    pieces.append(write(text[last:end]))
    return "".join(pieces), escapes


def _begins_tag(text: str, at: int, follows: str) -> bool:
    """Whether what a reader would read from `at` on, and then in `follows`, is the name of a dump's tag."""
    read = ""
    for source, start in ((text, at), (follows, 0)):
        for index in range(start, len(source)):
            folded = _fold(source[index])
            if not folded:
                continue
            read = (read + folded).lstrip("/")
            if read.startswith(DUMP_TAGS):
                return True
            if not any(tag.startswith(read) for tag in DUMP_TAGS):
                return False
    return False


@lru_cache(maxsize=4096)
def _fold(char: str) -> str:
    """What `char` reads as inside a tag: nothing for blanks, hidden and format characters and marks; else its
    compatibility form in lower case (full-width, styled and ligated letters), every dash and every slash alike."""
    if char in "/⁄∕⧸╱":
        return "/"
    return "".join(
        "-" if category(one) == "Pd" or one == "−" else one
        for one in normalize("NFKD", char).casefold()
        if not _HIDDEN_ONE.match(one) and category(one) not in {"Cc", "Cf", "Cs", "Mn", "Me"}
    )


def _plain(text: str) -> str:
    return _CONTROL.sub(_REPLACEMENT, _BREAK.sub(_INDENTED_BREAK, text))


def _flat(text: str) -> str:
    return _written(text, lambda piece: _LONE.sub(_REPLACEMENT, _FLATTENED.sub(" ", piece)))[0]


def _separator(found: re.Match[str]) -> str:
    return "&mdash;" if found.group() in "—―" else "&middot;"


def _paired(surrogates: str) -> str:
    if len(surrogates) == 1:
        return _REPLACEMENT
    return surrogates.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
