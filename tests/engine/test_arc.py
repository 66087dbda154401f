"""The main job through a whole engine: tune out, divert, wake, report, cancel, dump."""

from __future__ import annotations

from pathlib import Path

from cockpit.core.events import Noticed, Reported, TurnChanged
from cockpit.core.message import Text
from cockpit.testing.rig import rig
from cockpit.testing.scripted_model import Answer, Call, ScriptedModel

RECIPE = """
name = "arc"
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

NOISY = "channel:disc/disc:guild:noisy"


def text_of(request: object) -> str:
    return "\n".join(
        block.text
        for turn in request.messages  # type: ignore[attr-defined]
        for block in turn.blocks
        if isinstance(block, Text)
    )


async def test_a_tune_out_from_enter_to_dump(tmp_path: Path) -> None:
    """T-5, T-7, T-8, T-18, T-19, K-1, K-17: diverted, acknowledged once, one wake, one report, one dump."""
    model = ScriptedModel(
        {
            "Subconscious": [
                Answer(calls=(Call("deliver_summary", {"text": "You were asked.", "channel": "disc:guild:noisy"}),)),
                Answer("Done."),
            ]
        }
    )
    async with rig(tmp_path, RECIPE, channels={"disc": ["disc:guild:noisy"]}, model=model) as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        disc = cockpit.servers["disc"]
        await disc.say("disc:guild:noisy", "ambient chatter")
        await disc.say("disc:guild:noisy", "scout, are you there?", addressed=True, message_id="q1")
        await cockpit.settle()
        assert disc.acknowledged == [("disc:guild:noisy", "q1", "suppressed-tuned-out")]
        assert not model.requests
        await cockpit.advance(2.0)
        assert [event.reason for event in cockpit.of(TurnChanged) if event.state == "started"] == ["wake"]
        assert "scout, are you there?" in text_of(model.requests_of("Subconscious")[0])
        assert [event.text for event in cockpit.of(Reported) if event.kind == "summary"] == ["You were asked."]
        await cockpit.run(f"go=cancel target={NOISY}")
        dumps = [event.text for event in cockpit.of(Noticed) if event.kind == "tune-out-cancel"]
        assert dumps == [
            (
                "[Tune-out: disc:guild:noisy cancelled — operator request, 1 wake]\n\n"
                '<tuned-out-backlog channel="disc:guild:noisy" messages=2>\n'
                "kim: ambient chatter\nkim: scout, are you there?\n</tuned-out-backlog>"
            )
        ]
        told = text_of(model.requests_of("scout")[-1])
        assert told.count("<tuned-out-backlog") == 1
        assert "You were asked." in told
        assert "· kim ·" not in told
