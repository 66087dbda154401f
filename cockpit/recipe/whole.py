"""What no single field can tell: names that clash or mean nothing, what agents inherit, and what must fit."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from cockpit.core.policy import TuneOutDefaults
from cockpit.core.target import Target
from cockpit.recipe.recipe import CHARACTERS_A_TOKEN, Recipe, Resident, Server, Subconscious
from cockpit.recipe.sections import Document, Intercom, ModelSettings
from cockpit.recipe.source import Path, Problem, Source
from cockpit.recipe.values import nearest, quote

Named = list[tuple[str, Path]]


def assemble(document: Document, source: Source, warnings: tuple[str, ...] = ()) -> Recipe:
    """The recipe that `document` means. Raises RecipeError where its parts do not go together."""
    problems = [*_name_problems(document, source), *_wake_problems(document), *_tuned_out_problems(document)]
    residents = tuple(
        Resident(each.name, each.system_prompt, _inherit(document.model, each), ("resident", place))
        for place, each in enumerate(document.resident)
    )
    subconscious = _subconscious(document, residents[0])
    problems += _subconscious_problems(document)
    agents: list[Resident | Subconscious] = [*residents, *(() if subconscious is None else (subconscious,))]
    # Agents that inherit the same wrong number have one problem, not one each.
    budget = {each.path: each for agent in reversed(agents) for each in _budget_problems(agent, source)}
    problems += budget.values()
    if problems:
        raise source.error(problems)
    servers: list[tuple[Path, Server]] = [(("mcp", n), each) for n, each in enumerate(document.mcp)]
    servers += [(("mcpl", n), each) for n, each in enumerate(document.mcpl)]
    defaults = document.tune_out
    return Recipe(
        name=document.name,
        source=source,
        residents=residents,
        subconscious=subconscious,
        servers=tuple(each for _, each in sorted(servers, key=lambda server: source.line(server[0]))),
        tune_out=TuneOutDefaults(defaults.cadence, defaults.cap, defaults.wakes, defaults.duration),
        tuned_out=tuple(each.target for each in document.tuned_out),
        intercom=document.intercom,
        gate=document.gate,
        warnings=warnings,
    )


def _inherit(base: ModelSettings, own: ModelSettings) -> ModelSettings:
    """`base` with every model field that `own` writes down on top (S-3)."""
    written = own.model_fields_set & ModelSettings.model_fields.keys()
    return base.model_copy(update={name: getattr(own, name) for name in written})


def _subconscious(document: Document, primary: Resident) -> Subconscious | None:
    own = document.subconscious
    if own is None or not own.enabled:
        return None
    return Subconscious(
        name=own.name,
        system_prompt=own.system_prompt,
        model=_inherit(primary.model, own),
        allow_channel_speech=own.allow_channel_speech,
        re_anchor_fraction=own.re_anchor_fraction,
        summary_wakes=own.summary_wakes,
    )


def _subconscious_problems(document: Document) -> Iterator[Problem]:
    own = document.subconscious
    if own is not None and own.enabled and not own.system_prompt.strip():
        state = "must not be empty" if "system_prompt" in own.model_fields_set else "missing"
        yield Problem(("subconscious", "system_prompt"), f"{state}: an enabled subconscious needs one")


def _name_problems(document: Document, source: Source) -> Iterator[Problem]:
    servers: Named = [(each.name, ("mcp", n, "name")) for n, each in enumerate(document.mcp)]
    servers += [(each.name, ("mcpl", n, "name")) for n, each in enumerate(document.mcpl)]
    agents: Named = [(each.name, ("resident", n, "name")) for n, each in enumerate(document.resident)]
    if document.subconscious is not None and document.subconscious.enabled:
        agents.append((document.subconscious.name, ("subconscious", "name")))
    feeds: Named = [(each.name, ("intercom", "feeds", n)) for n, each in enumerate(document.intercom.feeds)]
    targets: Named = [(str(each.target), ("tuned_out", n, "target")) for n, each in enumerate(document.tuned_out)]
    given = () if document.gate is None else document.gate.rule
    rules: Named = [(each.name, ("gate", "rule", n, "name")) for n, each in enumerate(given)]
    for named in (servers, agents, feeds, targets, rules):
        yield from _repeated(named, source)
    yield from _handle_problems(document.intercom, [name for name, _ in agents])


def _repeated(named: Named, source: Source) -> Iterator[Problem]:
    """Each name that stands at an earlier line already."""
    first: dict[str, Path] = {}
    for name, path in sorted(named, key=lambda each: source.line(each[1])):
        if name in first:
            yield Problem(path, f"{quote(name)} is taken already, in line {source.line(first[name])}")
        first.setdefault(name, path)


def _handle_problems(intercom: Intercom, agents: Collection[str]) -> Iterator[Problem]:
    """A handle is one speaker's, and its token says so: an empty or shared one would let anybody be another."""
    if intercom.operator in agents:
        yield Problem(("intercom", "operator"), f"{quote(intercom.operator)} is an agent's name")
    seen: dict[str, str] = {}
    for name, token in intercom.participants.items():
        path: Path = ("intercom", "participants", name)
        value = token.get_secret_value()
        if name == intercom.operator:
            yield Problem(path, "is the operator's own handle")
        elif name in agents:
            yield Problem(path, "is an agent's name")
        elif not name.strip() or not name.isprintable():
            yield Problem(path, "is no name that can be typed")
        elif not value.strip():
            yield Problem(path, "its token is empty")
        elif value in seen:
            yield Problem(path, f"its token is also that of {quote(seen[value])}")
        seen.setdefault(value, name)


def _wake_problems(document: Document) -> Iterator[Problem]:
    """Names in `wakes` are residents (N-7)."""
    known = [each.name for each in document.resident]
    lists: list[tuple[Path, tuple[str, ...] | None]] = [
        *((("mcp", n), each.wakes) for n, each in enumerate(document.mcp)),
        *((("mcpl", n), each.wakes) for n, each in enumerate(document.mcpl)),
        *((("intercom", "feeds", n), each.wakes) for n, each in enumerate(document.intercom.feeds)),
    ]
    for path, names in lists:
        for place, name in enumerate(names or ()):
            if name not in known:
                close = nearest(name, known)
                yield Problem((*path, "wakes", place), f"no resident is called {quote(name)}; nearest: {close}")


def _tuned_out_problems(document: Document) -> Iterator[Problem]:
    """What starts tuned out can be tuned out: T-2, asked before anything starts."""
    servers = [each.name for each in document.mcpl]
    feeds = [each.name for each in document.intercom.feeds]
    for place, each in enumerate(document.tuned_out):
        path: Path = ("tuned_out", place, "target")
        if document.subconscious is None or not document.subconscious.enabled:
            yield Problem(path, "needs an enabled [subconscious], which would watch it")
        match each.target:
            case Target(kind="channel", server=str(server)) if server not in servers:
                yield Problem(path, _no_such("[[mcpl]] server", server, servers))
            case Target(kind="feed", name=name) if name not in feeds:
                yield Problem(path, _no_such("feed", name, feeds))
            case Target(kind="mcp" | "user"):
                yield Problem(path, f"'{each.target}' cannot be tuned out: only channel: and feed: can")
            case _:
                pass


def _no_such(what: str, name: str, known: Iterable[str]) -> str:
    close = nearest(name, known)
    return f"no {what} is called {quote(name)}" + (f"; nearest: {close}" if close else "")


def _budget_problems(agent: Resident | Subconscious, source: Source) -> Iterator[Problem]:
    """V-6: what one message may take must fit into what an agent can be sent (V-3)."""
    model = agent.model
    prompt = -(-len(agent.system_prompt) // CHARACTERS_A_TOKEN)
    usable = model.context_tokens - model.max_tokens - prompt
    sum_of_it = (
        f"context_tokens {model.context_tokens} less max_tokens {model.max_tokens} and a system prompt of {prompt}"
    )
    if usable <= 0:
        yield Problem(_written(agent, ("max_tokens", "context_tokens"), source), f"leaves no room: {sum_of_it}")
    elif model.max_message_tokens is not None and model.max_message_tokens > usable:
        default = "" if "max_message_tokens" in model.model_fields_set else " (the default)"
        said = f"max_message_tokens {model.max_message_tokens}{default} exceeds the usable budget of {usable} tokens"
        yield Problem(
            _written(agent, ("max_message_tokens", "context_tokens", "max_tokens"), source), f"{said}: {sum_of_it}"
        )


def _written(agent: Resident | Subconscious, names: tuple[str, ...], source: Source) -> Path:
    """Where one of `names` is written for this agent: in its own table, else in the primary's or `[model]`."""
    inherited: tuple[Path, ...] = (("model",),) if isinstance(agent, Resident) else (("resident", 0), ("model",))
    written = ((*table, name) for table in (agent.place, *inherited) for name in names)
    return next((path for path in written if path in source.lines), agent.place)
