"""The screen in a test: over a `FakeLink`, with a clock that stands still, driven by keys and read as text."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from textual.events import Key
from textual.pilot import Pilot

from cockpit.core.events import Event
from cockpit.shipped import shipped_dir
from cockpit.testing.fake_link import START, FakeLink
from cockpit.ui import keys as bound
from cockpit.ui.app import CockpitApp

THEMES = shipped_dir("themes")
"""The themes as they lie beside the package."""


class Hands:
    """A clock that a test turns. now: seconds since 1970; elapsed: seconds that only go forward."""

    def __init__(self) -> None:
        self.wall = START
        self.run = 1000.0

    def now(self) -> float:
        return self.wall

    def elapsed(self) -> float:
        return self.run


@dataclass(frozen=True, slots=True)
class Driven:
    """A running screen."""

    app: CockpitApp
    link: FakeLink
    pilot: Pilot[int]
    hands: Hands

    async def press(self, *keys: str) -> None:
        """Press keys and let the screen come to rest."""
        await self.pilot.press(*keys)
        await self.settle()

    async def write(self, text: str) -> None:
        """Type `text` where the focus is."""
        await self.pilot.press(*("space" if letter == " " else letter for letter in text))
        await self.settle()

    async def burst(self, text: str) -> None:
        """Type faster than the screen can follow: all keys are there before the first is heeded."""
        named = {"\r": "enter", " ": "space", "\x7f": "backspace", "\x1b": "escape", ":": "colon", "/": "slash"}
        for letter in text:
            self.app.post_message(Key(named.get(letter, letter), letter if letter.isprintable() else None))
        await self.settle()

    async def tell(self, *events: Event) -> None:
        """Send events and paint them."""
        self.link.emit(*events)
        await self.settle()

    async def settle(self) -> None:
        """Let what is under way be done, and paint."""
        await self.pilot.pause()
        while self.link.pending:
            await self.pilot.pause()
        if self.app.is_running:
            self.app.main.paint_now()
        await self.pilot.pause()

    @property
    def text(self) -> str:
        """What the screen on top shows, a line each."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips)

    @property
    def raw(self) -> str:
        """What a terminal would be sent for it, control sequences and all."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.render(self.app.console) for strip in strips)

    @property
    def colours(self) -> set[str]:
        """The foreground colours of the screen on top, as `#rrggbb`; empty where the terminal's own are used."""
        strips = self.app.screen._compositor.render_strips()
        styles = (segment.style for strip in strips for segment in strip if segment.style is not None)
        return {style.color.triplet.hex for style in styles if style.color is not None and style.color.triplet}

    @property
    def lit(self) -> list[str]:
        """The lines that the cursor's colour stands behind, each up to the upright rule."""
        wanted = self.app.look.cursor(focused=True).bgcolor
        strips = self.app.screen._compositor.render_strips()
        marked = [strip for strip in strips if any(part.style and part.style.bgcolor == wanted for part in strip)]
        return [strip.text.partition("│")[0].rstrip() for strip in marked]

    def row(self, target: str) -> str:
        """The channel table's line that shows a target, or the part of it that is given."""
        lines = (line.partition("│")[0].rstrip() for line in self.text.split("\n"))
        return next((line for line in lines if target in line), "")

    @property
    def said(self) -> str:
        """The answer line."""
        return str(self.app.main.said)

    @property
    def told(self) -> str:
        """What was told unasked and stands until it is seen."""
        return str(self.app.main.told.said)


@asynccontextmanager
async def driven(
    link: FakeLink | None = None,
    *,
    size: tuple[int, int] = (120, 40),
    theme: str = "dark",
    read_only: bool = False,
    keys: tuple[bound.Key, ...] = bound.KEYS,
) -> AsyncIterator[Driven]:
    """Open the screen over `link` (the demo's unless given) and wait until it shows the snapshot."""
    link = FakeLink() if link is None else link
    hands = Hands()
    app = CockpitApp(
        link, theme=theme, themes=THEMES, read_only=read_only, keys=keys, now=hands.now, elapsed=hands.elapsed
    )
    async with app.run_test(size=size) as pilot:
        screen = Driven(app, link, pilot, hands)
        while not link.subscriptions:
            await pilot.pause()
        await screen.settle()
        yield screen
