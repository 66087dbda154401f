"""The recipe `anthropic` through the real program, with its real servers, on a local provider instead."""

from __future__ import annotations

from pathlib import Path

from cockpit.testing.anthropic_rules import by_rule
from cockpit.testing.anthropic_server import AnthropicServer
from cockpit.testing.program import fields, headless, items
from cockpit.testing.provided import KEY, refused, system_of

NOISY = "channel:disc/disc:guild:noisy"


async def test_it_runs_reports_and_ends(tmp_path: Path) -> None:
    """S-9, V-8: from the start to a report, a turn, a cancel and the end; no request that the API would refuse, and the
    key nowhere (R-7)."""
    async with AnthropicServer(by_rule, key=KEY) as server:
        environment = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
        async with headless("anthropic", tmp_path / "a.db", environment=environment, folder=tmp_path) as cockpit:
            await cockpit.line(event="channel", target=NOISY, label="tuned-out")
            await cockpit.line(event="report", kind="summary", channel=NOISY)
            await cockpit.run('go=ask text="What is going on?"')
            await cockpit.line(event="turn", agent="scout", state="ended", reason="prompt")
            await cockpit.run(f"go=cancel target={NOISY}")
            await cockpit.line(event="notice", kind="tune-out-cancel", channel=NOISY)
            await cockpit.line(event="turn", agent="scout", state="ended", reason="cancel")
            await cockpit.run("go=stats")
            await cockpit.run("go=quit")
            assert await cockpit.ended() == 0
            spent = {str(row["agent"]): row for row in items(cockpit.all(event="stats")[-1]["agents"])}
            assert spent.keys() == {"scout", "Subconscious"}
            assert all(isinstance(row["cost"], float) and row["cost"] > 0 for row in spent.values())
            (ended, *_) = cockpit.all(event="turn", agent="scout", state="ended", reason="prompt")
            assert fields(ended["usage"])["output"] != 0
            assert cockpit.errors == ""
            assert KEY not in str(cockpit.lines)
        assert refused(server) == []
        assert {served.body["model"] for served in server.requests} == {"claude-sonnet-4-5"}
        assert {system_of(served.body).strip()[:14] for served in server.requests} == {
            "You are scout,",
            "You are the pa",
        }
    assert KEY.encode() not in left_in(tmp_path)


async def test_without_its_key_nothing_starts(tmp_path: Path) -> None:
    """R-5: one line, exit 2, no store."""
    async with headless("anthropic", tmp_path / "a.db", environment={"ANTHROPIC_API_KEY": ""}) as cockpit:
        assert await cockpit.ended() == 2
    assert cockpit.errors.count("\n") == 1
    assert "ANTHROPIC_API_KEY" in cockpit.errors
    assert list_of(tmp_path) == []


def list_of(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def left_in(folder: Path) -> bytes:
    """All bytes of all files below a folder."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
