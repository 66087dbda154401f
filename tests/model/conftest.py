"""No test of a model reaches past this machine, whatever the environment of whoever runs it says."""

from __future__ import annotations

import pytest

_FOREIGN = (
    "HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN "
    "ANTHROPIC_BASE_URL ANTHROPIC_CUSTOM_HEADERS ANTHROPIC_LOG"
)


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in _FOREIGN.split():
        monkeypatch.delenv(name, raising=False)
