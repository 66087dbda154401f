"""The resident's timeline as `go=branches`, `go=rewind` and `go=switch` see it: one branch, which nothing cuts.

A rewind is read and checked like any verb, and then refused in words that say what stands in its way (K-84).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from cockpit.core.channel import Channel
from cockpit.core.message import RESIDENTS
from cockpit.core.target import Target
from cockpit.core.verbs import nearest, repeated
from cockpit.errors import VerbError
from cockpit.store.protocol import Reads

BRANCH = "main"
"""The one that every store has."""

LOOKED = 200
"""Newest messages whose ids are candidates for one that does not exist."""

NAMED = 3
"""Channels that are named of those that stand in the way."""

INSTEAD = "a new store begins a new timeline: cockpit RECIPE --db PATH"


@dataclass(slots=True)
class Timeline:
    """Reads only. head: the last sequence that is written."""

    chronicle: Reads
    channels: Mapping[Target, Channel]
    head: Callable[[], int]

    def branches(self) -> str:
        """The one line that `go=branches` answers."""
        return f"{BRANCH}: the current branch, and the only one; its last sequence is {self.head()}"

    async def rewind(self, to: str) -> str:
        """Always raises VerbError: `bad_value` for what is not there, else `refused` with what stands in the way."""
        sequence = await self._sequence(to.strip())
        live = self._live()
        if live:
            words = [f"{target} is {state}" for target, state in live[:NAMED]]
            more = f" and {len(live) - NAMED} more" if len(live) > NAMED else ""
            first, state = live[0]
            raise VerbError(
                "refused",
                f"cancel first: {', '.join(words)}{more}, and a rewind to before {sequence} would cut what is held; "
                f"even then it is refused, since this version keeps one branch only, {BRANCH}",
                f"go={'unmute' if state == 'muted' else 'cancel'} target={first}",
            )
        raise VerbError(
            "refused",
            f"not rewound to before {sequence}: this version keeps one branch only, {BRANCH}, and takes nothing back "
            "that was written",
            INSTEAD,
        )

    def switch(self, branch: str) -> str:
        """Always raises VerbError: `bad_value` for a branch that is not there, else `refused`."""
        name = branch.strip()
        if name != BRANCH:
            raise VerbError("bad_value", f"no branch {repeated(name)}; there is {BRANCH} and no other", BRANCH)
        raise VerbError("refused", f"{BRANCH} is the current branch already, and the only one of this version", INSTEAD)

    async def _sequence(self, to: str) -> int:
        """The sequence that is meant. Raises VerbError (`bad_value`) where the log has none such."""
        head = self.head()
        if to.isascii() and to.isdecimal():
            if head == 0:
                raise VerbError("bad_value", f"no sequence {to[:20]}: nothing is written yet", "go=branches")
            number = int(to[:20])  # more digits than any log has; Python reads no more than some thousands
            if not 1 <= number <= head:
                raise VerbError(
                    "bad_value", f"no sequence {to[:20]}: they run from 1 to {head}", f"go=rewind to={head}"
                )
            return number
        message = await self.chronicle.message(to)
        if message is None:
            known = await self._ids()
            close = nearest(to, known) or tuple(known[:NAMED])
            hint = f"did you mean {' or '.join(close)}?" if close else "go=peek target=… shows the ids"
            raise VerbError("bad_value", f"no message {repeated(to)}; {hint}", ", ".join(close))
        return message.sequence

    async def _ids(self) -> list[str]:
        """`SERVER/MESSAGE-ID` of the newest messages, newest first."""
        found = await self.chronicle.messages((RESIDENTS,), view="all", limit=LOOKED)
        named = (f"{_server(message.target)}/{message.id}" for message in reversed(found) if message.id is not None)
        return [each for each in dict.fromkeys(named) if not each.startswith("/")]

    def _live(self) -> list[tuple[Target, str]]:
        """What is tuned out or muted now, and so holds what a cut would take: the tuned-out ones first."""
        tuned = [(target, "tuned out") for target, channel in self.channels.items() if channel.epoch is not None]
        muted = [(target, "muted") for target, channel in self.channels.items() if channel.span is not None]
        return tuned + [each for each in muted if each[0] not in dict(tuned)]


def _server(target: str | None) -> str:
    return (target or "").partition(":")[2].partition("/")[0]
