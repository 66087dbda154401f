"""The thin lines between the panes: title bars with a note at their right, and the upright rule with its joints.

A focused pane has a heavy bar: it shows without any colour (cases.md F-46).
"""

from __future__ import annotations

from collections.abc import Sequence

from cockpit.ui.look import Painted
from cockpit.ui.paint import Line, Part, measure
from cockpit.ui.text import Safe, cells, clip, own
from cockpit.ui.theme import Role


class TitleBar(Painted):
    """`── Channels ─────────── 3 hidden ──`."""

    DEFAULT_CSS = "TitleBar { height: 1; background: $background; }"

    def __init__(self, title: Safe, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._title = title
        self._note = own("")
        self._focused = False

    def show(self, *, title: Safe | None = None, note: Safe | None = None, focused: bool | None = None) -> None:
        """Change what is given; paints only where something did."""
        before = (self._title, self._note, self._focused)
        self._title = self._title if title is None else title
        self._note = self._note if note is None else note
        self._focused = self._focused if focused is None else focused
        if before != (self._title, self._note, self._focused):
            self.refresh()

    def lines(self, width: int, height: int) -> Sequence[Line]:
        rule = "━" if self._focused else "─"
        role: Role = "rule-focus" if self._focused else "rule"
        note = clip(self._note, max(0, width // 2))
        title = clip(self._title, max(0, width - cells(note) - 9))
        left = (Part(own(rule), role), Part(own(f" {title} "), "title-focus" if self._focused else "title"))
        right = (Part(own(f" {note} "), "need"), Part(own(rule), role)) if note else ()
        between = max(0, width - measure(left) - measure(right))
        return ((*left, Part(own(rule * between), role), *right),)


class UprightRule(Painted):
    """The line between two columns, with a joint wherever a title bar meets it."""

    DEFAULT_CSS = "UprightRule { width: 1; background: $background; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self._joints: dict[int, str] = {}

    def join(self, joints: dict[int, str]) -> None:
        """At which of its lines which joint stands."""
        if joints != self._joints:
            self._joints = joints
            self.refresh()

    def line(self, y: int, width: int, height: int) -> Line:
        return (Part(own(self._joints.get(y, "│")), "rule"),)
