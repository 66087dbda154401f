"""An edit or a deletion changes the message of its own channel that a dump will show, and no other (A-8)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from cockpit.core.events import Noticed
from cockpit.core.inputs import Change
from cockpit.core.message import Text
from cockpit.testing.rig import Rig, rig

RECIPE = """
name = "amended"
[model]
provider = "offline"
[[resident]]
name = "scout"
system_prompt = "You are scout."
[subconscious]
system_prompt = "You watch."
[[mcpl]]
name = "disc"
command = ["fake"]
"""


async def amend(cockpit: Rig, channel: str, message_id: str, text: str, *, deleted: bool = False) -> None:
    """Change a message as its server would tell it."""
    disc = cockpit.servers["disc"]
    given = disc.message(channel, text, message_id=message_id)
    change: Change = "deleted" if deleted else "edited"
    changed = replace(given, change=change, key=f"{given.key}\x1f{change}\x1f{text}", blocks=(Text(text),))
    await (await disc.host.arrived(changed))


async def test_a_change_meets_the_message_of_its_own_channel(tmp_path: Path) -> None:
    """Ids are unique in a channel only: two channels have a message `1`, and each keeps its own words."""
    async with rig(tmp_path, RECIPE, channels={"disc": ["ops", "dev"]}) as cockpit:
        for name in ("ops", "dev"):
            await cockpit.run(f"go=tune-out target=channel:disc/{name}")
            await cockpit.servers["disc"].say(name, f"first of {name}", message_id="1")
            await cockpit.servers["disc"].say(name, f"second of {name}", message_id="2")
        await amend(cockpit, "ops", "1", "first of ops, mended")
        await amend(cockpit, "ops", "2", "", deleted=True)
        assert cockpit.channel("channel:disc/ops").epoch is not None
        for name in ("ops", "dev"):
            await cockpit.run(f"go=cancel target=channel:disc/{name}")
        dumps = [event.text for event in cockpit.of(Noticed) if event.kind == "tune-out-cancel"]
        assert "messages=2>\nkim: first of ops, mended\nkim: [deleted]\n</tuned-out-backlog>" in dumps[0]
        assert "messages=2>\nkim: first of dev\nkim: second of dev\n</tuned-out-backlog>" in dumps[1]


async def test_an_edit_of_what_was_delivered_is_a_message_of_its_own(tmp_path: Path) -> None:
    async with rig(tmp_path, RECIPE, channels={"disc": ["ops"]}) as cockpit:
        await cockpit.servers["disc"].say("ops", "as it was", message_id="1")
        await cockpit.run("go=tune-out target=channel:disc/ops")
        await amend(cockpit, "ops", "1", "as it is")
        await cockpit.run("go=cancel target=channel:disc/ops")
        dump = next(event.text for event in cockpit.of(Noticed) if event.kind == "tune-out-cancel")
        assert "messages=1>\nkim: as it is\n</tuned-out-backlog>" in dump
