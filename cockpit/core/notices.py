"""The host's own sentences: bracket notices, spelled exactly as the contract spells them."""

from __future__ import annotations

from cockpit.core.duration import spell
from cockpit.core.target import Target
from cockpit.core.text import header_field, notice_channel

NOT_CALLED = "[Mute: {target} is muted — this call was not made]"
WITHHELD = "[Mute: {target} is muted — the result of this call is withheld]"


def count(number: int, word: str) -> str:
    """`0 wakes`, `1 wake`, `2 wakes`."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def woken(channel: str, asked: int) -> str:
    """T-13: what sets off the subconscious's turn after a coalesced wake."""
    return f"[Tune-out wake: {notice_channel(channel)} — {count(asked, 'addressed message')}]"


def due(channel: str, undigested: int) -> str:
    """T-13: what sets off its turn at a cadence tick."""
    return (
        f"[Tune-out cadence: {notice_channel(channel)} — {count(undigested, 'diverted message')} since your last look]"
    )


def cancelled(channel: str, reason: str, wakes: int) -> str:
    """T-18: the first line of what the residents get."""
    return f"[Tune-out: {notice_channel(channel)} cancelled — {reason}, {count(wakes, 'wake')}]"


def cancelled_report(channel: str, reason: str, truncated: int, messages: int) -> str:
    """T-19: what announces the report turn in the subconscious's own slot."""
    head = f"[Tune-out cancelled: {notice_channel(channel)} — {reason}."
    if not truncated:
        return f"{head}]"
    return f"{head} {truncated} of {messages} diverted messages, the oldest, weren't delivered raw to the resident.]"


def unmuted(target: Target, seconds: float, withheld: int) -> str:
    """M-11: what the residents get when the last layer is off."""
    return (
        f"[Mute: {notice_channel(str(target))} unmuted after {spell(seconds)} — {count(withheld, 'message')} withheld]"
    )


def not_called(target: Target) -> str:
    """M-2: the result of a call that was refused at dispatch."""
    return NOT_CALLED.format(target=notice_channel(str(target)))


def withheld(target: Target) -> str:
    """M-3: what stands in the place of a result that came while its server was muted."""
    return WITHHELD.format(target=notice_channel(str(target)))


def agreed(target: Target, by: str) -> str:
    """M-7: what the residents get when the operator says yes to a mute that one of them asked for."""
    return f"[Mute: {notice_channel(str(target))} is muted — the operator said yes to {header_field(by)}]"


def declined(target: Target, by: str) -> str:
    """M-7: what they get when the operator says no."""
    return f"[Mute: {notice_channel(str(target))} is not muted — the operator said no to {header_field(by)}]"


def settled(channel: str, messages: int, seconds: float) -> str:
    """What a debounced wake tells the agent that it wakes."""
    return f"[Gate: {notice_channel(channel)} — {count(messages, 'message')}, then quiet for {spell(seconds)}]"
