"""How a channel is named: `mcp:NAME`, `channel:SERVER/ID`, `user:HANDLE`, `feed:NAME` (semantics.md section 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from cockpit.errors import VerbError

Kind = Literal["mcp", "channel", "user", "feed"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True, order=True)
class Target:
    """One channel's name. `str(target)` is the form the operator types and every headless line carries."""

    kind: Kind
    name: str

    def __hash__(self) -> int:
        return hash(self.name)  # every message looks its channel up a few times

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"

    @property
    def server(self) -> str | None:
        """The server it belongs to: its own name for `mcp:`, what stands before the first slash for `channel:`."""
        match self.kind:
            case "mcp":
                return self.name
            case "channel":
                return self.name.partition("/")[0]
            case "user" | "feed":
                return None

    @property
    def id(self) -> str:
        """The channel's own id as its server gives it; for the other kinds the bare name."""
        return self.name.partition("/")[2] if self.kind == "channel" else self.name


def channel(server: str, channel_id: str) -> Target:
    """The target of a chat channel of an MCPL server. `server` holds no slash; `channel_id` may."""
    return Target("channel", f"{server}/{channel_id}")


def server(name: str) -> Target:
    """The target of an MCP or MCPL server as a whole."""
    return Target("mcp", name)


def parse(text: str) -> Target:
    """Read `KIND:NAME`, spaces around it dropped, the kind in any case.

    Raises VerbError (`unknown_target`) where there is no known kind or no name. Whether such a channel exists,
    and which one `channel:ID` alone means, is `verbs.resolve`'s to say.
    """
    kind, colon, name = text.strip().partition(":")
    lowered = kind.strip().lower()
    for known in KINDS:
        if lowered == known and colon and name.strip():
            return Target(known, name.strip())
    raise VerbError(
        "unknown_target",
        f"no target {text!r}: a target is mcp:NAME, channel:SERVER/ID, user:HANDLE or feed:NAME",
    )
