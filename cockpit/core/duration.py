"""How long something lasts: what the operator writes (`30m`), and what notices show (`5 min 3 s`)."""

from __future__ import annotations

import math
import re

FORMS = "90, 90s, 30m, 2h or 1d"
"""How a duration may be written, for a sentence that refuses one."""

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_WRITTEN = re.compile(r"([+-]?)([0-9]+(?:\.[0-9]+)?)\s*([smhd]?)")
_NO_NUMBER = re.compile(r"[+-]?(?:nan|inf(?:inity)?)")


def parse_duration(text: str) -> float:
    """Seconds of `90`, `90s`, `30m`, `2h`, `1d` (cockpit.md, Verbs): a bare number is seconds, fractions are kept.

    Raises ValueError with a sentence that does not repeat `text`: negative, not finite, or written otherwise.
    """
    lowered = text.strip().lower()
    found = _WRITTEN.fullmatch(lowered)
    if found is None:
        if _NO_NUMBER.fullmatch(lowered):
            raise ValueError("a duration is a finite number")
        raise ValueError(f"a duration is written {FORMS}")
    sign, number, unit = found.groups()
    return finite(float(f"{sign}{number}") * _UNITS[unit])


def finite(seconds: float) -> float:
    """`seconds` as a duration in seconds. Raises ValueError on a boolean, NaN, an infinity or a negative number."""
    if isinstance(seconds, bool):
        raise ValueError("a duration is a number, not true or false")  # to every caller it is one refusal
    if not math.isfinite(seconds):
        raise ValueError("a duration is a finite number")
    if seconds < 0:
        raise ValueError("a duration cannot be negative")
    return float(seconds)


def spell(seconds: float) -> str:
    """`<duration>` of semantics.md section 1: the two largest units, the smaller one floored.

    `42 s`, `5 min 3 s`, `1 h 5 min`, `2 d 3 h`. A span that a clock made negative reads `0 s`.
    """
    whole = max(0, math.floor(seconds))
    minutes, second = divmod(whole, 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    if days:
        return f"{days} d {hour} h"
    if hours:
        return f"{hours} h {minute} min"
    if minutes:
        return f"{minutes} min {second} s"
    return f"{second} s"
