"""The connectors cost the screen's first frame nothing: the SDK is imported when the first server is."""

from __future__ import annotations

import subprocess
import sys

_PROGRAM = """
import importlib, pkgutil, sys
import cockpit.connect
for each in pkgutil.iter_modules(cockpit.connect.__path__):
    importlib.import_module(f"cockpit.connect.{each.name}")
print(sorted(name for name in sys.modules if name.partition(".")[0] in ("mcp", "mcp_types", "anthropic", "anyio")))
"""


def test_no_module_of_the_connectors_imports_the_sdk() -> None:
    ended = subprocess.run((sys.executable, "-c", _PROGRAM), check=True, capture_output=True, text=True)
    assert ended.stdout.strip() == "[]"


def test_the_fixture_server_does_without_it() -> None:
    program = "import sys, cockpit.testing.mcpl_server; print([n for n in sys.modules if n in ('mcp', 'pydantic')])"
    ended = subprocess.run((sys.executable, "-c", program), check=True, capture_output=True, text=True)
    assert ended.stdout.strip() == "[]"


_WARNINGS = """
import asyncio, logging
from cockpit.connect import sdk
asyncio.run(sdk.load())
logging.getLogger("client").warning("of the session")
logging.getLogger("mcp.shared.jsonrpc_dispatcher").error("of the dispatcher")
"""


def test_what_the_sdk_warns_of_does_not_reach_the_terminal() -> None:  # F-11
    ended = subprocess.run((sys.executable, "-c", _WARNINGS), check=True, capture_output=True, text=True)
    assert (ended.stdout, ended.stderr) == ("", "")
