"""How one agent's model is reached and asked, as a value that can be printed without giving a secret away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cockpit.core.message import Json


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """One agent's model.

    id: the provider's name of the model. max_tokens: of an answer, for whoever compiles the request; a request's own
    counts. api_key, and api_key_env, the variable it comes from, to be named where it is missing. base_url: any
    endpoint compatible with the provider, or None for its own. thinking: the provider's `thinking` parameter, as it
    stands in its documentation. parameters: further ones, merged into the body as they are. max_retries: how often
    one request is tried again. timeout: seconds without a byte after which an attempt has failed.
    The key, and what may hold one, is in no repr (R-7).
    """

    provider: str
    id: str = ""
    max_tokens: int = 8192
    api_key: str | None = field(default=None, repr=False)
    api_key_env: str = "ANTHROPIC_API_KEY"
    base_url: str | None = field(default=None, repr=False)
    thinking: Mapping[str, Json] | None = None
    parameters: Mapping[str, Json] = field(default_factory=dict, repr=False)
    max_retries: int = 4
    timeout: float = 300.0
