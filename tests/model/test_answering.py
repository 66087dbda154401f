"""The offline model as a resident: calls on the operator's word only, and says what it was told and heard."""

from __future__ import annotations

import pytest

from cockpit.core import notices
from cockpit.core.backlog import compose
from cockpit.core.message import Json, Text, ToolResult, ToolUse
from cockpit.core.request import Request, SystemText, Tool, Turn
from cockpit.model.answering import HONEST, answer
from cockpit.model.calls import asked_calls
from cockpit.model.draft import Call

STATUS = Tool(
    "git__git_status",
    "",
    {"type": "object", "properties": {"repo_path": {"type": "string"}}, "required": ["repo_path"]},
)
LOG = Tool(
    "git__git_log",
    "",
    {"type": "object", "properties": {"max_count": {"type": "integer"}, "tags": {"type": "array"}, "of": {}}},
)
NOW = Tool("time__get_current_time", "", {"type": "object"})
TOOLS = (STATUS, LOG, NOW, Tool("tune_out", "", {"type": "object"}), Tool("cancel_tune_out", "", {"type": "object"}))


def request(*turns: Turn) -> Request:
    return Request("scout", (SystemText("You are scout."),), TOOLS, turns, 1000, seen=0)


def user(*texts: str) -> Turn:
    return Turn("user", tuple(map(Text, texts)))


def line(author: str, text: str, channel: str = "disc:general") -> str:
    return f"[{channel} · {author} · 2026-11-30 09:00Z] {text}"


def test_it_repeats_the_ask_and_lists_what_it_heard_by_channel() -> None:
    told = request(user(line("ana", "hi\n  there"), line("ben", "lunch?"), line("eve", "x", "disc:dev"), "what is up?"))
    assert answer(told).text == "\n".join(
        [
            "You said: “what is up?”",
            "Heard in disc:general: 2 messages (ana 1, ben 1). ana: “hi” ben: “lunch?”",
            "Heard in disc:dev: 1 message (eve 1). eve: “x”",
            HONEST,
        ]
    )


def test_it_speaks_only_of_what_came_since_its_last_answer() -> None:
    told = request(user(line("ana", "old"), "old ask"), Turn("assistant", (Text("said"),)), user(line("ben", "new")))
    assert answer(told).text == f"Heard in disc:general: 1 message (ben 1). ben: “new”\n{HONEST}"


def test_it_answers_a_dump_with_its_counts() -> None:  # T-18, D-1
    notice = notices.cancelled("disc:noisy", "agent request", 0)
    lines = [("ana", "one"), ("ben", "two"), ("cleo", "three")]
    dump = compose(notice=notice, channel="disc:noisy", tag="tuned-out-backlog", cap=2, bound=None, lines=lines)
    assert answer(request(user(dump.text))).text == (
        f"{notice} 3 messages held back, 2 lines shown, 1 left out. The newest: “cleo: three”\n{HONEST}"
    )


def test_it_passes_on_what_the_subconscious_said_as_its_words() -> None:  # S-8
    told = request(user("Subconscious: You were asked twice.", "Subconscious used deliver_summary"))
    assert answer(told).text == f"Subconscious told me: “You were asked twice.”\n{HONEST}"


def test_with_nothing_new_it_says_so() -> None:
    assert answer(request(user(" "))).text == f"Nothing new reached me since my last answer.\n{HONEST}"


def test_call_lines_become_parallel_calls() -> None:
    draft = answer(request(user("please\ncall git__git_status repo_path=.\ncall get_current_time")))
    assert draft.calls == (Call("git__git_status", {"repo_path": "."}), Call("time__get_current_time", {}))
    assert draft.text == "Calling git__git_status, time__get_current_time."


def test_after_the_result_it_reports_its_first_lines() -> None:
    use = ToolUse("t1", "git__git_status", {"repo_path": "."})
    lines = "\n".join(f"line {n}" for n in range(9))
    turns = (
        user("call git_status repo_path=."),
        Turn("assistant", (use,)),
        Turn("user", (ToolResult("t1", (Text(lines),)),)),
    )
    told = answer(request(*turns))
    assert told.calls == ()
    assert told.text.startswith("git__git_status answered:\n  line 0\n")
    assert "  line 5\n  (3 more lines)" in told.text


def test_a_failed_call_is_told_as_failed() -> None:
    use = ToolUse("t1", "git__git_status", {})
    refused = "[Mute: mcp:git is muted — this call was not made]"
    turns = (user("x"), Turn("assistant", (use,)), Turn("user", (ToolResult("t1", (Text(refused),), True),)))
    assert f"git__git_status failed:\n  {refused}" in answer(request(*turns)).text


def test_a_steer_between_a_call_and_its_report_is_acted_on() -> None:
    use = ToolUse("t1", "time__get_current_time", {})
    result = Turn("user", (ToolResult("t1", (Text("noon"),)), Text("call git_status repo_path=x")))
    draft = answer(request(user("call get_current_time"), Turn("assistant", (use,)), result))
    assert draft.calls == (Call("git__git_status", {"repo_path": "x"}),)


@pytest.mark.parametrize(
    "text",
    [
        line("eve", "call get_current_time"),
        line("eve", "hi\n  call get_current_time"),
        "Subconscious: do it\ncall get_current_time",
        "You could call get_current_time",
    ],
)
def test_nobody_but_the_operator_makes_it_call(text: str) -> None:
    assert answer(request(user(text))).calls == ()


def test_a_dump_makes_it_call_nothing() -> None:
    dump = compose(notice=notices.cancelled("c", "agent request", 0), channel="c", tag="tuned-out-backlog", cap=9,
                   bound=None, lines=[("eve", "x\ncall get_current_time")])  # fmt: skip
    assert answer(request(user(dump.text))).calls == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('call git_status {"repo_path": "a b"}', Call("git__git_status", {"repo_path": "a b"})),
        ('call git_log {\n "max_count": 3\n}', Call("git__git_log", {"max_count": 3})),
        ('CALL git__git_status repo_path="a b"', Call("git__git_status", {"repo_path": "a b"})),
        ("call git_log max_count=3 tags='[1]' of=4", Call("git__git_log", {"max_count": 3, "tags": [1], "of": "4"})),
        ("call tune_out channel=x", Call("tune_out", {"channel": "x"})),
        ("call git_status", "git__git_status was not called: it needs repo_path (string)."),
        ("call git_log max_count=many", "git__git_log was not called: `max_count` must be of type integer."),
        ("call git_log nonsense", "git__git_log was not called: `nonsense` is neither JSON nor name=value."),
        ("call git_status {oops", "git__git_status was not called: its arguments are no JSON "),
        ("call git_status 'a", "git__git_status was not called: its arguments can't be read "),
        ("call git_", "I have no tool `git_`."),
        ("call gti_status", "I have no tool `gti_status`. The nearest: git__git_status"),
    ],
)
def test_the_grammar_of_calls(text: str, expected: Call | str) -> None:
    (found,) = asked_calls(text, TOOLS)
    if isinstance(expected, str):
        assert isinstance(found, str)
        assert found.startswith(expected)
    else:
        assert found == expected


def test_an_ending_that_several_tools_have_is_refused_with_their_names() -> None:
    two: list[Tool] = [Tool("a__log", "", {}), Tool("b__log", "", {})]
    assert list(asked_calls("call log", two)) == ["`log` names several tools: a__log, b__log."]


def test_a_call_that_cannot_be_made_is_told_and_the_others_are_made() -> None:
    draft = answer(request(user("call nothing\ncall get_current_time")))
    assert draft.calls == (Call("time__get_current_time", {}),)
    assert draft.text.startswith("I have no tool `nothing`.")
    alone = answer(request(user("call nothing")))
    assert alone.calls == ()
    assert alone.text.startswith("I have no tool `nothing`.")


def test_json_after_json_is_read_as_two_calls() -> None:
    values: dict[str, Json] = {"repo_path": "call git_log"}
    found = list(asked_calls('call git_status {"repo_path": "call git_log"}\ncall get_current_time {}', TOOLS))
    assert found == [Call("git__git_status", values), Call("time__get_current_time", {})]
