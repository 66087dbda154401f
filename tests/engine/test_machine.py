"""Any order of tune-outs, mutes, traffic, timers, crashes and restarts on the whole engine, against a model of lists.

What holds after every step: what was acknowledged to the server is stored once, under the stamp that stood when it
came (R-1, A-2, A-3, A-7); nothing diverted is compiled for a resident, nothing muted for anyone (A-3, M-12, S-2); each
epoch ends at most once, with exactly one dump of its whole backlog (T-15, T-16, D-8); the three counts and the label
are the model's (A-11, section 1); and neither a restart nor a crash changes any of it (K-77, K-83, M-13).
"""

from __future__ import annotations

import re
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from cockpit.core.inputs import Arrived, Change
from cockpit.core.message import Json, Message
from cockpit.core.records import Lifecycle
from cockpit.core.target import parse
from cockpit.core.world import Actor
from cockpit.testing.attention_model import SERVER, WINDOW, AttentionModel, Layer, Told
from cockpit.testing.lives import Lives, headed, number_of
from cockpit.testing.stage import recipe, use

NAMES = ("noisy", "quiet")
RECIPE = recipe(
    more="""
[gate]
privileged = ["boss"]
[[gate.rule]]
name = "standing"
match = { author = "troll" }
behavior = "mute"
[[gate.rule]]
name = "slow"
match = { author = "slow" }
behavior = { debounce = "20s" }
[[gate.rule]]
name = "addressed"
match = { tags_any = ["chat:addressed"] }
behavior = "always"
"""
)
OPERATOR = Actor("operator", "operator", "headless")

names = st.sampled_from(NAMES)
authors = st.sampled_from(["kim", "kim", "boss", "troll", "slow", "slow"])
layers: st.SearchStrategy[Layer] = st.sampled_from(["operator", "resident"])
durations = st.sampled_from([None, None, 60, 300])
passing = st.sampled_from([0.5, 1.0, 2.0, 2.0, 21.0, 31.0, 70.0, 400.0])
says = st.tuples(st.just("say"), names, st.booleans())
verbs = st.tuples(st.sampled_from(["mute", "unmute", "tune-out", "cancel", "cancel"]), names, st.booleans())
bursts = st.lists(says | says | verbs, min_size=1, max_size=6)


class Engine(RuleBasedStateMachine):
    """A server with two channels, one resident and the subconscious."""

    lives: Lives | None = None

    # ---- what happens

    @initialize(name=names, budget=st.integers(1, 2))
    def begin_tuned_out(self, name: str, budget: int) -> None:
        self.lives = Lives(RECIPE, NAMES)
        self.state = AttentionModel.of(NAMES, self.lives.clock.wall())
        self.numbers = 0
        self.tune_out(name, 3, budget, None, "operator")

    @rule(name=names, cap=st.integers(0, 4), budget=st.integers(1, 3), duration=durations, by=layers)
    def tune_out(self, name: str, cap: int, budget: int, duration: int | None, by: Layer) -> None:
        more = "" if duration is None else f" for={duration}s"
        values: dict[str, Json] = {"channel": name, "backlog_cap": cap, "max_wakes": budget, "cadence_seconds": 30}
        values |= {} if duration is None else {"duration_seconds": duration}
        line = f"go=tune-out target=channel:disc/{name} cap={cap} wakes={budget} cadence=30s{more}"
        if self._may(by) and self._do(by, line, "tune_out", values):
            assert self.state.tune_out(name, cap=cap, budget=budget, duration=duration)

    @rule(name=names, author=authors, addressed=st.booleans(), again=st.booleans(), count=st.integers(1, 3))
    def say(self, name: str, author: str, addressed: bool, again: bool, count: int) -> None:
        """What the server sends twice is stored once (A-7)."""
        for _ in range(count if self.state.presence == "online" else 0):
            given = self._message(name, author, addressed=addressed)
            assert not self._on.send(given).duplicate
            assert not again or self._on.send(given).duplicate
            self._said(self.state, given)
        self._on.settle()

    @rule(name=names, back=st.integers(0, 2), deleted=st.booleans())
    def change(self, name: str, back: int, deleted: bool) -> None:
        """An edit or a deletion of one of the last messages (A-8)."""
        self.say(name, "kim", addressed=False, again=False, count=1)
        said = [one for one in self.state.rooms[name].said if one.author == "kim"]
        if self.state.presence == "online":
            kind: Change = "deleted" if deleted else "edited"
            author = f"remover{self.numbers + 1}" if deleted else "kim"
            given = self._message(name, author, addressed=False, ident=said[-1 - back % len(said)].id)
            given = replace(given, change=kind, key=f"{given.key}/{self.numbers}")
            self._on.send(given)
            self._said(self.state, given)
            self._on.settle()

    @rule(seconds=passing)
    def wait(self, seconds: float) -> None:
        """T-12: a cadence later, nothing is undigested."""
        self._pass(seconds)
        for name, room in self.state.rooms.items():
            epoch = self._on.cockpit.channel(room.target).epoch
            if seconds >= 30 and epoch is not None and not self.state.muted(name):
                assert epoch.undigested == 0

    @rule(wall=st.sampled_from([-120.0, 90.0, 700.0]))
    def suspend(self, wall: float) -> None:
        """T-21: the wall clock steps, forth or back, and half a minute later it is noticed."""
        self._on.advance(0.0, wall)
        self.state.pass_time(0.0, wall)
        self._pass(30.0)

    @rule(name=names, by=layers)
    def cancel(self, name: str, by: Layer) -> None:
        reason = f"{'agent' if by == 'resident' else 'operator'} request"
        if self._may(by):
            done = self._do(by, f"go=cancel target=channel:disc/{name}", "cancel_tune_out", {"channel": name})
            assert done == self.state.end(name, reason)

    @rule(name=names, note=st.booleans())
    def watcher_cancels(self, name: str, note: bool) -> None:
        """In the turn that a mention has set off."""
        calm = all(each.epoch is None or not each.epoch.asked for each in self.state.rooms.values())
        tuned_out = self.state.rooms[name].epoch is not None and not self.state.muted(name)
        if tuned_out and calm and self.state.presence == "online":
            words = {"text": "You are needed."} if note else {}
            self._on.life.model.calls("Subconscious", "cancel_tuneout", channel=name, **words)
            given = self._message(name, "kim", addressed=True)
            self._on.send(given)
            self._said(self.state, given)
            self._pass(WINDOW)
            self.state.end(name, "subconscious judgment")

    @rule(name=names, wanted=st.booleans())
    def want(self, name: str, wanted: bool) -> None:
        done = self._on.verb(f"go={'open' if wanted else 'close'} target=channel:disc/{name}")
        assert done == self.state.want(name, wanted)

    @rule(name=st.sampled_from([*NAMES, SERVER]), by=layers)
    def mute(self, name: str, by: Layer) -> None:
        if self._may(by):
            target = _target(name)
            mute = self.state.mute if name == SERVER else self.state.rooms[name].mute
            above = None if name == SERVER else self.state.mute.span
            assert self._do(by, f"go=mute target={target}", "mute_channel", {"channel": target}) == mute.on(by, above)

    @rule(name=st.sampled_from([*NAMES, SERVER, SERVER]), by=layers, deliver=st.booleans())
    def unmute(self, name: str, by: Layer, deliver: bool) -> None:
        if self._may(by):
            target, how = _target(name), "backlog" if deliver else "notice"
            values = {"channel": target, "deliver": how}
            done = self._do(by, f"go=unmute target={target} deliver={how}", "unmute_channel", values)
            state = self.state
            whole = name == SERVER
            assert done == (
                state.unmute_server(by, deliver=deliver) if whole else state.unmute(name, by, deliver=deliver)
            )
            state.timers()

    @rule()
    def lose_or_find_the_server(self) -> None:
        disc = self._on.cockpit.servers["disc"]
        self._on.run(disc.down() if self.state.presence == "online" else disc.up())
        self._on.settle()
        self.state.presence = "offline" if self.state.presence == "online" else "online"

    @rule()
    def busy(self) -> None:
        """The resident's turn stands still in the middle of an answer, or goes on."""
        self._on.toggle_busy()

    @rule(name=names, author=authors, addressed=st.booleans())
    def say_during_a_turn(self, name: str, author: str, addressed: bool) -> None:
        """It is in no request of that turn, and waits on where it wakes nobody (A-11)."""
        self._on.toggle_busy()
        self.say(name, author, addressed, again=False, count=1)
        self._on.toggle_busy()

    @rule(down=st.booleans(), away=st.sampled_from([0.0, 5.0, 100.0, 1000.0]))
    def restart(self, down: bool, away: float) -> None:
        self._on.end()
        self._on.clock.advance(away)
        self.state.pass_time(away)
        self._on.reopen(down=down)
        self.state.restart("connecting" if down else "online")

    @rule(burst=bursts, after=st.integers(1, 6), timers=st.booleans(), down=st.booleans())
    def crash(self, burst: Sequence[tuple[str, str, bool]], after: int, timers: bool, down: bool) -> None:
        """`kill -9` in the middle of it: what is left is what some of the first of these did, each whole or not at
        all, and no fewer of them than were acknowledged."""
        works, states = [], [self.state]
        for one in burst:
            if self._certain(one[0]):
                states.append(states[-1].copy())
                works.append(self._asking(states[-1], *one))
        seconds = WINDOW if timers and not self._calms(WINDOW) else 0.0
        folder, acknowledged = self._on.kill(works, after, seconds)
        self._views(_chats(self._on.stored()))
        self._on.end()
        self._on.reopen(folder, down=down)
        wrong: list[AssertionError] = []
        for state in states[acknowledged:]:
            for fired in ([], ["noisy"], ["quiet"], list(NAMES)) if seconds else ([],):
                self.state = state.copy()
                self.state.pass_time(seconds)
                self.state.timers(fired)
                self.state.restart("connecting" if down else "online")
                try:
                    self._check()
                except AssertionError as error:
                    wrong.append(error)
                else:
                    return
        raise wrong[0]

    def teardown(self) -> None:
        if self.lives is not None:
            self.lives.close()

    # ---- what holds

    @invariant()
    def all_is_as_the_model_has_it(self) -> None:
        self._check()
        acknowledged = [ident for _, ident, _ in self._on.cockpit.servers["disc"].acknowledged]
        assert acknowledged == self.state.acks

    def _check(self) -> None:
        stored = self._on.stored()
        self._stamps(_chats(stored))
        self._views(_chats(stored))
        self._counts(self._on.read_by_now(stored))
        for room in self.state.rooms.values():
            _check_told(room.target, room.told, stored)
            ended = [each.body["epoch"] for each in self._on.lifecycle(room.target, "cancelled")]
            assert len(ended) == len({*ended}) == room.epochs - (room.epoch is not None)
        _check_told(SERVER, self.state.told, stored)

    def _stamps(self, chats: Sequence[Message]) -> None:
        """Everything once, in order, under the stamp of its moment."""
        ids = self._ids()
        for room in self.state.rooms.values():
            found = [one for one in chats if one.target == room.target]
            assert [number_of(one) for one in found] == [one.number for one in room.said]
            for one, said in zip(found, room.said, strict=True):
                stamp = one.stamp
                spotted = None if stamp is None else (ids.get(stamp.epoch or ""), ids.get(stamp.span or ""))
                wanted = None if said.stamp is None else ((room.target, said.epoch) if said.epoch else None, said.span)
                assert (spotted, one.edits is not None) == (wanted, said.amends)

    def _views(self, chats: Sequence[Message]) -> None:
        """Nothing diverted in a resident's request, nothing muted in anybody's."""
        stamped = {number_of(one) for one in chats if one.stamp is not None}
        muted = {number_of(one) for one in chats if one.stamp is not None and one.stamp.span is not None}
        for request in self._on.life.model.requests:
            assert not headed(request) & (muted if request.agent == "Subconscious" else stamped)

    def _counts(self, read: set[int]) -> None:
        for name, room in self.state.rooms.items():
            row = self._on.cockpit.session.engine.rows.row(parse(room.target))
            assert (row.attention, row.label) == (self.state.attention(name), self.state.label(name))
            assert set(row.muted_by) == room.mute.layers | self.state.mute.layers
            assert row.wait == len(self.state.waiting(name, read))
            assert (row.held, row.need) == (self.state.held(name), self.state.need(name, read))
            epoch = self._on.cockpit.channel(room.target).epoch
            found = None if epoch is None else (epoch.wakes, epoch.asked, epoch.deadline)
            live = room.epoch
            assert found == (None if live is None else (live.charged, live.asked, live.deadline))

    def _ids(self) -> dict[str, tuple[str, int]]:
        """The ids of epochs and spans by whose and which they are; the n-th that began has the number n."""
        found: dict[str, tuple[str, int]] = {}
        for target in (*(room.target for room in self.state.rooms.values()), SERVER):
            for what, part in (("tuned-out", "epoch"), ("muted", "span")):
                ids = dict.fromkeys(_id(each, part) for each in self._on.lifecycle(target, what))
                found |= {ident: (target, number) for number, ident in enumerate(ids, 1)}
        return found

    # ---- how it is done

    @property
    def _on(self) -> Lives:
        if self.lives is None:
            raise RuntimeError("it has not begun")
        return self.lives

    def _may(self, by: Layer) -> bool:
        """A resident acts in a turn of its own."""
        return by == "operator" or self._on.life.held is None

    def _do(self, by: Layer, line: str, tool: str, values: Mapping[str, Json]) -> bool:
        """By the operator's verb or the resident's tool; whether it was done."""
        if by == "operator":
            return self._on.verb(line)
        said = self._on.run(use(self._on.cockpit, self._on.life.model, tool, by="scout", **values))
        return not said.startswith("refused: ")

    def _pass(self, seconds: float) -> None:
        self._on.advance(seconds)
        self.state.pass_time(seconds)
        self.state.timers()

    def _message(self, name: str, author: str, *, addressed: bool, ident: str | None = None) -> Arrived:
        self.numbers += 1
        ident = ident or f"m{self.numbers}"
        disc = self._on.cockpit.servers["disc"]
        return disc.message(name, f"#{self.numbers};", author=author, addressed=addressed, message_id=ident)

    def _said(self, state: AttentionModel, given: Arrived) -> None:
        passes = given.author not in {"troll", "slow"} and (given.addressed or given.author == "boss")
        name, author, ident = given.target.id, given.author, given.id or ""
        state.say(name, self.numbers, author, ident, addressed=given.addressed, passes=passes, change=given.change)

    def _asking(self, state: AttentionModel, what: str, name: str, flag: bool) -> Coroutine[object, object, object]:
        """One thing to ask for; the model has done it."""
        target, acts = parse(_target(name)), self._on.cockpit.session.engine.acts
        match what:
            case "say":
                given = self._message(name, "kim", addressed=flag)
                self._said(state, given)
                return self._on.sending(given)
            case "mute":
                state.rooms[name].mute.on("operator", state.mute.span)
                return acts.mute(target, OPERATOR)
            case "unmute":
                state.unmute(name, "operator", deliver=flag)
                return acts.unmute(target, OPERATOR, deliver=flag)
            case "tune-out":
                state.tune_out(name, cap=2, budget=1, duration=None)
                return acts.tune_out(target, OPERATOR, {"backlog_cap": 2, "max_wakes": 1, "cadence_seconds": 30})
            case _:
                state.end(name, "operator request")
                return acts.cancel(target, OPERATOR)

    def _certain(self, what: str) -> bool:
        """Whether it can be asked for in a burst: a server that is away says nothing, and what an unmute lets fire at
        once would come anywhere between what follows."""
        rooms = self.state.rooms.values()
        epochs = [room.epoch for room in rooms if room.epoch is not None]
        overdue = any(each.asked or (each.deadline or self.state.wall + 1) <= self.state.wall for each in epochs)
        match what:
            case "say":
                return self.state.presence == "online"
            case "unmute":
                return not overdue and not self._calms(0.0)
            case _:
                return True

    def _calms(self, seconds: float) -> bool:
        """Whether what the gate debounced is let through within so many seconds."""
        rooms = self.state.rooms.values()
        return any(room.debounced and room.calm <= self.state.elapsed + seconds for room in rooms)


def _target(name: str) -> str:
    return SERVER if name == SERVER else f"channel:disc/{name}"


def _chats(stored: Sequence[Message]) -> list[Message]:
    return [one for one in stored if one.kind == "chat"]


def _id(record: Lifecycle, part: str) -> str:
    match record.body["channel"]:
        case {**fields}:
            match fields[part]:
                case {"id": str(found)}:
                    return found
    raise AssertionError(f"{record} has no {part}")


def _check_told(target: str, told: Sequence[Told], stored: Sequence[Message]) -> None:
    """The residents were told of each end once, with what the dump must hold (D-1 to D-3, D-8, D-11)."""
    found = [one.text for one in stored if one.kind == "system" and one.target == target]
    assert len(found) == len(told)
    for text, wanted in zip(found, told, strict=True):
        first, *rest = text.split("\n")
        assert re.fullmatch(re.escape(wanted.words).replace("…", ".*"), first)
        if wanted.lines is None:
            assert rest == []
        elif wanted.messages == 0:
            assert rest == ["", "No messages were diverted."]
        else:
            left = wanted.messages - len(wanted.lines)
            more = f" truncated={left} (oldest; fetch_history covers the rest)" if left else ""
            opening = f'<{wanted.frame} channel="{target.rpartition("/")[2]}" messages={wanted.messages}{more}>'
            assert rest == ["", opening, *wanted.lines, f"</{wanted.frame}>"]


Engine.TestCase.settings = settings(max_examples=20, stateful_step_count=25, deadline=None)
TestEngine = pytest.mark.timeout(180)(Engine.TestCase)
