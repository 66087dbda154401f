"""What the gate debounces is judged when its channel has been quiet, and not before (T-11, K-24 to K-26)."""

from __future__ import annotations

from pathlib import Path

import pytest

from cockpit.core.events import Noticed, TurnChanged
from cockpit.testing.rig import Rig, rig
from cockpit.testing.stage import audit

RECIPE = """
name = "calm"
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
[gate]
default = { debounce = "3m" }
"""

CHANNELS = {"disc": ["ops", "noisy"]}
NOISY = "channel:disc/noisy"


def started(cockpit: Rig) -> list[tuple[str, str]]:
    return [(event.agent, event.reason) for event in cockpit.of(TurnChanged) if event.state == "started"]


async def test_a_debounced_mention_of_a_tuned_out_channel_is_judged_when_it_is_quiet(tmp_path: Path) -> None:
    """K-24, T-11: nothing before the gate lets it through; then one acknowledgement and a subconscious wake only."""
    async with rig(tmp_path, RECIPE, channels=CHANNELS) as cockpit:
        disc = cockpit.servers["disc"]
        await cockpit.run(f"go=tune-out target={NOISY}")
        await disc.say("noisy", "scout?", addressed=True, message_id="q")
        await cockpit.advance(170)
        await disc.say("noisy", "and more")  # it is not quiet yet, and waits anew
        await cockpit.advance(170)
        assert (disc.acknowledged, started(cockpit)) == ([], [])
        await cockpit.advance(11)
        assert disc.acknowledged == [("noisy", "q", "suppressed-tuned-out")]
        assert started(cockpit) == []
        await cockpit.advance(2)
        assert started(cockpit) == [("Subconscious", "wake")]


async def test_debounced_chatter_of_a_tuned_out_channel_wakes_nobody(tmp_path: Path) -> None:
    """K-25: ambient, so neither the resident nor a subconscious wake."""
    async with rig(tmp_path, RECIPE, channels=CHANNELS) as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        await cockpit.servers["disc"].say("noisy", "chatter")
        await cockpit.advance(200)
        await cockpit.advance(5)
        assert started(cockpit) == []


async def test_a_mixed_batch_wakes_for_the_ordinary_channel_and_does_not_name_the_other(tmp_path: Path) -> None:
    """K-26, N-8: the notice is the woken agent's own, and speaks of what it may hear."""
    async with rig(tmp_path, RECIPE, channels=CHANNELS) as cockpit:
        disc = cockpit.servers["disc"]
        await cockpit.run(f"go=tune-out target={NOISY}")
        await disc.say("noisy", "psst", addressed=True)
        await disc.say("ops", "disk is full")
        await disc.say("ops", "still full")
        await cockpit.advance(181)
        assert started(cockpit) == [("scout", "message")]
        notices = [(event.agent, event.text) for event in cockpit.of(Noticed) if event.kind == "gate"]
        assert notices == [("scout", "[Gate: ops — 2 messages, then quiet for 3 min 0 s]")]


async def test_what_its_ended_epoch_left_waiting_is_consumed(tmp_path: Path) -> None:
    """T-11: it neither wakes the resident nor debits a newer epoch."""
    async with rig(tmp_path, RECIPE, channels=CHANNELS) as cockpit:
        disc = cockpit.servers["disc"]
        await cockpit.run(f"go=tune-out target={NOISY}")
        await disc.say("noisy", "scout?", addressed=True)
        await cockpit.run(f"go=cancel target={NOISY}")
        await cockpit.run(f"go=tune-out target={NOISY}")
        before = started(cockpit)
        await cockpit.advance(200)
        await cockpit.advance(5)
        assert started(cockpit) == before
        assert disc.acknowledged == []
        epoch = cockpit.channel(NOISY).epoch
        assert epoch is not None
        assert (epoch.wakes, epoch.asked) == (0, 0)


async def test_what_waits_for_quiet_survives_a_restart(tmp_path: Path) -> None:
    """T-11, R-1: it is part of the channel's value; the quiet begins anew."""
    async with rig(tmp_path, RECIPE, channels=CHANNELS) as cockpit:
        await cockpit.servers["disc"].say("ops", "disk is full")
    async with rig(tmp_path, RECIPE, channels=CHANNELS) as again:
        await again.advance(181)
        assert started(again) == [("scout", "message")]


@pytest.mark.parametrize("muted", [NOISY, "mcp:disc"])
async def test_a_mute_holds_what_came_before_it_until_the_unmute(tmp_path: Path, muted: str) -> None:
    """M-12, T-11: nothing while it is on; then what was owed, once, and nothing for what came under it."""
    async with rig(tmp_path, RECIPE, channels=CHANNELS) as cockpit:
        disc = cockpit.servers["disc"]
        await cockpit.run(f"go=tune-out target={NOISY}")
        await disc.say("noisy", "scout?", addressed=True, message_id="before")
        await cockpit.advance(100)
        await cockpit.run(f"go=mute target={muted}")
        await disc.say("noisy", "scout!", addressed=True, message_id="under")
        await cockpit.advance(181)
        await cockpit.advance(1000)
        assert (disc.acknowledged, started(cockpit)) == ([], [])
        await cockpit.run(f"go=unmute target={muted}")
        assert disc.acknowledged == [("noisy", "before", "suppressed-tuned-out")]
        await cockpit.advance(2)
        assert started(cockpit) == [("Subconscious", "wake")]
        await cockpit.advance(181)
        assert [reason for _, reason in started(cockpit)].count("wake") == 1


async def test_a_resident_is_woken_at_the_unmute_for_what_was_open_before_the_mute(tmp_path: Path) -> None:
    """M-12, M-4: it was delivered, and its wake only waited; over a restart too."""
    async with rig(tmp_path, RECIPE, channels=CHANNELS) as cockpit:
        await cockpit.servers["disc"].say("ops", "disk is full")
        await cockpit.run("go=mute target=channel:disc/ops")
        await cockpit.servers["disc"].say("ops", "still full")
        await cockpit.advance(200)
    async with rig(tmp_path, RECIPE, channels=CHANNELS) as again:
        await again.advance(181)
        assert started(again) == []
        await again.run("go=unmute target=channel:disc/ops")
        assert started(again) == [("scout", "message")]
        notices = [event.text for event in again.of(Noticed) if event.kind == "gate"]
        assert notices == ["[Gate: ops — 1 message, then quiet for 3 min 0 s]"]


async def test_what_a_mute_held_is_consumed_where_its_channel_was_tuned_out_meanwhile(tmp_path: Path) -> None:
    """T-22, T-11: an ordinary wake runs only if its channel is open then, and debits no epoch."""
    async with rig(tmp_path, RECIPE, channels=CHANNELS) as cockpit:
        await cockpit.servers["disc"].say("noisy", "scout?", addressed=True)
        await cockpit.run(f"go=mute target={NOISY}")
        await cockpit.advance(200)
        await cockpit.run(f"go=tune-out target={NOISY}")
        await cockpit.run(f"go=unmute target={NOISY}")
        await cockpit.advance(5)
        assert (started(cockpit), cockpit.servers["disc"].acknowledged) == ([], [])
        assert cockpit.channel(NOISY).quiet == ()


async def test_a_debounced_mention_is_acknowledged_by_the_grant_of_the_moment_that_judges_it(tmp_path: Path) -> None:
    """T-11, T-7: what its server no longer grants then is not sent; the wake comes all the same."""
    async with rig(tmp_path, RECIPE, channels=CHANNELS) as cockpit:
        disc = cockpit.servers["disc"]
        await cockpit.run(f"go=tune-out target={NOISY}")
        await disc.say("noisy", "scout?", addressed=True)
        disc.granted = frozenset()
        await cockpit.advance(181)
        await cockpit.advance(2)
        assert (disc.acknowledged, started(cockpit)) == ([], [("Subconscious", "wake")])
        assert [row for row in await audit(cockpit) if row["verb"] == "acknowledge"] == []
