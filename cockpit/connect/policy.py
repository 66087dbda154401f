"""Which grant holds on one MCPL connection, and how its server is told (mcpl.md 5.2 to 5.4, 6).

The receipt says what the server will do, never what it may do: nothing here widens a grant because of one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from cockpit.connect import grant as grants
from cockpit.connect.config import ServerConfig
from cockpit.connect.faults import Faults
from cockpit.connect.requests import Refused, Requests, Unanswered
from cockpit.core.message import Json
from cockpit.errors import ConnectorError


class ServerPolicy:
    """`grant` is empty until the server took it. `legacy`: it is older than 0.5, or does not know the question.
    `released` is set once what was held may be decided."""

    def __init__(self, config: ServerConfig, requests: Requests, faults: Faults) -> None:
        self.grant: frozenset[str] = frozenset()
        self.sets = grants.FeatureSets()
        self.legacy = False
        self.released = asyncio.Event()
        self._config = config
        self._requests = requests
        self._faults = faults
        self._advertised: frozenset[str] = frozenset()

    async def settle(self, manifest: Mapping[str, Json], *, tools: bool) -> bool:
        """Send the grant, at once and even where it is empty, and take the receipt. Returns whether its tools may be
        used. Raises ConnectorError where the server refuses with "close". Setting `released` is the caller's."""
        self._advertised = grants.advertised(manifest, tools=tools)
        self.sets = grants.feature_sets(manifest)
        wanted = grants.effective(self._advertised, self._config.grant)
        accepted = await self._ask(wanted)
        self.legacy = accepted is None or grants.is_legacy(manifest)
        if self.legacy and self._config.legacy == "deny":
            self._faults.add("is older than MCPL 0.5 and gets no grant", "only its tools are used")
        elif accepted is not False:
            self.grant = wanted
        return "tools" in wanted

    async def change(self, patterns: Sequence[str]) -> None:
        """Offer another policy (mcpl.md 5.3): less holds at once, more once the server took it."""
        wanted = grants.effective(self._advertised, patterns)
        self.grant &= wanted
        if await self._ask(wanted):
            self.grant = wanted

    async def _ask(self, wanted: frozenset[str]) -> bool | None:
        """Whether the server took this grant; None where it does not know the question."""
        params: dict[str, Json] = {"effectiveCapabilities": sorted(wanted)}
        if denied := sorted(self._advertised - wanted):
            params["deniedCapabilities"] = denied
        if off := self.sets.off(wanted):
            params["disabled"] = list(off)
        try:
            receipt = await self._requests.send("featureSets/update", params, self._config.limits.receipt)
        except (Refused, Unanswered):
            return None
        accepted = receipt.get("accepted")
        if accepted is False:
            why = receipt.get("reason")
            said = f"refused the policy: {why}" if isinstance(why, str) and why else "refused the policy"
            if receipt.get("fallback") == "close":
                raise ConnectorError(said)
            self.grant = frozenset()
            self._faults.add(said, "no channels, only its tools")
        return accepted if isinstance(accepted, bool) else None
