"""From a configuration to a provider, or one line that says why there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches

from cockpit.errors import RecipeError
from cockpit.model.anthropic import AnthropicModel
from cockpit.model.config import ModelConfig
from cockpit.model.offline import OfflineModel
from cockpit.model.protocol import Model

_PROVIDERS: Mapping[str, Callable[[ModelConfig], Model]] = {
    "anthropic": AnthropicModel,
    "offline": lambda config: OfflineModel(),
}

PROVIDERS = tuple(_PROVIDERS)
"""The names that a recipe's `provider` may have."""


def make_model(config: ModelConfig) -> Model:
    """The model that `config` describes. Loads no SDK and opens no connection.

    Raises RecipeError, one line, for an unknown provider, a missing key or a missing model id.
    """
    make = _PROVIDERS.get(config.provider)
    if make is None:
        close = get_close_matches(config.provider, PROVIDERS, n=1, cutoff=0.4)
        meant = f"; did you mean {close[0]!r}?" if close else ";"
        raise RecipeError(f"unknown provider {config.provider!r}{meant} known: {', '.join(PROVIDERS)}")
    return make(config)
