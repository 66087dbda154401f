"""The bridge's tools are made of the one registry of verbs, and what is put into them stays one value."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cockpit.control.bridge_tools import checked, count, line, tool, tools
from cockpit.core.message import Json
from cockpit.core.verbs import BY_NAME, VERBS, Verb, parse
from cockpit.errors import VerbError

WORDS = st.text(min_size=1).filter(lambda text: text.strip())


def test_every_verb_is_a_tool_and_each_name_is_there_once() -> None:
    names = [each.name for each in tools()]
    assert len(names) == len(set(names))
    assert {verb.name.replace("-", "_") for verb in VERBS} <= set(names)
    assert {"channels", "backlog", "reports", "audit", "tune_out"} <= set(names)


def test_only_what_reads_is_said_to_read() -> None:
    """A host may call these unasked; what ends a process, it should ask about."""
    reading = {each.name for each in tools() if each.read_only}
    assert reading == {"channels", "backlog", "reports", "peek", "why", "audit", "stats", "context"} | {
        verb.name for verb in VERBS if not verb.writes and verb.name != "quit"
    }
    assert {each.name for each in tools() if each.destructive} == {"kill", "quit"}


def test_a_tools_schema_is_its_verbs_parameters() -> None:
    schema = tool("tune_out").schema
    assert schema["required"] == ["target"]
    assert schema["additionalProperties"] is False
    properties = schema["properties"]
    assert isinstance(properties, Mapping)
    assert list(properties) == ["target", "cadence", "cap", "wakes", "for"]
    deliver = tool("unmute").schema["properties"]
    assert isinstance(deliver, Mapping)
    assert deliver["deliver"] == {"type": "string", "enum": ["notice", "backlog"]}


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_whatever_is_put_in_a_text_stays_that_text(verb: Verb) -> None:
    """R-5: no argument can add a parameter, end a quote, or become another verb."""
    texts = [param.name for param in verb.params if param.kind in {"text", "target"}]

    @given(st.fixed_dictionaries(dict.fromkeys(texts, WORDS)))
    def holds(given_values: dict[str, str]) -> None:
        read = parse(line(verb, given_values))
        assert read.verb is verb
        for name, value in given_values.items():
            if name == "target":
                assert read.target == value.strip()
            else:
                assert read.text(name) == value

    holds()


def test_numbers_and_durations_are_read_as_the_grammar_does() -> None:
    arguments: dict[str, Json] = {"target": "channel:disc/x", "cadence": 90, "cap": 3.0, "for": "2h", "wakes": None}
    read = parse(line(BY_NAME["tune-out"], checked(tool("tune_out"), arguments)))
    assert read.values == {"cadence": 90.0, "cap": 3, "for": 7200.0}


@pytest.mark.parametrize(
    ("name", "arguments", "code", "said"),
    [
        ("mute", {}, "missing_value", "target"),
        ("mute", {"target": None}, "missing_value", "target"),
        ("mute", {"target": "mcp:git", "for": "2h"}, "bad_value", "'for'"),
        ("mute", {"target": ["mcp:git"]}, "bad_value", "text or a number"),
        ("mute", {"target": True}, "bad_value", "text or a number"),
        ("stats", {"x": 1}, "bad_value", "takes nothing"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_sent(
    name: str, arguments: dict[str, Json], code: str, said: str
) -> None:
    with pytest.raises(VerbError) as refused:
        checked(tool(name), arguments)
    assert refused.value.code == code
    assert said in str(refused.value)


def test_an_unknown_tool_names_the_nearest() -> None:
    with pytest.raises(VerbError, match="tune_out"):
        tool("tuneout")


@pytest.mark.parametrize("wrong", ["0", "-1", "nan", "inf", "many"])
def test_a_count_is_a_whole_number(wrong: str) -> None:
    assert count({"last": "3"}, "last", 20) == 3
    assert count({}, "last", 20) == 20
    with pytest.raises(VerbError):
        count({"last": wrong}, "last", 20)
