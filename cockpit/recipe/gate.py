"""The tables of `[gate]`, the residents' wake gate: ordered rules, the first match wins (mcpl.md 9.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, Field, PlainValidator, ValidationInfo, model_validator

from cockpit.core import gate
from cockpit.recipe.fields import Count, Globs, Plain, Span, Strings
from cockpit.recipe.values import Section, kind_of, nested, quote, refusal

Word = Literal["always", "defer", "mute"]


class RateLimit(Section):
    """`tokens` wakes, then one more each `refill` seconds, kept apart for each channel, author or server."""

    tokens: Count
    refill: Span
    by: Literal["channel", "author", "server"] = "channel"


class Conditional(Section):
    """A behaviour with a number: exactly one of its fields is given. debounce in seconds; sample: every n-th."""

    debounce: Span | None = None
    rate_limit: RateLimit | None = None
    sample: Count | None = None

    @model_validator(mode="after")
    def _one(self) -> Conditional:
        if len(self.model_fields_set) != 1:
            raise refusal("must hold exactly one of debounce, rate_limit and sample")
        return self


def _behavior(value: object, info: ValidationInfo) -> Word | Conditional:
    match value:
        case "always" | "defer" | "mute":
            return value
        case Mapping():
            return nested(Conditional, value, info)
        case _:
            said = quote(value) if isinstance(value, str) else kind_of(value)
            words = ", ".join(map(repr, get_args(Word)))
            raise refusal(f"must be {words}, or a table with debounce, rate_limit or sample, not {said}")


def _pattern(value: str) -> str:
    try:
        gate.pattern(value)
    except ValueError as error:
        raise refusal(str(error)) from None
    return value


Behavior = Annotated[Word | Conditional, PlainValidator(_behavior)]


class Match(Section):
    """What a message must have, all of it; globs, one or several. Without any field it matches everything."""

    kind: Globs = ()
    server: Globs = ()
    channel: Globs = ()
    author: Globs = ()
    tags_any: Globs = ()
    tags_all: Globs = ()
    tags_none: Globs = ()
    text: Globs = ()
    regex: Annotated[str, AfterValidator(_pattern)] | None = None


class Rule(Section):
    name: Plain
    match: Match = Field(default_factory=Match)
    behavior: Behavior


class Gate(Section):
    """default: for what no rule matches. privileged: ids of authors whose unmatched messages count as `always`."""

    default: Behavior = "defer"
    privileged: Strings = ()
    rule: Annotated[tuple[Rule, ...], Field(strict=False)] = ()

    def rules(self) -> gate.Gate:
        """The gate as the core judges by it."""
        rules = tuple(gate.Rule(each.name, _match(each.match), _plain(each.behavior)) for each in self.rule)
        return gate.Gate(rules, _plain(self.default), frozenset(self.privileged))


def _match(match: Match) -> gate.Match:
    return gate.Match(**{name: getattr(match, name) for name in Match.model_fields})


def _plain(behavior: Behavior) -> gate.Behavior:
    match behavior:
        case "always" | "defer" | "mute":
            return behavior
        case Conditional(debounce=float(seconds)):
            return gate.Debounce(seconds)
        case Conditional(rate_limit=RateLimit(tokens=tokens, refill=refill, by=by)):
            return gate.RateLimit(tokens, refill, by)
        case Conditional(sample=int(every)):
            return gate.Sample(every)
        case _:
            raise refusal("must hold exactly one of debounce, rate_limit and sample")
