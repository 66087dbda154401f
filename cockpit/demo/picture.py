"""Draws the small chart that somebody in the demo chat posts, so that a real image travels the real way."""

from __future__ import annotations

import struct
import zlib
from random import Random

WIDTH, HEIGHT = 240, 80


def chart(dice: Random) -> bytes:
    """A PNG of one jagged line, grey on white, another one for each state of `dice`."""
    level = HEIGHT // 2
    levels: list[int] = []
    for _ in range(WIDTH):
        level = min(HEIGHT - 2, max(1, level + dice.randint(-3, 3)))
        levels.append(level)
    rows = (bytes([0, *(96 if abs(level - row) < 2 else 255 for level in levels)]) for row in range(HEIGHT))
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(b"".join(rows))), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
