"""Mute and unmute: a filter in the host, in two layers, that stops nothing and loses nothing (section 7)."""

from __future__ import annotations

from dataclasses import replace

from cockpit.core import notices
from cockpit.core.channel import Channel, Layer, Span
from cockpit.core.message import RESIDENTS, Message, Text
from cockpit.core.records import DumpOf, Notice, Record
from cockpit.core.state import lifecycle
from cockpit.core.world import Actor, Now, Step, World
from cockpit.errors import VerbError


def layer_of(actor: Actor) -> Layer:
    """Operator and residents mute in layers of their own; all residents share one (M-9)."""
    return "resident" if actor.role == "resident" else "operator"


def mute(
    channel: Channel,
    actor: Actor,
    world: World,
    now: Now,
    *,
    override: str | None = None,
    soft: bool = False,
) -> Step:
    """Put this actor's layer on; the first layer begins a span (M-9). An epoch below is held (M-12)."""
    target, layer = channel.target, layer_of(actor)
    if target.kind == "mcp" and target.name in world.policy.integrity and not (override and actor.role == "operator"):
        why = "a resident cannot override that" if actor.role == "resident" else 'say override="<why>"'
        hint = f'go=mute target={target} override="<why>"'
        raise VerbError("refused", f"{target} is an integrity server and is not muted: {why}", hint)
    if target.kind == "user" and world.policy.operators == {target.name} and not soft:
        raise VerbError(
            "refused",
            f"{target} is the only operator; soft=yes holds only their side-channel messages",
            f"go=mute target={target} soft=yes",
        )
    span = channel.span
    if span is not None and layer in span.layers:
        raise VerbError("already", f"{target} is muted by the {layer} already", f"go=unmute target={target}")
    above = None if world.server is None else world.server.span
    after = channel
    if span is not None:
        span = replace(span, layers=(*span.layers, layer), soft=span.soft and soft)
    elif above is not None:  # it is muted already: the server's span goes on as its own, with what it holds (M-9)
        span = replace(above, layers=(layer,), told=False)
        after = replace(channel, withheld=channel.withheld_by_server, withheld_by_server=0)
    else:
        span = Span(f"span-{now.sequence}", now.wall, (layer,), soft=soft)
    after = replace(after, span=span)
    return Step(after, (lifecycle(after, "muted", now, actor),), answer=f"{target} is muted")


def unmute(
    channel: Channel,
    actor: Actor,
    world: World,
    now: Now,
    *,
    deliver: bool = False,
    total: int | None = None,
) -> Step:
    """Take this actor's layer off; the last layer ends the span and tells the residents once (M-10, M-11).

    deliver: give them the dump too. total: of a whole server, what its channels withheld as well.
    """
    target, layer, span = channel.target, layer_of(actor), channel.span
    server = world.server
    if server is not None and server.span is not None:
        raise VerbError(
            "refused",
            f"{target} is muted by its server {server.target}: unmute that",
            f"go=unmute target={server.target}",
        )
    if span is None:
        raise VerbError("already", f"{target} is not muted", f"go=mute target={target}")
    if layer not in span.layers:
        by = span.layers[0]
        why = f"{target} is muted by the {by}, and only the {by} can unmute it"
        raise VerbError("refused", why, f'go=ask text="unmute {target}"' if by == "resident" else "ask the operator")
    left = tuple(each for each in span.layers if each != layer)
    if left:
        after = replace(channel, span=replace(span, layers=left))
        return Step(
            after, (lifecycle(after, "unmuted-layer", now, actor),), (), f"{target} is still muted by the {left[0]}"
        )
    count = channel.withheld if total is None else total
    after = replace(_ended(channel, span, now.wall, dumped=channel.withheld if deliver else 0), span=None, withheld=0)
    text = notices.unmuted(target, now.wall - span.since, count)
    deliver = deliver and (channel.withheld > 0 or count == 0)
    told = _tell(channel, text, span, world, now, deliver=deliver, messages=channel.withheld)
    return Step(after, (lifecycle(after, "unmuted", now, actor), *told), (), f"{target} is unmuted")


def release(channel: Channel, span: Span, world: World, now: Now, *, deliver: bool) -> Step:
    """What its server's unmute does to one of its channels: its count ends; with `deliver` it gets its dump (M-11)."""
    if channel.span is not None and channel.span.id == span.id:
        return Step(channel)
    count = channel.withheld_by_server
    until = now.wall if channel.span is None else channel.span.since  # from there on its own span counts the seconds
    after = replace(_ended(channel, span, until, dumped=count if deliver else 0), withheld_by_server=0)
    if not deliver or not count:
        return Step(after)
    text = notices.unmuted(channel.target, now.wall - span.since, count)
    return Step(after, _tell(channel, text, span, world, now, deliver=True, messages=count))


def _ended(channel: Channel, span: Span, until: float, *, dumped: int) -> Channel:
    totals = channel.totals
    return replace(
        channel,
        totals=replace(
            totals,
            seconds_muted=totals.seconds_muted + max(0.0, until - span.since),
            dumped=totals.dumped + dumped,
        ),
    )


def _tell(
    channel: Channel, text: str, span: Span, world: World, now: Now, *, deliver: bool, messages: int
) -> tuple[Record, ...]:
    target = str(channel.target)
    if not deliver:
        message = Message(RESIDENTS, "system", "system", (Text(text),), now.wall, target=target, channel=world.name)
        return (Notice(message, "unmute", "residents"),)
    return (
        DumpOf(
            slot=RESIDENTS,
            owner="residents",
            kind="unmute",
            target=target,
            channel=world.name,
            notice=text,
            tag="muted-backlog",
            stamp=span.id,
            messages=messages,
            cap=world.policy.tune_out.cap,
            bound=world.policy.bound,
            at=now.wall,
        ),
    )
