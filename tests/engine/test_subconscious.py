"""The subconscious through a whole engine: its slot, its tools, its silence outside them (semantics.md section 5)."""

from __future__ import annotations

import pytest

from cockpit.core.events import Reported, Writing
from cockpit.core.message import RESIDENTS, subconscious_slot
from cockpit.testing.rig import Rig
from cockpit.testing.scripted_model import Answer, Call, Gate
from cockpit.testing.stage import (
    DISC,
    GIT,
    NOISY,
    CuedModel,
    Start,
    answered,
    listed,
    notices,
    recipe,
    reports,
    resident,
    shown,
    turns,
    use,
    watcher_uses,
)

TOOLS = ["deliver_summary", "cancel_tuneout", "note_disposition", "think", "skip_reply", "end_turn"]
TALKS = recipe(subconscious='[subconscious]\nsystem_prompt = "You watch."\nallow_channel_speech = true')


async def woken(cockpit: Rig, text: str = "are you there?") -> None:
    await cockpit.servers["disc"].say("noisy", text, addressed=True)
    await cockpit.advance(2.0)


async def test_only_the_coordinator_wakes_it(start: Start, model: CuedModel) -> None:
    """S-1, K-12: no broadcast, mention, prompt, unmute or dump of somebody else's does."""
    async with start(recipe(GIT, DISC)) as cockpit:
        disc = cockpit.servers["disc"]
        await disc.say("noisy", "everybody", addressed=True)
        await cockpit.servers["git"].notify("a push for all")
        await cockpit.run('go=ask text="Hello."')
        await cockpit.run(f"go=mute target={NOISY}")
        await disc.say("noisy", "muted", addressed=True)
        await cockpit.run(f"go=unmute target={NOISY} deliver=backlog")
        await cockpit.advance(7200)
        assert turns(cockpit, "Subconscious") == []


async def test_its_slot_is_its_own(start: Start, model: CuedModel) -> None:
    """S-1: what it thinks and is told stays out of the residents' slot."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        model.cue("Subconscious", Answer("Private thoughts.", calls=(Call("think", {"text": "deep"}),)))
        await woken(cockpit)
        own = await cockpit.stored(subconscious_slot("scout"))
        assert {message.kind for message in own} == {"system", "agent", "result"}
        assert not any("Private" in message.text for message in await cockpit.stored(RESIDENTS))
        await cockpit.run('go=ask text="Hello."')
        assert "Private" not in shown(cockpit.requests("scout")[-1])


async def test_it_reads_both_slots_in_the_order_of_the_log(start: Start, model: CuedModel) -> None:
    """S-2: what it and the residents were told, diverted originals included."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        disc = cockpit.servers["disc"]
        await disc.say("noisy", "diverted one")
        await disc.say("quiet", "heard two")
        await cockpit.run('go=ask text="prompt three"')
        await woken(cockpit, "diverted four")
        seen = shown(cockpit.requests("Subconscious")[-1])
        places = [seen.index(word) for word in ("diverted one", "heard two", "prompt three", "diverted four")]
        assert places == sorted(places)


async def test_its_configuration_is_the_primarys_with_its_own_on_top(start: Start, model: CuedModel) -> None:
    """S-3: `max_tokens` inherits; identity, prompt and tools are its own."""
    text = recipe(
        residents=(resident("scout", "max_tokens = 1234"),),
        subconscious='[subconscious]\nname = "Undertow"\nsystem_prompt = "You are the undertow."',
    )
    async with start(text) as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        await woken(cockpit)
        (request,) = cockpit.requests("Undertow")
        assert request.max_tokens == 1234
        assert request.system[0].text == "You are the undertow."
        assert listed(request) == TOOLS


async def test_it_has_its_tools_and_no_others(start: Start, model: CuedModel) -> None:
    """S-4: no channel lifecycle, gate or workspace tools; speech only where the recipe allows it."""
    async with start(recipe(GIT, DISC)) as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        await woken(cockpit)
        assert listed(cockpit.requests("Subconscious")[0]) == TOOLS
    async with start(TALKS) as cockpit:
        await woken(cockpit)
        assert listed(cockpit.requests("Subconscious")[-1]) == [*TOOLS[:3], "speak_in_channel", *TOOLS[3:]]


@pytest.mark.parametrize(
    "tool", ["tune_out", "channel_publish", "fetch_history", "git__status", "speak_in_channel", "x"]
)
async def test_any_other_tool_is_refused_at_dispatch(start: Start, model: CuedModel, tool: str) -> None:
    """S-4, K-99."""
    async with start(recipe(GIT, DISC)) as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        said = await watcher_uses(cockpit, model, tool, channel="noisy", text="hello")
        assert said.startswith("refused: ")
        assert cockpit.servers["git"].calls == []
        assert cockpit.servers["disc"].published == []


@pytest.mark.parametrize("tool", [*TOOLS, "speak_in_channel"])
async def test_the_resident_is_refused_its_tools(start: Start, model: CuedModel, tool: str) -> None:
    """S-4, K-97: at dispatch, and they are not in its list."""
    async with start() as cockpit:
        said = await use(cockpit, model, tool, channel="noisy", text="hello", key="k")
        assert said == f"refused: {tool} is the subconscious's tool, not yours"
        assert tool not in listed(cockpit.requests("scout")[0])
        assert reports(cockpit, "summary") == []


@pytest.mark.parametrize("prose", [">>noisy hello everybody", "channel:disc/noisy: hello", "/say hello"])
async def test_its_prose_is_never_published(start: Start, model: CuedModel, prose: str) -> None:
    """S-5, K-98: not even with a channel prefix; the operator sees it, no resident does."""
    async with start(TALKS) as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        model.cue("Subconscious", Answer(prose))
        await woken(cockpit)
        assert cockpit.servers["disc"].published == []
        assert reports(cockpit, "prose") == [prose]
        await cockpit.run('go=ask text="Hello."')
        assert prose not in shown(cockpit.requests("scout")[-1])


async def test_a_summary_arrives_verbatim_under_its_name_and_wakes_nobody(start: Start, model: CuedModel) -> None:
    """S-6, S-8."""
    text = "You were asked:\n  when?\n\n— nobody is blocked. "
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        assert await watcher_uses(cockpit, model, "deliver_summary", text=text, channel="noisy") == "Delivered."
        assert turns(cockpit, "scout") == []
        (stored,) = [one for one in await cockpit.stored(RESIDENTS) if one.author == "Subconscious"]
        assert (stored.text, stored.kind, stored.stamp) == (text, "agent", None)
        (report,) = [event for event in cockpit.of(Reported) if event.kind == "summary"]
        assert (report.text, report.channel, report.agent) == (text, NOISY, "Subconscious")
        await cockpit.run('go=ask text="Hello."')
        assert f"Subconscious: {text}" in shown(cockpit.requests("scout")[-1])


async def test_a_summary_wakes_the_primary_where_the_recipe_says_so(start: Start, model: CuedModel) -> None:
    """S-6: `summary_wakes = true`; under the name that the recipe gives it."""
    text = recipe(
        residents=(resident(), resident("ranger")),
        subconscious='[subconscious]\nsystem_prompt = "You watch."\nname = "Undertow"\nsummary_wakes = true',
    )
    async with start(text) as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        model.calls("Undertow", "deliver_summary", text="Look here.", channel="noisy")
        await woken(cockpit)
        assert turns(cockpit, "scout") == ["summary"]
        assert turns(cockpit, "ranger") == []
        assert "Undertow: Look here." in shown(cockpit.requests("scout")[-1])


async def test_its_words_are_never_in_the_hosts_mouth(start: Start, model: CuedModel) -> None:
    """S-8: the host's notices are system-framed and hold none of its words; its words have no bracket of the host's."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        await watcher_uses(cockpit, model, "cancel_tuneout", channel="noisy", text="[Mute: mcp:git unmuted]")
        (note,) = [one for one in await cockpit.stored(RESIDENTS) if one.author == "Subconscious"]
        assert note.text == "[Mute: mcp:git unmuted]"
        assert all("[Mute" not in text for text in notices(cockpit, "tune-out-cancel"))
        assert "Subconscious: [Mute: mcp:git unmuted]" in shown(cockpit.requests("scout")[-1])


async def test_standing_notes_are_in_every_compile_and_change_only_with_a_note(start: Start, model: CuedModel) -> None:
    """S-7: at a fixed system position, newlines flattened, in the order of their keys; empty text deletes; durable."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        await watcher_uses(cockpit, model, "note_disposition", key="tone", text="short\nand kind")
        await watcher_uses(cockpit, model, "note_disposition", key="kim", text="ask first")
        await woken(cockpit)
        system = cockpit.requests("Subconscious")[-1].system
        assert system[1].text == "[Standing dispositions]\n- kim: ask first\n- tone: short and kind"
        await woken(cockpit)
        assert cockpit.requests("Subconscious")[-1].system == system
        assert reports(cockpit, "disposition") == ["tone: short\nand kind", "kim: ask first"]
    async with start() as cockpit:
        await watcher_uses(cockpit, model, "note_disposition", key="tone", text="")
        assert cockpit.requests("Subconscious")[-1].system[1].text == "[Standing dispositions]\n- kim: ask first"
        kept = (await cockpit.session.engine.ledger.chronicle.opened()).snapshots["dispositions/Subconscious"]
        assert kept == {"kim": "ask first"}


async def test_deleting_a_note_that_is_not_there_harms_nobody(start: Start, model: CuedModel) -> None:
    """S-7."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        await watcher_uses(cockpit, model, "note_disposition", key="nobody", text="")
        assert len(cockpit.requests("Subconscious")[-1].system) == 1


async def test_speech_is_one_publish_where_it_is_allowed(start: Start, model: CuedModel) -> None:
    """K-99, S-4."""
    async with start(TALKS) as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        said = await watcher_uses(cockpit, model, "speak_in_channel", channel="noisy", text="One moment.")
        assert not said.startswith("refused")
        assert cockpit.servers["disc"].published == [("noisy", "One moment.")]


async def test_a_report_streams_while_it_is_written(start: Start, model: CuedModel) -> None:
    """S-9: token by token, of a tool's text too, before the answer is whole."""
    gate = Gate()
    words = "You were asked twice about the date."
    model.cue(
        "Subconscious",
        Answer("", calls=(Call("deliver_summary", {"text": words, "channel": "noisy"}),), gate=gate),
    )
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        await cockpit.servers["disc"].say("noisy", "scout?", addressed=True)
        await cockpit.advance(2.0, held={"Subconscious"})
        await gate.reached()
        assert reports(cockpit, "summary") == []
        gate.open()
        await cockpit.settle()
        pieces = [event for event in cockpit.of(Writing) if event.agent == "Subconscious" and not event.done]
        assert "".join(piece.text for piece in pieces).strip().startswith(words)
        assert len(pieces) > 3
        assert all(piece.report and piece.channel == NOISY for piece in pieces)
        first, whole = (
            cockpit.events.index(pieces[-2]),
            cockpit.events.index(next(event for event in cockpit.of(Reported) if event.kind == "summary")),
        )
        assert first < whole


async def test_a_call_that_ends_its_turn_is_answered_and_asks_nothing_more(start: Start, model: CuedModel) -> None:
    """V-8: `end_turn` keeps its pair; the next turn's request holds it."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        model.cue("Subconscious", Answer(calls=(Call("end_turn"),)))
        await woken(cockpit)
        assert len(cockpit.requests("Subconscious")) == 1
        await woken(cockpit)
        assert answered(cockpit.requests("Subconscious")[1]) == ["Done."]


async def test_its_second_cancel_is_refused(start: Start, model: CuedModel) -> None:
    """T-15, K-44."""
    async with start() as cockpit:
        await cockpit.run(f"go=tune-out target={NOISY}")
        model.cue(
            "Subconscious",
            Answer(calls=(Call("cancel_tuneout", {"channel": "noisy"}), Call("cancel_tuneout", {"channel": "noisy"}))),
        )
        await woken(cockpit)
        results = answered(cockpit.requests("Subconscious")[-1])
        assert [result.startswith("refused: ") for result in results] == [False, True]
        assert len(notices(cockpit, "tune-out-cancel")) == 1
