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
from cockpit.errors import UsageError
from cockpit.ui.text import Safe, own
from cockpit.ui.words import short

_FIELDS = ("bell", "notify", "ring_every")


@dataclass(frozen=True, slots=True)
class Alerts:
    """What the operator asked for. every: seconds between two rings, at least."""

    bell: bool = False
    notify: bool = False
    every: float = 10.0


def settings(path: Path) -> Alerts:
    """`bell = true`, `notify = true`, `ring_every = "10s"`, each where it is there. Raises UsageError with the file and
    the field."""
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"settings {path}: {error}") from error
    for name in data:
        if name not in _FIELDS:
            close = nearest(name, _FIELDS)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(_FIELDS)}"
            raise UsageError(f"settings {path}: no field {name!r}; {hint}")
    for name in ("bell", "notify"):
        if not isinstance(data.get(name, False), bool):
            raise UsageError(f"settings {path}: {name} is {data[name]!r}, not true or false")
    try:
        every = parse_duration(str(data.get("ring_every", "10s")))
    except ValueError as error:
        raise UsageError(f"settings {path}: ring_every is {data['ring_every']!r}: {error}") from error
    return Alerts(data.get("bell") is True, data.get("notify") is True, every)


SILENT = Alerts()
"""Nothing rings."""


def asked(path: Path | None, *, bell: bool, notify: bool) -> Alerts:
    """The file's settings, where there is one, with what the command line asks for on top. Raises UsageError."""
    kept = SILENT if path is None else settings(path)
    return replace(kept, bell=kept.bell or bell, notify=kept.notify or notify)


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
