"""The README's ten lines that drive the bridge from an MCP client, run as they stand there, against the demo."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from cockpit.testing.program import headless, items
from cockpit.testing.shell import run, runtime

README = Path(__file__).parents[2] / "README.md"
BEGIN, END = "<!-- bridge -->\n```python\n", "```\n<!-- /bridge -->"


def block() -> str:
    """The lines between the marks. They are ten."""
    _, begin, rest = README.read_text(encoding="utf-8").partition(BEGIN)
    lines, end, _ = rest.partition(END)
    assert begin
    assert end
    assert len(lines.splitlines()) == 10
    return lines


async def test_the_ten_lines_do_what_the_readme_says(tmp_path: Path) -> None:
    """Issue 5: the bridge driven from the SDK's own client, as an operator would; the cockpit shows what it did."""
    with runtime() as place:
        beside = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
        environment = {**place, "PATH": beside}
        async with headless("demo", tmp_path / "demo.db", environment=environment) as running:
            await running.line(event="channel", target="mcp:tools", label="online")
            await running.run("go=cancel target=channel:disc/disc:guild:noisy")
            await running.line(event="report")
            done = await run((sys.executable, "-W", "error", "-c", block()), environment=environment)
            assert (done.code, done.err) == (0, "")
            for words in ("mcp:tools is muted", "  Subconscious  ", "not now", "mcp:tools  ", "took back mute: "):
                assert words in done.out
            await running.line(event="channel", target="mcp:tools", label="muted")
            await running.run("go=audit target=mcp:tools")
            rows = items(running.all(event="audit")[-1]["rows"])
            assert [(row["actor"], row["origin"], row["verb"]) for row in rows] == [
                ("mcp", "bridge", "mute"),
                ("mcp", "bridge", "unmute"),
            ]
            await running.run("go=quit")
            assert (await running.ended(), running.errors) == (0, "")
