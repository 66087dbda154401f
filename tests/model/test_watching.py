"""The offline model as the subconscious: what sets it off, what it looks at, and how its turn ends."""

from __future__ import annotations

import pytest

from cockpit.core import notices
from cockpit.core.message import Text, ToolResult, ToolUse
from cockpit.core.request import Request, SystemText, Tool, Turn
from cockpit.model.draft import Call, Draft
from cockpit.model.watching import watch

TOOLS = ("deliver_summary", "cancel_tuneout", "note_disposition", "end_turn")
END = Draft(calls=(Call("end_turn", {}),))


def line(author: str, text: str, channel: str = "disc:noisy") -> str:
    return f"[{channel} · {author} · 2026-11-30 09:00Z] {text}"


def request(*turns: Turn, tools: tuple[str, ...] = TOOLS, system: str = "You watch for scout.") -> Request:
    listed = tuple(Tool(name, "", {"type": "object"}) for name in tools)
    return Request("Subconscious", (SystemText(system),), listed, turns, 1000, seen=0)


def user(*texts: str) -> Turn:
    return Turn("user", tuple(map(Text, texts)))


def did(use: str, tool: str, channel: str, text: str = "", *, failed: bool = False) -> tuple[Turn, Turn]:
    values = {"channel": channel, "text": text} if channel else {}
    asked = Turn("assistant", (ToolUse(use, tool, values),))
    return asked, Turn("user", (ToolResult(use, (Text("no" if failed else "ok"),), failed),))


def text_of(call: Call) -> str:
    return str(call.input["text"])


def test_a_wake_gets_one_summary_of_its_channel() -> None:  # T-13
    draft = watch(
        request(user(line("ana", "@scout when?"), line("dan", "lunch?", "disc:x"), notices.woken("disc:noisy", 1)))
    )
    (call,) = draft.calls
    assert (call.tool, call.input["channel"]) == ("deliver_summary", "disc:noisy")
    assert "You were asked once: ana: “@scout when?”" in text_of(call)
    assert "dan" not in text_of(call)


def test_it_looks_only_at_what_came_since_its_last_report() -> None:
    turns = (
        user(line("ana", "old news about the importer"), notices.woken("disc:noisy", 1)),
        *did("t1", "deliver_summary", "disc:noisy", "earlier"),
        *did("t2", "end_turn", ""),
        user(line("ben", "fresh news about the budget"), notices.due("disc:noisy", 1)),
    )
    text = text_of(watch(request(*turns)).calls[0])
    assert text.startswith("You missed 1 more message")
    assert "ben" in text
    assert "ana" not in text


def test_a_report_that_was_refused_moves_nothing_but_is_not_repeated_at_once() -> None:
    turns = (
        user(line("ana", "old news about the importer"), notices.woken("disc:noisy", 1)),
        *did("t1", "deliver_summary", "disc:noisy", "earlier", failed=True),
    )
    assert watch(request(*turns)) == Draft("deliver_summary was refused: no")
    later = watch(request(*turns, Turn("assistant", (Text("refused"),)), user(notices.due("disc:noisy", 1))))
    assert "You missed 1 message in disc:noisy" in text_of(later.calls[0])


def test_a_cadence_turn_counts_what_its_notice_says_was_diverted() -> None:  # T-13
    told = user(line("ana", "delivered"), line("ben", "diverted"), notices.due("disc:noisy", 1), line("eve", "later"))
    text = text_of(watch(request(told)).calls[0])
    assert "ben 1, eve 1" in text
    assert "ana" not in text


def test_two_channels_get_a_report_each_in_one_answer() -> None:
    told = user(
        line("ana", "one"), line("ben", "two", "disc:x"), notices.due("disc:noisy", 1), notices.due("disc:x", 1)
    )
    assert [(call.tool, call.input["channel"]) for call in watch(request(told)).calls] == [
        ("deliver_summary", "disc:noisy"),
        ("deliver_summary", "disc:x"),
    ]


def test_two_notices_of_one_channel_get_one_report() -> None:
    told = user(line("ana", "one"), notices.woken("disc:noisy", 1), line("b", "two"), notices.due("disc:noisy", 2))
    assert len(watch(request(told)).calls) == 1


def test_a_report_turn_quotes_from_what_the_dump_left_out() -> None:  # T-19
    told = user(
        *(line("ana", f"matter number {n} is settled") for n in range(3)),
        notices.cancelled_report("disc:noisy", "agent request", 2, 3),
    )
    text = text_of(watch(request(told)).calls[0])
    assert "2 messages of these, the oldest, you weren't given raw." in text
    assert "matter number 2" not in text


def test_a_report_turn_without_leftovers_is_an_ordinary_report() -> None:  # T-19
    told = user(line("ana", "one"), notices.cancelled_report("disc:noisy", "wake budget exhausted (5)", 0, 1))
    text = text_of(watch(request(told)).calls[0])
    assert text.startswith("You missed 1 message in disc:noisy")
    assert "raw" not in text


def test_after_its_report_it_ends_the_turn() -> None:
    turns = (user(line("ana", "x"), notices.woken("disc:noisy", 1)), *did("t1", "deliver_summary", "disc:noisy", "r"))
    assert watch(request(*turns)) == END


def test_without_the_tool_it_ends_the_turn_in_words_and_never_twice_by_tool() -> None:
    turns = (user(line("ana", "x"), notices.woken("disc:noisy", 1)), *did("t1", "deliver_summary", "disc:noisy", "r"))
    assert watch(request(*turns, tools=("deliver_summary",))) == Draft("Nothing is left to report.")
    assert watch(request(*turns, *did("t2", "end_turn", ""))) == Draft("Nothing is left to report.")
    assert watch(request(*turns, *did("t2", "end_turn", ""), user("go on"))) == END


@pytest.mark.parametrize(
    "text",
    ["@scout production is down", "@scout this is URGENT, please", "scout: there is an outage", "@scout data loss!"],
)
def test_urgent_words_addressed_to_the_reader_end_the_tune_out_with_a_note(text: str) -> None:  # T-15, T-19
    (call,) = watch(request(user(line("ana", text), notices.woken("disc:noisy", 1)))).calls
    assert (call.tool, call.input["channel"]) == ("cancel_tuneout", "disc:noisy")
    assert text_of(call).startswith(f"You are needed in disc:noisy. ana: “{text}")
    assert "by a list of words" in text_of(call)


@pytest.mark.parametrize(
    ("text", "notice"),
    [
        ("@ben production is down", notices.woken("disc:noisy", 1)),
        ("production is down", notices.woken("disc:noisy", 1)),
        ("@scout it is not urgent", notices.woken("disc:noisy", 1)),
        ("@scout a non-urgent matter", notices.woken("disc:noisy", 1)),
        ("@scout the insurgents won", notices.woken("disc:noisy", 1)),
        ("@scout production is down", notices.due("disc:noisy", 1)),
        ("@scout production is down", notices.cancelled_report("disc:noisy", "agent request", 0, 1)),
    ],
)
def test_it_never_ends_a_tune_out_for_anything_else(text: str, notice: str) -> None:
    (call,) = watch(request(user(line("dan", "@scout hello"), line("ana", text), notice))).calls
    assert call.tool == "deliver_summary"


def test_without_the_tool_to_cancel_it_reports() -> None:
    told = user(line("ana", "@scout production is down"), notices.woken("disc:noisy", 1))
    assert watch(request(told, tools=("deliver_summary",))).calls[0].tool == "deliver_summary"


def test_the_reader_is_the_agent_of_the_log_before_any_other_name() -> None:
    told = user(
        "quill used git__git_status",
        line("ana", "@ben @ben are you there?"),
        line("ana", "@quill are you there?"),
        notices.due("disc:noisy", 2),
    )
    text = text_of(watch(request(told, system="Watch.")).calls[0])
    assert "You were asked once: ana: “@quill are you there?”" in text


def test_nobody_is_taken_for_the_reader_without_a_sign() -> None:
    told = user(line("ana", "@ben are you there?"), line("ana", "@everyone lunch?"), notices.due("disc:noisy", 2))
    assert "You were asked" not in text_of(watch(request(told, system="Watch everyone.")).calls[0])


def test_what_is_no_longer_in_view_is_said_to_be_so() -> None:
    text = text_of(watch(request(user(notices.due("disc:noisy", 41)))).calls[0])
    assert text.startswith("41 of disc:noisy came for you, and none is in my view any more.")


def test_a_turn_without_a_notice_ends_at_once() -> None:
    assert watch(request(user(line("ana", "hello")))) == END
