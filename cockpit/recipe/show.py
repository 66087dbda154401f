"""What `cockpit check` and `cockpit recipes` print: lines for a person, without any secret (R-7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from cockpit.core.duration import spell
from cockpit.core.gate import unreachable
from cockpit.errors import RecipeError
from cockpit.recipe.load import check_keys, load
from cockpit.recipe.program import find_command
from cockpit.recipe.recipe import Recipe, Server
from cockpit.recipe.sections import McplServer, McpServer, ModelSettings
from cockpit.recipe.values import quote
from cockpit.shipped import shipped_recipes


def check(reference: str, env: Mapping[str, str]) -> tuple[str, ...]:
    """The lines of `cockpit check RECIPE`: what a good recipe says, and what this machine lacks to run it.

    Raises RecipeError where the recipe itself is wrong.
    """
    recipe = load(reference, env)
    idle = () if recipe.gate is None else unreachable(recipe.gate.rules())
    never = (f"gate rule {name!r} can never match: {why}" for name, why in idle)
    return (f"{recipe.source.file}: ok", *describe(recipe), *recipe.warnings, *never, *_lacking(recipe, env))


def describe(recipe: Recipe) -> Iterator[str]:
    """Who listens to what, a line each."""
    yield f"  recipe        {recipe.name}"
    for resident in recipe.residents:
        yield f"  resident      {resident.name}: {_model(resident.model)}"
    if recipe.subconscious is not None:
        yield f"  subconscious  {recipe.subconscious.name}: {_model(recipe.subconscious.model)}"
    for server in recipe.servers:
        yield f"  {'mcpl' if isinstance(server, McplServer) else 'mcp':12}  {server.name}: {_way(server)}"
    for feed in recipe.intercom.feeds:
        yield f"  feed          {feed.name}"
    for handle in recipe.intercom.participants:
        yield f"  participant   {handle}"
    for target in recipe.tuned_out:
        yield f"  tuned out     {target}, looked at every {spell(recipe.tune_out.cadence)}"


def listing() -> tuple[str, ...]:
    """The lines of `cockpit recipes`: each recipe that ships, with the first comment of its file."""
    ships = shipped_recipes()
    width = max(map(len, ships), default=0)
    return tuple(f"{name:{width}}  {_headline(path)}".rstrip() for name, path in ships.items())


def _model(model: ModelSettings) -> str:
    cap = "no cap" if model.max_message_tokens is None else f"{model.max_message_tokens} tokens"
    return f"{model.shown}, {model.context_tokens} tokens of context, a message at most {cap}"


def _way(server: Server) -> str:
    """How it is reached, without its arguments: a token may be among them (R-7)."""
    if isinstance(server, McpServer) and server.url is not None:
        return bare_url(server.url)
    program, *arguments = server.command or ("",)
    return f"{program} …" if arguments else program


def bare_url(url: str) -> str:
    """`url` without what may hold a token: user, query and fragment."""
    scheme, _, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    address = authority.rpartition("@")[2]
    return f"{scheme}://{address}{slash}{path}".partition("?")[0].partition("#")[0]


def _lacking(recipe: Recipe, env: Mapping[str, str]) -> Iterator[str]:
    try:
        check_keys(recipe, env)
    except RecipeError as error:
        yield f"not ready: {error}"
    for server in recipe.servers:
        if server.command is not None and find_command(server.command[0], env) is None:
            yield f"not ready: {server.name}: no program {quote(server.command[0])} on PATH or beside the interpreter"


def _headline(path: Path) -> str:
    first = path.read_text("utf-8").partition("\n")[0]
    return first.removeprefix("#").strip() if first.startswith("#") else ""
