"""The tables of a recipe with their defaults, as cockpit.md lists them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from cockpit.core.policy import WhenMuted
from cockpit.recipe.fields import (
    NO_RESIDENT,
    AgentName,
    Cap,
    ChannelTarget,
    Command,
    Count,
    Duration,
    FileName,
    Headers,
    Parameters,
    Plain,
    Price,
    Prompt,
    Secret,
    Secrets,
    ServerName,
    Span,
    Strings,
    Subscribe,
    Table,
    Url,
)
from cockpit.recipe.gate import Gate
from cockpit.recipe.grant import Grant
from cockpit.recipe.values import Section, refusal

Provider = Literal["anthropic", "offline"]


class Prices(Section):
    """Money per million tokens. What is read from or written to the cache costs as input unless said."""

    input: Price
    output: Price
    cache_read: Price | None = None
    cache_write: Price | None = None


class ModelSettings(Section):
    """`[model]`, and the fields of it that an agent may override. Ceilings in tokens; `max_message_tokens` None is
    no cap. thinking: the provider's parameter of that name; parameters: further ones, merged into the body; an agent
    that writes either replaces it whole. Every field that is added here is inherited by all agents (S-3)."""

    provider: Provider = "anthropic"
    id: Plain = "claude-sonnet-4-5"
    context_tokens: Count = 200_000
    max_tokens: Count = 8192
    max_message_tokens: Cap = 10_000
    tool_rounds: Count = 25
    api_key_env: Plain = "ANTHROPIC_API_KEY"
    base_url_env: Plain = "ANTHROPIC_BASE_URL"
    prices: Prices | None = None
    thinking: Table | None = None
    parameters: Parameters = Field(default_factory=dict, repr=False)

    @property
    def shown(self) -> str:
        """What a person is told: the model's id, or that there is none."""
        return "offline" if self.provider == "offline" else self.id


class ResidentSection(ModelSettings):
    name: AgentName
    system_prompt: Prompt


class SubconsciousSection(ModelSettings):
    """`system_prompt` is required where it is enabled (S-3). re_anchor_fraction: see semantics.md V-3."""

    enabled: bool = True
    system_prompt: str = ""
    name: AgentName = "Subconscious"
    allow_channel_speech: bool = False
    re_anchor_fraction: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] = 0.5
    summary_wakes: bool = False


def _at_least(floor: float, spelled: str) -> AfterValidator:
    def check(seconds: float) -> float:
        if seconds < floor:
            raise refusal(f"is below its floor of {spelled}")
        return seconds

    return AfterValidator(check)


class TuneOutSection(Section):
    """Defaults of a tune-out's parameters, none below its floor (T-1). Seconds and messages; duration None: none."""

    cadence: Annotated[Duration, _at_least(30, "30 s")] = 1800.0
    cap: Annotated[int, Field(ge=0)] = 200
    wakes: Count = 5
    duration: Annotated[Duration, _at_least(60, "60 s")] | None = None


class TunedOut(Section):
    """A channel that starts tuned out, once, when the store is new."""

    target: ChannelTarget


class ServerSection(Section):
    """What every server has. env: what its process gets beside the few variables that each gets; never shown, nor
    is its command, since a host's file may put a token there (R-7). ping in seconds. wakes: names of residents,
    None for all (N-7)."""

    name: ServerName
    env: Secrets = Field(default_factory=dict)
    ping: Span = 15.0
    restart: Literal["on-failure", "never"] = "on-failure"
    integrity: bool = False
    when_muted: WhenMuted = "hide"
    wakes: Strings | None = None


class McpServer(ServerSection):
    """`[[mcp]]`: a program that speaks MCP on its standard streams, or a URL that speaks it over streamable HTTP.
    headers: what is sent along to the URL; never shown (R-7), nor is the URL, which may hold a token."""

    command: Command | None = Field(default=None, repr=False)
    url: Url | None = Field(default=None, repr=False)
    headers: Headers = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_way(self) -> McpServer:
        if self.command is None and self.url is None:
            raise refusal("needs a command or a url")
        if self.command is not None and self.url is not None:
            raise refusal("has both a command and a url: say one")
        if self.headers and self.url is None:
            raise refusal("has headers, which belong to a url")
        if self.env and self.url is not None:
            raise refusal("has env, which belongs to a command")
        return self


class Limits(Section):
    """None where the recipe sets none."""

    messages_per_second: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    wakes_per_hour: Annotated[int, Field(ge=0)] | None = None


class McplServer(ServerSection):
    """`[[mcpl]]`: a program that speaks MCPL on its standard streams (mcpl.md)."""

    command: Command = Field(repr=False)
    subscribe: Subscribe = "auto"
    grant: Grant = "default"
    legacy: Literal["grant", "deny"] = "grant"
    limits: Limits = Field(default_factory=Limits)


class Feed(Section):
    """An Intercom topic; in a recipe its bare name, or a table that also says whom it may wake (N-7)."""

    name: Plain
    wakes: Strings | None = None


class Intercom(Section):
    """operator: the operator's handle. participants: who may speak, with their tokens."""

    operator: Plain = "you"
    feeds: Annotated[
        tuple[
            Annotated[Feed, BeforeValidator(lambda given: {"name": given} if isinstance(given, str) else given)], ...
        ],
        Field(strict=False),
    ] = ()
    notify_muted: Literal["always", "never"] = "always"
    participants: Mapping[str, Secret] = Field(default_factory=dict)
    bridge_as_operator: bool = False


def _some(residents: tuple[ResidentSection, ...]) -> tuple[ResidentSection, ...]:
    if not residents:
        raise refusal(NO_RESIDENT)
    return residents


class Document(Section):
    """A whole recipe as it is written, before anything is inherited or compared."""

    name: FileName
    model: ModelSettings = Field(default_factory=ModelSettings)
    resident: Annotated[tuple[ResidentSection, ...], Field(strict=False), AfterValidator(_some)]
    subconscious: SubconsciousSection | None = None
    tune_out: TuneOutSection = Field(default_factory=TuneOutSection)
    tuned_out: Annotated[tuple[TunedOut, ...], Field(strict=False)] = ()
    mcp: Annotated[tuple[McpServer, ...], Field(strict=False)] = ()
    mcpl: Annotated[tuple[McplServer, ...], Field(strict=False)] = ()
    intercom: Intercom = Field(default_factory=Intercom)
    gate: Gate | None = None
