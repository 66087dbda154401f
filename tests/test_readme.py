"""The README says what is true: its table of verbs is the registry's, its picture shows the screen as it is."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

from cockpit.core.verbs import VERBS
from cockpit.shipped import shipped_recipes
from cockpit.testing.readme import PICTURE, with_table

ROOT = Path(__file__).parents[1]

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_table_of_verbs_is_the_registrys() -> None:
    """`python -m cockpit.testing.readme` writes it anew."""
    assert with_table(README) == README


def test_every_verb_and_every_recipe_is_there() -> None:
    for verb in VERBS:
        assert f"`go={verb.name}" in README
    for name in shipped_recipes():
        assert f"| `{name}` |" in README


def test_the_picture_shows_the_three_panes_and_the_words_of_the_states() -> None:
    shown = re.sub(r"<[^>]*>", " ", unescape((ROOT / PICTURE).read_text(encoding="utf-8"))).replace("\xa0", " ")
    for words in ("Channels", "Subconscious", "scout", "wait need held", "muted", "tuned-out", "online", "You missed"):
        assert words in shown


def test_the_picture_is_in_the_readme() -> None:
    assert f"({PICTURE})" in README
