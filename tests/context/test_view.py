"""What an agent may see at all: slots, stamps, and the one place that filters (V-1, V-2, S-2, A-3, A-4)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from cockpit.context.agent_context import AgentContext, Ceilings
from cockpit.context.speech import Unit
from cockpit.context.strategy import Material, Plan
from cockpit.context.view import View, heard, resident_view, subconscious_view, unmuted
from cockpit.context.windowed import WindowedPassthrough
from cockpit.core.message import RESIDENTS, Message, Stamp, Text, agent_slot, subconscious_slot
from cockpit.testing.conversation import NINE, PRELUDE, SUBCONSCIOUS, Conversation, flat, own_slot, texts

TUNED_OUT = Stamp(epoch="e1")
MUTED = Stamp(span="m1")
BOTH = Stamp(epoch="e1", span="m1")

DUMP = """[Tune-out: disc:guild:noisy cancelled — agent request, 0 wakes]

<tuned-out-backlog channel="disc:guild:noisy" messages=1>
ada: the secret plan
</tuned-out-backlog>"""


def test_v1_the_filter_sees_stamps_only_and_no_filter_hides_nothing() -> None:
    """V-1."""
    plain = Message(RESIDENTS, "chat", "ada", (Text("hello"),), NINE)
    stamped = {stamp: replace(plain, stamp=stamp) for stamp in (TUNED_OUT, MUTED, BOTH)}

    assert [heard(stamped[stamp]) for stamp in stamped] == [False, False, False]
    assert [unmuted(stamped[stamp]) for stamp in stamped] == [True, False, False]
    assert heard(plain)
    assert unmuted(plain)
    assert all(View(RESIDENTS).holds(message) for message in stamped.values())


def test_k1_what_is_tuned_out_is_absent_for_residents_and_present_for_the_subconscious() -> None:
    """K-1, S-2, A-3."""
    talk = Conversation()
    talk.resident()
    talk.resident("ranger")
    talk.subconscious()

    talk.chat("good morning")
    talk.chat("the secret plan", stamp=TUNED_OUT)

    for name in ("scout", "ranger"):
        assert texts(talk.ask(name).request) == ["[disc:guild:noisy · ada · 2026-11-30 09:00Z] good morning"]
    assert "the secret plan" in "".join(texts(talk.ask(SUBCONSCIOUS).request))


def test_m12_what_carries_a_mute_stamp_is_in_no_agents_view() -> None:
    """S-2, M-12: with an epoch's stamp beside it too."""
    talk = Conversation()
    talk.resident()
    talk.subconscious()

    talk.chat("muted", stamp=MUTED)
    talk.chat("muted and tuned out", stamp=BOTH)
    talk.chat("heard")

    for name in ("scout", SUBCONSCIOUS):
        assert len(texts(talk.ask(name).request)) == 1


def test_m3_a_withheld_result_is_in_no_view_even_without_its_stamp() -> None:
    withheld = Message(RESIDENTS, "withheld", "git__log", (Text("the true result"),), NINE)

    assert not resident_view("scout").holds(withheld)
    assert not subconscious_view("scout").holds(withheld)
    assert not View(RESIDENTS).holds(withheld)


def test_k5_stamped_originals_stay_hidden_after_a_cancel_and_only_the_dump_delivers() -> None:
    """K-5, A-3."""
    talk = Conversation()
    talk.resident()
    talk.chat("the secret plan", stamp=TUNED_OUT)
    talk.notice(DUMP)
    talk.chat("and after", author="bob")

    assert texts(talk.ask().request) == [DUMP, "[disc:guild:noisy · bob · 2026-11-30 09:00Z] and after"]


def test_k6_the_bytes_before_the_dump_are_the_same_before_and_after_enter_divert_and_cancel() -> None:
    """K-6, A-3."""
    talk = Conversation()
    talk.resident()
    talk.chat("one")
    talk.whole_turn()
    before = flat(talk.ask().request.messages)

    talk.chronicle.skip()  # the lifecycle record of the enter
    for number in range(20):
        talk.chat(f"diverted {number}", stamp=TUNED_OUT)
        assert flat(talk.contexts["scout"].preview(PRELUDE).request.messages) == before
    talk.notice(DUMP)

    after = flat(talk.ask().request.messages)
    assert after == [*before, ("user", Text(DUMP))]


def test_k9_wake_notices_of_the_subconscious_never_reach_a_resident() -> None:
    """K-9, T-13, S-1."""
    talk = Conversation()
    talk.resident()
    talk.subconscious()
    talk.chat("hello")
    wake = "[Tune-out wake: disc:guild:noisy — 1 addressed message]"
    talk.notice(wake, subconscious_slot("scout"))

    assert wake not in texts(talk.ask().request)
    assert wake in texts(talk.ask(SUBCONSCIOUS).request)


def test_n8_what_is_for_one_resident_alone_reaches_no_other() -> None:
    talk = Conversation()
    talk.resident()
    talk.resident("ranger")
    talk.notice("[Gate: for ranger]", own_slot("ranger"))

    assert texts(talk.ask("ranger").request) == ["[Gate: for ranger]"]
    assert not talk.ask("scout").sendable


async def test_v2_slots_are_merged_by_sequence_and_a_later_append_of_another_is_seen() -> None:
    """V-2: the order is the log's, whichever slot a message is in."""
    talk = Conversation()
    talk.subconscious()
    talk.chat("first")
    talk.notice("[Tune-out wake: x — 1 addressed message]", subconscious_slot("scout"))
    talk.chat("third")
    assert [text[-5:] for text in texts(talk.ask(SUBCONSCIOUS).request)] == ["first", "sage]", "third"]

    talk.resident()
    talk.chat("fourth")
    assert texts(talk.ask(SUBCONSCIOUS).request)[-1].endswith("fourth")


async def test_v2_a_message_is_found_by_its_id_through_every_view_that_holds_it() -> None:
    talk = Conversation()
    scout, watching = talk.resident(), talk.subconscious()
    shared = talk.chat("hello", id="77")
    diverted = talk.chat("secret", id="78", stamp=TUNED_OUT)
    private = talk.notice("[Tune-out wake: x — 1 addressed message]", subconscious_slot("scout"))

    assert await scout.find("disc/77") == await watching.find(str(shared.sequence)) == shared
    assert await watching.find("disc/78") == diverted
    assert await scout.find("disc/78") is None
    assert await scout.find(str(private.sequence)) is None
    assert await watching.find(str(private.sequence)) == private


def test_v2_each_agent_writes_to_one_slot_and_reads_others() -> None:
    assert resident_view("scout").own == RESIDENTS
    assert resident_view("scout").slots == (RESIDENTS, agent_slot("scout"))
    assert subconscious_view("scout").own == subconscious_slot("scout")
    assert subconscious_view("scout").auxiliary == (RESIDENTS,)


async def test_k10_a_direct_read_is_unfiltered_whatever_the_anchor() -> None:
    """K-10, A-6, V-1."""
    talk = Conversation()
    scout = talk.resident()
    talk.chat("secret", stamp=TUNED_OUT)
    talk.chat("muted", stamp=MUTED)
    await scout.set_anchor(100)

    read = await talk.chronicle.messages((RESIDENTS,), view="all", limit=10)
    assert [message.text for message in read] == ["secret", "muted"]


@dataclass(slots=True)
class Summarising:
    """A strategy that replaces all but the newest two units by a summary of what it was given."""

    heard: list[str] = field(default_factory=list)

    def plan(self, given: Material) -> Plan:
        told = [block.text for unit in given.units for block in unit.live if isinstance(block, Text)]
        self.heard = told
        summary = Text("[Summary] " + " / ".join(told[:-2]))
        first = Unit(0, 0, live=(summary,), still=(summary,))
        return Plan((first, *given.units[-2:]), given.anchor)


def test_k7_a_summarising_strategy_gets_the_same_filtered_view() -> None:
    """K-7, A-4, V-1: nothing diverted goes in, so nothing comes out; the dump's tags, the notices and the
    subconscious's name go in as they are."""
    talk = Conversation()
    strategy = Summarising()
    talk.resident(strategy=strategy)
    talk.chat("before the tune-out")
    talk.chat("the secret plan", stamp=TUNED_OUT)
    talk.chat("muted too", stamp=BOTH)
    talk.notice(DUMP)
    talk.commit(Message(RESIDENTS, "agent", SUBCONSCIOUS, (Text("It was about\nlunch."),), NINE))
    talk.chat("afterwards")
    talk.chat("and on")

    sent = talk.ask().request

    assert strategy.heard[1:3] == [DUMP, "Subconscious: It was about\nlunch."]
    assert len(strategy.heard) == 5
    diverted = "ada · 2026-11-30 09:00Z] the secret plan"
    assert not any(diverted in text or "muted too" in text for text in (*strategy.heard, *texts(sent)))
    assert texts(sent)[0].startswith("[Summary] [disc:guild:noisy · ada")
    assert len(texts(sent)) == 3


def test_a4_statistics_and_preview_count_the_filtered_view_alone() -> None:
    """A-4, V-1."""
    talk = Conversation()
    scout = talk.resident()
    talk.chat("hello")
    before = scout.preview(PRELUDE)
    talk.chat("x" * 4_000, stamp=TUNED_OUT)
    after = scout.preview(PRELUDE)

    assert after.statistics == before.statistics
    assert after.statistics.units == 1
    assert after.request.messages == before.request.messages


async def test_v1_a_view_without_an_index_of_its_own_is_filtered_all_the_same() -> None:
    """V-1: the index only saves reading; the filter decides."""
    talk = Conversation()
    for number in range(5):
        talk.chat(f"said {number}", author="bob" if number % 2 else "ada", stamp=TUNED_OUT if number == 2 else None)
    view = View(RESIDENTS, index="all", view_filter=heard)
    context = AgentContext("scout", view, Ceilings(), talk.chronicle, WindowedPassthrough())

    await context.load(talk.chronicle.head)

    assert [text[-1] for text in texts(context.compile(PRELUDE).request)] == ["0", "1", "3", "4"]
