"""From a recipe to what the engine's parts are made with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from cockpit.connect.config import DEFAULT_GRANT, Limits, ServerConfig
from cockpit.core.message import RESIDENTS, agent_slot, subconscious_slot
from cockpit.core.records import Usage
from cockpit.model.config import ModelConfig
from cockpit.recipe import McplServer, ModelSettings, Recipe, Resident, Server, Subconscious

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """One agent. own: the slot that is its alone; shared: those merged read-only beside it (V-2)."""

    name: str
    role: Literal["resident", "subconscious"]
    system_prompt: str
    model: ModelSettings
    own: str
    shared: tuple[str, ...]
    re_anchor_fraction: float = 0.5

    def cost(self, usage: Usage) -> float | None:
        """Money by the recipe's prices, or None where it names none."""
        prices = self.model.prices
        if prices is None:
            return None
        read = prices.input if prices.cache_read is None else prices.cache_read
        write = prices.input if prices.cache_write is None else prices.cache_write
        total = usage.input * prices.input + usage.output * prices.output
        return (total + usage.cache_read * read + usage.cache_write * write) / MILLION


def agents_of(recipe: Recipe) -> tuple[AgentSettings, ...]:
    """The residents in the recipe's order, then the subconscious."""
    return tuple(_agent(each, recipe) for each in recipe.agents)


def _agent(agent: Resident | Subconscious, recipe: Recipe) -> AgentSettings:
    if isinstance(agent, Resident):
        return AgentSettings(
            agent.name, "resident", agent.system_prompt, agent.model, agent_slot(agent.name), (RESIDENTS,)
        )
    slot = subconscious_slot(recipe.primary.name)
    return AgentSettings(
        agent.name,
        "subconscious",
        agent.system_prompt,
        agent.model,
        slot,
        (RESIDENTS,),
        agent.re_anchor_fraction,
    )


def model_config(settings: ModelSettings, environment: Mapping[str, str]) -> ModelConfig:
    """The provider's configuration, its key and endpoint read from the variables that the recipe names."""
    return ModelConfig(
        provider=settings.provider,
        id=settings.id,
        max_tokens=settings.max_tokens,
        api_key=environment.get(settings.api_key_env) or None,
        api_key_env=settings.api_key_env,
        base_url=environment.get(settings.base_url_env) or None,
        thinking=settings.thinking,
        parameters=settings.parameters,
    )


def server_config(server: Server) -> ServerConfig:
    """What the supervisor needs of one server of the recipe."""
    env = {name: secret.get_secret_value() for name, secret in server.env.items()}
    command = tuple(server.command or ())
    config = ServerConfig(server.name, "mcp", command, env=env, ping=server.ping, restart=server.restart)
    if not isinstance(server, McplServer):
        headers = {name: secret.get_secret_value() for name, secret in server.headers.items()}
        return replace(config, url=server.url, headers=headers)
    return replace(
        config,
        protocol="mcpl",
        grant=DEFAULT_GRANT if server.grant == "default" else server.grant,
        legacy=server.legacy,
        limits=Limits(messages_per_second=server.limits.messages_per_second),
    )
