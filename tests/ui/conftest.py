"""What every screen test needs: one time zone, one locale, colours as the theme has them."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Clock times in UTC, UTF-8, and no NO_COLOR, whatever the machine says."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "UTC")
        patch.setenv("LC_ALL", "C.UTF-8")
        patch.delenv("NO_COLOR", raising=False)
        time.tzset()
        yield
    time.tzset()
