"""A pane of entries, newest last, that follows its end until somebody scrolls up, and then holds (cases.md F-5).

Bounded: past `KEEP` entries the oldest go, never while the view is held; a held view takes in up to `CAP`, and what
comes after that waits outside, bounded too, and is marked by a gap. Nothing that is being read ever moves.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from textual import events
from textual.containers import VerticalScroll
from textual.geometry import Size
from textual.message import Message

from cockpit.ui.text import own
from cockpit.ui.widgets.entry import Entry

KEEP = 200
"""Entries a pane keeps while it follows its end."""

CAP = 400
"""Entries it holds while somebody reads further up."""


class Journal(VerticalScroll, can_focus=True, inherit_bindings=False):
    """Entries in an anchored scroll."""

    DEFAULT_CSS = """
    Journal {
        background: $background; color: $foreground;
        overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; scrollbar-gutter: stable;
    }
    """

    class Shifted(Message):
        """How many new entries lie below the view changed, or which entry is the current one."""

        def __init__(self, journal: Journal) -> None:
            self.journal = journal
            super().__init__()

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  Textual's own name
        super().__init__(id=id)
        self.frozen = False
        self.entries: deque[Entry] = deque()
        self._outside: deque[Entry] = deque(maxlen=KEEP)
        self._below: set[Entry] = set()
        self._lost = 0
        self._released = False

    # what is in it

    def begin_with(self, entries: Sequence[Entry]) -> None:
        """Empty it and begin anew, at the end (K-129)."""
        self.remove_children(list(self.entries))
        self.entries.clear()
        self._outside.clear()
        self._below.clear()
        self._lost = 0
        self.anchor(False)
        self.scroll_to(y=0, animate=False, force=True, immediate=True)
        self.frozen = self._released = False
        self._mount(entries[-KEEP:])
        self._shifted()

    def add(self, entries: Iterable[Entry], lost: int = 0) -> None:
        """Append; `lost` entries that came before them will not be shown and leave a mark."""
        new = list(entries)
        self._lost += lost + max(0, len(new) - KEEP)
        new = new[-KEEP:]
        if not new:
            return
        held = self.held
        if held and len(self.entries) + len(new) > CAP:
            self._wait_outside(new)
        else:
            self._mount(new)
            if held:
                self._below.update(new)
            else:
                self._prune()
        self._shifted()

    def drop(self, entry: Entry) -> None:
        """Take one entry out, as when a text that was being written comes to nothing."""
        if entry in self.entries:
            self.entries.remove(entry)
            self._below.discard(entry)
            entry.remove()

    @property
    def held(self) -> bool:
        """Whether the view stays where it is: somebody scrolled up, or asked for it."""
        return self.frozen or (self._released and round(self.scroll_y) < self.max_scroll_y)

    @property
    def new_below(self) -> int:
        """Entries that came while it was held and that nobody has seen yet."""
        return len(self._below) + len(self._outside)

    @property
    def current(self) -> Entry | None:
        """The last entry that is wholly in view, or begins in it: the one Enter means."""
        bottom = round(self.scroll_y) + self.size.height
        seen = [entry for entry, top, _ in self._places() if top < bottom]
        return seen[-1] if seen else None

    # keys

    def action_step(self, by: int) -> None:
        self._scroll(by)

    def action_page(self, by: int) -> None:
        self._scroll(by * max(1, self.size.height - 1))

    def action_edge(self, end: int) -> None:
        if end < 0:
            self._scroll(-round(self.scroll_y))
        else:
            self.follow()

    def follow(self) -> None:
        """Let go: take in what waited, and go to the end."""
        self.frozen = False
        waiting, self._outside = list(self._outside), deque(maxlen=KEEP)
        self._below.clear()
        if waiting or self._lost:
            self._mount(waiting)
        self._prune()
        self._released = False
        self.anchor(self.max_scroll_y > 0)
        self._shifted()

    def find(self, words: str) -> bool:
        """Show the newest entry above the current one that holds `words`, going round; whether there was one."""
        entries = list(self.entries)
        here = entries.index(self.current) if self.current in entries else len(entries)
        order = [*range(here - 1, -1, -1), *range(len(entries) - 1, here - 1, -1)]
        found = next((entries[n] for n in order if words.casefold() in entries[n].text.casefold()), None)
        if found is None:
            return False
        bottom = next(end for entry, _, end in self._places() if entry is found) - self.size.height
        self.scroll_to(y=max(0, bottom), animate=False)
        return True

    def hold(self) -> None:
        """Stay where it is, even at the end."""
        self.frozen = True
        self.release_anchor()
        self._shifted()

    def release_anchor(self) -> None:
        """Somebody scrolls: stay where that leads, until it leads to the end."""
        super().release_anchor()
        self._released = True

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if round(new_value) >= self.max_scroll_y:
            self._released = False
        bottom = round(new_value) + self.size.height
        if self._below:
            self._below = {entry for entry, _, end in self._places() if end > bottom and entry in self._below}
        if round(old_value) != round(new_value):
            self._shifted()

    def watch_virtual_size(self, old: Size, new: Size) -> None:
        """A short list stands at the top; only one that overflows is anchored to its end."""
        overflowed = old.height > self.container_size.height
        if not overflowed:
            self._released = False
        if not self.frozen and not self._released:
            self.anchor(new.height > self.container_size.height)

    def on_focus(self) -> None:
        self._shifted()

    def on_blur(self) -> None:
        self._shifted()

    def on_resize(self, event: events.Resize) -> None:
        if not self.held:
            self.anchor(self.max_scroll_y > 0)

    def _places(self) -> Iterator[tuple[Entry, int, int]]:
        """Each entry with the line it begins at and the one behind it.

        Not by Textual's map of all widgets: asking it for one that is out of view has the whole screen painted anew at
        the next scroll (24 kB a key, measured).
        """
        end = 0
        width = self.scrollable_content_region.width
        for entry in self.entries:
            top, end = end, end + entry.height_at(width)
            yield entry, top, end

    def _scroll(self, by: int) -> None:
        if self.max_scroll_y <= 0:
            return
        at_end = round(self.scroll_y) + by >= self.max_scroll_y
        if at_end and by > 0 and self._outside and not self.frozen:
            self._take_in()
        self.scroll_to(y=round(self.scroll_y) + by, animate=False)

    def _take_in(self) -> None:
        """Mount what waited outside below the end that was reached, without moving the view."""
        waiting, self._outside = list(self._outside), deque(maxlen=KEEP)
        self._mount(waiting)
        self._below.update(waiting)

    def _wait_outside(self, entries: list[Entry]) -> None:
        room = KEEP - len(self._outside)
        self._lost += max(0, len(entries) - room)
        self._outside.extend(entries)

    def _mount(self, entries: Sequence[Entry]) -> None:
        if self._lost:
            words = f"      · {self._lost} not shown; the store has {'it' if self._lost == 1 else 'them'} ·"
            entries, self._lost = [Entry((), own(words), "dim"), *entries], 0
        self.entries.extend(entries)
        if entries:
            self.mount_all(entries)

    def _prune(self) -> None:
        surplus = max(0, len(self.entries) - KEEP)
        if surplus:
            self.remove_children([self.entries.popleft() for _ in range(surplus)])

    def _shifted(self) -> None:
        self.post_message(self.Shifted(self))
