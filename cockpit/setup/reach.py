"""What is reachable: each server's program, each url, each agent's model. Nothing is started, and nothing is connected
to beyond this machine unless that is asked for."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from cockpit.recipe import McpServer, ModelSettings, Recipe, Server, bare_url, find_command
from cockpit.setup.finding import Finding

PATIENCE = 2.0
"""Seconds that a connection may take."""

ENDPOINT = "https://api.anthropic.com"


def servers(recipe: Recipe, environment: Mapping[str, str], *, reach: bool) -> Iterator[Finding]:
    """A line each. reach: also try addresses that are not this machine's."""
    for each in recipe.servers:
        url = each.url if isinstance(each, McpServer) else None
        yield _program(each, environment) if url is None else _address(f"mcp:{each.name}", url, reach=reach)


def models(recipe: Recipe, environment: Mapping[str, str], *, reach: bool) -> Iterator[Finding]:
    """Each agent's key, by the name of its variable, and where its requests go."""
    for agent in recipe.agents:
        yield from _model(agent.name, agent.model, environment, reach=reach)


def _program(server: Server, environment: Mapping[str, str]) -> Finding:
    word = (server.command or ("",))[0]
    found = find_command(word, environment)
    if found is None:
        told = f"no program {word!r} on PATH or beside the interpreter, or it is not executable"
        return Finding("bad", f"mcp:{server.name}", told, "install it, or write its whole path in the recipe's command")
    return Finding("ok", f"mcp:{server.name}", found)


def _address(what: str, url: str, *, reach: bool) -> Finding:
    parts = urlsplit(url)
    shown = bare_url(url)
    try:
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return Finding("bad", what, f"{shown}: its port is no number", "put the address right in the recipe")
    local = host in {"localhost", "::1"} or host.startswith("127.")
    if not local and not reach:
        return Finding("note", what, f"{shown}: not tried", "--reach tries to connect")
    try:
        with socket.create_connection((host, port), timeout=PATIENCE):
            pass
    except OSError as error:
        told = f"{shown}: no connection to {host} port {port} ({error.strerror or 'no answer'})"
        return Finding("bad", what, told, "start it, or put its address right in the recipe")
    return Finding("ok", what, f"{shown}: something listens on port {port}")


def _model(name: str, model: ModelSettings, environment: Mapping[str, str], *, reach: bool) -> Iterator[Finding]:
    what = f"model {name}"
    if model.provider == "offline":
        yield Finding("ok", what, "offline: needs no key and no network")
        return
    if environment.get(model.api_key_env, "").strip():
        yield Finding("ok", what, f"{model.id}, key in {model.api_key_env}")
    else:
        told = f"{model.id}: the variable {model.api_key_env} is not set"
        yield Finding("bad", what, told, f'export {model.api_key_env}=…, or provider = "offline" in the recipe')
    base = environment.get(model.base_url_env)
    yield _address(f"endpoint {name}", base or ENDPOINT, reach=reach)
