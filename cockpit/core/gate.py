"""The resident's wake gate: whether it would be woken for a message. It decides waking, never seeing.

Without a `[gate]` section: addressed messages, direct messages, push events and Intercom messages to it wake it;
the rest is seen at its next turn (N-6).
"""

from __future__ import annotations

from dataclasses import dataclass

from cockpit.core.inputs import Arrived
from cockpit.core.policy import Policy


@dataclass(frozen=True, slots=True)
class Verdict:
    """passes: the gate would wake the resident. rule: the name of what decided, for `go=why`.
    privileged: the author is one whom the gate privileges."""

    passes: bool
    rule: str
    privileged: bool = False


def judge(given: Arrived, policy: Policy) -> Verdict:
    """The verdict of N-6."""
    privileged = given.author_id is not None and given.author_id in policy.privileged
    if given.own:
        return Verdict(False, "gate:own", privileged)
    if given.change:
        return Verdict(False, "gate:change", privileged)
    if given.addressed or "chat:dm" in given.tags:
        return Verdict(True, "gate:addressed", privileged)
    if given.push:
        return Verdict(True, "gate:push", privileged)
    if given.intercom:
        return Verdict(True, "gate:intercom", privileged)
    if privileged:
        return Verdict(True, "gate:privileged", privileged)
    return Verdict(False, "gate:default", privileged)
