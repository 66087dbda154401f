"""The Intercom: people, programs and agents who speak to the residents beside the chat servers.

Who may speak as whom is decided by the recipe's tokens, compared in constant time; what is said goes through the same
admission as everything else.
"""

from __future__ import annotations

import hmac
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from cockpit.connect.ports import Host
from cockpit.core.inputs import Arrived, Receipt
from cockpit.core.message import Text
from cockpit.core.target import Target
from cockpit.core.verbs import nearest, repeated
from cockpit.errors import VerbError


@dataclass(slots=True)
class Intercom:
    """residents in order, the primary first. tokens by handle. stamp makes message ids unique over restarts."""

    host: Host
    operator: str
    residents: tuple[str, ...]
    feeds: tuple[str, ...]
    tokens: Mapping[str, str] = field(repr=False)
    stamp: Callable[[], str] = str
    _count: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    async def send(self, handle: str, token: str, to: str | None, text: str) -> Receipt:
        """A participant speaks. Raises VerbError (`refused`) where the token is not that handle's."""
        self.check(handle, token)
        return await self.post(handle, to, text)

    def check(self, handle: str, token: str) -> None:
        """Raises VerbError (`refused`) where the token is not that handle's."""
        known = self.tokens.get(handle)
        right = hmac.compare_digest(_bytes(known or ""), _bytes(token))
        if known is None or not right:
            raise VerbError(
                "refused", f"no participant {handle!r} with that token", "the recipe's [intercom] names them"
            )

    async def post(self, author: str, to: str | None, text: str, *, hops: int = 0) -> Receipt:
        """Say something as `author`, who is who they are: to a resident (the primary unless said), or to a feed.

        Raises VerbError where there is no such resident or feed. hops: how many agents' turns led to it.
        """
        if not text.strip():
            raise VerbError("missing_value", "an empty message says nothing", 'text="…"')
        given = self._message(author, self._place(to, author), text, hops)
        return await (await self.host.arrived(given))

    def _place(self, to: str | None, author: str) -> tuple[Target, tuple[str, ...]]:
        """The channel that a message belongs to (A-10), and the residents it is said to."""
        name = (to or self.residents[0]).strip()
        if name.startswith("feed:") and name[5:] in self.feeds:
            return Target("feed", name[5:]), ()
        if name in self.residents:
            return Target("user", author), (name,)
        known = [*self.residents, *(f"feed:{feed}" for feed in self.feeds)]
        close = nearest(name, known)
        hint = f"did you mean {close[0]}?" if close else f"known: {', '.join(known)}"
        raise VerbError("unknown_target", f"nobody to send to by {repeated(name)}; {hint}", ", ".join(known))

    def _message(self, author: str, place: tuple[Target, tuple[str, ...]], text: str, hops: int) -> Arrived:
        target, to = place
        identity = f"{self.stamp()}-{next(self._count)}"
        called = any(f"@{name}" in text for name in self.residents)
        direct, named = ("chat:addressed", "chat:dm", "chat:private"), ("chat:addressed", "chat:mention")
        return Arrived(
            target=target,
            kind="chat",
            author=author,
            author_id=author,
            blocks=(Text(text),),
            key=f"intercom\x1f{identity}",
            id=identity,
            tags=direct if to else named if called else (),
            intercom=True,
            to=to,
            hops=hops,
        )


def _bytes(token: str) -> bytes:
    """Whatever was given as a token, lone surrogates and all."""
    return token.encode("utf-8", "surrogatepass")
