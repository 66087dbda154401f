"""npm's MCP Inspector by its command line: an MCP client that is not ours, in another language, by another SDK."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from cockpit.core.message import Json
from cockpit.testing.shell import run

PACKAGE = "@modelcontextprotocol/inspector-cli@1.0.3"
"""The newest whose command line runs on Node 20: 2.x asks for Node 22.19."""

NAMES = ("mcp-inspector-cli", "mcp-inspector")


def program() -> Path:
    """The Inspector: what MCP_INSPECTOR names, else the one on PATH. Raises FileNotFoundError, saying how to get it."""
    named = os.environ.get("MCP_INSPECTOR")
    found = named or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None or not Path(found).is_file():
        raise FileNotFoundError(
            f"{'MCP_INSPECTOR names no file' if named else 'the MCP Inspector is not on PATH'}: "
            f"npm install --prefix DIR {PACKAGE}, and MCP_INSPECTOR=DIR/node_modules/.bin/{NAMES[0]}"
        )
    return Path(found).resolve()


async def inspect(method: str, *arguments: str, environment: Mapping[str, str]) -> Mapping[str, Json]:
    """One call of `cockpit mcp` by the Inspector: `tools/list`, or `tools/call --tool-name mute …`; what came back.

    Raises AssertionError with its words where it failed.
    """
    cli = program()
    bridge = (sys.executable, "-m", "cockpit", "mcp")
    command = ("node", str(cli), "--cli", *bridge, "--method", method, *arguments)
    # It looks for its own version beside the folder that it is run in, not beside its program.
    done = await run(command, environment=environment, folder=str(cli.parent))
    if done.code != 0:
        raise AssertionError(f"the Inspector ended with {done.code}: {done.err}")
    found: Mapping[str, Json] = json.loads(done.out)
    return found


async def call(tool: str, *, environment: Mapping[str, str], **arguments: str) -> Mapping[str, Json]:
    """Call one tool; the result, as the Inspector prints it."""
    words = [word for name, value in arguments.items() for word in ("--tool-arg", f"{name}={value}")]
    return await inspect("tools/call", "--tool-name", tool, *words, environment=environment)
