"""What the gate's limits and samples remember, as the value of a snapshot slot, so that a restart neither refills a
limit nor begins a sample anew (A-7 "over restarts too"). A message that takes nothing writes nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import MappingProxyType

from cockpit.core.gate import Bucket, GateState
from cockpit.core.message import Json

SLOT = "gate"


def remembered(state: GateState) -> Json:
    """As JSON: each bucket as rule, key, tokens left, and the wall-clock moment of that."""
    buckets: list[Json] = [[rule, key, each.left, each.at] for (rule, key), each in state.buckets.items()]
    return {"buckets": buckets, "seen": dict(state.seen)}


def recalled(value: Json) -> GateState:
    """What `remembered` wrote; a part that is malformed is as if it were new (R-4)."""
    match value:
        case {"buckets": [*buckets], "seen": {**seen}}:
            found = dict(pair for pair in map(_bucket, buckets) if pair is not None)
            counts = {str(rule): count for rule, count in seen.items() if isinstance(count, int) and count > 0}
            return GateState(MappingProxyType(found), MappingProxyType(counts))
    return GateState()


def _bucket(value: Json) -> tuple[tuple[str, str], Bucket] | None:
    if not isinstance(value, Sequence):
        return None
    match [*value]:
        case [str(rule), str(key), int() | float() as left, int() | float() as at] if math.isfinite(left + at):
            return (rule, key), Bucket(float(left), float(at))
    return None
