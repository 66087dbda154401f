"""How often Python looks for garbage in cycles while an engine runs.

A batch of a thousand messages is some twenty thousand objects that all go when it is written, none of them in a
cycle. At Python's own threshold of 700 the collector walks them some thirty times in vain (measured: a third of the
time that ingest takes).
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

OBJECTS = 50_000
"""Net allocations before the youngest generation is looked at: a few megabytes."""


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Raise the collector's first threshold, and put it back at the end."""
    before = gc.get_threshold()
    gc.set_threshold(max(OBJECTS, before[0]) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
