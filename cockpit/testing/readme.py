"""Keeps the README true: its table of verbs is written from the registry, its picture is exported from the real app.

`python -m cockpit.testing.readme` rewrites both: the table in README.md, and tests/pictures/screen.svg from a run of
the demo with its real servers, which takes half a minute. Run it at the project's root.
"""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from pathlib import Path

from cockpit.core.events import ChannelChanged, Reported
from cockpit.core.verbs import VERBS
from cockpit.engine.assemble import open_session
from cockpit.recipe import load
from cockpit.shipped import shipped_dir
from cockpit.ui.app import CockpitApp

BEGIN, END = "<!-- verbs -->\n", "<!-- /verbs -->"
PICTURE = Path("tests/pictures/screen.svg")
"""Where the picture stands, from the project's root."""
SIZE = (120, 34)


def verbs_table() -> str:
    """Every verb with its key and what it does, as Markdown."""
    rows = ["| verb | key | does |", "|---|---|---|"]
    for verb in VERBS:
        key = {"escape escape": "`Esc` twice"}.get(verb.key or "", f"`{verb.key}`" if verb.key else "")
        usage = verb.usage.replace("|", r"\|")
        rows.append(f"| `{usage}` | {key}{' (asks)' if verb.asks else ''} | {verb.does} |")
    return "\n".join(rows) + "\n"


def with_table(text: str) -> str:
    """The README's text with the table as it should be. Raises ValueError where its place is not marked."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError("README.md has no place marked for the table of verbs")
    return f"{before}{begin}{verbs_table()}{end}{after}"


async def picture() -> str:
    """An SVG of the screen on the demo: a report is there, something is muted, and the resident has spoken."""
    recipe = load("demo", os.environ)
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "demo.db"
        async with open_session(recipe, store, environment=os.environ, logs=Path(folder) / "logs") as session:
            starting = asyncio.Event()
            app = CockpitApp(session.link("screen"), theme="dark", themes=shipped_dir("themes"))
            async with asyncio.TaskGroup() as group:
                events = session.engine.events()
                group.create_task(session.engine.run(starting), name="engine")
                async with app.run_test(size=SIZE) as pilot:
                    await session.warm()
                    starting.set()
                    wanted = {"report", "mcp:disc"}
                    async for event in events:
                        if isinstance(event, Reported) and event.kind == "summary":
                            wanted.discard("report")
                        if isinstance(event, ChannelChanged) and event.presence == "online":
                            wanted.discard(event.target)
                        if not wanted:
                            break
                    await session.link("screen").run("go=mute target=mcp:tools")
                    await session.link("screen").ask("what did I miss while you were away?")
                    while any(agent.busy for agent in session.engine.agents.values()):
                        await pilot.pause()
                    await pilot.pause(1.0)
                    app.main.paint_now()
                    await pilot.pause()
                    drawn = app.export_screenshot(title="cockpit")
                session.engine.quit()
    return re.sub(r"@font-face \{[^}]*\}\s*", "", drawn)  # a picture fetches nothing


def main() -> None:
    readme = Path("README.md")
    readme.write_text(with_table(readme.read_text(encoding="utf-8")), encoding="utf-8")
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(asyncio.run(picture()), encoding="utf-8")


if __name__ == "__main__":
    main()
