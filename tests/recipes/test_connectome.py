"""A JSON recipe of connectome-host loads as far as its fields mean something here; the rest is one warning."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cockpit.errors import RecipeError
from cockpit.recipe import load

GIVEN = {
    "name": "Release Desk",
    "description": "looks after the release",
    "agent": {
        "name": "desk clerk",
        "systemPrompt": "You look after the release.",
        "model": "claude-opus-4-5",
        "maxTokens": 4096,
        "strategy": {"type": "autobiographical"},
    },
    "subconscious": {"systemPrompt": "You watch.", "reAnchorFraction": 0.25},
    "mcpServers": {
        "chat": {"command": "node", "args": ["chat.js"], "env": {"T": "${TOKEN}"}, "channelSubscription": "manual"},
        "off": {"command": "node", "disabled": True},
    },
    "modules": {"lessons": True},
}


def written(folder: Path, given: object) -> str:
    path = folder / "desk.json"
    path.write_text(json.dumps(given, indent=1), encoding="utf-8")
    return str(path)


def test_what_it_means_here(tmp_path: Path) -> None:
    recipe = load(written(tmp_path, GIVEN), {"TOKEN": "hush"})
    assert (recipe.name, recipe.primary.name) == ("Release-Desk", "desk-clerk")
    assert (recipe.primary.model.id, recipe.primary.model.max_tokens) == ("claude-opus-4-5", 4096)
    assert recipe.subconscious is not None
    assert (recipe.subconscious.re_anchor_fraction, recipe.subconscious.model.id) == (0.25, "claude-opus-4-5")
    [chat] = recipe.mcpl
    assert (chat.name, chat.command, chat.subscribe) == ("chat", ("node", "chat.js"), "manual")
    assert chat.env["T"].get_secret_value() == "hush"


def test_what_has_no_meaning_is_one_warning(tmp_path: Path) -> None:
    [warning] = load(written(tmp_path, GIVEN), {"TOKEN": "hush"}).warnings
    assert "description, agent.strategy, modules" in warning


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"agent": {"name": "clerk"}}, "systemPrompt"),
        ({"subconscious": {"enabled": True}}, "system_prompt"),
        ({"subconscious": {"systemPrompt": "x", "reAnchorFraction": 0}}, "re_anchor_fraction"),
        (
            {"mcpServers": {"a": {"command": "${A}", "env": {"B": "${B}"}}}},
            "the variable A is not set; also not set: B",
        ),
    ],
)
def test_it_is_checked_as_any_recipe(tmp_path: Path, change: dict[str, object], said: str) -> None:
    """K-95: no prompt, an empty subconscious, a fraction of 0."""
    with pytest.raises(RecipeError, match=said) as caught:
        load(written(tmp_path, {**GIVEN, **change}), {"TOKEN": "hush"})
    assert "\n" not in str(caught.value)
