"""What we send to an MCPL server's channels (mcpl.md 7.5 to 7.9 and 8): each only if granted, none ever repeated."""

from __future__ import annotations

from collections.abc import Mapping

from cockpit.connect.config import ServerConfig
from cockpit.connect.faults import one_line
from cockpit.connect.mcpl import McplSide
from cockpit.connect.own import Own
from cockpit.connect.policy import ServerPolicy
from cockpit.connect.ports import Published
from cockpit.connect.requests import Refused, Requests, Unanswered
from cockpit.connect.splitter import Splitter
from cockpit.core.message import Json
from cockpit.errors import ConnectorError


class Sender:
    """One connection's outbound half. A path that is not granted raises ConnectorError and sends nothing."""

    def __init__(
        self, config: ServerConfig, *, side: McplSide, policy: ServerPolicy, splitter: Splitter, own: Own
    ) -> None:
        self._server = config.name
        self._side = side
        self._policy = policy
        self._splitter = splitter
        self._own = own
        self._limits = config.limits

    @property
    def _requests(self) -> Requests:
        return self._splitter.requests

    def _need(self, path: str) -> None:
        if path not in self._policy.grant:
            raise ConnectorError(f"{self._server} is not granted {path}")

    async def open(self, channel_id: str) -> None:
        """Any result means open. Raises ConnectorError where it is not."""
        self._need("channels.lifecycle")
        answer = self._side.ask_open(channel_id)
        if answer is None:
            raise ConnectorError(f"{self._server} has not registered {channel_id!r}")
        try:
            await answer
        except ConnectorError:
            self._side.registry.asked_open.discard(channel_id)
            raise

    async def close(self, channel_id: str) -> None:
        """`closed: false` (it was not open) is as good."""
        self._need("channels.lifecycle")
        self._side.registry.asked_open.discard(channel_id)
        await self._requests.send("channels/close", {"channelId": channel_id}, self._limits.open)

    async def publish(self, channel_id: str, text: str, conversation: str) -> Published:
        """Never repeated: where no answer came, the text may be out already, and the reason says so."""
        self._need("channels.publish")
        channel = self._side.registry.channels.get(channel_id)
        if channel is None:
            return Published(delivered=False, reason=f"{self._server} has not registered {channel_id!r}")
        if channel.descriptor.direction == "inbound":
            return Published(delivered=False, reason=f"{channel_id!r} only receives")
        params: dict[str, Json] = {
            "conversationId": conversation,
            "channelId": channel_id,
            "content": [{"type": "text", "text": text}],
        }
        self._own.said(channel_id, text)
        try:
            result = await self._requests.send("channels/publish", params, self._limits.request)
        except Refused as error:
            self._own.failed(channel_id, text)
            return Published(delivered=False, reason=str(error))
        except Unanswered as error:
            return Published(delivered=False, reason=f"{error}: it may have gone out all the same")
        ident = result.get("messageId")
        if result.get("delivered") is not True:
            self._own.failed(channel_id, text)
            return Published(delivered=False, reason=_why(result, "was not delivered"))
        if not isinstance(ident, str):
            return Published(delivered=True)
        self._own.published(channel_id, text, ident)
        return Published(delivered=True, message_id=ident)

    async def acknowledge(self, channel_id: str, message_id: str, intent: str) -> None:
        """Raises ConnectorError where it was not acknowledged, whatever the cause."""
        self._need("channels.acknowledge")
        params: dict[str, Json] = {"channelId": channel_id, "messageId": message_id, "intent": intent}
        result = await self._requests.send("channels/acknowledge", params, self._limits.open)
        if result.get("acknowledged") is not True:
            raise ConnectorError(_why(result, "was not acknowledged"))

    def typing(self, channel_id: str, *, on: bool) -> None:
        """Best effort: nothing is sent where it is not granted, not registered, or the server is behind."""
        granted = "channels.typing" in self._policy.grant
        if granted and channel_id in self._side.registry.channels and not self._splitter.congested:
            params: dict[str, Json] = {"channelId": channel_id, "op": "start" if on else "stop"}
            self._splitter.write({"jsonrpc": "2.0", "method": "channels/typing", "params": params})


def _why(result: Mapping[str, Json], otherwise: str) -> str:
    reason = result.get("reason")
    return one_line(reason) if isinstance(reason, str) and reason else otherwise
