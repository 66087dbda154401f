"""The one grammar by which an operator makes the offline model act: `call <tool> {json}` or `call <tool> name=value …`.

The tool may be named by its whole name or by an ending that only one tool has (`git_status` for `git__git_status`).
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches

from cockpit.core.message import Json
from cockpit.core.request import Tool
from cockpit.model.draft import Call

_CALL = re.compile(r"^[ \t]?call[ \t]+([A-Za-z0-9_-]+)[ \t]*(.*)$", re.MULTILINE | re.IGNORECASE)
_JSON_TYPES = frozenset({"integer", "number", "boolean", "array", "object", "null"})


def asked_calls(text: str, tools: Sequence[Tool]) -> Iterator[Call | str]:
    """For each `call` line the call, or in words why it can't be made. JSON may run over several lines."""
    at = 0
    while found := _CALL.search(text, at):
        at = found.end()
        tool = _named(found[1], tools)
        if isinstance(tool, str):
            yield tool
            continue
        rest = found[2]
        if rest.startswith("{"):
            given, at = _json(text, found.start(2), at)
        else:
            given = _pairs(rest, tool)
        yield _complete(tool, given)


def without_calls(text: str) -> str:
    """What is left of a prompt beside its `call` lines."""
    return _CALL.sub("", text).strip()


def _named(name: str, tools: Sequence[Tool]) -> Tool | str:
    exact = [tool for tool in tools if tool.name == name]
    after_server = [tool for tool in tools if tool.name.endswith(f"__{name}")]
    ending = [tool for tool in tools if tool.name.endswith(name)]
    fitting = exact or after_server or ending
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        return f"`{name}` names several tools: {', '.join(tool.name for tool in fitting)}."
    close = get_close_matches(name, [tool.name for tool in tools], n=3, cutoff=0.4)
    nearest = f" The nearest: {', '.join(close)}." if close else ""
    return f"I have no tool `{name}`.{nearest}"


def _json(text: str, start: int, end: int) -> tuple[Mapping[str, Json] | str, int]:
    try:
        value, end = json.JSONDecoder().raw_decode(text, start)
    except ValueError as error:
        return f"its arguments are no JSON ({error})", end
    return (value, end) if isinstance(value, dict) else ("its arguments are no JSON object", end)


def _pairs(rest: str, tool: Tool) -> Mapping[str, Json] | str:
    try:
        words = shlex.split(rest)
    except ValueError as error:
        return f"its arguments can't be read ({error})"
    given: dict[str, Json] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            return f"`{word}` is neither JSON nor name=value"
        typed = _typed(value, _type(tool, name))
        if typed is _MISFIT:
            return f"`{name}` must be of type {_type(tool, name)}"
        given[name] = typed
    return given


_MISFIT: Json = {}


def _typed(value: str, kind: str) -> Json:
    """A written value by its schema's type; text where the schema says text or nothing."""
    if kind not in _JSON_TYPES:
        return value
    try:
        read: Json = json.loads(value)
    except ValueError:
        return _MISFIT
    return read


def _complete(tool: Tool, given: Mapping[str, Json] | str) -> Call | str:
    if isinstance(given, str):
        return f"{tool.name} was not called: {given}."
    required = tool.input_schema.get("required")
    names = [name for name in required if isinstance(name, str)] if isinstance(required, list | tuple) else []
    missing = [f"{name} ({_type(tool, name) or 'any'})" for name in names if name not in given]
    if missing:
        return f"{tool.name} was not called: it needs {', '.join(missing)}."
    return Call(tool.name, given)


def _type(tool: Tool, name: str) -> str:
    properties = tool.input_schema.get("properties")
    schema = properties.get(name) if isinstance(properties, Mapping) else None
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    return kind if isinstance(kind, str) else ""
