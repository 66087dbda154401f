"""What a server may do: advertised by it, offered by us, enforced by us alone (mcpl.md 4 to 6). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from cockpit.core.message import Json

IMPLEMENTED = frozenset(
    {
        "pushEvents",
        "tools",
        "channels.register",
        "channels.lifecycle",
        "channels.publish",
        "channels.incoming",
        "channels.acknowledge",
        "channels.typing",
    }
)
"""The capability paths that this host serves. It advertises these and grants no other."""

KNOWN = IMPLEMENTED | {
    "modelInfo",
    "inferenceRequest",
    "inferenceRequest.streaming",
    "inferenceLifecycle",
    "contextHooks.beforeInference.observe",
    "contextHooks.beforeInference.inject.system",
    "contextHooks.beforeInference.inject.beforeUser",
    "contextHooks.beforeInference.inject.afterUser",
    "channels.streaming",
}
"""All capability paths there are (mcpl.md 4)."""

OURS: Mapping[str, Json] = {
    "version": "0.5",
    "pushEvents": True,
    "channels": {
        "register": True,
        "lifecycle": True,
        "publish": True,
        "incoming": True,
        "acknowledge": True,
        "typing": True,
    },
    "featureSets": True,
}
"""`experimental.mcpl` as we show it in `initialize`."""


def advertised(manifest: Mapping[str, Json], *, tools: bool) -> frozenset[str]:
    """The paths that a manifest claims: `true` at any node stands for all leaves below it. `tools` is MCP's own."""
    found = {path for path in KNOWN - {"tools"} if _claims(manifest, path)}
    return frozenset(found | ({"tools"} if tools else set()))


def _claims(node: Json, path: str) -> bool:
    for segment in path.split("."):
        if node is True:
            return True
        if not isinstance(node, Mapping):
            return False
        node = node.get(segment)
    # `inferenceRequest` is a leaf and a node: an object there claims the leaf.
    return node is True or (isinstance(node, Mapping) and any(known.startswith(f"{path}.") for known in KNOWN))


def covers(pattern: str, path: str) -> bool:
    """Whether a policy's pattern covers a path: `*` is exactly one segment, and their number is equal."""
    parts, segments = pattern.split("."), path.split(".")
    return len(parts) == len(segments) and all(p in ("*", s) for p, s in zip(parts, segments, strict=True))


def effective(claimed: Iterable[str], patterns: Iterable[str]) -> frozenset[str]:
    """The grant: advertised ∩ policy, of what we serve (mcpl.md 5.1). Absent means denied."""
    offered = tuple(patterns)
    return frozenset(path for path in claimed if path in IMPLEMENTED and any(covers(p, path) for p in offered))


@dataclass(frozen=True, slots=True)
class FeatureSets:
    """A server's declared feature sets (mcpl.md 6): name → the paths it uses."""

    declared: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def off(self, grant: frozenset[str]) -> tuple[str, ...]:
        """The sets that are off under this grant: invalid ones, and those that need what is denied. Sorted."""
        return tuple(sorted(name for name, uses in self.declared.items() if not uses or not uses <= grant))

    def push(self, name: Json, grant: frozenset[str]) -> Literal["on", "off", "unknown", "mismatch"]:
        """Whether a push may come in this set's name. `mismatch`: the set does not declare that it pushes."""
        if not isinstance(name, str) or name not in self.declared:
            return "unknown"
        uses = self.declared[name]
        if uses and "pushEvents" not in uses:
            return "mismatch"
        return "on" if uses and uses <= grant else "off"


def feature_sets(manifest: Mapping[str, Json]) -> FeatureSets:
    """The declarations in either form: an object by name (0.5), or an array of objects with a `name` (0.4).

    A set whose `uses` is absent, empty or holds an unknown path is invalid and so off: its uses are empty here."""
    given = manifest.get("featureSets")
    pairs: list[tuple[Json, Json]] = []
    if isinstance(given, Mapping):
        pairs = list(given.items())
    elif isinstance(given, list):
        pairs = [(each.get("name"), each) for each in given if isinstance(each, Mapping)]
    return FeatureSets({name: _uses(declaration) for name, declaration in pairs if isinstance(name, str)})


def _uses(declaration: Json) -> frozenset[str]:
    uses = declaration.get("uses") if isinstance(declaration, Mapping) else None
    if not isinstance(uses, list) or not all(isinstance(path, str) and path in KNOWN for path in uses):
        return frozenset()
    return frozenset(path for path in uses if isinstance(path, str))


def is_legacy(manifest: Mapping[str, Json]) -> bool:
    """Whether the manifest is of a version before 0.5 (mcpl.md 5.4)."""
    version = manifest.get("version")
    if not isinstance(version, str):
        return True
    major, _, minor = version.partition(".")
    try:
        return (int(major), int(minor.partition(".")[0] or 0)) < (0, 5)
    except ValueError:
        return True
