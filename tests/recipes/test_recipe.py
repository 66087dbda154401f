"""A good recipe: every field of cockpit.md's example, the defaults, and what agents inherit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from cockpit.core.policy import TuneOutDefaults
from cockpit.core.target import Target
from cockpit.recipe import Conditional, Feed, Limits, McplServer, McpServer, Prices, RateLimit, Recipe, check, load
from cockpit.recipe.sections import ModelSettings

WHOLE = """\
name = "home"

[model]
provider = "anthropic"
id = "claude-sonnet-4-5"
context_tokens = 200000
max_tokens = 8192
max_message_tokens = 10000
tool_rounds = 25
api_key_env = "ANTHROPIC_API_KEY"
base_url_env = "ANTHROPIC_BASE_URL"
prices = { input = 3.0, output = 15.0, cache_read = 0.3, cache_write = 3.75 }

[[resident]]
name = "scout"
system_prompt = "You are scout."

[subconscious]
enabled = true
system_prompt = "You report to scout."
name = "Subconscious"
allow_channel_speech = false
re_anchor_fraction = 0.5
summary_wakes = false

[tune_out]
cadence = "30m"

[[tuned_out]]
target = "channel:disc/disc:guild:noisy"

[[mcp]]
name = "git"
command = ["mcp-server-git", "--repository", "."]
integrity = false
when_muted = "hide"
wakes = ["scout"]

[[mcpl]]
name = "disc"
command = ["cockpit-irc", "--server", "irc.example.org", "--nick", "scout"]
subscribe = "auto"
ping = "15s"
restart = "on-failure"
grant = "default"
legacy = "grant"
integrity = false
limits = { }
env = { IRC_PASSWORD = "${IRC_PASSWORD}" }

[[mcp]]
name = "web"
url = "https://ann:pw@example.org/mcp?token=${HEDGEHOG_TOKEN}"
headers = { Authorization = "Bearer ${HEDGEHOG_TOKEN}" }

[intercom]
operator = "you"
feeds = ["general", { name = "alarms", wakes = [] }]
notify_muted = "always"
participants = { hedgehog = "${HEDGEHOG_TOKEN}" }
bridge_as_operator = false

[gate]
default = "defer"
privileged = ["111"]
[[gate.rule]]
name = "addressed"
match = { tags_any = ["chat:addressed"] }
behavior = "always"
[[gate.rule]]
name = "slow"
match = { channel = "disc:*" }
behavior = { rate_limit = { tokens = 3, refill = "1h", by = "channel" } }
[[gate.rule]]
name = "rest"
behavior = { debounce = "3m" }
"""
ENV = {"IRC_PASSWORD": "hunter2", "HEDGEHOG_TOKEN": "spiny"}

LEAST = """\
name = "least"
[[resident]]
name = "scout"
system_prompt = "You are scout."
"""


def written(folder: Path, text: str, env: Mapping[str, str] = ENV) -> Recipe:
    path = folder / "home.toml"
    path.write_text(text, "utf-8")
    return load(str(path), env)


def test_every_field_of_the_contract_is_read(tmp_path: Path) -> None:
    recipe = written(tmp_path, WHOLE)
    assert recipe.name == "home"
    assert recipe.primary.model.prices == Prices(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75)
    assert recipe.tuned_out == (Target("channel", "disc/disc:guild:noisy"),)
    assert recipe.intercom.feeds == (Feed(name="general"), Feed(name="alarms", wakes=()))
    assert recipe.gate is not None
    assert [rule.behavior for rule in recipe.gate.rule] == [
        "always",
        Conditional(rate_limit=RateLimit(tokens=3, refill=3600.0, by="channel")),
        Conditional(debounce=180.0),
    ]
    assert recipe.gate.rule[1].match.channel == ("disc:*",)


def test_what_is_not_said_has_the_contracts_default(tmp_path: Path) -> None:
    """The example in cockpit.md spells the defaults out, so saying them or not is the same."""
    least = written(tmp_path, LEAST)
    assert least.primary.model == ModelSettings(
        provider="anthropic",
        id="claude-sonnet-4-5",
        context_tokens=200_000,
        max_tokens=8192,
        max_message_tokens=10_000,
        tool_rounds=25,
        api_key_env="ANTHROPIC_API_KEY",
        base_url_env="ANTHROPIC_BASE_URL",
        prices=None,
    )
    assert least.subconscious is None
    assert least.tune_out == TuneOutDefaults(cadence=1800.0, cap=200, wakes=5, duration=None)  # T-1
    assert least.tuned_out == ()
    assert least.servers == ()
    assert least.gate is None  # N-6
    assert (least.intercom.operator, least.intercom.feeds, least.intercom.notify_muted) == ("you", (), "always")
    servers = '[[mcp]]\nname = "a"\ncommand = ["a"]\n[[mcpl]]\nname = "b"\ncommand = ["b"]\n'
    tool, chat = written(tmp_path, LEAST + servers).servers
    assert isinstance(tool, McpServer)
    assert (tool.integrity, tool.when_muted, tool.wakes) == (False, "hide", None)
    assert isinstance(chat, McplServer)
    assert (chat.subscribe, chat.ping, chat.restart, chat.grant, chat.legacy) == (
        "auto", 15.0, "on-failure", "default", "grant",
    )  # fmt: skip
    assert chat.limits == Limits(messages_per_second=None, wakes_per_hour=None)
    assert dict(chat.env) == {}


def test_servers_stand_in_the_files_order_over_both_kinds(tmp_path: Path) -> None:
    recipe = written(tmp_path, WHOLE)
    assert [server.name for server in recipe.servers] == ["git", "disc", "web"]
    assert [server.name for server in recipe.mcp] == ["git", "web"]
    assert [server.name for server in recipe.mcpl] == ["disc"]


@pytest.mark.parametrize(
    ("given", "seconds"),
    [("90", 90), ('"90"', 90), ('"90s"', 90), ('"30m"', 1800), ('"2h"', 7200), ('"1d"', 86400), ("90.5", 90.5)],
)
def test_durations_are_read_to_seconds(tmp_path: Path, given: str, seconds: float) -> None:
    assert written(tmp_path, f"{LEAST}[tune_out]\ncadence = {given}\n").tune_out.cadence == seconds


def test_each_agent_inherits_model_and_overrides_any_field_of_it(tmp_path: Path) -> None:
    text = """\
name = "two"
[model]
provider = "offline"
max_tokens = 4096
tool_rounds = 7
[[resident]]
name = "scout"
system_prompt = "You are scout."
max_message_tokens = "none"
[[resident]]
name = "bee"
system_prompt = "You are bee."
max_message_tokens = 170
"""
    scout, bee = written(tmp_path, text).residents
    assert (scout.model.provider, scout.model.max_tokens, scout.model.tool_rounds) == ("offline", 4096, 7)
    assert scout.model.max_message_tokens is None
    assert bee.model.max_message_tokens == 170
    assert bee.model == scout.model.model_copy(update={"max_message_tokens": 170})


@pytest.mark.parametrize("field", sorted(ModelSettings.model_fields))
def test_the_subconscious_inherits_each_field_from_the_primary_and_can_override_it(  # S-3
    tmp_path: Path, field: str
) -> None:
    """Parametrised over the model's own list, so that a field added later is inherited or turns this red."""
    values: dict[str, tuple[str, str]] = {
        "provider": ('"offline"', '"anthropic"'),
        "id": ('"one"', '"two"'),
        "prices": ("{ input = 1, output = 2 }", "{ input = 3, output = 4 }"),
        "api_key_env": ('"ONE"', '"TWO"'),
        "base_url_env": ('"ONE"', '"TWO"'),
        "thinking": ('{ type = "adaptive" }', '{ type = "disabled" }'),
        "parameters": ("{ temperature = 0.1 }", "{ temperature = 0.2 }"),
    }
    primary, own = values.get(field, ("20001", "30001") if field == "context_tokens" else ("11", "12"))
    voice = '[subconscious]\nsystem_prompt = "x"\n'
    inherited = written(tmp_path, f"{LEAST}{field} = {primary}\n{voice}")
    assert inherited.subconscious is not None
    assert inherited.subconscious.model == inherited.primary.model
    assert getattr(inherited.primary.model, field) != getattr(ModelSettings(), field)
    overridden = written(tmp_path, f"{LEAST}{field} = {primary}\n{voice}{field} = {own}\n")
    assert overridden.subconscious is not None
    assert overridden.primary.model == inherited.primary.model
    assert getattr(overridden.subconscious.model, field) != getattr(inherited.primary.model, field)


def test_the_subconscious_inherits_from_the_primary_not_from_model_alone(tmp_path: Path) -> None:  # S-3
    text = LEAST + 'max_message_tokens = "none"\nmax_tokens = 1000\n[subconscious]\nsystem_prompt = "x"\n'
    subconscious = written(tmp_path, text).subconscious
    assert subconscious is not None
    assert (subconscious.model.max_message_tokens, subconscious.model.max_tokens) == (None, 1000)
    assert (subconscious.name, subconscious.re_anchor_fraction) == ("Subconscious", 0.5)
    assert (subconscious.allow_channel_speech, subconscious.summary_wakes) == (False, False)


def test_a_subconscious_that_is_switched_off_needs_no_prompt(tmp_path: Path) -> None:
    recipe = written(tmp_path, LEAST + "[subconscious]\nenabled = false\n")
    assert recipe.subconscious is None
    assert [agent.name for agent in recipe.agents] == ["scout"]


def test_the_policy_is_what_the_recipe_says(tmp_path: Path) -> None:
    text = WHOLE.replace("integrity = false\nlimits", 'integrity = true\nwhen_muted = "mark"\nlimits')
    policy = written(tmp_path, text).policy()
    assert policy.residents == ("scout",)
    assert policy.subconscious == "Subconscious"
    assert policy.integrity == {"disc"}  # M-8
    assert policy.when_muted == {"git": "hide", "disc": "mark", "web": "hide"}
    assert policy.wakes == {"mcp:git": ("scout",), "feed:alarms": ()}  # N-7
    assert policy.gate is not None
    assert policy.gate.privileged == {"111"}
    assert policy.operators == {"you"}


@pytest.mark.parametrize(
    ("caps", "bound"), [(["170"], 680), (["10000", "170"], 680), (['"none"', "170"], 680), (['"none"', '"none"'], None)]
)
def test_the_smallest_reader_bounds_a_dump_and_no_cap_is_no_bound(  # D-4
    tmp_path: Path, caps: list[str], bound: int | None
) -> None:
    residents = "".join(
        f'[[resident]]\nname = "r{place}"\nsystem_prompt = "x"\nmax_message_tokens = {cap}\n'
        for place, cap in enumerate(caps)
    )
    voice = '[subconscious]\nsystem_prompt = "x"\nmax_message_tokens = 1\n'
    assert written(tmp_path, f'name = "x"\n{residents}{voice}').policy().bound == bound


def test_secrets_are_read_and_never_shown(tmp_path: Path) -> None:
    recipe = written(tmp_path, WHOLE)
    chat = recipe.mcpl[0]
    assert chat.env["IRC_PASSWORD"].get_secret_value() == "hunter2"
    assert recipe.mcp[1].headers["Authorization"].get_secret_value() == "Bearer spiny"
    assert recipe.mcp[1].url == "https://ann:pw@example.org/mcp?token=spiny"
    shown = "\n".join([repr(recipe), str(recipe), *check(str(tmp_path / "home.toml"), ENV)])
    assert not [secret for secret in ("hunter2", "spiny", "pw@") if secret in shown]
    assert "web: https://example.org/mcp" in shown


def test_a_variable_may_have_a_value_for_when_it_is_not_set(tmp_path: Path) -> None:
    server = (
        '[[mcp]]\nname = "a"\ncommand = ["sh", "-c", "echo ${LEFT}"]\nenv = { A = "${X:-none} ${IRC_PASSWORD:-no}" }\n'
    )
    (tool,) = written(tmp_path, LEAST + server).mcp
    assert tool.env["A"].get_secret_value() == "none hunter2"
    assert tool.command == ("sh", "-c", "echo ${LEFT}"), "a command's variables are its own business"


def test_a_byte_order_mark_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    path = tmp_path / "home.toml"
    path.write_bytes(b"\xef\xbb\xbf" + WHOLE.replace("\n", "\r\n").encode())
    assert load(str(path), ENV).name == "home"


def test_a_grant_may_name_paths_and_patterns(tmp_path: Path) -> None:
    grant = '["pushEvents", "channels.*", "contextHooks.beforeInference.inject.afterUser"]'
    text = f'{LEAST}[[mcpl]]\nname = "a"\ncommand = ["a"]\ngrant = {grant}\nsubscribe = ["x", "y"]\n'
    (chat,) = written(tmp_path, text).mcpl
    assert chat.grant == ("pushEvents", "channels.*", "contextHooks.beforeInference.inject.afterUser")
    assert chat.subscribe == ("x", "y")
