"""What a provider's cache reads back, counted by hand (V-7)."""

from __future__ import annotations

from cockpit.core.message import Json
from cockpit.testing.prompt_cache import LOOKBACK, PromptCache

LONG = "word " * 2000
MARK: dict[str, Json] = {"cache_control": {"type": "ephemeral"}}


def text(words: str, *, marked: bool = False) -> dict[str, Json]:
    return {"type": "text", "text": words, **(MARK if marked else {})}


def body(*turns: Json, **more: Json) -> dict[str, Json]:
    messages: list[Json] = [
        {"role": "assistant" if at % 2 else "user", "content": turn} for at, turn in enumerate(turns)
    ]
    return {"model": "m", "messages": messages, **more}


def test_what_was_written_is_read_back_as_long_as_the_prefix_is_the_same() -> None:
    cache = PromptCache()
    first = cache.count(body([text(LONG, marked=True)]))
    assert (first.cache_read, first.input) == (0, 0)
    second = cache.count(body([text(LONG)], "said", [text("more", marked=True)]))
    assert second.cache_read == first.cache_write
    assert second.cache_write > 0
    assert second.input == 0


def test_what_stands_behind_the_last_marker_is_neither_read_nor_written() -> None:
    usage = PromptCache().count(body([text(LONG, marked=True), text("tail " * 400)]))
    assert 400 < usage.input < 600


def test_a_changed_prefix_is_read_back_up_to_the_marker_before_the_change() -> None:
    cache = PromptCache()
    system: Json = [text(LONG, marked=True)]
    first = cache.count(body([text(LONG, marked=True)], system=system))
    changed = cache.count(body([text("new " + LONG, marked=True)], system=system))
    assert 0 < changed.cache_read < first.cache_write
    assert cache.count(body([text(LONG, marked=True)], system=[text("x" + LONG, marked=True)])).cache_read == 0


def test_without_markers_nothing_is_cached() -> None:
    cache = PromptCache()
    for _ in range(2):
        usage = cache.count(body(LONG))
        assert (usage.cache_read, usage.cache_write) == (0, 0)


def test_a_short_prefix_is_not_cached() -> None:
    cache = PromptCache()
    for _ in range(2):
        assert cache.count(body([text("short", marked=True)])).cache_read == 0
    eager = PromptCache(minimum=0)
    eager.count(body([text("short", marked=True)]))
    assert eager.count(body([text("short", marked=True)])).cache_read > 0


def test_an_entry_is_found_at_most_twenty_blocks_before_a_marker() -> None:
    def grown(blocks: int) -> dict[str, Json]:
        return body([text(LONG), *(text(f"block {at}") for at in range(blocks)), text("end", marked=True)])

    near, far = PromptCache(), PromptCache()
    for cache in (near, far):
        cache.count(body([text(LONG, marked=True)]))
    assert near.count(grown(LOOKBACK - 2)).cache_read > 0
    assert far.count(grown(LOOKBACK - 1)).cache_read == 0


def test_another_model_or_another_thinking_reads_nothing_of_the_messages() -> None:
    cache = PromptCache()
    first = body([text(LONG, marked=True)])
    cache.count(first)
    assert cache.count({**first, "model": "n"}).cache_read == 0
    assert cache.count({**first, "thinking": {"type": "adaptive"}}).cache_read == 0
    assert cache.count(first).cache_read > 0
