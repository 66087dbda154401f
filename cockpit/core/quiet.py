"""The gate's debounce: messages that wake once their channel has been quiet for so long, judged then and not before.

What waits is part of the channel's value, so it survives a restart. When its time has come it wakes the residents if
the channel is still open, asks for the subconscious if its epoch is still the same, and else is consumed (T-11, T-22).
A mute holds what came before it until the unmute; what comes under it never waits (M-12).
"""

from __future__ import annotations

from dataclasses import replace

from cockpit.core import notices
from cockpit.core.channel import Channel, Quiet, attention
from cockpit.core.gate import Verdict
from cockpit.core.inputs import Arrived
from cockpit.core.message import Message, Stamp, Text, agent_slot
from cockpit.core.records import Notice, Record, WakeRequest
from cockpit.core.world import Acknowledge, Effect, Now, Step, World


def stirred(
    channel: Channel, given: Arrived, *, stamp: Stamp | None, verdict: Verdict, world: World, now: Now
) -> Channel:
    """A message came: whatever waits for quiet waits anew, and it joins them where its verdict is to wait."""
    if given.own or (verdict.debounce is None and not channel.quiet):
        return channel
    waiting = {(each.rule, each.epoch): replace(each, last=now.wall) for each in channel.quiet}
    muted = stamp is not None and stamp.span is not None
    if verdict.debounce is not None and not muted:
        key = (verdict.rule, None if stamp is None else stamp.epoch)
        old = waiting.get(key)
        allowed = tuple(name for name in world.policy.may_wake(channel.target) if not given.to or name in given.to)
        before = () if old is None else old.agents
        acked = given.addressed and given.id is not None and key[1] is not None
        waiting[key] = Quiet(
            rule=verdict.rule,
            seconds=verdict.debounce,
            last=now.wall,
            messages=1 + (0 if old is None else old.messages),
            asks=(1 if given.addressed or verdict.privileged else 0) + (0 if old is None else old.asks),
            acks=(() if old is None else old.acks) + ((given.id,) if acked and given.id is not None else ()),
            agents=tuple(name for name in world.policy.residents if name in {*before, *allowed}),
            epoch=key[1],
        )
    return channel if not waiting else replace(channel, quiet=tuple(waiting.values()))


def over(channel: Channel, rule: str, world: World, now: Now) -> Step:
    """The quiet of one rule is over: the gate lets its messages through now, or once its channel is unmuted."""
    state = attention(channel, world.server)
    if state == "muted":
        return Step(channel)
    due = [each for each in channel.quiet if each.rule == rule]
    after = replace(channel, quiet=tuple(each for each in channel.quiet if each.rule != rule))
    records: list[Record] = []
    effects: list[Effect] = []
    for each in due:
        if each.epoch is None:
            records.extend(_wakes(each, channel, world, now) if state != "tuned-out" else ())
        elif after.epoch is not None and after.epoch.id == each.epoch:
            after = _asks(each, after, now)
            server = channel.target.server if "channels.acknowledge" in world.grant else None
            effects.extend(Acknowledge(server, channel.target.id, one) for one in each.acks if server is not None)
    return Step(after, tuple(records), tuple(effects))


def _asks(each: Quiet, channel: Channel, now: Now) -> Channel:
    """Diverted ones ask for the subconscious, as an undelayed one would have (T-7, T-8)."""
    epoch = channel.epoch
    if epoch is None or not each.asks:
        return channel
    window = now.wall if epoch.window is None else epoch.window
    return replace(channel, epoch=replace(epoch, asked=epoch.asked + each.asks, window=window))


def _wakes(each: Quiet, channel: Channel, world: World, now: Now) -> list[Record]:
    """One wake and one notice for each resident, in that resident's own slot (N-8)."""
    target = str(channel.target)
    text = notices.settled(world.name, each.messages, each.seconds)
    records: list[Record] = []
    for name in each.agents:
        message = Message(agent_slot(name), "system", "system", (Text(text),), now.wall, target, world.name)
        records.append(Notice(message, "gate", name))
        records.append(WakeRequest(name, "message", now.wall, target))
    return records
