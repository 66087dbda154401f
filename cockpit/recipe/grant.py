"""What a recipe may offer a server, and the patterns that say it (mcpl.md 4 and 5.1)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import PlainValidator

from cockpit.recipe.values import nearest, quote, refusal

CAPABILITY_PATHS = (
    "pushEvents",
    "tools",
    "modelInfo",
    "inferenceRequest",
    "inferenceRequest.streaming",
    "inferenceLifecycle",
    "contextHooks.beforeInference.observe",
    "contextHooks.beforeInference.inject.system",
    "contextHooks.beforeInference.inject.beforeUser",
    "contextHooks.beforeInference.inject.afterUser",
    "channels.register",
    "channels.lifecycle",
    "channels.publish",
    "channels.incoming",
    "channels.streaming",
    "channels.acknowledge",
    "channels.typing",
)
"""The closed list of what a server may be granted (mcpl.md 4)."""


def _grant(value: object) -> Literal["default"] | tuple[str, ...]:
    if value == "default":
        return "default"
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise refusal('must be "default" or a list of capability paths')
    for path in value:
        if not any(covers(path, known) for known in CAPABILITY_PATHS):
            close = nearest(path, (*CAPABILITY_PATHS, "channels.*"))
            raise refusal(f"{quote(path)} is no capability path; nearest: {close}")
    return tuple(value)


def covers(pattern: str, path: str) -> bool:
    """Whether a grant's pattern covers a capability path: `*` is exactly one segment (mcpl.md 5.1)."""
    parts, segments = pattern.split("."), path.split(".")
    return len(parts) == len(segments) and all(p in ("*", s) for p, s in zip(parts, segments, strict=True))


Grant = Annotated[Literal["default"] | tuple[str, ...], PlainValidator(_grant)]
"""`"default"`, or the paths and patterns of paths that the host offers."""
