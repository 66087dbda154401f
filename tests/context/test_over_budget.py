"""A message that cannot fit is an error that names it, never a request that must fail (V-5, V-6)."""

from __future__ import annotations

import pytest

from cockpit.context.agent_context import AgentContext, Ceilings
from cockpit.context.budget import Prelude
from cockpit.errors import OverBudgetError
from cockpit.testing.conversation import Conversation, texts, use

BARE = Prelude("")
SMALL = Ceilings(context_tokens=1_100, max_tokens=100, max_message_tokens=None)
"""Exactly 1,000 tokens for messages, where the prelude is empty."""


def fill(talk: Conversation, count: int) -> None:
    """Operator's prompts of exactly 100 tokens each."""
    for number in range(count):
        talk.prompt(f"{number:04}".ljust(400, "."))


def numbers(context: AgentContext) -> list[int]:
    """The numbers of the prompts that are shown."""
    shown = context.preview(BARE).request
    return [int(text[:4]) for text in texts(shown) if text[:4].isdigit()]


def test_v6_a_newest_message_that_alone_exceeds_the_budget_is_named() -> None:
    """V-6: an error instead of a request that must fail; nothing has moved."""
    talk = Conversation()
    scout = talk.resident(ceilings=SMALL)
    fill(talk, 3)
    big = talk.prompt("." * 4_004)
    anchor = scout.anchor

    with pytest.raises(OverBudgetError, match=f"message {big.sequence} alone takes about 1001 tokens") as raised:
        talk.ask(prelude=BARE)
    assert raised.value.message_id == str(big.sequence)
    assert scout.anchor == anchor


def test_v6_what_exactly_fits_is_sent_and_an_older_giant_is_passed() -> None:
    talk = Conversation()
    scout = talk.resident(ceilings=SMALL)
    talk.prompt("." * 4_004)
    fill(talk, 1)
    assert numbers(scout) == [0]
    talk.prompt("9999".ljust(4_000, "."))
    talk.ask(prelude=BARE)
    assert numbers(scout) == [9999]


def test_v6_results_that_exceed_the_budget_with_their_call_are_named() -> None:
    talk = Conversation()
    talk.resident(ceilings=SMALL)
    talk.prompt("go")
    talk.begin()
    talk.ask(prelude=BARE)
    talk.answer(use("c1"))
    result = talk.result(("c1", "r" * 5_000))

    with pytest.raises(OverBudgetError) as raised:
        talk.ask(prelude=BARE)
    assert raised.value.message_id == str(result.sequence)


def test_v6_no_room_at_all_is_an_error_and_not_a_request() -> None:
    talk = Conversation()
    talk.resident(ceilings=Ceilings(1_000, 900))
    talk.prompt("go")
    with pytest.raises(OverBudgetError, match="messages may take 0"):
        talk.ask(prelude=Prelude("p" * 4_000))


def test_v5_a_prompt_that_cannot_fit_is_known_when_it_is_given() -> None:
    """V-5."""
    talk = Conversation()
    scout = talk.resident(ceilings=SMALL)
    assert scout.fits(BARE, "." * 4_000)
    assert not scout.fits(BARE, "." * 4_001)
