"""What comes from servers and people, before admission has looked at it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cockpit.core.message import Block
from cockpit.core.target import Target
from cockpit.core.value import value

Change = Literal["", "edited", "deleted"]


@dataclass(frozen=True, slots=True)
class Descriptor:
    """A chat channel as its server registered it (mcpl.md 7.1), defaults filled in."""

    id: str
    type: str
    label: str
    direction: Literal["inbound", "outbound", "bidirectional"] = "bidirectional"
    initially_open: bool = True


@value
class Arrived:
    """One incoming thing, normalised by its connector and not yet admitted.

    target: the channel it belongs to (a push event that names a registered channel of its own server: that
    channel; any other event: `mcp:SERVER`). key: what makes it a duplicate (A-7), unique over all servers, or None
    where the source gives none. id: the server's message id, for acknowledging and for `go=why`. tags: expanded
    (mcpl.md 9.2). change: an edit or a deletion of the message with the same id. own: our own words come back (N-5).
    intercom, to: said over the Intercom, to these residents, or to all where there are none. hops: how many agents'
    turns led to it.
    """

    target: Target
    kind: Literal["chat", "event"]
    author: str
    blocks: tuple[Block, ...]
    key: str | None = None
    id: str | None = None
    author_id: str | None = None
    tags: tuple[str, ...] = ()
    change: Change = ""
    own: bool = False
    push: bool = False
    intercom: bool = False
    to: tuple[str, ...] = ()
    hops: int = 0

    @property
    def addressed(self) -> bool:
        """Whether it is meant for this agent (T-7)."""
        return "chat:addressed" in self.tags


@value
class Receipt:
    """What became of an Arrived, known once it is durable. accepted is false only where it was refused, with why."""

    accepted: bool
    reason: str = ""
    """Why it was refused; of an accepted one, what its sender is told (M-5)."""
    duplicate: bool = False
