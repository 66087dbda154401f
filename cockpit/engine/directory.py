"""Which channels there are, in which order they stand, and how each is named to agents and in notices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cockpit.core.channel import Channel
from cockpit.core.target import Target, server
from cockpit.core.verbs import nearest, repeated
from cockpit.errors import ToolError


class Directory:
    """Fed with every channel that becomes known. Servers stand in the recipe's order, each before its channels."""

    def __init__(self, servers: Iterable[str], others: Iterable[Target]) -> None:
        self._order: dict[str, int] = {name: place for place, name in enumerate(servers)}
        self._others = {target: place for place, target in enumerate(others)}
        self._known: dict[Target, int] = {}
        self._places: dict[Target, tuple[str, Target | None, str]] = {}
        self._by_text: dict[str, Target] = {}
        self._servers_of: dict[str, set[str]] = {}

    def add(self, target: Target) -> None:
        if target in self._known:
            return
        self._known[target] = len(self._known)
        self._places.clear()  # a name may be shared from now on
        self._by_text[str(target)] = target
        if target.kind == "channel" and target.server is not None:
            self._servers_of.setdefault(target.id, set()).add(target.server)

    def get(self, text: str) -> Target | None:
        """The known channel of that very target."""
        return self._by_text.get(text)

    def targets(self) -> list[Target]:
        """All of them: servers with their channels in the recipe's order, then users and feeds."""
        return sorted(self._known, key=self._order_of)

    def channels_of(self, name: str) -> list[Target]:
        """The chat channels of one server, in the order they became known."""
        return [target for target in self._known if target.kind == "channel" and target.server == name]

    def name(self, target: Target) -> str:
        """`<channel>` of semantics.md section 1: the server's own id, or SERVER/ID where two servers share it."""
        if target.kind != "channel":
            return str(target)
        shared = len(self._servers_of.get(target.id, ())) > 1
        return target.name if shared else target.id

    def find(self, text: str) -> Target:
        """The channel that an agent means: a target, an id, or SERVER/ID. Raises ToolError with what is near."""
        wanted = text.strip()
        by_target = [self._by_text[wanted]] if wanted in self._by_text else []
        by_id = [target for target in self._known if target.kind == "channel" and wanted in {target.id, target.name}]
        by_name = [target for target in self._known if target.kind != "channel" and target.name == wanted]
        for found in (by_target, by_id, by_name):
            if len(found) == 1:
                return found[0]
            if found:
                raise ToolError(f"{repeated(text)} names {len(found)} channels: {', '.join(map(str, found))}")
        close = nearest(wanted, [*(self.name(target) for target in self._known), *map(str, self._known)])
        raise ToolError(f"no channel {repeated(text)}" + (f"; did you mean {' or '.join(close)}?" if close else ""))

    def place(self, target: Target) -> tuple[str, Target | None, str]:
        """Its name, its server's own row (for a chat channel), and its server's name or nothing. Kept, since every
        message asks for them."""
        found = self._places.get(target)
        if found is None:
            found = self._places[target] = (self.name(target), self.parent(target), target.server or "")
        return found

    def parent(self, target: Target) -> Target | None:
        """The server's own row, for a chat channel."""
        return server(target.server) if target.kind == "channel" and target.server is not None else None

    def _order_of(self, target: Target) -> tuple[int, int, int]:
        if target.server is not None:
            place = self._order.get(target.server, len(self._order))
            return (place, 0 if target.kind == "mcp" else 1, self._known[target])
        return (len(self._order) + 1, self._others.get(target, len(self._others)), self._known[target])


def worth_showing(channel: Channel, servers: Mapping[str, object]) -> bool:
    """Whether a stored channel belongs on the screen: its server is in the recipe, or it still holds something."""
    name = channel.target.server
    if name is None or name in servers:
        return True
    return channel.span is not None or channel.epoch is not None or channel.withheld + channel.withheld_by_server > 0
