"""A first recipe as text: every section with a comment on what it does and how to go on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from cockpit.setup.answers import Agent, Answers, Model
from cockpit.setup.host import Listed

WATCHER = """\
You are the part of {name}'s attention that stays with a channel after {name} has tuned it out. You read everything \\
there; {name} reads none of it.
Write to {name} in the second person, as a short report. Begin with what was asked of you, by whom, and whether they \\
are still waiting; then what was decided; then what is merely being talked about, in one sentence.
Deliver the report with deliver_summary. If the channel needs you yourself, now, end the tune-out with cancel_tuneout \\
and say why in one sentence. If nothing is worth a report, call skip_reply.
"""


def draft(name: str, answers: Answers, *, origin: str = "") -> str:
    """The recipe. name: its own, and its store's. origin: the host's file that its servers came from, if any."""
    parts = [
        _head(name, origin),
        _model(answers.model),
        _resident(answers.agent),
        _subconscious(answers.agent.name, answers.subconscious),
        *_servers(answers.servers),
        _rest(answers),
    ]
    return "\n".join(parts)


def _head(name: str, origin: str) -> str:
    came = f"\n# Its servers were taken from {_comment(origin)}." if origin else ""
    return f"""\
# A recipe of cockpit: who listens to what.{came}
# `cockpit check FILE` says what is wrong with it and what this machine lacks, `cockpit FILE` opens it.

# What the store is called, which keeps everything and goes on where it stopped: another name is a new store.
name = {_text(name)}
"""


def _model(model: Model) -> str:
    if model.provider == "offline":
        return """\
# The model of every agent. `offline` works by rules and needs no key, so that there is something to see at once.
# For a real one put these in its place, and the key into the variable; this file never holds it:
#   provider = "anthropic"
#   id = "claude-sonnet-4-5"
#   api_key_env = "ANTHROPIC_API_KEY"
[model]
provider = "offline"
"""
    return f"""\
# The model of every agent. The key is read from the variable that is named here; this file never holds it.
# What the agents hear is sent to the provider, and that costs money. Without a key: provider = "offline".
[model]
provider = "anthropic"
id = "claude-sonnet-4-5"
api_key_env = {_text(model.key)}
"""


def _resident(agent: Agent) -> str:
    purpose = f" What you are for: {agent.purpose}" if agent.purpose else ""
    closed = purpose if purpose.endswith((".", "!", "?")) or not purpose else f"{purpose}."
    prompt = (
        f"You are {agent.name}.{closed}\nAnswer where you are asked, in the channel where the question was put, with"
        " channel_publish; be brief.\nWhat you write outside of tools is read by your operator only.\n"
        "When a channel is too loud to work, tune it out.\n"
    )
    return f"""\
# The agent whose attention you steer: a resident. What you type into the cockpit goes to it, whatever is muted.
# `m` on a row (or `:mute TARGET`) keeps everything from there away from it, and `m` again lets it in; nothing is lost.
[[resident]]
name = {_text(agent.name)}
system_prompt = {_lines(prompt)}
"""


def _subconscious(name: str, wanted: bool) -> str:
    if not wanted:
        return f"""\
# No subconscious: channels can be muted, but not tuned out. To have one, take the # away from all of these lines.
# [subconscious]
# system_prompt = "You stay with what {name} has tuned out. Report to {name} in the second person, briefly."
"""
    prompt = WATCHER.format(name=name)
    return f'''\
# A side agent that stays with what is tuned out. `t` on a row (or `:tune-out TARGET`) hands the channel over to it: it
# reports in the side pane and calls the agent back when it matters; `c` ends that, and the agent gets what it missed.
[subconscious]
system_prompt = """
{prompt}"""

# How often it looks at a tuned-out channel that has something new.
[tune_out]
cadence = "30m"
'''


def _servers(servers: tuple[Listed, ...]) -> Iterator[str]:
    yield """\
# The servers that are listened to. A server's process gets a few common variables and those that its `env` names, and
# nothing else. Each shows as mcp:NAME, a chat server's channels as channel:NAME/ID.
"""
    for each in servers:
        yield "\n".join([f"[[{each.kind}]]", f"name = {_text(each.name)}", *_way(each), *_more(each), ""])
    if not servers:
        yield """\
# There is none yet. An MCP server:
# [[mcp]]
# name = "git"
# command = ["mcp-server-git", "--repository", "."]
#
# A chat server, which speaks MCPL:
# [[mcpl]]
# name = "disc"
# command = ["my-chat-server", "--nick", "scout"]
# env = { TOKEN = "${CHAT_TOKEN}" }
"""


def _way(server: Listed) -> Iterator[str]:
    if server.url:
        yield f"url = {_text(server.url)}"
    else:
        yield f"command = [{', '.join(map(_text, server.command))}]"


def _more(server: Listed) -> Iterator[str]:
    if server.env:
        yield f"env = {_table(server.env)}"
    if server.headers:
        yield f"headers = {_table(server.headers)}"


def _rest(answers: Answers) -> str:
    chat = next((each.name for each in answers.servers if each.kind == "mcpl"), None)
    start = f"channel:{chat or 'SERVER'}/ID"
    tuned = ""
    if answers.subconscious:
        tuned = f"""\
# A channel that starts tuned out, once, when the store is new:
# [[tuned_out]]
# target = "{start}"

"""
    return f"""\
{tuned}# Who wakes the agent. Without this, what is addressed to it, direct messages and events do, and the rest is read
# at its next turn. The first rule that matches decides.
# [gate]
# default = "defer"
# [[gate.rule]]
# name = "addressed"
# match = {{ tags_any = ["chat:addressed"] }}
# behavior = "always"
"""


def _table(values: Mapping[str, str]) -> str:
    return f"{{ {', '.join(f'{_key(name)} = {_text(value)}' for name, value in values.items())} }}"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _text(text: str) -> str:
    """A basic string of TOML; JSON's escapes are TOML's too, but for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _lines(text: str) -> str:
    """A string of several lines, a line each."""
    inner = "\n".join(_text(line)[1:-1] for line in text.splitlines())
    return f'"""\n{inner}\n"""'


def _comment(text: str) -> str:
    return text if text.isprintable() else repr(text)
