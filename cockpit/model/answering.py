"""The offline model as a resident: it acts on `call` lines, and otherwise says back, by rule, what it was told and
what it heard since it last answered. It understands nothing, and its answers end by saying so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from cockpit.core.notices import count
from cockpit.core.request import Request
from cockpit.model.calls import asked_calls, without_calls
from cockpit.model.draft import Call, Draft
from cockpit.model.heard import Answered, Dumped, Heard, Item, Notice, Own, Told, Voice, quote_of, read

HONEST = "(Offline model: answered by rule.)"

_LINES_OF_RESULT = 6
_CHANNELS = 6
_QUOTES = 2


def answer(request: Request) -> Draft:
    """Its next answer: the calls that the newest words ask for, or what it heard and learnt."""
    items = read(request)
    newest = _since(items, lambda own: True)
    wanted = [one for told in _told(newest) for one in asked_calls(told.text, request.tools)]
    calls = tuple(one for one in wanted if isinstance(one, Call))
    refused = [one for one in wanted if isinstance(one, str)]
    if calls:
        return Draft("\n".join([*refused, f"Calling {', '.join(call.tool for call in calls)}."]), calls)
    open_items = _since(items, lambda own: not own.uses)
    paragraphs = [*refused, *_asks(open_items), *_results(open_items), *_dumps(open_items), *_heard(open_items)]
    paragraphs += [*_voices(open_items), *_notices(open_items)]
    return Draft("\n".join([*(paragraphs or ["Nothing new reached me since my last answer."]), HONEST]))


def _since(items: Sequence[Item], ends: Callable[[Own], bool]) -> Sequence[Item]:
    """The items after its last turn for which `ends` holds."""
    last = max((at for at, item in enumerate(items) if isinstance(item, Own) and ends(item)), default=-1)
    return items[last + 1 :]


def _told(items: Iterable[Item]) -> list[Told]:
    return [item for item in items if isinstance(item, Told)]


def _asks(items: Sequence[Item]) -> list[str]:
    asks = [ask for told in _told(items) if (ask := without_calls(told.text))]
    return [f"You said: “{quote_of(ask, 160)}”" for ask in asks]


def _results(items: Sequence[Item]) -> list[str]:
    tools = {use.id: use.name for item in items if isinstance(item, Own) for use in item.uses}
    found: list[str] = []
    for item in items:
        if not isinstance(item, Answered) or item.tool_use_id not in tools:
            continue
        lines = item.text.strip("\n").split("\n")
        shown = [f"  {quote_of(line, 200)}" for line in lines[:_LINES_OF_RESULT]]
        more = len(lines) - len(shown)
        verb = "failed" if item.failed else "answered"
        found.append(
            "\n".join(
                [f"{tools[item.tool_use_id]} {verb}:", *shown, *([f"  ({count(more, 'more line')})"] * (more > 0))]
            )
        )
    return found


def _dumps(items: Sequence[Item]) -> list[str]:
    found: list[str] = []
    for item in items:
        if isinstance(item, Dumped):
            left = f", {item.truncated} left out" if item.truncated else ""
            newest = f" The newest: “{quote_of(item.lines[-1], 160)}”" if item.lines else ""
            held = f"{count(item.messages, 'message')} held back, {count(len(item.lines), 'line')} shown{left}."
            found.append(f"{item.notice} {held}{newest}")
    return found


def _heard(items: Sequence[Item]) -> list[str]:
    by_channel: dict[str, list[Heard]] = {}
    for item in items:
        if isinstance(item, Heard):
            by_channel.setdefault(item.channel, []).append(item)
    found = [_channel(channel, messages) for channel, messages in list(by_channel.items())[:_CHANNELS]]
    rest = len(by_channel) - len(found)
    return [*found, f"And {count(rest, 'more channel')}."] if rest > 0 else found


def _channel(channel: str, messages: Sequence[Heard]) -> str:
    by = ", ".join(f"{author} {times}" for author, times in Counter(one.author for one in messages).most_common(4))
    quotes = " ".join(f"{one.author}: “{quote_of(one.text, 140)}”" for one in messages[-_QUOTES:])
    return f"Heard in {channel}: {count(len(messages), 'message')} ({by}). {quotes}"


def _voices(items: Sequence[Item]) -> list[str]:
    return [
        f"{item.name} told me: “{quote_of(item.text, 200)}”"
        for item in items
        if isinstance(item, Voice) and item.text.strip()
    ]


def _notices(items: Sequence[Item]) -> list[str]:
    return [item.text for item in items if isinstance(item, Notice) and not item.text.startswith("[earlier ")]
