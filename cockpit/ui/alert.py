"""The bell and the desktop notice: off unless asked for, rare, and silent about whatever is muted (cases.md F-17).

They are asked for in `settings.toml` of the configuration folder or by `--bell` and `--notify`. A notice names a
channel and counts; it holds no word that came over one.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from cockpit.core.duration import parse_duration
from cockpit.core.events import ChannelChanged
from cockpit.core.verbs import nearest
from cockpit.ui.keymap import line_of
from cockpit.ui.text import Safe, own
from cockpit.ui.words import short

_FIELDS = ("bell", "notify", "ring_every")


@dataclass(frozen=True, slots=True)
class Alerts:
    """What the operator asked for. every: seconds between two rings, at least."""

    bell: bool = False
    notify: bool = False
    every: float = 10.0


def settings(path: Path) -> tuple[Alerts, tuple[str, ...]]:
    """`bell = true`, `notify = true`, `ring_every = "10s"`, each where it is there; and what is wrong, a line each with
    the file and the field. A wrong field is as if it was not there, and the rest holds."""
    try:
        text = path.read_text("utf-8")
        data = tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        return SILENT, (f"settings {path}: {error}",)
    wrong = {name: why for name, value in data.items() if (why := _wrong(name, value))}
    good = {name: value for name, value in data.items() if name not in wrong}
    alerts = Alerts(good.get("bell") is True, good.get("notify") is True)
    if "ring_every" in good:
        alerts = replace(alerts, every=parse_duration(str(good["ring_every"])))
    return alerts, tuple(f"settings {path}{line_of(name, text)}: {why}" for name, why in wrong.items())


def _wrong(name: str, value: object) -> str:
    """What is wrong with one field, or empty."""
    if name not in _FIELDS:
        close = nearest(name, _FIELDS)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(_FIELDS)}"
        return f"no field {name!r}; {hint}"
    if name != "ring_every":
        return "" if isinstance(value, bool) else f"{name} is {value!r}, not true or false"
    try:
        parse_duration(str(value))
    except ValueError as error:
        return f"ring_every is {value!r}: {error}"
    return ""


SILENT = Alerts()
"""Nothing rings."""


def asked(path: Path | None, *, bell: bool, notify: bool) -> tuple[Alerts, tuple[str, ...]]:
    """The file's settings, where there is one, with what the command line asks for on top; and what is wrong in it."""
    kept, wrong = (SILENT, ()) if path is None else settings(path)
    return replace(kept, bell=kept.bell or bell, notify=kept.notify or notify), wrong


class Ringer:
    """Told of every change of the rows; says what the terminal is to be sent. elapsed: seconds that only go forward."""

    def __init__(self, alerts: Alerts, elapsed: Callable[[], float]) -> None:
        self._alerts = alerts
        self._elapsed = elapsed
        self._rang = float("-inf")

    def ring(
        self, before: Mapping[str, ChannelChanged], rows: Iterable[ChannelChanged], *, total: int, looking: bool
    ) -> str:
        """What rings where `need` rose on a row that is not muted, or nothing: at most once in `every` seconds, and
        never while somebody is looking. before: the rows as they were. total: the sum of all needs now."""
        if not (self._alerts.bell or self._alerts.notify) or looking:
            return ""
        risen = [row for row in rows if not row.gone and row.attention != "muted" and row.need > _need(before, row)]
        now = self._elapsed()
        if not risen or now - self._rang < self._alerts.every:
            return ""
        self._rang = now
        bell = "\x07" if self._alerts.bell else ""
        return f"{bell}\x1b]9;{_notice(risen, total)}\x1b\\" if self._alerts.notify else bell


def _need(before: Mapping[str, ChannelChanged], row: ChannelChanged) -> int:
    known = before.get(row.target)
    return 0 if known is None else known.need


def _notice(risen: list[ChannelChanged], total: int) -> Safe:
    """Counts and a channel's name, cleaned: nothing that somebody wrote."""
    more = f" and {len(risen) - 1} more need" if len(risen) > 1 else " needs"
    return own(f"cockpit: {short(risen[-1].target)}{more} you ({total} in all)")
