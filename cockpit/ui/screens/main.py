"""The main screen: what the link tells goes to the widgets, what keys and lines mean goes to the link."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace

from textual.widgets import Input

from cockpit.core.events import ChannelChanged, Failed, Link, View
from cockpit.core.target import Target
from cockpit.core.verbs import BY_NAME
from cockpit.ui.feed import Feed
from cockpit.ui.intake import Batch
from cockpit.ui.look import app_of
from cockpit.ui.palette import Around, Choice, choices
from cockpit.ui.screens.acts import Acts
from cockpit.ui.screens.confirm import Confirm
from cockpit.ui.screens.going import Going
from cockpit.ui.screens.palette import Palette
from cockpit.ui.screens.peek import PeekSheet
from cockpit.ui.screens.sheet import Sheet
from cockpit.ui.standing import Standing
from cockpit.ui.text import Safe, line, own
from cockpit.ui.widgets.composer import Composer
from cockpit.ui.widgets.headline import Headline
from cockpit.ui.widgets.reports import Reports
from cockpit.ui.words import named

ASKING = {"mute_asked"}
"""Codes of what is told and waits for the operator's answer (semantics.md M-7)."""

SETTLING = 2.0
"""Seconds after a snapshot in which events may still be older than it."""


class MainScreen(Going):
    """Over one link. read_only: this screen writes nothing, whatever the link allows. told: what to tell at the start,
    such as what is wrong in a file of keys, a line each."""

    def __init__(
        self, link: Link, *, read_only: bool, first_frame: Callable[[], None], told: Sequence[str] = ()
    ) -> None:
        super().__init__()
        self._to_tell = tuple(told)
        self.standing = Standing(read_only=read_only)
        self.defaults: Mapping[str, str] = {}
        self.acts = Acts(self, link, read_only=read_only)
        self._link = link
        self._first_frame = first_frame
        self._feed = Feed(link, self._paint, self._later, lambda: app_of(self).elapsed())
        self._began = (float("-inf"), 0.0)
        self._begun = False

    def on_mount(self) -> None:
        super().on_mount()
        self.panes.channels.act = self._pressed

    def drawn(self) -> None:
        """The first frame is out: slow work may begin."""
        self._first_frame()
        self.action_reconnect()
        self._minute()

    # the link

    def action_reconnect(self) -> None:
        """Read the events from the start again, as after they broke off."""
        self.run_worker(self._live(), name="events", group="events", exclusive=True, exit_on_error=False)

    async def _live(self) -> None:
        """Show how things stand and then whatever changes; what goes wrong is told, and the screen lives (F-39)."""
        try:
            self._begin(await self._feed.open())
            await self._feed.read()
            self._broke("the cockpit's events ended")
        except Exception as error:  # noqa: BLE001  the boundary of a screen action
            self._broke(f"the cockpit's events broke off: {line(str(error) or type(error).__name__, 300)}")

    def _broke(self, words: str) -> None:
        self._stand(replace(self.standing, broken=words))
        self.say(own(f"{words} (r reads them again)"), "error")

    def _begin(self, view: View) -> None:
        """Everything anew from a snapshot (K-129)."""
        broken = self.standing.broken
        newest = max((row.at for row in view.rows), default=0.0)
        self._began = (app_of(self).elapsed(), newest)
        self._begun = True
        self.defaults = view.defaults
        standing = Standing.of(view)
        self._feed.intake.subconscious = standing.subconscious
        self.acts.refused_there = view.read_only
        self._stand(replace(standing, read_only=view.read_only or self.acts.read_only))
        self.panes.channels.begin(view.rows)
        self.panes.reports.begin(view.reports)
        self.panes.talk.begin(standing.residents, view.operator, view.conversation)
        self.panes.bar("reports").show(title=line(standing.subconscious, 40))
        self._titled()
        if broken:
            self.say(own(""))
        for each in self._to_tell:
            self.log_page.add(app_of(self).now(), line(each, 400), "error")
        self.told.tell([(line(each, 400), False) for each in self._to_tell])
        self._to_tell = ()

    def _later(self, seconds: float, then: Callable[[], None]) -> None:
        self.set_timer(seconds, then, name="paint")

    def read_anew(self) -> None:
        self.action_reconnect()

    def paint_now(self) -> None:
        if self._begun:
            self._feed.paint_now()

    def _paint(self, batch: Batch) -> None:
        if not self.is_attached:
            return
        if batch.stopped is not None:
            self.leave(0)
            return
        rows = self._settled(batch.rows)
        channels = self.panes.channels
        before = {row.target: channels.board.rows[row.target] for row in rows if row.target in channels.board.rows}
        channels.update_rows(rows)
        for progress in batch.progress:
            channels.progressed(progress.target, progress.text)
        self.panes.reports.apply(batch.reports, batch.lost_reports)
        self.panes.talk.apply(batch.talk, batch.lost_talk)
        counted = all(turn.at > self._began[1] for turn in batch.turns) or not self._settling
        standing = self.standing.with_rows(channels.board.rows.values()).with_turns(batch.turns, counted=counted)
        self._stand(replace(standing, lost=standing.lost + batch.lost_reports + batch.lost_talk))
        self.acts.asked = self.acts.asked and not batch.turns
        app_of(self).needed(before, rows, standing.need)
        self._failed(batch)
        self._peeked(rows)

    def _failed(self, batch: Batch) -> None:
        """However many failures, one told text (F-7), which stands until it is seen; the log has each."""
        for failure in batch.failures:
            self.log_page.add(failure.at, _failure(failure), "error")
        news = [(_failure(failure), failure.code in ASKING) for failure in batch.failures]
        if news:
            self.told.tell(news, batch.lost_failures)
        if news and isinstance(self.app.screen, Sheet):
            self.app.screen.note(own("told meanwhile: close to read"))

    def _peeked(self, rows: Sequence[ChannelChanged]) -> None:
        top = self.app.screen
        if isinstance(top, PeekSheet):
            for row in rows:
                if row.target == top.target:
                    top.row_changed(row)

    @property
    def _settling(self) -> bool:
        return app_of(self).elapsed() - self._began[0] < SETTLING

    def _settled(self, rows: Sequence[ChannelChanged]) -> Sequence[ChannelChanged]:
        """Without what is older than the snapshot's rows: it was sent before and read after."""
        if not self._settling:
            return rows
        known = self.panes.channels.board.rows
        return [row for row in rows if row.target not in known or row.at >= known[row.target].at]

    def _stand(self, standing: Standing) -> None:
        self.standing = standing
        self.query_one(Headline).show(standing)
        app_of(self).called(standing.need)

    def _minute(self) -> None:
        """Once a minute, what depends on the clock."""
        if self.is_attached:
            self.panes.channels.tick()
            self.set_timer(60.5 - app_of(self).now() % 60, self._minute, name="minute")

    # what the acts need

    @property
    def agent_shown(self) -> str:
        return self.panes.talk.agent

    @property
    def interruptible(self) -> bool:
        return bool(self.standing.running) or self.acts.asked

    def rows(self) -> Mapping[str, ChannelChanged]:
        return self.panes.channels.board.rows

    def targets_known(self) -> Sequence[Target]:
        return self.acts.known_targets()

    def open_sheet(self, sheet: Sheet) -> None:
        self.app.push_screen(sheet)

    def open_question(self, question: Confirm, answered: Callable[[bool | None], None]) -> None:
        self.app.push_screen(question, answered)

    def work(self, doing: Coroutine[None, None, None], name: str) -> None:
        self.run_worker(self._guarded(doing), name=name, exit_on_error=False)

    async def _guarded(self, doing: Coroutine[None, None, None]) -> None:
        try:
            await doing
        except Exception as error:  # noqa: BLE001  the boundary of a screen action
            self.say(own(f"that failed: {line(str(error) or type(error).__name__, 400)}"), "error")

    # what keys and lines mean

    def action_keyed(self, key: str) -> None:
        self.acts.press(key, ())

    def action_palette(self) -> None:
        """Everything by name, for the marked rows or the one under the cursor as they stand now."""
        targets = self.panes.channels.targets
        around = Around(
            app_of(self).keys, self.scope, targets, self.agent_shown, self.defaults, self.standing.read_only
        )

        async def chosen(choice: Choice | None) -> None:
            if choice is None:
                return
            if choice.verb is not None:
                self.acts.choose(choice, targets)
            elif choice.scope == "anywhere":
                await self.run_action(choice.action)
            elif self.focused is not None:
                await self.focused.run_action(choice.action)

        self.app.push_screen(Palette(choices(around), targets), chosen)

    def _pressed(self, key: str, targets: tuple[str, ...]) -> None:
        if targets:
            self.acts.press(key, targets)
            return
        gone = self.panes.channels.gone
        words = f"{named(gone, 60)} is gone; move to choose a channel" if gone else "no channel to act on"
        self.say(own(words), "warn")

    def on_composer_said(self, message: Composer.Said) -> None:
        self.give_back()
        self.acts.submit(message.text)

    def on_input_changed(self, message: Input.Changed) -> None:
        self._lit()

    def on_composer_pasted(self, message: Composer.Pasted) -> None:
        for each in message.text.split("\n"):
            self.composer.remember(each)
        self.acts.pasted(message.text)

    def on_composer_candidates(self, message: Composer.Candidates) -> None:
        words = "  ".join(message.words[:12]) or "nothing completes this"
        self.say(own(words))

    def on_composer_ended(self, message: Composer.Ended) -> None:
        self.acts.quit()

    def on_reports_peeked(self, message: Reports.Peeked) -> None:
        self.acts.peek(message.channel)

    def on_going_interrupted(self, message: Going.Interrupted) -> None:
        self.acts.say_line(f"go={BY_NAME['stop'].name}")

    def holding(self, holding: bool) -> None:
        self._stand(replace(self.standing, held=holding))

    def action_next_in_need(self) -> None:
        channels = self.panes.channels
        target = channels.board.next_in_need(channels.cursor)
        if target is None:
            self.say(own("nobody is waiting"))
            return
        channels.go_to(target)
        self.panes.focus_pane("channels")

    def action_agent(self, by: int) -> None:
        """Show another resident, its pane from its end (K-129)."""
        residents = self.standing.residents
        talk = self.panes.talk
        if len(residents) > 1 and talk.agent in residents:
            talk.switch(residents[(residents.index(talk.agent) + by) % len(residents)])
            self._titled()

    def _titled(self) -> None:
        residents, agent = self.standing.residents, self.panes.talk.agent
        place = f"  {residents.index(agent) + 1} of {len(residents)}" if len(residents) > 1 else ""
        self.panes.bar("talk").show(title=own(f"{line(agent, 40) or 'Resident'}{place}"))
        self.composer.placeholder = f"text to {line(agent, 24) or 'the resident'}, or : for a verb"


def _failure(failure: Failed) -> Safe:
    return own(f"{line(failure.message, 400)} ({line(failure.code, 40)})")
