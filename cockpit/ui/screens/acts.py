"""Saying verbs: by key, by line, by row, asking first where the registry says so, and showing how each went."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Protocol

from cockpit.core.events import Answer, Audited, ChannelChanged, Link, Peeked
from cockpit.core.notices import count
from cockpit.core.target import Target
from cockpit.core.target import parse as parse_target
from cockpit.core.verbs import BY_NAME, Verb, parse
from cockpit.errors import CockpitError, VerbError
from cockpit.ui import lines
from cockpit.ui.palette import Choice, refusal
from cockpit.ui.screens.answers import items_of, title_of
from cockpit.ui.screens.confirm import Confirm
from cockpit.ui.screens.peek import LAST, PeekSheet
from cockpit.ui.screens.sheet import Sheet
from cockpit.ui.standing import Standing
from cockpit.ui.text import Safe, line, own
from cockpit.ui.theme import Role
from cockpit.ui.words import named

TURNING = {"rewind", "switch"}
"""Verbs after which the panes show another past (K-129)."""


class Stage(Protocol):
    """What the acts need of the screen around them."""

    standing: Standing
    defaults: Mapping[str, str]

    @property
    def agent_shown(self) -> str:
        """The resident whose conversation is shown."""
        ...

    def say(self, text: Safe, role: Role = "dim") -> None:
        """Show one answer."""
        ...

    def rows(self) -> Mapping[str, ChannelChanged]:
        """The rows as they are shown."""
        ...

    def paint_now(self) -> None:
        """Show what came, without waiting for the next paint."""
        ...

    def compose_line(self, text: str) -> None:
        """Put `text` into the composer."""
        ...

    def read_anew(self) -> None:
        """Show how things stand from the start."""
        ...

    def leave(self, code: int) -> None:
        """End the screen with an exit code."""
        ...

    def open_sheet(self, sheet: Sheet) -> None:
        """Show a list over the panes."""
        ...

    def open_question(self, question: Confirm, answered: Callable[[bool | None], None]) -> None:
        """Ask over the panes."""
        ...

    def work(self, doing: Coroutine[None, None, None], name: str) -> None:
        """Do it beside the screen; a failure is told."""
        ...


class Acts:
    """What keys and lines come to. read_only: this screen writes nothing, whatever the link allows. Where the link is
    read-only too (`refused_there`), what writes is said to it all the same: it refuses, and its audit has it (K-123).

    asked: a prompt was sent, and no turn was heard of since.
    """

    def __init__(self, stage: Stage, link: Link, *, read_only: bool) -> None:
        self._stage = stage
        self._link = link
        self.read_only = read_only
        self.refused_there = False
        self.asked = False

    # by key

    def press(self, key: str, targets: Sequence[str]) -> None:
        """A key of the registry, on these targets (none, for a verb that takes none)."""
        verbs = lines.KEYED[key]
        match verbs[0].name:
            case "quit":
                self.quit()
            case "context":
                self.say_line(lines.verb_line(verbs[0], agent=self._stage.agent_shown))
            case "peek":
                self.peek(targets[0])
            case "tune-out" if len(targets) == 1:
                self._tune_out(verbs[0], targets[0])
            case _ if verbs[0].param("target") is not None and verbs[0].params[0].required:
                self._on_each(verbs, targets)
            case _:
                self.say_line(lines.verb_line(verbs[0]))

    def _on_each(self, verbs: tuple[Verb, ...], targets: Sequence[str]) -> None:
        rows = self._stage.rows()
        said = [(lines.chosen(verbs, rows[target]), target) for target in targets if target in rows]
        if verbs[0].name == "tune-out":
            written = [lines.tune_out(target, self._stage.defaults) for _, target in said]
        else:
            written = [lines.verb_line(verb, target=target) for verb, target in said]
        if said:
            asking = next((verb for verb, _ in said if verb.asks), said[0][0])
            self._say_of(asking, [target for _, target in said], written)

    def _say_of(self, verb: Verb, targets: Sequence[str], written: Sequence[str]) -> None:
        """Say the lines of one verb on these targets, asking first where that is due and it can be done at all."""
        rows = self._stage.rows()
        fits = any(rows[target].kind in verb.kinds for target in targets if target in rows)
        asks = fits and (verb.asks or (verb.name == "tune-out" and len(written) > 1))
        if not asks or self._barred(verb):
            self.say_lines(written)
            return
        what = named(targets[0], 60) if len(written) == 1 else own(f"{len(written)} channels")
        listed = written if len(written) > 1 else ()
        self.ask_first(own(verb.name), own(f"{verb.name} {what}?"), lambda: self.say_lines(written), listed)

    def choose(self, choice: Choice, targets: Sequence[str]) -> None:
        """What was chosen in the palette, on the targets that it was opened on."""
        verb = choice.verb
        if verb is None:
            return
        if choice.refused and (self._refuses(verb) or not choice.run):
            self._stage.say(refusal(verb), "error")
        elif choice.ask:
            self._stage.compose_line(choice.ask)
        elif verb is BY_NAME["quit"]:
            self.quit()
        else:
            self._say_of(verb, targets, choice.run)

    def _tune_out(self, verb: Verb, target: str) -> None:
        written = lines.tune_out(target, self._stage.defaults)
        if self._barred(verb) or self._stage.rows()[target].kind not in verb.kinds:
            self.say_line(written)
        else:
            self._stage.compose_line(written)

    def peek(self, target: str) -> None:
        """Look at a channel's backlog."""
        self._stage.work(self._peek(target), "peek")

    def why(self, message: str) -> None:
        """Ask why a message was or was not heard."""
        self.say_line(lines.verb_line(BY_NAME["why"], message=message))

    def quit(self) -> None:
        """End, asking first where a turn is running."""
        running = self._stage.standing.running
        if not running:
            self._stage.leave(0)
            return
        who = line(", ".join(running), 60)
        self.ask_first(own("quit"), own(f"{who} is in a turn. Quit all the same?"), lambda: self._stage.leave(0))

    def ask_first(self, title: Safe, question: Safe, go: Callable[[], None], listed: Sequence[str] = ()) -> None:
        """Ask; only `y` is a yes, and a no says that nothing was sent (K-125)."""

        def answered(yes: bool | None) -> None:
            if yes:
                go()
            else:
                self._stage.say(own(f"not sent: {title} (only y is a yes)"), "warn")

        self._stage.open_question(Confirm(title, question, listed), answered)

    # by line

    def submit(self, text: str) -> None:
        """What Enter in the composer means: a verb, or words to the resident."""
        if not text.strip():
            return
        if not lines.is_verb(text):
            self._stage.work(self._ask(text), "ask")
            return
        try:
            verb = parse(text).verb
        except VerbError:
            verb = None  # the link refuses it with the contract's own words
        if verb is BY_NAME["quit"]:
            self.quit()
        else:
            self.say_line(text)

    def pasted(self, text: str) -> None:
        """Several lines: nothing runs unasked. All verbs: one after the other; anything else: one message."""
        written = [each for each in text.split("\n") if each.strip()]
        if all(lines.is_verb(each) for each in written):
            question = own(f"{count(len(written), 'verb')}. Run {'it' if len(written) == 1 else 'all, in this order'}?")
            self.ask_first(own("pasted"), question, lambda: self.say_lines(written), written)
        else:
            who = line(self._stage.agent_shown, 24)
            question = own(f"{count(len(text.splitlines()), 'line')}. Send all to {who} as one message?")
            self.ask_first(own("pasted"), question, lambda: self._stage.work(self._ask(text), "ask"), text.split("\n"))

    def say_line(self, text: str) -> None:
        """Say one verb line."""
        self.say_lines([text])

    def say_lines(self, written: Sequence[str]) -> None:
        """Say verb lines, one after the other."""
        self._stage.work(self._run(list(written)), "verb")

    def _barred(self, verb: Verb) -> bool:
        """Whether it is refused, here or there: no question is asked about it."""
        return verb.writes and (self.read_only or self.refused_there)

    def _refuses(self, verb: Verb) -> bool:
        """Whether this screen refuses it by itself: the link would do it."""
        return verb.writes and self.read_only and not self.refused_there

    async def _run(self, written: Sequence[str]) -> None:
        answers: list[Answer] = []
        for text in written:
            try:
                verb = parse(text).verb
            except VerbError:
                verb = None
            if verb is not None and self._refuses(verb):
                self._stage.say(refusal(verb), "error")
                return
            answers.append(await self._link.run(text))
        if any(answer.ran.ok and answer.ran.verb in TURNING for answer in answers):
            self._stage.read_anew()
        self._stage.paint_now()
        if len(answers) == 1:
            self._answered(answers[0])
        else:
            self._answered_all(answers)

    async def _ask(self, text: str) -> None:
        if self._refuses(BY_NAME["ask"]):
            self._stage.say(refusal(BY_NAME["ask"]), "error")
            return
        self.asked = True
        answer = await self._link.ask(text, self._stage.agent_shown or None)
        self.asked = self.asked and answer.ran.ok
        self._stage.paint_now()
        if answer.ran.ok:
            self._stage.say(line(answer.ran.message, 200))  # whether it began a turn or steers the running one
        else:
            self._answered(answer)

    async def _peek(self, target: str) -> None:
        answer = await self._link.run(lines.verb_line(BY_NAME["peek"], target=target, last=str(LAST)))
        self._answered(answer)

    def _answered(self, answer: Answer) -> None:
        ran = answer.ran
        said = all(word in ran.message for word in ran.hint.split(", "))
        hint = "" if said else f" — {line(ran.hint, 400)}"
        failed = next((result for result in ran.results if not result.ok), None)
        first = f" — {line(failed.target, 60)}: {line(failed.message, 200)}" if failed is not None else ""
        self._stage.say(own(f"{line(ran.message or ran.verb, 600)}{first}{hint if not ran.ok else ''}"),
                 "ok" if ran.ok else "error")  # fmt: skip
        for shown in answer.shown:
            if isinstance(shown, Peeked):
                self._stage.open_sheet(
                    PeekSheet(shown, self._stage.rows().get(shown.target), self._look(shown.target), self.why)
                )
            else:
                self._stage.open_sheet(Sheet(title_of(shown), items_of(shown), at_end=isinstance(shown, Audited)))
        if answer.shown and ran.ok:
            self._stage.say(own(""))

    def _answered_all(self, answers: Sequence[Answer]) -> None:
        """Many verbs, one line (cases.md F-7)."""
        refused = [answer.ran for answer in answers if not answer.ran.ok]
        done = len(answers) - len(refused)
        if refused:
            why = line(refused[0].message, 300)
            self._stage.say(own(f"{done} done, {len(refused)} refused: {why}"), "error")
        else:
            self._stage.say(own(f"{done} done: {line(answers[-1].ran.verb, 24)}"), "ok")

    def _look(self, target: str) -> Callable[[], Awaitable[Peeked | None]]:
        async def look() -> Peeked | None:
            try:
                answer = await self._link.run(lines.verb_line(BY_NAME["peek"], target=target, last=str(LAST)))
            except CockpitError:
                return None  # the sheet keeps what it shows; the broken link tells of itself
            return next((shown for shown in answer.shown if isinstance(shown, Peeked)), None)

        return look

    def known_targets(self) -> list[Target]:
        """What completion may offer."""
        found: list[Target] = []
        for target in self._stage.rows():
            try:
                found.append(parse_target(target))
            except VerbError:
                continue
        return found
