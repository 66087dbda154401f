"""In what order a request holds what came: behind the answer it was too late for, notices behind the whole turn
(V-3, V-8, A-5, N-8)."""

from __future__ import annotations

from cockpit.context.layout import NO_RESULT
from cockpit.core.message import RESIDENTS, Stamp, Text, ToolResult
from cockpit.core.request import Request
from cockpit.testing.conversation import (
    PRELUDE,
    SUBCONSCIOUS,
    Conversation,
    flat,
    own_slot,
    texts,
    use,
)

DUMP = "[Tune-out: disc:guild:noisy cancelled — operator request, 1 wake]\n\nNo messages were diverted."


def begins_with(later: Request, earlier: Request) -> bool:
    """Whether one request is the other and appends."""
    before, after = flat(earlier.messages), flat(later.messages)
    return after[: len(before)] == before


def brief(request: Request) -> list[str]:
    """The last word of each text, in order."""
    return [text.split(" ")[-1] for text in texts(request)]


def test_k2_what_comes_during_a_tool_call_stands_behind_its_result() -> None:
    """V-8, K-2: never between a tool use and its result."""
    talk = Conversation()
    talk.resident()
    talk.prompt("go")
    talk.begin()
    first = talk.ask().request
    talk.answer(use("c1"), use("c2"))
    talk.chat("meanwhile")
    talk.result(("c1", "one"))
    talk.chat("later")
    talk.result(("c2", "two"))
    second = talk.ask().request

    assert brief(second) == ["go", "one", "two", "meanwhile", "later"]
    assert begins_with(second, first)
    assert [turn.role for turn in second.messages] == ["user", "assistant", "user"]


def test_v3_what_comes_while_the_answer_is_written_stands_behind_it() -> None:
    """V-3: the request that led to the answer did not hold it."""
    talk = Conversation()
    talk.resident()
    talk.prompt("go")
    talk.begin()
    first = talk.ask().request
    talk.chat("too late")
    talk.answer("I go.", use("c1"))
    talk.result(("c1", "gone"))
    second = talk.ask().request

    assert brief(second) == ["go", "go.", "gone", "late"]
    assert begins_with(second, first)


def test_a5_nothing_diverted_enters_a_running_turns_continuation() -> None:
    """A-5, K-2."""
    talk = Conversation()
    talk.resident()
    talk.prompt("go")
    talk.begin()
    talk.ask()
    talk.chat("secret", stamp=Stamp(epoch="e1"))
    talk.answer(use("c1"))
    talk.chat("secret too", stamp=Stamp(epoch="e1"))
    talk.result(("c1", "gone"))

    assert brief(talk.ask().request) == ["go", "gone"]


def test_k4_the_subconscious_sees_an_original_before_a_residents_tool_has_ended() -> None:
    """K-4: another agent's turn holds nothing back."""
    talk = Conversation()
    talk.resident()
    talk.subconscious()
    talk.prompt("go")
    talk.begin()
    talk.ask()
    talk.answer(use("c1"))
    talk.chat("look here", stamp=Stamp(epoch="e1"))

    assert brief(talk.ask(SUBCONSCIOUS).request) == ["go", "look", "here"]


def test_k43_a_notice_waits_for_the_end_of_the_running_turn_and_shows_once() -> None:
    """N-8, K-43, K-40: a cancel during a turn; chat shows at the next boundary, the dump after the turn."""
    talk = Conversation()
    scout = talk.resident()
    talk.prompt("go")
    talk.begin()
    talk.ask()
    talk.answer(use("c1"))
    talk.notice(DUMP)
    talk.chat("meanwhile")
    talk.result(("c1", "one"))
    second = talk.ask()
    assert DUMP not in texts(second.request)
    assert brief(second.request)[-1] == "meanwhile"
    assert second.statistics.waiting == 1
    talk.answer("Done.")
    talk.end()

    talk.begin()
    third = talk.ask().request
    assert texts(third).count(DUMP) == 1
    assert texts(third)[-1] == DUMP
    assert begins_with(third, second.request)
    talk.answer("I read it.")
    talk.end()
    talk.chat("next")
    assert texts(talk.ask().request).count(DUMP) == 1
    assert scout.preview(PRELUDE).statistics.waiting == 0


def test_n8_a_notice_that_waited_stands_behind_its_whole_turn_when_it_is_read_back() -> None:
    """N-8, V-3: the place is the same for a process that starts anew."""
    talk = Conversation()
    talk.resident()
    talk.prompt("go")
    talk.begin()
    for number in range(3):
        talk.ask()
        talk.answer(use(f"c{number}"))
        if not number:
            talk.notice(DUMP)
        talk.result((f"c{number}", f"r{number}"))
    talk.ask()
    talk.answer("Done.")
    talk.end()

    assert texts(talk.ask().request) == ["go", "r0", "r1", "r2", "Done.", DUMP]


def test_n8_a_notice_waits_for_the_agents_own_turn_only() -> None:
    """N-8: the subconscious's running turn holds back nothing of a resident's."""
    talk = Conversation()
    talk.resident()
    talk.subconscious()
    talk.chat("hello")
    talk.begin(SUBCONSCIOUS)
    talk.ask(SUBCONSCIOUS)
    talk.notice(DUMP)

    assert DUMP in texts(talk.ask().request)
    talk.answer(use("c1"), agent=SUBCONSCIOUS)
    talk.result(("c1", "ok"), agent=SUBCONSCIOUS)
    assert DUMP not in texts(talk.ask(SUBCONSCIOUS).request)


def test_a_notice_from_before_the_turn_is_in_its_first_request() -> None:
    """T-13: it is what the turn was started for."""
    talk = Conversation()
    talk.subconscious()
    wake = "[Tune-out wake: disc:guild:noisy — 2 addressed messages]"
    talk.notice(wake, own_slot(SUBCONSCIOUS))
    talk.begin(SUBCONSCIOUS)

    assert texts(talk.ask(SUBCONSCIOUS).request) == [wake]


def test_steer_shows_at_the_next_tool_boundary() -> None:
    """The operator's text is not held back as a notice is."""
    talk = Conversation()
    talk.resident()
    talk.prompt("go")
    talk.begin()
    talk.ask()
    talk.answer(use("c1"))
    talk.prompt("left, not right")
    talk.result(("c1", "one"))

    assert texts(talk.ask().request) == ["go", "one", "left, not right"]


def test_n8_another_agents_words_show_at_the_next_boundary() -> None:
    talk = Conversation()
    talk.resident()
    talk.resident("ranger")
    talk.prompt("go")
    talk.begin()
    talk.ask()
    talk.answer(use("c1"))
    talk.whole_turn("I heard you.", agent="ranger")
    talk.result(("c1", "one"))

    assert texts(talk.ask().request) == ["go", "one", "ranger: I heard you."]


def test_v8_an_interrupted_call_gets_a_result_that_says_so() -> None:
    """V-8: the same words each time."""
    talk = Conversation()
    talk.resident()
    talk.prompt("go")
    talk.begin()
    talk.ask()
    talk.answer(use("c1"), use("c2"))
    talk.result(("c2", "two"))
    talk.end()
    talk.prompt("again")
    sent = talk.ask().request

    assert sent.messages[2].blocks == (
        ToolResult("c1", (Text(NO_RESULT),), is_error=True),
        ToolResult("c2", (Text("two"),)),
        Text("again"),
    )


def test_v3_a_result_that_comes_after_a_request_said_there_was_none_stays_out() -> None:
    """V-3, V-8: what was sent is not rewritten."""
    talk = Conversation()
    talk.resident()
    talk.prompt("go")
    talk.begin()
    talk.ask()
    talk.answer(use("c1"))
    talk.end()
    talk.prompt("again")
    talk.begin()
    second = talk.ask().request
    talk.result(("c1", "too late"))
    talk.answer("Right.")
    talk.end()
    talk.prompt("and now?")
    third = talk.ask().request

    assert begins_with(third, second)
    assert "too late" not in texts(third)


def test_v8_a_result_without_its_call_is_dropped() -> None:
    talk = Conversation()
    talk.resident()
    talk.result(("nobody", "asked"))
    talk.prompt("go")

    assert texts(talk.ask().request) == ["go"]


def test_v3_a_request_that_got_no_answer_keeps_its_place_too() -> None:
    """V-3, T-14: the model failed; what a later request adds stands behind all that the failed one held, even a
    notice that is older but had to wait."""
    talk = Conversation()
    talk.resident()
    talk.prompt("go")
    talk.begin()
    talk.ask()
    talk.answer(use("c1"))
    talk.notice(DUMP)
    talk.chat("meanwhile")
    talk.result(("c1", "one"))
    failed = talk.ask().request
    talk.end()
    talk.begin()
    again = talk.ask().request

    assert texts(again) == [*texts(failed), DUMP]
    assert begins_with(again, failed)
    talk.answer("Done.")
    talk.end()
    talk.prompt("next")
    assert begins_with(talk.ask().request, again)


def test_a_preview_during_calls_shows_the_request_that_led_to_them() -> None:
    """V-3: a dry run guesses at no results, and what it shows is what the next request begins with."""
    talk = Conversation()
    scout = talk.resident()
    talk.prompt("go")
    talk.begin()
    sent = talk.ask().request
    talk.answer(use("c1"))
    talk.chat("meanwhile")

    shown = scout.preview(PRELUDE, began=talk.turns["scout"].began)

    assert flat(shown.request.messages) == flat(sent.messages)


def test_a_turn_begins_where_records_of_other_kinds_moved_the_log_on() -> None:
    """The engine takes `began` from the log's head, which may be past the last message."""
    talk = Conversation()
    scout = talk.resident()
    talk.prompt("go")
    talk.chronicle.skip(5)
    talk.begin()
    sent = talk.ask().request
    talk.answer(use("c1"))
    shown = scout.preview(PRELUDE, began=talk.turns["scout"].began)

    assert flat(shown.request.messages) == flat(sent.messages)
    talk.result(("c1", "one"))
    assert begins_with(talk.ask().request, sent)


def test_messages_without_bounds_are_read_as_answers_to_all_before_them() -> None:
    """A log that another version wrote: no `seen`, no `began`."""
    talk = Conversation()
    talk.resident()
    talk.prompt("go")
    stored = talk.chronicle.log[0]
    talk.commit(type(stored)(RESIDENTS, "agent", "scout", (Text("Gone."),), stored.at))
    talk.notice(DUMP)

    assert texts(talk.ask().request) == ["go", "Gone.", DUMP]
