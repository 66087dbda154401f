"""Which images a provider will take, and how many stay live over an anchor jump (semantics.md V-10).

One image that a provider cannot read would fail every request that holds it, so an image goes out live only where
its bytes begin as its kind of file does; anything else is shown by its placeholder from the start.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, replace

from cockpit.core.message import Media

LARGEST = 5_000_000
"""Base64 digits of one image; providers refuse more than 5 MB."""

_HEAD = 64  # base64 digits, a multiple of four: enough for every signature below


@dataclass(frozen=True, slots=True)
class ImagePolicy:
    """keep: how many of the newest images stay live over a jump. most, digits: how many images, and how much base64
    of them, one request may hold; more makes the window jump as a full budget does, since providers take about a
    hundred images and 32 MB. The subconscious has the residents' policy: there is one."""

    keep: int = 8
    most: int = 90
    digits: int = 20_000_000


IMAGES = ImagePolicy()


def live(media: Media) -> Media | None:
    """The image as it can be sent, under the type that its bytes show; None where only a placeholder can stand."""
    if media.type != "image" or not media.data or len(media.data) > LARGEST:
        return None
    mime = _signature(media.data)
    return None if mime is None else replace(media, mime=mime)


def _signature(data: str) -> str | None:
    try:
        base64.b64decode(data, validate=True)
        head = base64.b64decode(data[:_HEAD], validate=True)
    except (binascii.Error, ValueError):
        return None
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image/webp"
    return None
