"""The demo's tools: a small MCP server by the official SDK, with notes that last as long as its process."""

from __future__ import annotations

from random import SystemRandom
from typing import Annotated

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from cockpit import __version__

MOST_NOTES, LONGEST_NOTE = 500, 4000
"""Notes that are kept, and characters of one."""

Note = Annotated[str, Field(description="What to remember", min_length=1, max_length=LONGEST_NOTE)]
Word = Annotated[str, Field(description="Only notes that hold this, in any case; all of them if left out")]
Dice = Annotated[int, Field(description="How many dice", ge=1, le=100)]
Sides = Annotated[int, Field(description="How many sides each has", ge=2, le=1000)]


def build() -> MCPServer[None]:
    """A server with its own empty notes."""
    server: MCPServer[None] = MCPServer(
        "cockpit-demo-tools",
        version=__version__,
        instructions="Notes that last until this server ends, and dice.",
        log_level="WARNING",
    )
    notes: list[str] = []
    chance = SystemRandom()

    @server.tool(description="Keep a note; answers its number.", annotations=ToolAnnotations(destructive_hint=False))
    async def notes_add(text: Note) -> str:
        if len(notes) >= MOST_NOTES:
            raise ToolError(f"there is no room: {MOST_NOTES} notes are kept already")
        notes.append(text)
        return f"kept as note {len(notes)}"

    @server.tool(description="List the notes, oldest first.", annotations=ToolAnnotations(read_only_hint=True))
    async def notes_list(containing: Word = "") -> str:
        found = [f"{number}. {note}" for number, note in enumerate(notes, 1) if containing.lower() in note.lower()]
        return "\n".join(found) or "there are no such notes"

    @server.tool(description="Roll dice and add them up.", annotations=ToolAnnotations(read_only_hint=True))
    async def roll(dice: Dice = 1, sides: Sides = 6) -> str:
        rolled = [chance.randint(1, sides) for _ in range(dice)]
        return f"{sum(rolled)} ({' + '.join(map(str, rolled))})"

    return server


def main() -> None:
    """The console script `cockpit-demo-tools`."""
    build().run("stdio")


if __name__ == "__main__":
    main()
