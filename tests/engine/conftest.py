"""A whole engine for each test: one recipe, one store in the test's own folder, one model that is cued as it goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from cockpit.core.request import Tool
from cockpit.testing.clock import FakeClock
from cockpit.testing.rig import Rig, rig
from cockpit.testing.stage import CuedModel, Start, recipe

STATUS = Tool("status", "Show the state.", {"type": "object", "properties": {}})
COMMIT = Tool("commit", "Commit.", {"type": "object", "properties": {}})


@pytest.fixture
def model() -> CuedModel:
    return CuedModel()


@pytest.fixture
def start(tmp_path: Path, model: CuedModel) -> Start:
    """`disc` has the channels `noisy` and `quiet`, `git` the tools `status` and `commit`."""

    def started(
        text: str = recipe(),
        *,
        channels: Mapping[str, Sequence[str]] = {"disc": ("noisy", "quiet")},
        down: Sequence[str] = (),
        clock: FakeClock | None = None,
    ) -> AbstractAsyncContextManager[Rig]:
        tools = {"git": (STATUS, COMMIT)}
        return rig(tmp_path, text, channels=channels, tools=tools, model=model, down=down, clock=clock)

    return started
