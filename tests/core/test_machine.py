"""Any order of tune-outs, mutes, traffic and timers, on the pure reducer, against a model that only keeps lists.

What holds after every step: nothing accepted is lost (A-2), each stamp is what stood when its message came (A-3), each
epoch ends at most once and with exactly one dump that counts its whole backlog (T-15, T-16, D-8), what a mute withheld
is told once (M-11, M-12), and attention, label and the three counts are the model's (A-11, section 1).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from cockpit.core.channel import attention, held, label, muted_by, need, presence
from cockpit.core.message import Message
from cockpit.core.records import DumpOf, Notice, WakeRequest
from cockpit.core.step import Looked, Missed, Observe, Read, Register, Release, Unregister, reason_of
from cockpit.core.world import ENGINE, Actor
from cockpit.errors import VerbError
from cockpit.testing.lane import OPERATOR, RESIDENT, SUBCONSCIOUS, Lane

SELDOM = st.sampled_from([False, False, False, True])
"""Whether what would end the interesting part of a run is done at all."""

ACTORS = {"operator": OPERATOR, "resident": RESIDENT, "subconscious": SUBCONSCIOUS}


@dataclass
class Said:
    """One message as the model remembers it: what was on when it came."""

    addressed: bool
    epoch: int | None
    span: int | None
    server: bool = False


@dataclass
class Model:
    """Everything by plain lists: the epochs and spans are numbered as they begin."""

    said: list[Said] = field(default_factory=list)
    unread: list[Said] = field(default_factory=list)
    epochs: int = 0
    epoch: int | None = None
    budget: int = 0
    charged: int = 0
    asked: int = 0
    deadline: float | None = None
    unseen: int = 0
    ended: dict[int, int] = field(default_factory=dict)
    spans: int = 0
    span: int | None = None
    layers: set[str] = field(default_factory=set)
    server_span: int | None = None
    wanted: bool = True
    registered: bool = True
    server: str = "online"
    told: list[int] = field(default_factory=list)

    @property
    def muted(self) -> bool:
        return self.span is not None or self.server_span is not None

    @property
    def attention(self) -> str:
        if self.muted:
            return "muted"
        return "tuned-out" if self.epoch is not None else "open" if self.wanted else "closed"

    @property
    def presence(self) -> str:
        return "offline" if self.server == "online" and not self.registered else self.server

    def of_epoch(self, number: int) -> list[Said]:
        return [one for one in self.said if one.epoch == number]

    def withheld(self, span: int | None, *, server: bool) -> int:
        """What a span holds that no epoch dumps."""
        found = (one for one in self.said if one.span == span and one.epoch is None and one.server is server)
        return sum(1 for _ in found) if span is not None else 0

    @property
    def held(self) -> int:
        mine = len(self.of_epoch(self.epoch)) if self.epoch is not None else 0
        return mine + self.withheld(self.span, server=False) + self.withheld(self.server_span, server=True)

    @property
    def need(self) -> int:
        if self.muted:
            return 0
        mine = self.of_epoch(self.epoch) if self.epoch is not None else []
        return sum(one.addressed for one in [*self.unread, *mine])

    def end(self) -> None:
        if self.epoch is None:
            raise AssertionError("the model has no epoch to end")
        self.ended[self.epoch] = len(self.of_epoch(self.epoch))
        self.epoch = self.deadline = None
        self.asked = self.unseen = 0


class Attention(RuleBasedStateMachine):
    """One chat channel and its server."""

    @initialize(wanted=st.booleans(), wakes=st.integers(1, 3))
    def begin(self, wanted: bool, wakes: int) -> None:
        self.lane = Lane.chat()
        self.lane.step(Register("noisy", new=True, wanted=wanted))
        self.model = Model(wanted=wanted)
        self.epochs: dict[str, int] = {}
        self.spans: dict[str, int] = {}
        self.enter(wakes, 200, None, OPERATOR)

    @precondition(lambda self: self.model.epoch is None)
    @rule(
        wakes=st.integers(1, 3),
        cap=st.integers(0, 5),
        duration=st.one_of(st.none(), st.integers(60, 600)),
        actor=st.sampled_from([OPERATOR, RESIDENT]),
    )
    def enter(self, wakes: int, cap: int, duration: int | None, actor: Actor) -> None:
        model = self.model
        self.lane.tune_out(actor, max_wakes=wakes, backlog_cap=cap, duration_seconds=duration)
        model.epochs += 1
        model.epoch, model.budget, model.charged = model.epochs, wakes, 0
        model.deadline = None if duration is None else self.lane.wall + duration
        if self.lane.channel.epoch is not None:
            assert self.lane.channel.epoch.id not in self.epochs
            self.epochs[self.lane.channel.epoch.id] = model.epochs

    @rule(count=st.integers(1, 4), addressed=st.booleans(), passes=st.booleans(), privileged=st.booleans())
    def arrive(self, count: int, addressed: bool, passes: bool, privileged: bool) -> None:
        for _ in range(count):
            self._arrive(addressed=addressed, passes=passes, privileged=privileged)

    @rule(count=st.integers(1, 3), elapsed=st.floats(0, 5))
    def mention(self, count: int, elapsed: float) -> None:
        """What wakes: addressed and let through, and then the window's end."""
        for _ in range(count):
            self._arrive(addressed=True, passes=True, privileged=False)
        self.window(elapsed)

    def _arrive(self, *, addressed: bool, passes: bool, privileged: bool) -> None:
        model, lane = self.model, self.lane
        effects, woken = len(lane.effects), len(lane.of(WakeRequest))
        message = lane.say(addressed=addressed, passes=passes, privileged=privileged)
        own = model.span is not None
        span = model.span if own else model.server_span
        one = Said(addressed, model.epoch, span, server=not own and span is not None)
        model.said.append(one)
        if one.epoch is None and one.span is None:
            model.unread.append(one)
        if one.epoch is not None and one.span is None:
            model.unseen += 1
            model.asked += passes and (addressed or privileged)
        stamp = message.stamp
        found = (None, None) if stamp is None else (stamp.epoch, stamp.span)
        assert self.epochs.get(found[0] or "") == one.epoch
        assert self.spans.get(found[1] or "") == one.span
        acknowledged = one.epoch is not None and one.span is None and addressed and passes
        assert len(lane.effects) - effects == acknowledged
        assert len(lane.of(WakeRequest)) - woken == (passes and one.epoch is None and one.span is None)

    @precondition(lambda self: self.model.asked)
    @rule(elapsed=st.floats(0, 5))
    def window(self, elapsed: float) -> None:
        model = self.model
        runs = model.epoch is not None and model.asked > 0 and not model.muted
        before = len(self.lane.of(WakeRequest))
        self.lane.due("window", after=elapsed)
        if not runs:
            assert len(self.lane.of(WakeRequest)) == before
            return
        model.charged, model.asked = model.charged + 1, 0
        wake = self.lane.last(WakeRequest)
        if model.charged > model.budget:
            model.end()
            notice = self.lane.last(DumpOf).notice
            assert notice == (
                f"[Tune-out: noisy cancelled — wake budget exhausted ({model.budget}), {model.budget + 1} wakes]"
            )
            assert (wake.agent, wake.reason) == ("scout", "cancel")
        else:
            assert (wake.agent, wake.reason) == ("Subconscious", "wake")

    @rule()
    def cadence(self) -> None:
        model = self.model
        due = model.epoch is not None and model.unseen > 0 and not model.muted
        before = len(self.lane.of(WakeRequest))
        self.lane.due("cadence")
        assert len(self.lane.of(WakeRequest)) - before == due

    @precondition(lambda self: self.model.deadline is not None)
    @rule(elapsed=st.integers(0, 400))
    def deadline(self, elapsed: int) -> None:
        model = self.model
        self.lane.due("deadline", after=elapsed)
        if model.deadline is not None and self.lane.wall >= model.deadline:
            model.end()
            assert "duration elapsed" in self.lane.last(DumpOf).notice

    @precondition(lambda self: self.model.epoch is not None)
    @rule(who=st.sampled_from([*ACTORS, "engine"]), note=st.one_of(st.none(), st.just("They need you.")), now=SELDOM)
    def cancel(self, who: str, note: str | None, now: bool) -> None:
        if not now:
            return
        actor = ACTORS.get(who, ENGINE)
        note = note if who == "subconscious" else None
        done = self.lane.cancel(actor, reason_of(actor), note)
        self.model.end()
        words = [one.text for one in done.records if isinstance(one, Message)]
        assert words == ([] if note is None else [note])

    @rule(layer=st.sampled_from(["operator", "resident"]), deliver=st.booleans(), now=SELDOM)
    def toggle_mute(self, layer: str, deliver: bool, now: bool) -> None:
        model, lane = self.model, self.lane
        if layer not in model.layers:
            if not now and not model.layers:
                return
            lane.mute(ACTORS[layer])
            model.layers.add(layer)
            ident = lane.channel.span.id if lane.channel.span is not None else ""
            if model.span is None and model.server_span is not None:
                model.span = model.server_span  # the server's goes on as its own (M-9)
                for one in model.said:
                    one.server = one.server and one.span != model.span
            elif model.span is None:
                model.spans += 1
                model.span = model.spans
                assert ident not in self.spans
                self.spans[ident] = model.span
            assert self.spans[ident] == model.span
        elif model.server_span is None:
            count, written = model.withheld(model.span, server=False), len(lane.records)
            lane.unmute(ACTORS[layer], deliver=deliver)
            model.layers.discard(layer)
            self._told(written, count if not model.layers else None, deliver=deliver)
            model.span = model.span if model.layers else None

    @rule(layer=st.sampled_from(["operator", "resident"]))
    def what_makes_no_sense_is_refused(self, layer: str) -> None:
        """And changes nothing."""
        model, lane = self.model, self.lane
        before, written = lane.channel, len(lane.records)
        if model.epoch is None:
            with pytest.raises(VerbError, match="not tuned out"):
                lane.cancel()
        else:
            with pytest.raises(VerbError, match="already"):
                lane.tune_out()
        if layer in model.layers:
            with pytest.raises(VerbError, match="already"):
                lane.mute(ACTORS[layer])
        if model.server_span is not None or layer not in model.layers:
            with pytest.raises(VerbError):
                lane.unmute(ACTORS[layer])
        assert (lane.channel, len(lane.records)) == (before, written)

    @precondition(lambda self: self.model.server_span is None)
    @rule(now=SELDOM)
    def mute_server(self, now: bool) -> None:
        if not now:
            return
        self.lane.mute_server()
        self.model.spans += 1
        self.model.server_span = self.model.spans
        if self.lane.server is not None and self.lane.server.span is not None:
            self.spans[self.lane.server.span.id] = self.model.spans

    @precondition(lambda self: self.model.server_span is not None)
    @rule(deliver=st.booleans())
    def unmute_server(self, deliver: bool) -> None:
        lane, model = self.lane, self.model
        span = lane.server.span if lane.server is not None else None
        count = 0 if model.span == model.server_span else model.withheld(model.server_span, server=True)
        written = len(lane.records)
        lane.mute_server(off=True)
        if span is not None:
            lane.step(Release(span, deliver))
        dumps = [one for one in lane.records[written:] if isinstance(one, DumpOf)]
        assert [one.messages for one in dumps] == ([count] if deliver and count else [])
        model.server_span = None

    @rule(seen=st.sampled_from(["online", "offline", "killed", "connecting"]), crashed=st.booleans(), on=st.booleans())
    def observe(self, seen: str, crashed: bool, on: bool) -> None:
        above = Lane(self.lane.server) if self.lane.server is not None else Lane.mcp("disc")
        above.step(Observe(seen, crashed=crashed))  # type: ignore[arg-type]  # one of the presences
        self.lane.server = above.channel
        self.lane.step(Register("noisy", new=False, wanted=True) if on else Unregister())
        self.model.server, self.model.registered = seen, on

    @precondition(lambda self: self.model.unread)
    @rule(data=st.data())
    def read(self, data: st.DataObject) -> None:
        count = data.draw(st.integers(1, len(self.model.unread)))
        gone, self.model.unread = self.model.unread[:count], self.model.unread[count:]
        self.lane.step(Read(count, sum(one.addressed for one in gone)))

    @precondition(lambda self: self.model.unseen)
    @rule(data=st.data(), well=st.booleans())
    def look(self, data: st.DataObject, well: bool) -> None:
        count = data.draw(st.integers(1, self.model.unseen))
        self.lane.step(Looked(count) if well else Missed())
        self.model.unseen -= count if well else 0

    def _told(self, written: int, count: int | None, *, deliver: bool) -> None:
        """One notice or one dump with what was withheld, or, where the other layer is still on, neither."""
        fresh = self.lane.records[written:]
        dumps = [one for one in fresh if isinstance(one, DumpOf)]
        told = [*(one.message.text for one in fresh if isinstance(one, Notice)), *(one.notice for one in dumps)]
        assert [one.messages for one in dumps] == ([count] if deliver and count is not None else [])
        assert [text.partition(" — ")[2] for text in told] == (
            [] if count is None else [f"{count} message{'' if count == 1 else 's'} withheld]"]
        )

    @invariant()
    def nothing_is_lost(self) -> None:
        stored = [one for one in self.lane.of(Message) if one.kind == "chat"]
        assert len(stored) == len(self.model.said)
        totals = self.lane.channel.totals
        assert totals.delivered == sum(one.epoch is None and one.span is None for one in self.model.said)
        assert totals.delivered + totals.diverted == len(self.model.said)

    @invariant()
    def each_epoch_ends_once_with_one_dump(self) -> None:
        dumps = [one for one in self.lane.of(DumpOf) if one.tag == "tuned-out-backlog"]
        assert {self.epochs[one.stamp]: one.messages for one in dumps} == self.model.ended
        assert len(dumps) == len(self.model.ended)

    @invariant()
    def the_state_is_the_models(self) -> None:
        model, channel, server = self.model, self.lane.channel, self.lane.server
        assert attention(channel, server) == model.attention
        assert presence(channel, server) == model.presence
        shown = label(presence(channel, server), attention(channel, server))
        both = f"{model.attention} · {model.presence}"
        alone = model.attention if model.presence == "online" else both
        assert shown == (model.presence if model.attention == "open" else alone)
        assert set(muted_by(channel, server)) == model.layers | ({"operator"} if model.server_span else set())
        assert (channel.epoch is None) == (model.epoch is None)
        if channel.epoch is not None:
            assert (channel.epoch.wakes, channel.epoch.undigested) == (model.charged, model.unseen)
            assert channel.epoch.asked == model.asked

    @invariant()
    def the_three_counts_are_the_models(self) -> None:
        channel, server, model = self.lane.channel, self.lane.server, self.model
        assert channel.wait == len(model.unread)
        assert held(channel) == model.held
        assert need(channel, server) == model.need


Attention.TestCase.settings = settings(max_examples=120, stateful_step_count=40, deadline=None)
TestAttention = Attention.TestCase
