"""The commands that talk to a cockpit that runs, each as a program of its own beside the real one."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from cockpit.testing.program import headless, items
from cockpit.testing.shell import cockpit, runtime

RECIPE = """
name = "talk"
[model]
provider = "offline"
[[resident]]
name = "scout"
system_prompt = "You are scout."
[[resident]]
name = "herald"
system_prompt = "You are herald."
[intercom]
feeds = ["general"]
participants = { hedgehog = "spiny" }
"""


async def test_two_shells_at_once_and_a_sender(tmp_path: Path) -> None:
    """Issue 5: each command as an operator would say it; what one does, the running cockpit's lines show."""
    path = tmp_path / "talk.toml"
    path.write_text(RECIPE, encoding="utf-8")
    with runtime() as environment:
        async with headless(path, tmp_path / "talk.db", environment=environment) as running:
            await running.line(event="ready")
            await running.run("go=stats")
            muted, listed = await asyncio.gather(
                cockpit("go", "go=mute target=user:hedgehog", environment=environment),
                cockpit("channels", "--json", environment=environment),
            )
            assert muted[0] == 0, muted[2]
            targets = [json.loads(line)["target"] for line in listed[1].splitlines()]
            assert targets == ["user:hedgehog", "user:scout", "user:herald", "user:you", "feed:general"]
            await running.line(event="channel", target="user:hedgehog", label="muted")
            token = {**environment, "COCKPIT_TOKEN": "spiny"}
            first = await cockpit("send", "--as", "hedgehog", "hello scout", environment=token)
            second = await cockpit("send", "--as", "hedgehog", "--to", "feed:general", "hello all", environment=token)
            assert "scout muted you" in first[1]  # M-5, K-119: told once a span
            assert "muted" not in second[1]
            row = await running.line(
                event="channel", target="user:hedgehog", held=2
            )  # the user's mute comes first
            assert row["wait"] == 0
            for handle, said in (("hedgehog", "soft"), ("badger", "spiny"), ("you", "spiny"), ("scout", "spiny")):
                wrong = await cockpit("send", "--as", handle, "hi", environment={**token, "COCKPIT_TOKEN": said})
                assert (wrong.code, wrong.out) == (1, "")
                assert wrong.err.splitlines()[0] == f"no participant '{handle}' with that token"
                assert "spiny" not in wrong.err
            alone = await cockpit("send", "--as", "hedgehog", "hi", environment={**token, "COCKPIT_TOKEN": ""})
            assert (alone.code, alone.out) == (2, "")
            assert "COCKPIT_TOKEN is not set" in alone.err
            nobody = await cockpit("send", "--as", "hedgehog", "--to", "skout", "hi", environment=token)
            assert (nobody.code, "did you mean scout?" in nobody.err) == (1, True)
            unmuted = await cockpit("go", "unmute user:hedgehog", environment=environment)
            asked = await cockpit("send", "--as", "hedgehog", "are you there?", environment=token)
            assert (unmuted[0], asked[0]) == (0, 0), unmuted[2] + asked[2]
            await running.line(event="turn", agent="scout", state="ended", reason="intercom")
            await cockpit("go", "go=say to=feed:general text='hello from the operator'", environment=environment)
            await running.line(event="turn", agent="herald", state="ended", reason="intercom")
            await running.run("go=audit")
            origins = {row["origin"] for row in items(running.all(event="audit")[-1]["rows"])}
            assert "socket" in origins
            await running.run("go=quit")
            assert await running.ended() == 0
        gone = await cockpit("channels", environment=environment)
        assert gone[0] == 1
        assert "no cockpit is running" in gone[2]
