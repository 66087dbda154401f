"""Whether the Messages API would take a request: its rules, at least as strict as its own.

One function says what is wrong with a body, in the words of the API where they are known, and nothing where all is
well. The local server answers 400 with it; tests of what is compiled ask it directly (semantics.md V-8).
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from cockpit.core.message import Json
from cockpit.core.request import Request
from cockpit.model.wire import body as body_of

Signed = Callable[[str, str], bool]
"""Whether a signature belongs to the thinking it came with."""

MARKERS = 4

_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_TOOL_USE_ID = re.compile(r"[a-zA-Z0-9_-]+")
_IMAGES = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
}
_FIELDS = frozenset(
    {
        *("model", "messages", "max_tokens", "system", "tools", "stream", "thinking", "temperature", "top_p", "top_k"),
        *("tool_choice", "stop_sequences", "metadata", "output_config", "service_tier", "cache_control", "speed"),
        *("container", "diagnostics", "inference_geo"),
    }
)
_TOOL_FIELDS = frozenset(
    {
        *("name", "description", "input_schema", "cache_control", "type", "eager_input_streaming", "strict"),
        *("input_examples", "allowed_callers", "defer_loading"),
    }
)
_BLOCK_FIELDS: Mapping[str, frozenset[str]] = {
    "text": frozenset({"type", "text", "cache_control", "citations"}),
    "image": frozenset({"type", "source", "cache_control"}),
    "tool_use": frozenset({"type", "id", "name", "input", "cache_control"}),
    "tool_result": frozenset({"type", "tool_use_id", "content", "is_error", "cache_control"}),
    "thinking": frozenset({"type", "thinking", "signature"}),
    "redacted_thinking": frozenset({"type", "data"}),
}
_ROLE_BLOCKS: Mapping[str, frozenset[str]] = {
    "user": frozenset({"text", "image", "tool_result"}),
    "assistant": frozenset({"text", "tool_use", "thinking", "redacted_thinking"}),
}
_SURROGATE = re.compile("[\ud800-\udfff]")


class _Refused(Exception):
    """The first thing that is wrong."""


def problem_of_request(request: Request) -> str | None:
    """What the API would say against a compiled request, or None."""
    return problem({"model": "any", "stream": True, **body_of(request)})


def problem(body: Json, *, signed: Signed | None = None) -> str | None:
    """What the API would say against `body`, or None. Without `signed`, any non-empty signature is good."""
    try:
        _body(body, signed or (lambda thinking, signature: True))
    except _Refused as refused:
        return str(refused)
    return None


def _body(body: Json, signed: Signed) -> None:
    given = _object(body, "body")
    _only(given, _FIELDS, "")
    if not isinstance(given.get("model"), str) or not given["model"]:
        raise _Refused("model: Field required")
    limit = given.get("max_tokens")
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise _Refused("max_tokens: Input should be greater than or equal to 1")
    _whole(given, "body")
    tools = _tools(given.get("tools"))
    _system(given.get("system"))
    _messages(given.get("messages"), signed, has_tools=bool(tools))
    _thinking_mode(given)
    found = sum(1 for _ in markers(given))
    if found > MARKERS:
        raise _Refused(f"A maximum of {MARKERS} blocks with cache_control may be provided. Found {found}.")


def markers(body: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    """The blocks of a body that carry a cache marker, those inside tool results too."""
    system = body.get("system")
    messages = [part.get("content") for part in _objects(body.get("messages"))]
    for block in (
        *_objects(body.get("tools")),
        *_objects(system),
        *(one for part in messages for one in _objects(part)),
    ):
        if block.get("cache_control") is not None:
            yield block
        if block.get("type") == "tool_result":
            yield from (one for one in _objects(block.get("content")) if one.get("cache_control") is not None)


def _tools(given: Json) -> Sequence[Mapping[str, Json]]:
    tools = [
        _object(tool, f"tools.{at}") for at, tool in enumerate(_array(given, "tools") if given is not None else [])
    ]
    names: set[str] = set()
    for at, tool in enumerate(tools):
        where = f"tools.{at}"
        _only(tool, _TOOL_FIELDS, f"{where}.")
        name = tool.get("name")
        if not isinstance(name, str) or not _TOOL_NAME.fullmatch(name):
            raise _Refused(f"{where}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'")
        if name in names:
            raise _Refused("tools: Tool names must be unique.")
        names.add(name)
        schema = _object(tool.get("input_schema"), f"{where}.input_schema")
        if schema.get("type") != "object":
            raise _Refused(f"{where}.input_schema.type: Field required")
        if not isinstance(tool.get("description", ""), str):
            raise _Refused(f"{where}.description: Input should be a valid string")
        _marker(tool, where)
    return tools


def _system(given: Json) -> None:
    if given is None or isinstance(given, str):
        return
    for at, block in enumerate(_array(given, "system")):
        part = _object(block, f"system.{at}")
        if part.get("type") != "text":
            raise _Refused(f"system.{at}.type: Input should be 'text'")
        _text(part, f"system.{at}")


def _messages(given: Json, signed: Signed, *, has_tools: bool) -> None:
    messages = [_object(one, f"messages.{at}") for at, one in enumerate(_array(given, "messages"))]
    if not messages:
        raise _Refused("messages: at least one message is required")
    open_uses: list[str] = []
    ids: set[str] = set()
    for at, message in enumerate(messages):
        where = f"messages.{at}"
        _only(message, frozenset({"role", "content"}), f"{where}.")
        role = message.get("role")
        expected = "assistant" if at % 2 else "user"
        if role != expected:
            raise _Refused(
                f"{where}: roles must alternate between user and assistant; expected {expected!r}, found {role!r}"
            )
        blocks = _content(message.get("content"), where, role, signed, last=at == len(messages) - 1)
        if not has_tools and any(block["type"] in {"tool_use", "tool_result"} for block in blocks):
            raise _Refused("Requests which include `tool_use` or `tool_result` blocks must define tools")
        _pairs(blocks, open_uses, where)
        open_uses = [str(block["id"]) for block in blocks if block["type"] == "tool_use"]
        if len(open_uses) != len(set(open_uses)) or ids & set(open_uses):
            raise _Refused(f"{where}: `tool_use` ids must be unique")
        ids.update(open_uses)
    if open_uses:
        raise _Refused(_unanswered(len(messages) - 1, open_uses))


def _content(given: Json, where: str, role: str, signed: Signed, *, last: bool) -> list[Mapping[str, Json]]:
    if isinstance(given, str):
        given = [{"type": "text", "text": given}]
    blocks = [_object(one, f"{where}.content.{at}") for at, one in enumerate(_array(given, f"{where}.content"))]
    if not blocks:
        raise _Refused(f"{where}: all messages must have non-empty content")
    for at, block in enumerate(blocks):
        _block(block, f"{where}.content.{at}", _ROLE_BLOCKS[role], signed)
    ending = blocks[-1]
    if role == "assistant" and ending["type"] in {"thinking", "redacted_thinking"}:
        raise _Refused(f"{where}: The final block in an assistant message cannot be `thinking`.")
    if (
        role == "assistant"
        and last
        and ending["type"] == "text"
        and str(ending["text"]) != str(ending["text"]).rstrip()
    ):
        raise _Refused(f"{where}: final assistant content cannot end with trailing whitespace")
    return blocks


def _pairs(blocks: Sequence[Mapping[str, Json]], open_uses: Sequence[str], where: str) -> None:
    """Each use of the turn before has its one result here, and results come before all else."""
    answered = [str(block["tool_use_id"]) for block in blocks if block["type"] == "tool_result"]
    strange = [use for use in answered if use not in open_uses]
    if strange:
        raise _Refused(f"{where}: unexpected `tool_use_id` found in `tool_result` blocks: {', '.join(strange)}")
    if len(answered) != len(set(answered)):
        raise _Refused(f"{where}: each tool_use must have a single result")
    if open_uses and set(open_uses) - set(answered):
        raise _Refused(_unanswered(int(where.rpartition(".")[2]) - 1, sorted(set(open_uses) - set(answered))))
    if any(block["type"] != "tool_result" for block in blocks[: len(answered)]):
        raise _Refused(f"{where}: `tool_result` blocks must come first in the content of a message")


def _unanswered(at: int, uses: Sequence[str]) -> str:
    return f"messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(uses)}"


def _block(block: Mapping[str, Json], where: str, allowed: frozenset[str], signed: Signed) -> None:
    kind = block.get("type")
    if not isinstance(kind, str) or kind not in allowed:
        raise _Refused(f"{where}.type: {kind!r} is not allowed here")
    _only(block, _BLOCK_FIELDS[kind], f"{where}.")
    match kind:
        case "text":
            _text(block, where)
        case "image":
            _image(block, where)
        case "tool_use":
            _tool_use(block, where)
        case "tool_result":
            _tool_result(block, where, signed)
        case "thinking":
            _thinking(block, where, signed)
        case _:
            if not isinstance(block.get("data"), str):
                raise _Refused(f"{where}.data: Field required")


def _text(block: Mapping[str, Json], where: str) -> None:
    text = block.get("text")
    if not isinstance(text, str):
        raise _Refused(f"{where}.text: Field required")
    if not text:
        raise _Refused(f"{where}: text content blocks must be non-empty")
    if not text.strip():
        raise _Refused(f"{where}: text content blocks must contain non-whitespace text")
    _marker(block, where)


def _image(block: Mapping[str, Json], where: str) -> None:
    source = _object(block.get("source"), f"{where}.source")
    mime, data = source.get("media_type"), source.get("data")
    if source.get("type") != "base64" or not isinstance(mime, str) or mime not in _IMAGES or not isinstance(data, str):
        raise _Refused(f"{where}.source: Input should be a base64 image of {', '.join(_IMAGES)}")
    try:
        decoded = binascii.a2b_base64(data.encode("ascii"), strict_mode=True)
    except ValueError as error:
        raise _Refused(f"{where}.source.base64: invalid base64 data") from error
    if not decoded.startswith(_IMAGES[mime]):
        raise _Refused(f"{where}.source.base64: The image was specified using the {mime} media type, but is not one")
    _marker(block, where)


def _tool_use(block: Mapping[str, Json], where: str) -> None:
    use, name = block.get("id"), block.get("name")
    if not isinstance(use, str) or not _TOOL_USE_ID.fullmatch(use):
        raise _Refused(f"{where}.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
    if not isinstance(name, str) or not _TOOL_NAME.fullmatch(name):
        raise _Refused(f"{where}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'")
    _object(block.get("input"), f"{where}.input")
    _marker(block, where)


def _tool_result(block: Mapping[str, Json], where: str, signed: Signed) -> None:
    if not isinstance(block.get("tool_use_id"), str):
        raise _Refused(f"{where}.tool_use_id: Field required")
    if not isinstance(block.get("is_error", False), bool):
        raise _Refused(f"{where}.is_error: Input should be a valid boolean")
    content = block.get("content")
    if block.get("is_error") and not content:
        raise _Refused(f"{where}: content cannot be empty if `is_error` is true")
    if content is not None and not isinstance(content, str):
        for at, part in enumerate(_array(content, f"{where}.content")):
            inner = f"{where}.content.{at}"
            _block(_object(part, inner), inner, frozenset({"text", "image"}), signed)
    _marker(block, where)


def _thinking(block: Mapping[str, Json], where: str, signed: Signed) -> None:
    thinking, signature = block.get("thinking"), block.get("signature")
    if not isinstance(thinking, str) or not isinstance(signature, str):
        raise _Refused(f"{where}: thinking and signature are required")
    if not signature or not signed(thinking, signature):
        raise _Refused(f"{where}: Invalid `signature` in `thinking` block")


def _thinking_mode(body: Mapping[str, Json]) -> None:
    mode = body.get("thinking")
    if not isinstance(mode, Mapping) or mode.get("type") != "enabled":
        return
    budget, limit = mode.get("budget_tokens"), body["max_tokens"]
    if not isinstance(budget, int) or budget < 1024:
        raise _Refused("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
    if isinstance(limit, int) and budget >= limit:
        raise _Refused("`max_tokens` must be greater than `thinking.budget_tokens`")
    if body.get("temperature", 1) != 1:
        raise _Refused("`temperature` may only be set to 1 when thinking is enabled")
    messages = _objects(body.get("messages"))
    if messages[-1].get("role") == "assistant":
        raise _Refused("The last message can't be an assistant's when thinking is enabled")
    results = any(block.get("type") == "tool_result" for block in _objects(messages[-1].get("content")))
    began = _objects(messages[-2].get("content"))[:1] if results else []
    if began and began[0].get("type") not in {"thinking", "redacted_thinking"}:
        raise _Refused(
            f"messages.{len(messages) - 2}.content.0.type: Expected `thinking` or `redacted_thinking`, "
            f"but found `{began[0].get('type')}`"
        )


def _marker(block: Mapping[str, Json], where: str) -> None:
    marker = block.get("cache_control")
    if marker is None:
        return
    given = _object(marker, f"{where}.cache_control")
    if given.get("type") != "ephemeral" or given.get("ttl", "5m") not in ("5m", "1h") or set(given) - {"type", "ttl"}:
        raise _Refused(f"{where}.cache_control: Input should be of type 'ephemeral' with a ttl of 5m or 1h")


def _whole(value: Json, where: str) -> None:
    """No half of a surrogate pair anywhere: no UTF-8 could carry it."""
    if isinstance(value, str):
        if _SURROGATE.search(value):
            raise _Refused(f"{where}: The request body is not valid JSON: lone surrogate in string")
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            _whole(name, where)
            _whole(inner, f"{where}.{name}")
    elif isinstance(value, Sequence):
        for at, inner in enumerate(value):
            _whole(inner, f"{where}.{at}")


def _only(given: Mapping[str, Json], known: frozenset[str], prefix: str) -> None:
    extra = sorted(set(given) - known)
    if extra:
        raise _Refused(f"{prefix}{extra[0]}: Extra inputs are not permitted")


def _object(value: Json, where: str) -> Mapping[str, Json]:
    if not isinstance(value, Mapping):
        raise _Refused(f"{where}: Input should be a valid dictionary")
    return value


def _array(value: Json, where: str) -> Sequence[Json]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise _Refused(f"{where}: Input should be a valid list")
    return value


def _objects(value: Json) -> Sequence[Mapping[str, Json]]:
    """The objects of a list, where it is one: for looking through what was checked before."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return []
    return [one for one in value if isinstance(one, Mapping)]
