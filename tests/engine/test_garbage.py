"""The collector is slowed while an engine runs, and only then."""

from __future__ import annotations

import gc
from pathlib import Path

from cockpit.engine.garbage import OBJECTS, seldom_collected
from cockpit.testing.rig import rig
from cockpit.testing.stage import recipe


async def test_an_engine_slows_the_collector_and_puts_it_back(tmp_path: Path) -> None:
    before = gc.get_threshold()
    async with rig(tmp_path, recipe()):
        assert gc.get_threshold()[0] == OBJECTS
    assert gc.get_threshold() == before


def test_a_collector_that_is_off_or_slower_stays_so() -> None:
    before = gc.get_threshold()
    try:
        for chosen in (0, 2 * OBJECTS):
            gc.set_threshold(chosen, 5, 5)
            with seldom_collected():
                assert gc.get_threshold() == (chosen, 5, 5)
    finally:
        gc.set_threshold(*before)
