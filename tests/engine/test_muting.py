"""Mute through a whole engine: what is muted no model reads, nothing is stopped, and nothing is lost (section 7)."""

from __future__ import annotations

from collections.abc import Mapping

from cockpit.connect.ports import Called
from cockpit.core.message import RESIDENTS, Json, Text
from cockpit.core.request import Tool
from cockpit.testing.rig import Rig
from cockpit.testing.scripted_model import Answer, Call, Gate
from cockpit.testing.stage import (
    DISC,
    GIT,
    NOISY,
    CuedModel,
    Start,
    answered,
    audit,
    listed,
    notices,
    peek,
    recipe,
    shown,
    turns,
    use,
)

BOTH = recipe(GIT, DISC)
MARK = recipe(GIT + '\nwhen_muted = "mark"', DISC)
QUIET = "channel:disc/quiet"


def label(cockpit: Rig, target: str) -> str:
    return cockpit.session.engine.rows.row(cockpit.channel(target).target).label


async def ask(cockpit: Rig, text: str = "Well?") -> str:
    await cockpit.link.ask(text)
    await cockpit.settle()
    return shown(cockpit.requests("scout")[-1])


async def in_flight(cockpit: Rig, model: CuedModel) -> Gate:
    """A call of the resident's to `git` that stands at a gate."""
    gate = Gate()

    async def answer(tool: str, _: Mapping[str, Json]) -> Called:
        await gate.passes()
        return Called((Text("the true result"),))

    cockpit.servers["git"].answer = answer
    model.calls("scout", "git__status")
    await cockpit.link.ask("Look.")
    await gate.reached()
    return gate


async def test_hide_takes_the_tools_away_and_refuses_a_remembered_name(start: Start, model: CuedModel) -> None:
    """M-2, K-102, F-13: hidden from the next list; a remembered or guessed name is refused at dispatch."""
    async with start(BOTH) as cockpit:
        await ask(cockpit)
        assert listed(cockpit.requests("scout")[-1])[-2:] == ["git__status", "git__commit"]
        await cockpit.run("go=mute target=mcp:git")
        await ask(cockpit)
        assert not any(name.startswith("git__") for name in listed(cockpit.requests("scout")[-1]))
        for guess in ("git__status", "git__never_listed"):
            assert await use(cockpit, model, guess) == "refused: [Mute: mcp:git is muted — this call was not made]"
        assert cockpit.servers["git"].calls == []
        await cockpit.run("go=unmute target=mcp:git")
        assert await use(cockpit, model, "git__status") == "status done"


async def test_a_guess_after_a_restart_under_the_mute_is_told_so(start: Start, model: CuedModel) -> None:
    """M-2, K-102: a name that this process never listed; also where a server's name holds two underscores."""
    text = recipe(GIT, GIT.replace('"git"', '"my__git"'), DISC)
    async with start(text) as cockpit:
        await cockpit.run("go=mute target=mcp:*git")
    async with start(text) as cockpit:
        for server in ("git", "my__git"):
            said = await use(cockpit, model, f"{server}__status")
            assert said == f"refused: [Mute: mcp:{server} is muted — this call was not made]"


async def test_mark_keeps_the_list_byte_for_byte(start: Start, model: CuedModel) -> None:
    """M-2, K-110: any number of mutes and unmutes leaves the request's prefix; the call is refused all the same."""
    async with start(MARK) as cockpit:
        await ask(cockpit)
        first = cockpit.requests("scout")[-1]
        for _ in range(3):
            await cockpit.run("go=mute target=mcp:git")
            await ask(cockpit)
            said = await use(cockpit, model, "git__status")
            assert said == "refused: [Mute: mcp:git is muted — this call was not made]"
            assert "mcp:git: muted, muted by operator" in await use(cockpit, model, "channel_list")
            await cockpit.run("go=unmute target=mcp:git")
            await ask(cockpit)
        assert all((one.tools, one.system) == (first.tools, first.system) for one in cockpit.requests("scout"))


async def test_a_list_that_changes_under_a_mark_is_not_injected(start: Start, model: CuedModel) -> None:
    """M-2, K-105: list changes are nothing while it is muted; the catalogue is fresh at unmute."""
    async with start(MARK) as cockpit:
        await ask(cockpit)
        before = cockpit.requests("scout")[-1].tools
        await cockpit.run("go=mute target=mcp:git")
        git = cockpit.servers["git"]
        git.offered = (*git.offered, Tool("push", "Push.", {"type": "object", "properties": {}}))
        await git.host.tools_changed("git")
        await ask(cockpit)
        assert cockpit.requests("scout")[-1].tools == before
        await cockpit.run("go=unmute target=mcp:git")
        await ask(cockpit)
        assert listed(cockpit.requests("scout")[-1])[-1] == "git__push"


async def test_a_list_under_a_mark_survives_the_servers_death(start: Start, model: CuedModel) -> None:
    """M-2: byte for byte, alive or not."""
    async with start(MARK) as cockpit:
        await ask(cockpit)
        await cockpit.run("go=mute target=mcp:git")
        await cockpit.servers["git"].down()
        await ask(cockpit)
        assert cockpit.requests("scout")[0].tools == cockpit.requests("scout")[-1].tools


async def test_hiding_is_deterministic(start: Start, model: CuedModel) -> None:
    """K-110, N-4: unmuted, the list is what it was, in its order."""
    async with start(BOTH) as cockpit:
        await ask(cockpit)
        for _ in range(3):
            await cockpit.run("go=mute target=mcp:git")
            await cockpit.run("go=unmute target=mcp:git")
            await ask(cockpit)
        assert len({tuple(listed(request)) for request in cockpit.requests("scout")}) == 1


async def test_a_toggle_in_the_middle_of_a_turn_holds_from_the_next_round(start: Start, model: CuedModel) -> None:
    """K-111: the step that runs is what it was; the next one sees the change."""
    async with start(BOTH) as cockpit:
        gate = await in_flight(cockpit, model)
        await cockpit.run("go=mute target=mcp:git", held={"scout"})
        gate.open()
        await cockpit.settle()
        first, second = cockpit.requests("scout")
        assert "git__status" in listed(first)
        assert "git__status" not in listed(second)


async def test_nothing_that_a_muted_server_sends_is_injected(start: Start, model: CuedModel) -> None:
    """M-1, M-2: notifications and log lines, in no agent's request, the subconscious's neither."""
    async with start(BOTH) as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        await cockpit.run("go=mute target=mcp:git")
        await cockpit.servers["git"].notify("resource changed")
        await ask(cockpit)
        await cockpit.servers["disc"].say("noisy", "scout?", addressed=True)
        await cockpit.advance(2.0)
        assert not any("resource changed" in shown(request) for request in model.requests)
        assert cockpit.channel("mcp:git").withheld == 1


async def test_a_call_in_flight_runs_to_its_end_and_is_withheld(start: Start, model: CuedModel) -> None:
    """M-3, V-8: its result is stored under the mute's stamp, the notice stands in its place, no use is left alone."""
    async with start(BOTH) as cockpit:
        gate = await in_flight(cockpit, model)
        await cockpit.run("go=mute target=mcp:git", held={"scout"})
        span = cockpit.channel("mcp:git").span
        gate.open()
        await cockpit.settle()
        assert answered(cockpit.requests("scout")[-1]) == [
            "[Mute: mcp:git is muted — the result of this call is withheld]"
        ]
        assert not any("the true result" in shown(request) for request in model.requests)
        (kept,) = [one for one in await cockpit.stored(RESIDENTS) if one.kind == "withheld"]
        assert (kept.text, kept.target) == ("the true result", "mcp:git")
        assert kept.stamp is not None
        assert span is not None
        assert kept.stamp.span == span.id
        await cockpit.run("go=unmute target=mcp:git")
        assert notices(cockpit, "unmute") == ["[Mute: mcp:git unmuted after 0 s — 1 message withheld]"]
        assert "the true result" not in await ask(cockpit)


async def test_the_other_call_of_the_same_answer_keeps_its_result(start: Start, model: CuedModel) -> None:
    """M-3: only the muted server's is withheld."""
    async with start(BOTH) as cockpit:
        await cockpit.run("go=mute target=mcp:git")
        model.cue("scout", Answer(calls=(Call("git__status"), Call("channel_list"))))
        await ask(cockpit)
        first, second = answered(cockpit.requests("scout")[-1])
        assert first == "refused: [Mute: mcp:git is muted — this call was not made]"
        assert "mcp:git: muted" in second


async def test_a_muted_channel_wakes_nobody_and_acknowledges_nothing(start: Start, model: CuedModel) -> None:
    """M-4."""
    async with start() as cockpit:
        await cockpit.run(f"go=mute target={NOISY}")
        await cockpit.servers["disc"].say("noisy", "scout!", addressed=True)
        await cockpit.settle()
        assert (turns(cockpit), cockpit.servers["disc"].acknowledged) == ([], [])
        found = await peek(cockpit)
        assert [(one.text, one.held_by) for one in found.messages] == [("scout!", "mute")]
        assert "scout!" not in await ask(cockpit)
        await cockpit.run(f"go=unmute target={NOISY}")
        assert "scout!" not in await ask(cockpit)


async def test_an_integrity_server_is_muted_only_with_the_operators_word(start: Start, model: CuedModel) -> None:
    """M-8, K-115: the override goes to the audit; the resident can never."""
    async with start(recipe(GIT + "\nintegrity = true", DISC)) as cockpit:
        refused = (await cockpit.run("go=mute target=mcp:git")).ran
        assert (refused.ok, refused.code, refused.hint) == (False, "refused", 'go=mute target=mcp:git override="<why>"')
        assert (await use(cockpit, model, "mute_channel", channel="mcp:git")).startswith("refused: ")
        assert label(cockpit, "mcp:git") == "online"
        assert (await cockpit.run('go=mute target=mcp:git override="it floods"')).ran.ok
        row = (await audit(cockpit))[-1]
        assert (row["verb"], row["target"], row["reason"], row["ok"]) == ("mute", "mcp:git", "it floods", True)


async def test_the_operators_and_the_residents_layer(start: Start, model: CuedModel) -> None:
    """M-9, K-120: each takes off its own; the span runs from the first on to the last off."""
    async with start() as cockpit:
        assert await use(cockpit, model, "mute_channel", channel="noisy") == f"{NOISY} is muted"
        await cockpit.advance(10)
        await cockpit.run(f"go=mute target={NOISY}")
        assert (await cockpit.run(f"go=unmute target={NOISY}")).ran.message.endswith("still muted by the resident")
        assert label(cockpit, NOISY) == "muted"
        assert (await cockpit.run(f"go=unmute target={NOISY}")).ran.code == "refused"
        await cockpit.advance(10)
        assert await use(cockpit, model, "unmute_channel", channel="noisy") == f"{NOISY} is unmuted"
        assert notices(cockpit, "unmute") == [f"[Mute: {NOISY} unmuted after 20 s — 0 messages withheld]"]


async def test_unmute_is_never_by_itself(start: Start, model: CuedModel) -> None:
    """M-10: no mute ends by itself."""
    async with start() as cockpit:
        await cockpit.run(f"go=mute target={NOISY}")
        await cockpit.advance(90 * 86_400)
        assert label(cockpit, NOISY) == "muted"
        refused = (await cockpit.run(f"go=mute target={QUIET} for=2h")).ran
        assert (refused.ok, refused.code) == (False, "bad_value")
        assert "tune-out" in refused.hint


async def test_muting_holds_an_epoch(start: Start, model: CuedModel) -> None:
    """M-12, K-101: both stamps, no wake, no cadence turn, no acknowledgement; at the cancel the dump shows it."""
    async with start() as cockpit:
        disc = cockpit.servers["disc"]
        await cockpit.run(f"go=tune-out target={NOISY} cadence=60")
        await cockpit.run(f"go=mute target={NOISY}")
        await disc.say("noisy", "under both", addressed=True)
        await cockpit.advance(3600)
        assert (turns(cockpit), disc.acknowledged) == ([], [])
        found = await peek(cockpit)
        assert [(one.text, one.held_by) for one in found.messages] == [("under both", "both")]
        assert found.epoch is not None
        await cockpit.run(f"go=unmute target={NOISY} deliver=backlog")
        assert notices(cockpit, "unmute")[0].endswith("0 messages withheld]\n\nNo messages were diverted.")
        assert label(cockpit, NOISY) == "tuned-out"
        await cockpit.advance(3600)
        assert turns(cockpit) == []
        await cockpit.run(f"go=cancel target={NOISY}")
        assert "kim: under both" in notices(cockpit, "tune-out-cancel")[0]
        assert not any("] under both" in shown(request) for request in model.requests)


async def test_tuning_out_a_muted_channel_starts_a_held_epoch(start: Start, model: CuedModel) -> None:
    """M-12, K-101."""
    async with start() as cockpit:
        await cockpit.run(f"go=mute target={NOISY}")
        assert (await cockpit.run(f"go=tune-out target={NOISY}")).ran.ok
        assert label(cockpit, NOISY) == "muted"
        await cockpit.servers["disc"].say("noisy", "scout?", addressed=True)
        await cockpit.advance(5)
        assert turns(cockpit) == []
        await cockpit.run(f"go=unmute target={NOISY}")
        assert label(cockpit, NOISY) == "tuned-out"


async def test_a_wake_that_was_owed_before_the_mute_waits_for_the_unmute(start: Start, model: CuedModel) -> None:
    """M-12: nor any wake for the channel until unmute; none is lost."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        await cockpit.servers["disc"].say("noisy", "scout?", addressed=True)
        await cockpit.run(f"go=mute target={NOISY}")
        await cockpit.advance(60)
        assert turns(cockpit) == []
        await cockpit.run(f"go=unmute target={NOISY}")
        await cockpit.advance(2)
        assert turns(cockpit) == ["wake"]


async def test_ignition_is_never_filtered(start: Start, model: CuedModel) -> None:
    """M-7, K-116: with everything muted the operator still prompts, steers and stops."""
    async with start(BOTH) as cockpit:
        for target in ("mcp:git", "mcp:disc"):
            await cockpit.run(f"go=mute target={target}")
        gate = Gate()
        model.cue("scout", Answer("Working.", gate=gate))
        await cockpit.link.ask("Do you hear me?")
        await gate.reached()
        assert "Do you hear me?" in shown(cockpit.requests("scout")[0])
        await cockpit.link.ask("Hurry up.")
        assert (await cockpit.run("go=stop")).ran.ok
        assert "Hurry up." in await ask(cockpit)


async def test_the_only_operator_is_muted_softly_or_not_at_all(start: Start, model: CuedModel) -> None:
    """M-7, K-116: refused with the soft form as the hint."""
    async with start(recipe(more='[intercom]\noperator = "you"')) as cockpit:
        await cockpit.run('go=say text="a side-channel word"')
        refused = (await cockpit.run("go=mute target=user:you")).ran
        assert refused.code == "refused"
        assert "soft=yes" in refused.hint


async def test_held_need_and_wait_are_three_counts(start: Start, model: CuedModel) -> None:
    """F-19, A-11: what a mute takes in is held and nothing else; the addressed ones of it need nobody meanwhile."""
    async with start(recipe(more='[gate]\ndefault = "defer"')) as cockpit:
        disc = cockpit.servers["disc"]

        def counts() -> tuple[int, int, int]:
            row = cockpit.session.engine.rows.row(cockpit.channel(NOISY).target)
            return row.wait, row.need, row.held

        await disc.say("noisy", "one")
        await disc.say("noisy", "scout?", addressed=True)
        assert counts() == (2, 1, 0)
        await cockpit.run(f"go=mute target={NOISY}")
        assert counts() == (2, 0, 0)
        await disc.say("noisy", "three")
        await disc.say("noisy", "scout!", addressed=True)
        assert counts() == (2, 0, 2)
        await cockpit.run(f"go=unmute target={NOISY}")
        assert counts() == (2, 1, 0)
        await cockpit.run(f"go=tune-out target={NOISY}")
        await disc.say("noisy", "scout, once more", addressed=True)
        await disc.say("noisy", "six")
        assert counts() == (2, 2, 2)
        await ask(cockpit)
        assert counts() == (0, 1, 2)
