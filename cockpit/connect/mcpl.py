"""What an MCPL server sends us: registrations, messages and events (mcpl.md 7 to 10).

One consumer takes the inbox in line order and never awaits the server. Each request gets one answer, in the order
of the requests, written when all in it is durable.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal, TypeGuard

from cockpit.connect.config import ServerConfig
from cockpit.connect.faults import Faults
from cockpit.connect.incoming import Malformed, chat, event
from cockpit.connect.outbox import Outbox, RequestId, Wire
from cockpit.connect.own import Own
from cockpit.connect.policy import ServerPolicy
from cockpit.connect.ports import Host
from cockpit.connect.rate import Rate
from cockpit.connect.registry import Registered, Registry
from cockpit.connect.requests import Answered, Requests
from cockpit.core.inputs import Arrived, Receipt
from cockpit.core.message import Json, Text

INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32600, -32601, -32602
SET_OFF, DENIED, UNKNOWN_SET = -32001, -32002, -32003

GATED: Mapping[str, str] = {
    "channels/register": "channels.register",
    "channels/changed": "channels.register",
    "channels/list": "channels.register",
    "channels/incoming": "channels.incoming",
    "push/event": "pushEvents",
    "inference/request": "inferenceRequest",
    "model/info": "modelInfo",
}
"""The methods that need a grant, and the path of it. They wait until the server took the policy."""


Outcome = asyncio.Future[Receipt] | str
"""A message that was handed on, or why it was refused."""


class McplSide:
    """One connection's inbound half. The policy's grant is the only authority, asked at the moment of use.
    gated: GATED, or nothing for a server with which we do not speak MCPL."""

    def __init__(
        self,
        config: ServerConfig,
        host: Host,
        *,
        gated: Mapping[str, str],
        policy: ServerPolicy,
        outbox: Outbox,
        requests: Requests,
        faults: Faults,
        own: Own,
        rate: Rate,
    ) -> None:
        self.registry = Registry(config.name, config.limits)
        self._gated = gated
        self._policy = policy
        self._name = config.name
        self._limits = config.limits
        self._host = host
        self._outbox = outbox
        self._requests = requests
        self._faults = faults
        self._own = own
        self._rate = rate

    # What it sends.

    async def take(self, message: Wire) -> None:
        """Deal with one message that has a method: answered once where it is a request, never raising for it."""
        method = str(message["method"])
        given, ident = message.get("params"), message.get("id")
        params: Mapping[str, Json] | None = {} if given is None else given if isinstance(given, dict) else None
        if ident is not None and not _is_id(ident):
            self._outbox.error(None, INVALID_REQUEST, "Invalid request")
            return
        answerable = ident if _is_id(ident) else None
        needed = self._gated.get(method)
        if needed is None:
            self._unknown(method, answerable)
            return
        await self._policy.released.wait()
        if needed not in self._policy.grant:
            self._refuse(answerable, method, DENIED, "Capability denied", {"capability": needed})
        elif params is None:
            self._refuse(answerable, method, INVALID_PARAMS, "Invalid params")
        else:
            await self._granted(method, params, answerable)

    async def _granted(self, method: str, params: Mapping[str, Json], ident: RequestId | None) -> None:
        match method:
            case "channels/incoming":
                await self._incoming(params, ident)
            case "push/event":
                await self._push(params, ident)
            case "channels/register":
                await self._register(params, ident)
            case "channels/changed":
                await self._changed(params, ident)
            case _:
                channels = [each.json() for each in self.registry.channels.values()]
                if ident is not None:
                    self._outbox.result(ident, lambda: {"channels": channels})

    def _unknown(self, method: str, ident: RequestId | None) -> None:
        if ident is not None:
            self._outbox.error(ident, METHOD_NOT_FOUND, "Method not found")
            self._faults.add("asked for what this host does not know", method)

    def _refuse(self, ident: RequestId | None, method: str, code: int, why: str, data: Json = None) -> None:
        if ident is not None:
            self._outbox.error(ident, code, why, data)
        self._faults.add(f"{method} refused", f"{why} {data}" if data else why)

    # Messages and events.

    async def _incoming(self, params: Mapping[str, Json], ident: RequestId | None) -> None:
        messages = params.get("messages")
        if not isinstance(messages, list):
            self._refuse(ident, "channels/incoming", INVALID_PARAMS, "Invalid params")
            return
        outcomes = [
            await self._message(each) if place < self._limits.batch else "batch too long"
            for place, each in enumerate(messages)
        ]
        pending = [each for each in outcomes if not isinstance(each, str)]
        if ident is None:
            for each in pending:
                each.add_done_callback(self._unasked)
            return
        self._outbox.result(ident, partial(self._results, messages, outcomes), pending)

    async def _message(self, given: Json) -> Outcome:
        place = given.get("channelId") if isinstance(given, dict) else None
        channel = self.registry.channels.get(place) if isinstance(place, str) else None
        if channel is None or not isinstance(given, dict):
            return self._declined("unknown channel")
        return await self._hand_on(chat(given, channel, self._limits))

    async def _hand_on(self, arrived: Arrived | Malformed) -> Outcome:
        if isinstance(arrived, Malformed):
            return self._declined(arrived.reason)
        over = "" if self._rate.take() else "rate"
        if self._own and arrived.id is not None and not arrived.own and arrived.kind == "chat":
            text = "\n".join(block.text for block in arrived.blocks if isinstance(block, Text))
            if self._own.holds(arrived.target.id, arrived.id, text):
                arrived = replace(arrived, own=True)
        return await self._host.arrived(arrived, over=over)

    def _declined(self, reason: str) -> str:
        self._faults.add("a message was refused", reason)
        return reason

    def _results(self, messages: list[Json], outcomes: list[Outcome]) -> Wire:
        results: list[Json] = []
        for given, outcome in zip(messages, outcomes, strict=True):
            ident = given.get("messageId") if isinstance(given, dict) else None
            results.append({"messageId": ident, **self._outcome(outcome)})
        return {"results": results}

    def _outcome(self, outcome: Outcome) -> dict[str, Json]:
        if isinstance(outcome, str):
            return {"accepted": False, "reason": outcome}
        receipt = self._receipt(outcome)
        if receipt.duplicate:
            self._rate.give_back()
        if not receipt.accepted:
            self._declined(receipt.reason)
        return {"accepted": True} if receipt.accepted else {"accepted": False, "reason": receipt.reason}

    def _receipt(self, future: asyncio.Future[Receipt]) -> Receipt:
        if future.cancelled() or future.exception() is not None:
            return Receipt(accepted=False, reason="not stored")
        return future.result()

    def _unasked(self, future: asyncio.Future[Receipt]) -> None:
        """A message in a notification: nobody is answered, but a duplicate gives back all the same."""
        self._outcome(future)

    async def _push(self, params: Mapping[str, Json], ident: RequestId | None) -> None:
        state = self._policy.sets.push(params.get("featureSet"), self._policy.grant)
        if state != "on" and self._policy.legacy:
            # Servers of 0.4 declare incompletely; refused, all of them would be mute.
            self._faults.add("pushes in the name of a feature set that does not say so", str(params.get("featureSet")))
        elif state != "on":
            self._refuse_set(ident, params.get("featureSet"), state)
            return
        arrived = event(params, self._name, self.registry.channels, self._limits)
        if isinstance(arrived, Malformed) and arrived.reason == "no eventId":
            self._refuse(ident, "push/event", INVALID_PARAMS, "Invalid params: no eventId")
            return
        outcome = await self._hand_on(arrived)
        pending = () if isinstance(outcome, str) else (outcome,)
        if ident is not None:
            self._outbox.result(ident, partial(self._outcome, outcome), pending)
        for each in pending if ident is None else ():
            each.add_done_callback(self._unasked)

    def _refuse_set(self, ident: RequestId | None, named: Json, state: Literal["off", "unknown", "mismatch"]) -> None:
        match state:
            case "unknown":
                self._refuse(ident, "push/event", UNKNOWN_SET, "Unknown feature set", {"featureSet": named})
            case "off":
                self._refuse(ident, "push/event", SET_OFF, "Feature set disabled", {"featureSet": named})
            case "mismatch":
                why = "Feature set does not declare pushEvents"
                self._refuse(ident, "push/event", SET_OFF, why, {"featureSet": named})

    # Registrations.

    async def _register(self, params: Mapping[str, Json], ident: RequestId | None) -> None:
        given = params.get("channels")
        if not isinstance(given, list):
            self._refuse(ident, "channels/register", INVALID_PARAMS, "Invalid params")
            return
        results, accepted = self._add(given)
        for each in accepted:
            self.registry.asked_open.discard(each.descriptor.id)
        await self._announce(ident, results, accepted)

    async def _changed(self, params: Mapping[str, Json], ident: RequestId | None) -> None:
        dropped = self.registry.remove(params.get("removed"))
        if dropped:
            await self._host.removed(self._name, dropped)
        updated, added = params.get("updated"), params.get("added")
        updated_results, updated_channels = self._add(updated if isinstance(updated, list) else [])
        added_results, added_channels = self._add(added if isinstance(added, list) else [])
        await self._announce(ident, added_results + updated_results, updated_channels + added_channels)

    def _add(self, descriptors: list[Json]) -> tuple[list[Json], list[Registered]]:
        """Each on its own: one bad descriptor does not spoil the others."""
        results: list[Json] = []
        accepted: list[Registered] = []
        for given in descriptors:
            found = self.registry.add(given)
            named = given.get("id") if isinstance(given, Mapping) else None
            if isinstance(found, str):
                self._faults.add("a channel was refused", found)
                results.append({"id": named, "accepted": False, "reason": found})
            else:
                accepted.append(found)
                results.append({"id": named, "accepted": True})
        return results, accepted

    async def _announce(self, ident: RequestId | None, results: list[Json], accepted: list[Registered]) -> None:
        """Tell the host, then answer, and only then open what is wanted: the server waits for the answer."""
        wanted: Sequence[str] = ()
        if accepted:
            wanted = await self._host.registered(self._name, [each.descriptor for each in accepted])
        if ident is None:
            self._open_all(wanted)
        else:
            self._outbox.result(ident, lambda: {"results": results}, after=partial(self._open_all, wanted))

    def _open_all(self, wanted: Sequence[str]) -> None:
        for ident in wanted:
            if ident not in self.registry.asked_open and "channels.lifecycle" in self._policy.grant:
                answer = self.ask_open(ident)
                if answer is not None:
                    answer.add_done_callback(partial(self._opened, ident))

    def ask_open(self, ident: str) -> Answered | None:
        """Send `channels/open` for a registered channel, None where it is not registered. Idempotent."""
        channel = self.registry.channels.get(ident)
        if channel is None:
            return None
        self.registry.asked_open.add(ident)
        address: Json = {} if channel.address is None else channel.address
        params: Wire = {"channelId": ident, "type": channel.descriptor.type, "address": address}
        return self._requests.send("channels/open", params, self._limits.open)

    def _opened(self, ident: str, answer: Answered) -> None:
        if not answer.cancelled() and (error := answer.exception()) is not None:
            self.registry.asked_open.discard(ident)
            self._faults.add("did not open a channel", f"{ident}: {error}")


def _is_id(ident: Json) -> TypeGuard[RequestId]:
    """Whether it can be echoed: text or a finite number."""
    return isinstance(ident, str) or (
        isinstance(ident, int | float) and not isinstance(ident, bool) and math.isfinite(ident)
    )
