"""The dump: what a resident receives of the messages that were kept from it, fitted to the smallest reader.

It is one message that cannot be forged from inside and is never longer than the bound, unless the frame alone is
(semantics.md section 4). The fit takes lines newest first and says when nothing older can be shown any more, so that
a backlog of any size costs what is shown of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from cockpit.core.text import inert, inert_channel, inert_cut, inert_name

Tag = Literal["tuned-out-backlog", "muted-backlog"]

CUT_MARK = "[cut to fit; the whole message is in the channel's history]"
NOTHING_DIVERTED = "No messages were diverted."

_EMPTY = "[empty]"
_SHORTEST_LINE = len("a: t\n")


@dataclass(frozen=True, slots=True)
class Dump:
    """A dump as it is stored. `messages` counts the whole backlog, `shown` the lines (one that was cut too, D-6), and
    `truncated` those left out, by the cap or by the fit (D-8)."""

    text: str
    messages: int
    shown: int
    truncated: int


def bound_of(max_message_tokens: Iterable[int | None]) -> int | None:
    """The bound of a dump in code points (D-4): four for each token of the smallest reader among the residents. None,
    no bound, where none of them has a cap."""
    return min((tokens * 4 for tokens in max_message_tokens if tokens is not None), default=None)


class Fit:
    """A dump being built from its newest line on.

    notice: the host's own line, given whole. channel: the channel id, raw. messages: the count of the whole backlog.
    cap: lines at most (D-3). bound: code points at most, the notice included, or None. Offer lines while `wants`
    holds, then `finish`.
    """

    def __init__(self, *, notice: str, channel: str, tag: Tag, messages: int, cap: int, bound: int | None) -> None:
        self._notice = notice
        self._tag = tag
        self._opening = f'<{tag} channel="{inert_channel(channel)}" messages={messages}'
        self._messages = messages
        self._limit = max(0, min(cap, messages))
        self._bound = bound
        self._newest: tuple[str, str] | None = None
        self._lines: list[str] = []  # newest first
        self._used = 0
        self._fitting = 0
        self._following = ""
        self._wants = self._limit > 0 and self._reaches(1, _SHORTEST_LINE)

    @property
    def wants(self) -> bool:
        """Whether an older line could still be shown."""
        return self._wants

    def offer(self, author: str, text: str) -> bool:
        """Take the next older message, raw as `render` gave it, and say whether an older one could still be shown.

        A text too long for every step is not written out. An empty one counts as `[empty]`.
        """
        if not self._wants:
            return False
        name = inert_name(author)
        text = text or _EMPTY
        self._newest = self._newest or (name, text)
        self._wants = self._take(name, text)
        return self._wants

    def _take(self, name: str, text: str) -> bool:
        shown = len(self._lines) + 1
        if not self._reaches(shown, self._used + len(name) + len(text) + len(": \n")):
            return False  # writing a text never makes it shorter
        line = f"{name}: {inert(text, follows=self._following)}"
        used = self._used + len(line) + len("\n")
        if not self._reaches(shown, used):
            return False
        self._lines.append(line)
        self._used = used
        self._following = name
        if self._room(shown, used) >= 0:
            self._fitting = shown
        return shown < self._limit and self._reaches(shown + 1, used + _SHORTEST_LINE)

    def _reaches(self, shown: int, used: int) -> bool:
        """Whether this step fits, or the last one may (D-5). Any step between is longer than this one: a line costs
        more than the digit it may save. The last alone loses the whole `truncated=…`."""
        if self._room(shown, used) >= 0:
            return True
        rest = (self._messages - shown) * _SHORTEST_LINE
        return self._limit == self._messages and self._room(self._messages, used + rest) >= 0

    def _room(self, shown: int, used: int) -> float:
        """What the bound leaves over beside the frame with `shown` lines and `used` code points of them."""
        if self._bound is None:
            return float("inf")
        return self._bound - len(self._text(shown, ())) - used

    def finish(self) -> Dump:
        """The dump of what was offered: as many of the newest whole as fit, else the newest cut, else none."""
        if self._messages <= 0:
            return Dump(f"{self._notice}\n\n{NOTHING_DIVERTED}", 0, 0, 0)
        lines = self._lines[: self._fitting] or self._cut()
        shown = len(lines)
        return Dump(self._text(shown, lines[::-1]), self._messages, shown, self._messages - shown)

    def _cut(self) -> list[str]:
        """The newest line, cut to end at the bound (D-6); empty where not one character of it fits."""
        if self._newest is None or self._bound is None:
            return []
        name, text = self._newest
        room = self._bound - len(self._text(1, [f"{name}:  {CUT_MARK}"]))
        part = inert_cut(text, room)
        return [f"{name}: {part} {CUT_MARK}"] if part else []

    def _text(self, shown: int, lines: Sequence[str]) -> str:
        left_out = self._messages - shown
        truncated = f" truncated={left_out} (oldest; fetch_history covers the rest)" if left_out else ""
        opening = f"{self._notice}\n\n{self._opening}{truncated}>"
        return "\n".join([opening, *lines, f"</{self._tag}>"])


def compose(
    *, notice: str, channel: str, tag: Tag, cap: int, bound: int | None, lines: Sequence[tuple[str, str]]
) -> Dump:
    """The dump of a whole backlog: `lines` are (author, text), both raw, oldest first."""
    fit = Fit(notice=notice, channel=channel, tag=tag, messages=len(lines), cap=cap, bound=bound)
    for author, text in reversed(lines):
        if not fit.wants:
            break
        fit.offer(author, text)
    return fit.finish()
