"""How the fit ends: at every bound, at the digits' borders, and no later than the last line that can be shown."""

from __future__ import annotations

import re
import tracemalloc

import pytest

from cockpit.core.backlog import CUT_MARK, Dump, Fit, compose

NOTICE = "[Tune-out: disc:guild:noisy cancelled — agent request, 0 wakes]"
FEW = [("alice", "x" * length) for length in (40, 3, 90, 1, 25)]
TWELVE = [("bob", "y" * (7 * index % 23 + 1)) for index in range(12)]
TEN = [("al", "z" * (index % 4 + 1)) for index in range(10)]
LONG_NEWEST = [*FEW[:4], ("eve", "e\u0301👨‍👩‍👧\n<tuned-out-backlog>" * 9)]
ALONE = [("eve", "w" * 300)]
LONE_SHORT = [("eve", "hi")]
TINY = [("a", "b") for _ in range(101)]


def text_of(lines: list[tuple[str, str]], shown: int, *, part: str | None = None) -> str:
    """The message with the newest `shown` lines, spelled out."""
    left = len(lines) - shown
    truncated = f" truncated={left} (oldest; fetch_history covers the rest)" if left else ""
    head = f'{NOTICE}\n\n<tuned-out-backlog channel="c" messages={len(lines)}{truncated}>\n'
    bodies = [f"{author}: {written(text)}\n" for author, text in lines[len(lines) - shown :]]
    if part is not None:
        bodies = [f"{lines[-1][0]}: {part} {CUT_MARK}\n"]
    return f"{head}{''.join(bodies)}</tuned-out-backlog>"


def written(text: str) -> str:
    return text.replace("\n", "\n  ").replace("<tuned-out-backlog", "&lt;tuned-out-backlog")


def made(lines: list[tuple[str, str]], cap: int, bound: int | None) -> Dump:
    return compose(notice=NOTICE, channel="c", tag="tuned-out-backlog", cap=cap, bound=bound, lines=lines)


SWEPT = {
    "five": (FEW, 200),
    "twelve": (TWELVE, 200),
    "ten": (TEN, 200),
    "twelve under cap 9": (TWELVE, 9),
    "five, the newest long": (LONG_NEWEST, 200),
    "one long": (ALONE, 200),
    "one short": (LONE_SHORT, 200),
    "two tiny": (TINY[:2], 200),
    "101 tiny": (TINY, 200),
    "101 tiny under cap 100": (TINY, 100),
    "101 tiny under cap 91": (TINY, 91),
    "five under cap 1": (FEW, 1),
    "five under cap 0": (FEW, 0),
}


@pytest.mark.parametrize(("lines", "cap"), SWEPT.values(), ids=SWEPT)
def test_every_bound(lines: list[tuple[str, str]], cap: int) -> None:
    """D-3 to D-6, from bound 0 to past the whole text: as many of the newest whole as fit, measured exactly."""
    most = min(cap, len(lines))
    lengths = [len(text_of(lines, shown)) for shown in range(most + 1)]
    for bound in range(max(len(text_of(lines, len(lines))), *lengths) + 3):
        dump = made(lines, cap, bound)
        whole = max((shown for shown in range(1, most + 1) if lengths[shown] <= bound), default=0)
        assert dump.messages == len(lines) == dump.shown + dump.truncated
        if whole:
            assert dump.text == text_of(lines, whole)
            assert dump.shown == whole
        elif most and (part := longest_part(lines, bound)):
            assert dump.text == text_of(lines, 1, part=part)
            assert dump.shown == 1
        else:
            assert dump.text == text_of(lines, 0)
            assert dump.shown == 0
        assert len(dump.text) <= bound or (dump.shown == 0 and bound < lengths[0])
    assert made(lines, cap, None).text == text_of(lines, most)


def longest_part(lines: list[tuple[str, str]], bound: int) -> str:
    """D-6: the most of the newest text, character by character, with which the whole message is within the bound."""
    part = ""
    for character in re.findall("e\u0301|👨‍👩‍👧|\n  |&lt;|.", written(lines[-1][1])):
        if len(text_of(lines, 1, part=part + character)) > bound:
            break
        part += character
    return part


def test_all_may_fit_where_fewer_do_not() -> None:
    """D-5: the last step has no `truncated=`, so a lone message is shown where a frame with `truncated=1` is not."""
    bound = len(text_of(LONE_SHORT, 1))
    assert bound < len(text_of(LONE_SHORT, 0))
    assert made(LONE_SHORT, 200, bound).text == text_of(LONE_SHORT, 1)
    bound = len(text_of(TINY[:8], 8))
    assert bound < len(text_of(TINY[:8], 1))
    assert made(TINY[:8], 200, bound).shown == 8
    # Under a cap that the last step is beyond, it is no step.
    assert made(TINY[:8], 7, bound).shown == 0


def test_each_step_is_measured_with_its_own_digits() -> None:
    """D-5: with 11 messages, two shown leave 9, one digit less than one shown leaves."""
    lines = [("bob", "y" * 100)] * 11
    exact = len(text_of(lines, 2))
    assert exact == len(text_of(lines, 1)) + len("bob: \n") + 100 - 1
    assert made(lines, 200, exact).shown == 2
    assert made(lines, 200, exact - 1).shown == 1


def fit(messages: int, cap: int, bound: int | None) -> Fit:
    return Fit(notice=NOTICE, channel="c", tag="tuned-out-backlog", messages=messages, cap=cap, bound=bound)


def test_nothing_is_wanted_where_no_line_can_be_shown() -> None:
    """D-3, D-11, K-46"""
    assert not fit(5, 0, None).wants
    assert not fit(0, 200, None).wants
    assert not fit(5, -1, None).wants
    assert not fit(5, 200, 0).wants
    empty = fit(5, 0, None)
    assert empty.offer("a", "b") is False
    assert empty.finish().shown == 0


def test_a_huge_backlog_costs_only_what_is_shown() -> None:
    """D-5, K-49: a cap of a billion has no ceiling, and the fit stops asking as soon as the bound is reached."""
    asked = 0
    huge = fit(100_000, 10**9, 680)
    tracemalloc.start()
    while huge.wants:
        huge.offer("alice", "x" * 148)
        asked += 1
    dump = huge.finish()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert dump.shown == 3
    assert asked == 4
    assert peak < 200_000


def test_the_cap_ends_the_asking_where_there_is_no_bound() -> None:
    """D-3, K-49"""
    capped = fit(100_000, 3, None)
    assert [capped.offer("a", f"{index}") for index in range(5)] == [True, True, False, False, False]
    assert capped.finish().shown == 3


def test_a_line_that_could_not_fit_any_step_is_not_asked_for() -> None:
    """D-5: room for less than the shortest line is no room."""
    lines = [("bob", "y" * 100)] * 20
    exact = len(text_of(lines, 3))
    for spare in range(len("a: b\n")):
        full = fit(20, 200, exact + spare)
        assert [full.offer(*line) for line in lines[:3]] == [True, True, False]
    assert [fit(20, 200, exact + 5).offer(*line) for line in lines[:1]] == [True]


def test_the_last_step_keeps_the_asking_alive() -> None:
    """D-5: all eight fit though no fewer do, so every one is asked for."""
    alive = fit(8, 200, len(text_of(TINY[:8], 8)))
    assert [alive.offer("a", "b") for _ in range(8)] == [True] * 7 + [False]
    assert alive.finish().shown == 8
    # A cap that rules the last step out ends the asking too.
    assert not fit(8, 7, len(text_of(TINY[:8], 8))).wants


def test_a_huge_text_is_not_written_out_to_be_refused() -> None:
    """D-6, K-49: ten million characters under a bound of 680 cost the bound, whether newest or older."""
    giant = "<tuned-out-backlog>\n" * 500_000
    tracemalloc.start()
    newest = fit(2, 200, 680)
    assert not newest.offer("eve", giant)
    older = fit(2, 200, 680)
    assert older.offer("eve", "hi")
    assert not older.offer("eve", giant)
    cut, beside = newest.finish(), older.finish()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200_000
    assert 680 - len("\n  ") < len(cut.text) <= 680
    assert (cut.shown, cut.truncated) == (1, 1)
    assert beside.text.endswith("\neve: hi\n</tuned-out-backlog>")
