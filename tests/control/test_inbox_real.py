"""A participant as a program of its own beside the real cockpit: it speaks, listens, dies, and misses nothing."""

from __future__ import annotations

import json
from pathlib import Path

from cockpit.testing.program import headless, items
from cockpit.testing.shell import cockpit, runtime, start

RECIPE = """
name = "talk"
[model]
provider = "offline"
[[resident]]
name = "scout"
system_prompt = "You are scout."
[intercom]
feeds = ["general"]
participants = { hedgehog = "spiny" }
"""


async def test_a_participant_listens_over_a_restart(tmp_path: Path) -> None:
    """Issue 5, Intercom: each message once, though the cockpit was killed meanwhile; refusals are audited (K-123)."""
    path, store = tmp_path / "talk.toml", tmp_path / "talk.db"
    path.write_text(RECIPE, encoding="utf-8")
    with runtime() as environment:
        token = {**environment, "COCKPIT_TOKEN": "spiny"}
        async with headless(path, store, environment=environment) as running:
            await running.run("go=say to=feed:general text='one'")
            first = await cockpit("inbox", "--as", "hedgehog", "--json", environment=token)
            assert (first.code, first.err) == (0, "")
            assert [json.loads(line)["text"] for line in first.out.splitlines()] == ["one"]
            wrong = await cockpit("inbox", "--as", "hedgehog", environment={**token, "COCKPIT_TOKEN": "soft"})
            assert (wrong.code, wrong.out, wrong.err) == (1, "", "no participant 'hedgehog' with that token\n")
            await cockpit("send", "--as", "hedgehog", "hi", environment={**token, "COCKPIT_TOKEN": "\udcff"})
            await running.run("go=audit last=1")
            (row,) = items(running.all(event="audit")[-1]["rows"])
            assert (row["actor"], row["origin"], row["verb"], row["ok"]) == ("participant", "socket", "send", False)
            await running.run("go=say to=feed:general text='two'")
            await running.kill()
        async with headless(path, store, environment=environment) as running:
            await running.line(event="ready")
            await running.run("go=stats")
            follower = await start("inbox", "--as", "hedgehog", "--follow", environment=token)
            assert follower.stdout is not None
            head, said = (await follower.stdout.readline()).decode(), await follower.stdout.readline()
            assert (head.split("  ", 1)[1], said) == ("you  to feed:general\n", b"  two\n")
            await running.run("go=say to=feed:general text='three'")
            await follower.stdout.readline()
            assert await follower.stdout.readline() == b"  three\n"
            await running.run("go=quit")
            assert (await running.ended(), running.errors) == (0, "")
            assert follower.stderr is not None
            assert (await follower.wait(), await follower.stderr.read()) == (1, b"the cockpit has gone\n")
