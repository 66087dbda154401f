"""The four questions of `cockpit init`: what each means, what Enter means, and which answers are none."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from cockpit.setup.host import Listed

Provider = Literal["offline", "anthropic"]


@dataclass(frozen=True, slots=True)
class Model:
    """key: the variable that holds the key; meant for `anthropic` only."""

    provider: Provider = "offline"
    key: str = "ANTHROPIC_API_KEY"


@dataclass(frozen=True, slots=True)
class Agent:
    name: str = "scout"
    purpose: str = ""


@dataclass(frozen=True, slots=True)
class Answers:
    """What a first recipe is written from."""

    agent: Agent
    model: Model
    servers: tuple[Listed, ...]
    subconscious: bool


@dataclass(frozen=True, slots=True)
class Question:
    """asks: what the operator is asked. default: what Enter means, spelled as an answer."""

    name: Literal["agent", "model", "servers", "subconscious"]
    asks: str
    default: str


QUESTIONS: tuple[Question, ...] = (
    Question("agent", "What is your agent called, and what is it for? NAME: PURPOSE", "scout"),
    Question("model", "Which model? offline (needs nothing), anthropic, or anthropic:KEY_VARIABLE", "offline"),
    Question(
        "servers",
        "What does it listen to? an MCP server's command, chat: COMMAND for a chat server, several with ; between,\n"
        "  demo (a made-up team's chat), or none",
        "demo",
    ),
    Question("subconscious", "Shall a subconscious watch what you tune out, and report? yes or no", "yes"),
)

DEMO = (Listed("tools", "mcp", ("cockpit-demo-tools",)), Listed("disc", "mcpl", ("cockpit-demo-chat",)))
"""What `demo` means; the chat is told the agent's name, so that the team can ask for it."""

_NAME = re.compile(r"[A-Za-z0-9_-]+")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TAKEN = ("system", "residents", "engine", "operator", "subconscious")
_RUNNERS = ("npx", "uvx", "uv", "pipx", "bunx", "docker", "podman", "python", "python3", "node", "sh", "bash", "env")
_WORDLESS = ("run", "tool", "exec", "-m", "-y", "--yes", "-i", "--rm")


def answers(said: Callable[[Question, Callable[[str], object]], object]) -> Answers:
    """Ask all four. said: gives what the question's reader made of the answer."""
    agent, model, servers, subconscious = (said(each, READERS[each.name]) for each in QUESTIONS)
    if not (isinstance(agent, Agent) and isinstance(model, Model) and isinstance(servers, tuple)):
        raise TypeError("an answer was not read by its reader")
    return Answers(agent, model, tuple(_named(servers, agent.name)), bool(subconscious))


def _named(servers: tuple[Listed, ...], agent: str) -> Iterator[Listed]:
    """The bundled chat is told whom it talks to."""
    for each in servers:
        yield Listed(each.name, each.kind, (*each.command, "--nick", agent)) if each == DEMO[1] else each


def read_agent(text: str) -> Agent:
    """`scout`, `scout: looks after the release`. Raises ValueError with the sentence that refuses it."""
    name, _, purpose = text.partition(":")
    name, purpose = name.strip(), purpose.strip()
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"{name!r} is no name: letters A-Z and a-z, digits, _ and -, as in scout: looks after releases"
        )
    if name.lower() in _TAKEN:
        raise ValueError(f"{name!r} is a name that the host itself uses; another one, as in scout")
    return Agent(name, purpose)


def read_model(text: str) -> Model:
    """`offline`, `anthropic`, `anthropic:MY_KEY`. A key itself is never taken (R-7)."""
    provider, _, key = text.partition(":")
    match provider.strip().lower(), key.strip():
        case "offline", "":
            return Model()
        case "anthropic", "":
            return Model("anthropic")
        case "anthropic", key if _VARIABLE.fullmatch(key):
            return Model("anthropic", key)
        case "anthropic", _:
            raise ValueError(
                "after anthropic: stands the name of the variable that holds the key, never the key itself"
            )
        case _:
            raise ValueError("a model is offline, anthropic, or anthropic:KEY_VARIABLE")


def read_servers(text: str) -> tuple[Listed, ...]:
    """`demo`, `none`, or commands with `;` between, `chat:` before that of a chat server."""
    if text.strip().lower() == "none":
        return ()
    if text.strip().lower() == "demo":
        return DEMO
    found: list[Listed] = []
    for part in filter(None, map(str.strip, text.split(";"))):
        chat = part.lower().startswith("chat:")
        try:
            words = shlex.split(part[5:] if chat else part)
        except ValueError:
            raise ValueError(f"a quote is not closed in {part!r}") from None
        if not words:
            raise ValueError("after chat: stands the command that starts the server")
        found.append(Listed(_server(words, [each.name for each in found]), "mcpl" if chat else "mcp", tuple(words)))
    if not found:
        raise ValueError("a server is the command that starts it, as in mcp-server-git --repository .; or none")
    return tuple(found)


def read_yes(text: str) -> bool:
    """A yes or a no; nothing else is either."""
    match text.strip().lower():
        case "y" | "yes":
            return True
        case "n" | "no":
            return False
        case _:
            raise ValueError("yes or no")


READERS: dict[str, Callable[[str], object]] = {
    "agent": read_agent,
    "model": read_model,
    "servers": read_servers,
    "subconscious": read_yes,
}
"""By the question's name: what makes a value of an answer, or raises ValueError with the sentence that refuses it."""


def unfit(text: str) -> bool:
    """Whether an answer holds what no recipe could: control characters, or half a surrogate pair."""
    return not text.isprintable()


def _server(words: list[str], taken: list[str]) -> str:
    """A server's name from its command: `git` of `mcp-server-git`, the package's of `npx -y PACKAGE`."""
    programs = [each for each in words if not each.startswith("-") and each not in _WORDLESS]
    skipped = [each for each in programs if each.rpartition("/")[2] not in _RUNNERS]
    base = (skipped or programs or words)[0].rstrip("/").rpartition("/")[2].partition("@")[0]
    base = re.sub(r"\.(?:py|js|mjs|ts|sh)$", "", base)
    base = re.sub(r"^(?:mcp-server-|server-|mcp-)|(?:-mcp-server|-mcp|-server)$", "", base)
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", base).strip("-") or "server"
    return next(each for each in (name, *(f"{name}-{n}" for n in range(2, 1_000))) if each not in taken)
