"""What goes wrong on a connection, said to the operator in one line, and not ten thousand times.

A server may repeat any fault as fast as it can write; each kind is reported at its 1st, 10th, 100th, … time, and
`counts` keeps how often it really was.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable

from cockpit.core.text import clip, sanitise

_SHOWN = 300  # code points of a fault, a reason or a last word
_SHORTEST_SECRET = 6  # below it a value is a word like `true` that stands everywhere
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+")


def one_line(text: str, limit: int = _SHOWN) -> str:
    """`text` on one line without control or bidi characters, of at most `limit` code points and a mark."""
    flat = _UNPRINTABLE.sub(" ", sanitise(text[: 4 * limit])).strip()
    return flat if len(flat) <= limit else clip(flat, limit) + "…"


class Secrets:
    """The values of a server's environment, which must stand in no log and on no screen (R-7)."""

    def __init__(self, env: Iterable[tuple[str, str]]) -> None:
        found = [(value, f"[{name}]") for name, value in env if len(value) >= _SHORTEST_SECRET]
        self._texts = sorted(found, key=lambda pair: -len(pair[0]))
        self._bytes = [(value.encode("utf-8", "replace"), mark.encode()) for value, mark in self._texts]

    def hide(self, text: str) -> str:
        """`text` with each secret replaced by the name of its variable."""
        for value, mark in self._texts:
            text = text.replace(value, mark)
        return text

    def hide_bytes(self, data: bytes) -> bytes:
        for value, mark in self._bytes:
            data = data.replace(value, mark)
        return data


class Faults:
    """The faults of one server, counted by kind."""

    def __init__(self, report: Callable[[str], None], secrets: Secrets) -> None:
        self._report = report
        self._secrets = secrets
        self.counts: Counter[str] = Counter()

    def add(self, kind: str, detail: str = "") -> None:
        """Count one fault of this kind; say it where it is the 1st, 10th, 100th, … of them."""
        self.counts[kind] += 1
        count = self.counts[kind]
        if count == 10 ** (len(str(count)) - 1):
            said = f"{kind}: {detail}" if detail else kind
            self._report(self.line(said if count == 1 else f"{said} ({count} times so far)"))

    def line(self, text: str) -> str:
        """`text` fit for an operator: one line, no secret."""
        return one_line(self._secrets.hide(text))
