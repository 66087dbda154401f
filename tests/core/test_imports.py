"""What is loaded when: the engine knows no screen, and no provider's SDK is loaded before it is needed."""

from __future__ import annotations

import subprocess
import sys

import pytest


def loaded_by(code: str) -> set[str]:
    """The top-level packages that a fresh interpreter has loaded after `code`."""
    program = f"{code}\nimport sys\nprint('\\n'.join({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=50)
    return set(done.stdout.split())


@pytest.mark.parametrize("package", ["textual", "anthropic", "mcp"])
def test_the_engine_loads_neither_the_screen_nor_an_sdk(package: str) -> None:
    """architecture.md: importing `anthropic` costs almost two seconds and `mcp` almost one."""
    assert package not in loaded_by("import cockpit.engine.assemble")


@pytest.mark.parametrize("package", ["anthropic", "mcp"])
def test_the_screen_loads_no_sdk(package: str) -> None:
    assert package not in loaded_by("import cockpit.cli, cockpit.ui, cockpit.engine.assemble")


def test_the_core_needs_nothing_that_waits_or_writes() -> None:
    code = "\n".join(f"import cockpit.core.{name}" for name in ("step", "verbs", "resolve", "events", "backlog"))
    assert not loaded_by(code) & {"textual", "aiosqlite", "anthropic", "mcp", "rich"}
