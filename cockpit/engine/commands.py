"""Runs one line of the verb grammar, whoever typed it: screen, headless twin or socket."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from cockpit.core.channel import Channel
from cockpit.core.epoch import FLOORS
from cockpit.core.events import Answer, Answered, ContextShown, Counted, Result, VerbRan
from cockpit.core.message import Json
from cockpit.core.resolve import resolve, wrong_kind
from cockpit.core.target import Target
from cockpit.core.verbs import BY_NAME, COMPARED, Command, floored, parse
from cockpit.core.world import Actor
from cockpit.engine import refusals
from cockpit.engine.acts import Acts
from cockpit.engine.clock import Clock
from cockpit.engine.directory import Directory
from cockpit.engine.reading import Reading
from cockpit.engine.timeline import Timeline
from cockpit.errors import StoreError, VerbError

TUNING = {"cadence": "cadence_seconds", "cap": "backlog_cap", "wakes": "max_wakes", "for": "duration_seconds"}
"""The tune-out's parameters: as the verb names them, and as the tool does."""

WRITABLE = "start the cockpit without --read-only"
"""What to do where a verb that writes is refused."""

PEEK = 20
AUDIT = 50


@dataclass(slots=True)
class Commands:
    """ask prompts a resident; stop interrupts turns and says how many; stats and context answer those verbs."""

    acts: Acts
    reading: Reading
    timeline: Timeline
    directory: Directory
    channels: Mapping[Target, Channel]
    clock: Clock
    read_only: bool
    ask: Callable[[str], Awaitable[str]]
    say: Callable[[str | None, str], Awaitable[str]]
    stop: Callable[[], Awaitable[str]]
    quit: Callable[[], None]
    stats: Callable[[], Counted]
    context: Callable[[str | None], ContextShown]

    async def run(self, line: str, actor: Actor) -> Answer:
        """Never raises for what was asked: a refusal is an answer too."""
        try:
            return await self._answer(line, actor)
        except StoreError as error:
            return self._refused(line, VerbError("refused", str(error), "nothing was changed"))

    async def _answer(self, line: str, actor: Actor) -> Answer:
        command: Command | None = None
        try:
            command = parse(line)
            if command.verb.writes and self.read_only:
                raise VerbError("read_only", f"{command.verb.name} writes, and this cockpit is read-only", WRITABLE)
            targets, many = self._targets(command)
            message = None if targets else await self._plain(command)
        except VerbError as error:
            found = refusals.refused(line, command, error)
            if found is not None:
                await refusals.record(self.acts, found, actor)
            return self._refused(line, error)
        if message is not None:
            return self._done(command, message)
        try:
            return await self._run(command, targets, actor, many=many)
        except VerbError as error:  # an act has put it in the audit, or the verb only reads
            return self._refused(line, error)

    def _refused(self, line: str, error: VerbError) -> Answer:
        word = refusals.verb_word(line)
        name = word.lower() if word.lower() in BY_NAME else word[:COMPARED]
        return Answer(VerbRan(self.clock.wall(), line, name, False, str(error), error.code, error.hint))

    def _targets(self, command: Command) -> tuple[tuple[Target, ...], bool]:
        """The channels that a verb acts on, and whether they were named by a glob; none for a verb of no channel."""
        target = command.verb.param("target")
        if target is None or not target.required:
            return (), False
        return resolve(command.target or "", self.directory.targets(), command.verb)

    async def _plain(self, command: Command) -> str | None:
        """A verb of no channel, and of no act of its own: what to say of it. None for the others."""
        match command.verb.name:
            case "ask":
                return await self.ask(command.text("text") or "")
            case "say":
                return await self.say(command.text("to"), command.text("text") or "")
            case "stop":
                return await self.stop()
            case "rewind":
                return await self.timeline.rewind(command.text("to") or "")
            case "switch":
                return self.timeline.switch(command.text("branch") or "")
            case _:
                return None

    async def _run(self, command: Command, targets: tuple[Target, ...], actor: Actor, *, many: bool) -> Answer:
        if targets and many:
            return await self._each(command, targets, actor)
        if targets:
            message, shown = await self._on(command, targets[0], actor)
            return self._done(command, message, shown)
        match command.verb.name:
            case "undo":
                undone = await self.acts.undo(actor)
                if undone.results:
                    return self._many(command, undone.message, undone.results, undone.error)
                return self._done(command, undone.message)
            case "quit":
                self.quit()
                return self._done(command, "ending")
            case "branches":
                return self._done(command, self.timeline.branches())
            case _:
                return await self._read(command)

    async def _each(self, command: Command, targets: tuple[Target, ...], actor: Actor) -> Answer:
        """A glob acts on all that match and reports each."""
        results: list[Result] = []
        shown: list[Answered] = []
        first: VerbError | None = None
        with self.acts.memory.one_verb(actor.name):
            for target in targets:
                try:
                    await self._fits(command, target, actor)
                    message, more = await self._on(command, target, actor)
                except VerbError as error:
                    first = first or error
                    results.append(Result(str(target), False, str(error)))
                else:
                    shown.extend(more)
                    results.append(Result(str(target), True, message))
        good = sum(result.ok for result in results)
        said = f"{command.verb.name}: {good} of {len(results)} done"
        return self._many(command, said, tuple(results), first, tuple(shown))

    def _many(
        self,
        command: Command,
        said: str,
        results: tuple[Result, ...],
        first: VerbError | None,
        shown: tuple[Answered, ...] = (),
    ) -> Answer:
        """What a verb did to each of several targets. first: the first refusal, whose code and hint stand for all."""
        ran = VerbRan(
            self.clock.wall(),
            command.typed,
            command.verb.name,
            first is None,
            said,
            None if first is None else first.code,
            "" if first is None else first.hint,
            results,
        )
        return Answer(ran, shown)

    async def _fits(self, command: Command, target: Target, actor: Actor) -> None:
        """Raises VerbError where a glob has found what the verb does not take."""
        if target.kind not in command.verb.kinds:
            error = VerbError("wrong_kind", wrong_kind(target, command.verb), command.verb.usage)
            if command.verb.writes:
                await refusals.record(self.acts, refusals.Refusal(command.verb.name, str(target), str(error)), actor)
            raise error

    async def _on(self, command: Command, target: Target, actor: Actor) -> tuple[str, tuple[Answered, ...]]:
        """One verb on one channel: what to say, and what it shows."""
        acts, reason = self.acts, command.text("reason") or ""
        match command.verb.name:
            case "mute":
                override, soft = command.text("override"), command.text("soft") == "yes"
                return await acts.mute(target, actor, reason=reason, override=override, soft=soft), ()
            case "unmute":
                return await acts.unmute(target, actor, deliver=command.text("deliver") == "backlog"), ()
            case "tune-out":
                values, raised = _parameters(command)
                return "; ".join([await acts.tune_out(target, actor, values), *raised]), ()
            case "cancel":
                return await acts.cancel(target, actor, reason=reason), ()
            case "open" | "close":
                return await acts.want(target, actor, wanted=command.verb.name == "open"), ()
            case "kill" | "start":
                return await acts.keep(target, actor, alive=command.verb.name == "start"), ()
            case "peek":
                last = command.number("last")
                shown = await self.reading.peek(target, PEEK if last is None else int(last), self.clock.wall())
                return f"{target}: {len(shown.messages)} shown", (shown,)
            case _:
                raise VerbError("unknown_verb", f"{command.verb.name} takes no target", ", ".join(BY_NAME))

    async def _read(self, command: Command) -> Answer:
        now = self.clock.wall()
        shown: Answered
        match command.verb.name:
            case "why":
                shown = await self.reading.why(command.text("message") or "", now)
                return self._done(command, f"{shown.id}: {shown.decision}", (shown,))
            case "audit":
                wanted: tuple[Target | None, ...] = (None,)
                if command.target is not None:
                    wanted, _ = resolve(command.target, self.directory.targets(), command.verb)
                last = command.number("last")
                shown = await self.reading.audit(wanted, AUDIT if last is None else int(last), now)
                return self._done(command, f"{len(shown.rows)} rows", (shown,))
            case "stats":
                shown = self.stats()
                return self._done(command, f"{len(shown.channels)} channels", (shown,))
            case _:
                shown = self.context(command.text("agent"))
                return self._done(command, f"{shown.agent}: {shown.tokens} of {shown.budget} tokens", (shown,))

    def _done(self, command: Command, message: str, shown: tuple[Answered, ...] = ()) -> Answer:
        return Answer(VerbRan(self.clock.wall(), command.typed, command.verb.name, True, message), shown)


def _parameters(command: Command) -> tuple[dict[str, Json], list[str]]:
    """The verb's short names to the tool's, and, in the verb's words, what is below its floor and was raised (T-1)."""
    values: dict[str, Json] = {}
    raised: list[str] = []
    for name, tool in TUNING.items():
        given = command.number(name)
        if given is None:
            continue
        param, whole, floor = command.verb.param(name), floored(given), FLOORS[tool]
        unit = " s" if param is not None and param.kind == "duration" else ""
        if whole < floor:
            raised.append(f"{name} {whole}{unit} is below its floor and was raised to {floor:g}{unit}")
        values[tool] = max(whole, floor)
    return values, raised
