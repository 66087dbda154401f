"""The arc through the real program, headless, against a fixture MCPL server over real stdio (issue 2)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from cockpit.store.reader import open_reader
from cockpit.testing.mcpl_remote import Remote
from cockpit.testing.program import Line, fields, headless, items

NOISY = "channel:disc/disc:guild:noisy"
DIVERTED = ["the quick brown fox", "scout, do you copy?", "last words"]


def recipe(folder: Path) -> Path:
    path = folder / "arc.toml"
    command = [
        sys.executable, "-m", "cockpit.testing.mcpl_server", "--control", str(folder / "c"),
        "--channels", "disc:guild:noisy,disc:guild:calm",
    ]  # fmt: skip
    path.write_text(
        f"""
name = "arc"
[model]
provider = "offline"
[[resident]]
name = "scout"
system_prompt = "You are scout."
[subconscious]
system_prompt = "You watch for scout."
[[mcpl]]
name = "disc"
command = {json.dumps(command)}
""",
        encoding="utf-8",
    )
    return path


def sent(context: Line) -> str:
    """All that a `context` line's request holds."""
    return json.dumps(context["request"], ensure_ascii=False)


async def test_the_resident_is_never_sent_what_was_diverted_and_gets_the_dump_once(tmp_path: Path) -> None:
    """A-3, A-5, T-5, T-7, T-16, T-18, N-3: over real stdio, from tune-out to dump."""
    async with Remote(tmp_path / "c") as remote, headless(recipe(tmp_path), tmp_path / "arc.db") as cockpit:
        await remote.connected()
        await cockpit.line(event="channel", target=NOISY, label="online")
        await remote.do("say", channel="disc:guild:noisy", text="before the tune-out")
        await cockpit.run(f"go=tune-out target={NOISY}")
        await cockpit.line(event="channel", target=NOISY, label="tuned-out")
        for text in DIVERTED:
            tags = ["chat:mention"] if "scout" in text else []
            await remote.do("say", channel="disc:guild:noisy", text=text, tags=tags)
        acknowledged = await remote.do("expect", method="channels/acknowledge")
        assert [each["intent"] for each in items(acknowledged)] == ["suppressed-tuned-out"]
        await cockpit.line(event="report", kind="summary", channel=NOISY)
        await cockpit.run("ask what do you know?")
        await cockpit.line(event="turn", agent="scout", state="ended", reason="prompt")
        await cockpit.run("go=context agent=scout")
        before = sent(cockpit.all(event="context")[-1])
        assert "before the tune-out" in before
        assert not [text for text in DIVERTED if f"] {text}" in before]
        await cockpit.run(f"go=cancel target={NOISY}")
        await cockpit.line(event="turn", agent="scout", state="ended", reason="cancel")
        await cockpit.run("go=context agent=scout")
        after = sent(cockpit.all(event="context")[-1])
        assert after.count("<tuned-out-backlog ") == 1
        assert after.count("</tuned-out-backlog>") == 1
        assert [text for text in DIVERTED if f"] {text}" in after] == []
        assert [text for text in DIVERTED if f": {text}" in after] == DIVERTED
        await cockpit.line(event="channel", target=NOISY, label="online", held=0, wait=0, epoch=None)
        await cockpit.run("go=quit")
        assert await cockpit.ended() == 0
        assert cockpit.lines[-1]["event"] == "stopped"
        assert cockpit.errors == ""


async def test_after_kill_9_it_shows_the_same_states_counts_and_reports(tmp_path: Path) -> None:
    """R-1, M-13, T-9, K-77: what was acknowledged on the wire is stored, and everything reads as before."""
    async with Remote(tmp_path / "c") as remote:
        async with headless(recipe(tmp_path), tmp_path / "arc.db") as cockpit:
            await remote.connected()
            await cockpit.line(event="channel", target=NOISY, label="online")
            await cockpit.run(f"go=tune-out target={NOISY}")
            await cockpit.run("go=mute target=channel:disc/disc:guild:calm")
            for number in range(25):
                answer = await remote.do("say", channel="disc:guild:noisy", text=f"word {number}", id=f"n{number}")
                assert answer == {"result": {"results": [{"messageId": f"n{number}", "accepted": True}]}}
            await remote.do("say", channel="disc:guild:calm", text="held", id="c1")
            await remote.do("say", channel="disc:guild:noisy", text="scout?", id="q", tags=["chat:mention"])
            report = await cockpit.line(event="report", kind="summary")
            await cockpit.line(event="turn", agent="Subconscious", state="ended")
            await cockpit.line(event="channel", target=NOISY, held=26)
            await cockpit.kill()
        async with headless(recipe(tmp_path), tmp_path / "arc.db") as again:
            await remote.connected()
            row = await again.line(event="channel", target=NOISY, label="tuned-out", held=26)
            assert row["need"] == 1
            assert fields(row["epoch"])["wakes"] == 1
            await again.line(event="channel", target="channel:disc/disc:guild:calm", label="muted", held=1)
            await again.run(f"go=peek target={NOISY} last=100")
            shown = items(again.all(event="peek")[-1]["messages"])
            assert [each["text"] for each in shown] == [*(f"word {n}" for n in range(25)), "scout?"]
            await remote.do("say", channel="disc:guild:noisy", text="word 3", id="n3")
            await again.run(f"go=cancel target={NOISY}")
            notice = await again.line(event="notice", kind="tune-out-cancel")
            assert str(notice["text"]).startswith(
                "[Tune-out: disc:guild:noisy cancelled — operator request, 1 wake]\n\n"
                '<tuned-out-backlog channel="disc:guild:noisy" messages=26>'
            )
            assert len(again.all(event="notice", kind="tune-out-cancel")) == 1
    async with open_reader(tmp_path / "arc.db") as reader:
        kept = [each.text for each in await reader.reports(limit=10) if each.kind == "summary"]
    assert kept[0] == report["text"]
