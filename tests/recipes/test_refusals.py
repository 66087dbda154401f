"""Every way in which a recipe is refused: one line with file, line, field and what to say instead (R-5)."""

# ruff: noqa: E501  # a refusal is one line, and so is the case that pins it

from __future__ import annotations

from pathlib import Path

import pytest

from cockpit.errors import RecipeError
from cockpit.recipe import check_keys, load

GOOD = """\
name = "home"

[model]
provider = "offline"

[[resident]]
name = "scout"
system_prompt = "You are scout."
"""
AFTER_GOOD = GOOD.count("\n") + 1
"""The line on which a test's own text begins."""

SUBCONSCIOUS = '[subconscious]\nsystem_prompt = "Report to scout."\n'
ENV = {"TOKEN": "s3cret-token", "EMPTY": ""}


def refused(folder: Path, text: str, name: str = "home.toml") -> str:
    """The one line for this text, without the folder."""
    path = folder / name
    path.write_text(text, "utf-8")
    with pytest.raises(RecipeError) as caught:
        load(str(path), ENV)
    line = str(caught.value)
    assert "\n" not in line
    return line.removeprefix(f"{folder}/")


def refused_after_good(folder: Path, text: str) -> str:
    return refused(folder, GOOD + text)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("nam = 1\n" + GOOD, "home.toml:1: nam: unknown field; nearest: name"),
        (GOOD.replace("provider", "provder"), "home.toml:4: model.provder: unknown field; nearest: provider"),
        (
            GOOD.replace("system_prompt", "prompt"),
            "home.toml:8: resident[0].prompt: unknown field; nearest: system_prompt",
        ),
        (GOOD + "[subconscius]\n", "home.toml:9: subconscius: unknown field; nearest: subconscious"),
        (GOOD + "tool_round = 3\n", "home.toml:9: resident[0].tool_round: unknown field; nearest: tool_rounds"),
    ],
)
def test_an_unknown_field_is_refused_by_name_with_the_line_and_the_nearest_known_one(
    tmp_path: Path, text: str, line: str
) -> None:
    assert refused(tmp_path, text) == line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (GOOD.replace('name = "home"\n', "", 1), "home.toml:1: name: missing"),
        (GOOD.replace("[[resident]]\n", "[other]\n"), "home.toml:1: resident: missing: at least one [[resident]] is needed … and 1 more"),
        (GOOD.replace('name = "scout"\n', ""), "home.toml:6: resident[0].name: missing"),
        (GOOD.replace("[[resident]]", "[resident]"), "home.toml:6: resident: must be an array of tables: write [[resident]], not [resident]"),
        (GOOD.replace('system_prompt = "You are scout."', ""), "home.toml:6: resident[0].system_prompt: missing"),
        (GOOD.replace("You are scout.", " "), "home.toml:8: resident[0].system_prompt: must not be empty"),
        ("resident = []\n" + GOOD.partition("[[")[0], "home.toml:1: resident: missing: at least one [[resident]] is needed"),
    ],
)  # fmt: skip
def test_what_is_required_and_missing_is_named(tmp_path: Path, text: str, line: str) -> None:
    assert refused(tmp_path, text) == line


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("max_tokens = 0", "model.max_tokens: must be at least 1, not 0"),
        ('max_tokens = "8192"', "model.max_tokens: must be a whole number, not a string"),
        ("max_tokens = true", "model.max_tokens: must be a whole number, not a boolean"),
        ("max_tokens = 1.5", "model.max_tokens: must be a whole number, not a float"),
        ("max_tokens = 300000", "model.max_tokens: leaves no room: context_tokens 200000 less max_tokens 300000 and a system prompt of 4"),
        ("id = 5", "model.id: must be a string, not an integer"),
        ("id = 2026-11-30", "model.id: must be a string, not a date or time"),
        ('max_message_tokens = "nine"', 'model.max_message_tokens: must be a whole number of tokens, at least 1, or "none"'),
        ("max_message_tokens = 0", 'model.max_message_tokens: must be a whole number of tokens, at least 1, or "none"'),
        ("max_message_tokens = true", 'model.max_message_tokens: must be a whole number of tokens, at least 1, or "none"'),
        ("prices = { output = 1 }", "model.prices.input: missing"),
        ("prices = { input = nan, output = 1 }", "model.prices.input: must be a finite number"),
        ("prices = { input = -1, output = 1 }", "model.prices.input: must be at least 0, not -1"),
        ("prices = { input = 1, outptu = 1 }", "model.prices.outptu: unknown field; nearest: output"),
        ("prices = 3", "model.prices: must be a table, not an integer"),
    ],
)  # fmt: skip
def test_a_wrong_value_in_model_is_told_by_its_field(tmp_path: Path, field: str, said: str) -> None:
    text = GOOD.replace('provider = "offline"', f'provider = "offline"\n{field}')
    assert refused(tmp_path, text) == f"home.toml:5: {said}"


def test_an_unknown_provider_is_refused_with_the_nearest(tmp_path: Path) -> None:
    text = GOOD.replace("offline", "antropic")
    said = "'antropic' is none of 'anthropic', 'offline'; nearest: anthropic"
    assert refused(tmp_path, text) == f"home.toml:4: model.provider: {said}"


def test_a_resident_overrides_a_field_of_model_and_is_checked_there(tmp_path: Path) -> None:
    said = "'ofline' is none of 'anthropic', 'offline'; nearest: offline"
    assert refused_after_good(tmp_path, 'provider = "ofline"\n') == f"home.toml:9: resident[0].provider: {said}"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ('"home/../x"', "names the store's file: it must not hold a slash or begin with a dot"),
        ('".hidden"', "names the store's file: it must not hold a slash or begin with a dot"),
        (f'"{"n" * 201}"', "names the store's file: it must not be longer than 200 bytes"),
        ('""', "must not be empty"),
        ('" home"', "must not begin or end with a space"),
        ('"ho\\nme"', "must not hold control characters"),
    ],
)
def test_a_recipe_is_named_as_a_file_can_be(tmp_path: Path, value: str, said: str) -> None:
    assert refused(tmp_path, GOOD.replace('"home"', value, 1)) == f"home.toml:1: name: {said}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[mcp]]\nname = "a/b"\ncommand = ["x"]\n', "10: mcp[0].name: 'a/b' must not hold a slash: targets read channel:SERVER/ID"),
        ('[[mcpl]]\nname = "a/b"\ncommand = ["x"]\n', "10: mcpl[0].name: 'a/b' must not hold a slash: targets read channel:SERVER/ID"),
        ('[[mcp]]\nname = "a"\ncommand = []\n', '11: mcp[0].command: must name a program and its arguments, as ["mcp-server-git", "--repository", "."]'),
        ('[[mcp]]\nname = "a"\ncommand = [""]\n', '11: mcp[0].command: must name a program and its arguments, as ["mcp-server-git", "--repository", "."]'),
        ('[[mcp]]\nname = "a"\ncommand = "x --y"\n', "11: mcp[0].command: must be an array, not a string"),
        ('[[mcp]]\nname = "a"\ncommand = ["x", 5]\n', "11: mcp[0].command[1]: must be a string, not an integer"),
        ('[[mcp]]\nname = "a"\ncommand = ["x\\u0000"]\n', "11: mcp[0].command: must not hold a NUL character or half a surrogate pair"),
        ('[[mcp]]\nname = "a"\n', "9: mcp[0]: needs a command or a url"),
        ('[[mcp]]\nname = "a"\ncommand = ["x"]\nurl = "http://x"\n', "9: mcp[0]: has both a command and a url: say one"),
        ('[[mcp]]\nname = "a"\nurl = "ftp://x"\n', "11: mcp[0].url: must be a URL that begins with http:// or https:// and names a host"),
        ('[[mcp]]\nname = "a"\nurl = "https://"\n', "11: mcp[0].url: must be a URL that begins with http:// or https:// and names a host"),
        ('[[mcp]]\nname = "a"\nurl = "http:///mcp"\n', "11: mcp[0].url: must be a URL that begins with http:// or https:// and names a host"),
        ('[[mcp]]\nname = "a"\nurl = "http://x:port/"\n', "11: mcp[0].url: must be a URL that begins with http:// or https:// and names a host"),
        ('[[mcp]]\nname = "a"\nurl = "http://x/a b"\n', "11: mcp[0].url: must be a URL that begins with http:// or https:// and names a host"),
        ('[[mcp]]\nname = "a"\nurl = "http://x/#top"\n', "11: mcp[0].url: must have no fragment: what follows # is never sent"),
        ('[[mcp]]\nname = "a"\nurl = "http://x"\nheaders = { "a b" = "c" }\n', "12: mcp[0].headers: 'a b' cannot be the name of a header"),
        ('[[mcp]]\nname = "a"\nurl = "http://x"\nheaders = { Host = "y" }\n', "12: mcp[0].headers: must not hold 'Host', which the cockpit sets itself"),
        ('[[mcp]]\nname = "a"\nurl = "http://x"\nheaders = { A = "b\\nc" }\n', "12: mcp[0].headers: 'A' must be printable ASCII, with no space around it"),
        ('[[mcp]]\nname = "a"\nurl = "http://x"\nheaders = { A = "é" }\n', "12: mcp[0].headers: 'A' must be printable ASCII, with no space around it"),
        ('[[mcp]]\nname = "a"\ncommand = ["x"]\nheaders = { A = "b" }\n', "9: mcp[0]: has headers, which belong to a url"),
        ('[[mcp]]\nname = "a"\nurl = "http://x"\nenv = { A = "b" }\n', "9: mcp[0]: has env, which belongs to a command"),
        ('[[mcp]]\nname = "a"\ncommand = ["x"]\nwhen_muted = "hid"\n', "12: mcp[0].when_muted: 'hid' is none of 'hide', 'mark'; nearest: hide"),
        ('[[mcp]]\nname = "a"\ncommand = ["x"]\nintegrity = "no"\n', "12: mcp[0].integrity: must be true or false, not a string"),
        ('[[mcpl]]\nname = "a"\ncommand = ["x"]\nsubscribe = "all"\n', '12: mcpl[0].subscribe: must be "auto", "initial", "manual" or a list of channel ids'),
        ('[[mcpl]]\nname = "a"\ncommand = ["x"]\nping = "15x"\n', "12: mcpl[0].ping: a duration is written 90, 90s, 30m, 2h or 1d"),
        ('[[mcpl]]\nname = "a"\ncommand = ["x"]\nping = 0\n', "12: mcpl[0].ping: must be longer than no time at all"),
        ('[[mcpl]]\nname = "a"\ncommand = ["x"]\nping = true\n', "12: mcpl[0].ping: a duration is a number, not true or false"),
        ('[[mcpl]]\nname = "a"\ncommand = ["x"]\nrestart = "always"\n', "12: mcpl[0].restart: 'always' is none of 'on-failure', 'never'; nearest: on-failure"),
        ('[[mcpl]]\nname = "a"\ncommand = ["x"]\ngrant = "all"\n', '12: mcpl[0].grant: must be "default" or a list of capability paths'),
        ('[[mcpl]]\nname = "a"\ncommand = ["x"]\ngrant = ["channels"]\n', "12: mcpl[0].grant: 'channels' is no capability path; nearest: channels.*"),
        ('[[mcpl]]\nname = "a"\ncommand = ["x"]\ngrant = ["channels.publsh"]\n', "12: mcpl[0].grant: 'channels.publsh' is no capability path; nearest: channels.publish"),
        ('[[mcpl]]\nname = "a"\ncommand = ["x"]\nlegacy = "yes"\n', "12: mcpl[0].legacy: 'yes' is none of 'grant', 'deny'; nearest: deny"),
        ('[[mcpl]]\nname = "a"\ncommand = ["x"]\nlimits = { messages_per_second = 0 }\n', "12: mcpl[0].limits.messages_per_second: must be more than 0, not 0"),
        ('[[mcpl]]\nname = "a"\ncommand = ["x"]\nlimits = { wakes = 3 }\n', "12: mcpl[0].limits.wakes: unknown field; nearest: wakes_per_hour"),
        ('[[mcpl]]\nname = "a"\ncommand = ["x"]\n[mcpl.env]\n"A=B" = "c"\n', "12: mcpl[0].env: 'A=B' cannot be the name of a variable"),
    ],
)  # fmt: skip
def test_a_server_is_refused_at_its_own_line(tmp_path: Path, text: str, said: str) -> None:
    assert refused_after_good(tmp_path, text) == f"home.toml:{said}"


def test_two_servers_of_one_name_are_refused_over_both_kinds(tmp_path: Path) -> None:
    text = '[[mcpl]]\nname = "git"\ncommand = ["x"]\n[[mcp]]\nname = "git"\ncommand = ["y"]\n'
    assert refused_after_good(tmp_path, text) == "home.toml:13: mcp[0].name: 'git' is taken already, in line 10"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[resident]]\nname = "scout"\nsystem_prompt = "x"\n', "10: resident[1].name: 'scout' is taken already, in line 7"),
        ('[[resident]]\nname = "two words"\nsystem_prompt = "x"\n', "10: resident[1].name: 'two words' must be made of letters A-Z and a-z, digits, _ and -"),
        ('[[resident]]\nname = "System"\nsystem_prompt = "x"\n', "10: resident[1].name: 'System' is a name that the host itself uses"),
        ('[subconscious]\nname = "scout"\nsystem_prompt = "x"\n', "10: subconscious.name: 'scout' is taken already, in line 7"),
        ('[intercom]\noperator = "scout"\n', "10: intercom.operator: 'scout' is an agent's name"),
        ('[intercom]\noperator = ""\n', "10: intercom.operator: must not be empty"),
        ('[intercom]\nfeeds = ["a", "a"]\n', "10: intercom.feeds[1]: 'a' is taken already, in line 10"),
        ('[intercom]\nfeeds = [{ name = "a", wake = [] }]\n', "10: intercom.feeds[0].wake: unknown field; nearest: wakes"),
        ('[intercom]\nparticipants = { you = "t" }\n', "10: intercom.participants.you: is the operator's own handle"),
        ('[intercom]\nparticipants = { scout = "t" }\n', "10: intercom.participants.scout: is an agent's name"),
        ('[intercom]\nparticipants = { a = "${EMPTY}" }\n', "10: intercom.participants.a: its token is empty"),
        ('[intercom]\nnotify_muted = true\n', "10: intercom.notify_muted: must be 'always' or 'never', not a boolean"),
    ],
)  # fmt: skip
def test_names_of_agents_and_speakers_are_kept_apart(tmp_path: Path, text: str, said: str) -> None:
    assert refused_after_good(tmp_path, text) == f"home.toml:{said}"


def test_two_speakers_never_share_a_token_and_neither_is_shown(tmp_path: Path) -> None:
    text = '[intercom.participants]\nann = "${TOKEN}"\nbob = "${TOKEN}"\n'
    line = refused_after_good(tmp_path, text)
    assert line == "home.toml:11: intercom.participants.bob: its token is also that of 'ann'"
    assert "s3cret" not in line


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[mcp]]\nname = "a"\ncommand = ["x"]\nwakes = ["scut"]\n', "12: mcp[0].wakes[0]: no resident is called 'scut'; nearest: scout"),
        ('[[mcpl]]\nname = "a"\ncommand = ["x"]\nwakes = ["scout", "Subconscious"]\n' + SUBCONSCIOUS, "12: mcpl[0].wakes[1]: no resident is called 'Subconscious'; nearest: scout"),
        ('[intercom]\nfeeds = [{ name = "a", wakes = ["x"] }]\n', "10: intercom.feeds[0].wakes[0]: no resident is called 'x'; nearest: scout"),
    ],
)  # fmt: skip
def test_an_unknown_name_in_wakes_is_refused(tmp_path: Path, text: str, said: str) -> None:  # N-7
    assert refused_after_good(tmp_path, text) == f"home.toml:{said}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[subconscious]\n", "9: subconscious.system_prompt: missing: an enabled subconscious needs one"),
        ('[subconscious]\nsystem_prompt = " "\n', "10: subconscious.system_prompt: must not be empty: an enabled subconscious needs one"),
        ('[subconscious]\nsystem_promt = "x"\n', "10: subconscious.system_promt: unknown field; nearest: system_prompt"),
        (SUBCONSCIOUS + "re_anchor_fraction = 0\n", "11: subconscious.re_anchor_fraction: must be more than 0, not 0"),
        (SUBCONSCIOUS + "re_anchor_fraction = 1.01\n", "11: subconscious.re_anchor_fraction: must be at most 1, not 1.01"),
        (SUBCONSCIOUS + "re_anchor_fraction = nan\n", "11: subconscious.re_anchor_fraction: must be a finite number"),
    ],
)  # fmt: skip
def test_a_subconscious_without_a_voice_or_with_a_wrong_window_is_refused(
    tmp_path: Path, text: str, said: str
) -> None:  # S-3, K-95
    assert refused_after_good(tmp_path, text) == f"home.toml:{said}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("max_message_tokens = 200000\n", "9: resident[0].max_message_tokens: max_message_tokens 200000 exceeds the usable budget of 191804 tokens: context_tokens 200000 less max_tokens 8192 and a system prompt of 4"),
        ("context_tokens = 16000\n", "9: resident[0].context_tokens: max_message_tokens 10000 (the default) exceeds the usable budget of 7804 tokens: context_tokens 16000 less max_tokens 8192 and a system prompt of 4"),
        ('[subconscious]\nsystem_prompt = "1234"\nmax_tokens = 195000\n', "11: subconscious.max_tokens: max_message_tokens 10000 (the default) exceeds the usable budget of 4999 tokens: context_tokens 200000 less max_tokens 195000 and a system prompt of 1"),
    ],
)  # fmt: skip
def test_a_message_that_may_exceed_the_usable_budget_is_refused(tmp_path: Path, text: str, said: str) -> None:  # V-6
    assert refused_after_good(tmp_path, text) == f"home.toml:{said}"


def test_agents_that_inherit_one_wrong_number_are_told_once(tmp_path: Path) -> None:  # V-6
    text = GOOD.replace('provider = "offline"', 'provider = "offline"\nmax_message_tokens = 200000') + SUBCONSCIOUS
    line = refused(tmp_path, text)
    assert line.startswith("home.toml:5: model.max_message_tokens: max_message_tokens 200000 exceeds")
    assert "more" not in line


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ('cadence = "29s"', "tune_out.cadence: is below its floor of 30 s"),
        ("cap = -1", "tune_out.cap: must be at least 0, not -1"),
        ("cap = 1.5", "tune_out.cap: must be a whole number, not a float"),
        ("wakes = 0", "tune_out.wakes: must be at least 1, not 0"),
        ("duration = 59", "tune_out.duration: is below its floor of 60 s"),
        ("duration = nan", "tune_out.duration: a duration is a finite number"),
        ("duration = [1]", "tune_out.duration: a duration is written 90, 90s, 30m, 2h or 1d, not as an array"),
        ('for = "2h"', "tune_out.for: unknown field; nearest: duration"),
    ],
)
def test_a_default_of_a_tune_out_below_its_floor_is_refused(tmp_path: Path, field: str, said: str) -> None:  # T-1
    assert refused_after_good(tmp_path, f"[tune_out]\n{field}\n") == f"home.toml:10: {said}"


DISC = '[[mcpl]]\nname = "disc"\ncommand = ["x"]\n'


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("noisy", "no target 'noisy': a target is mcp:NAME, channel:SERVER/ID, user:HANDLE or feed:NAME"),
        ("channel:noisy", "'channel:noisy' must name its server too: channel:SERVER/ID"),
        ("channel:dics/noisy", "no [[mcpl]] server is called 'dics'; nearest: disc"),
        ("feed:general", "no feed is called 'general'"),
        ("mcp:disc", "'mcp:disc' cannot be tuned out: only channel: and feed: can"),
        ("user:you", "'user:you' cannot be tuned out: only channel: and feed: can"),
    ],
)
def test_what_starts_tuned_out_can_be_tuned_out(tmp_path: Path, target: str, said: str) -> None:  # T-2
    text = f'{SUBCONSCIOUS}[[tuned_out]]\ntarget = "{target}"\n{DISC}'
    assert refused_after_good(tmp_path, text) == f"home.toml:12: tuned_out[0].target: {said}"


def test_nothing_starts_tuned_out_where_nobody_would_watch_it(tmp_path: Path) -> None:  # T-2, K-94
    text = f'[[tuned_out]]\ntarget = "channel:disc/a"\n{DISC}'
    said = "needs an enabled [subconscious], which would watch it"
    assert refused_after_good(tmp_path, text) == f"home.toml:10: tuned_out[0].target: {said}"


def test_one_channel_starts_tuned_out_once(tmp_path: Path) -> None:
    entry = '[[tuned_out]]\ntarget = "channel:disc/a"\n'
    said = "'channel:disc/a' is taken already, in line 15"
    assert refused_after_good(tmp_path, f"{SUBCONSCIOUS}{DISC}{entry}{entry}").startswith("home.toml:17: ")
    assert refused_after_good(tmp_path, f"{SUBCONSCIOUS}{DISC}{entry}{entry}").endswith(said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('default = "later"', "10: gate.default: must be 'always', 'defer', 'mute', or a table with debounce, rate_limit or sample, not 'later'"),
        ("default = 5", "10: gate.default: must be 'always', 'defer', 'mute', or a table with debounce, rate_limit or sample, not an integer"),
        ('default = { debounce = "3m", sample = 2 }', "10: gate.default: must hold exactly one of debounce, rate_limit and sample"),
        ("default = { sampel = 2 }", "10: gate.default.sampel: unknown field; nearest: sample"),
        ('default = { rate_limit = { tokens = 0, refill = "1h" } }', "10: gate.default.rate_limit.tokens: must be at least 1, not 0"),
        ('[[gate.rule]]\nname = "a"\n', "10: gate.rule[0].behavior: missing"),
        ('[[gate.rule]]\nname = "a"\nbehavior = "always"\nmatch = { tag_any = ["x"] }', "13: gate.rule[0].match.tag_any: unknown field; nearest: tags_any"),
        ('[[gate.rule]]\nname = "a"\nbehavior = "always"\nmatch = { regex = "(" }', "13: gate.rule[0].match.regex: is no regular expression: missing ): ("),
        ('[[gate.rule]]\nname = "a"\nbehavior = "always"\n[[gate.rule]]\nname = "a"\nbehavior = "defer"', "14: gate.rule[1].name: 'a' is taken already, in line 11"),
    ],
)  # fmt: skip
def test_a_gate_is_checked_with_the_rest(tmp_path: Path, text: str, said: str) -> None:
    assert refused_after_good(tmp_path, f"[gate]\n{text}\n") == f"home.toml:{said}"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("${MISSING}", "the variable MISSING is not set"),
        ("Bearer ${TOKEN} ${NOPE}", "the variable NOPE is not set"),
        ("${MY-TOKEN}", "${…} must name one variable, made of letters, digits and _"),
        ("s3cret-token ${}", "${…} must name one variable, made of letters, digits and _"),
        ("s3cret-token\\u0000", "must not hold a NUL character or half a surrogate pair"),
    ],
)
def test_a_variable_that_is_not_set_is_named_and_no_secret_is_shown(tmp_path: Path, value: str, said: str) -> None:
    text = f'[[mcpl]]\nname = "disc"\ncommand = ["x"]\n\n[mcpl.env]\nIRC_PASSWORD = "{value}"\n'
    line = refused_after_good(tmp_path, text)
    assert line == f"home.toml:14: mcpl[0].env.IRC_PASSWORD: {said}"
    assert "s3cret" not in line


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("A", "the variable A is not set"),
        ("A A B", "the variable A is not set; also not set: B"),
        ("A B C D E F G H", "the variable A is not set; also not set: B, C, D, E, F, G, H"),
        ("A B C D E F G H I J", "the variable A is not set; also not set: B, C, D, E, F, G, H and 2 more"),
    ],
)
def test_every_variable_that_is_not_set_is_named_at_once(tmp_path: Path, names: str, said: str) -> None:
    pairs = "".join(f'V{place} = "${{{name}}}"\n' for place, name in enumerate(names.split()))
    text = f'[[mcpl]]\nname = "disc"\ncommand = ["x"]\n\n[mcpl.env]\n{pairs}'
    assert refused_after_good(tmp_path, text) == f"home.toml:14: mcpl[0].env.V0: {said}"


def test_variables_that_are_not_set_are_named_beside_other_problems(tmp_path: Path) -> None:
    text = '[[mcpl]]\nname = "disc"\ncommand = ["x"]\nenv = { A = "${A}${B}" }\npin = 1\n'
    said = "home.toml:12: mcpl[0].env.A: the variables A and B are not set … and 1 more"
    assert refused_after_good(tmp_path, text) == said
    assert refused(tmp_path, "nam = 1\n" + GOOD + text).endswith("nearest: name; not set: A, B … and 1 more")


def test_a_secret_of_the_wrong_type_is_not_shown(tmp_path: Path) -> None:
    text = '[[mcp]]\nname = "a"\nurl = "http://x"\nheaders = { Authorization = 31337 }\n'
    said = "mcp[0].headers.Authorization: must be a string, not an integer"
    assert refused_after_good(tmp_path, text) == f"home.toml:12: {said}"


def test_the_first_problem_in_the_files_order_is_told_and_the_others_are_counted(tmp_path: Path) -> None:
    text = "[tune_out]\ncap = -1\nwakes = 0\n" + GOOD.replace('name = "scout"', "name = 5")
    text = 'name = "home"\n' + text.replace('name = "home"\n', "")
    assert refused(tmp_path, text) == "home.toml:3: tune_out.cap: must be at least 0, not -1 … and 2 more"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name = \n", "1: not TOML: Invalid value"),
        ("\n\n[model\n", "3: not TOML: Expected ']' at the end of a table declaration"),
        ('name = "a"\nname = "b"\n', "2: not TOML: Cannot overwrite a value"),
        ('name = "a', "1: not TOML: Unterminated string"),
        ("x = [1,\n2,\n", "2: not TOML: Invalid value"),
    ],
)
def test_text_that_is_no_toml_is_told_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    assert refused(tmp_path, text) == f"home.toml:{said}"


def test_a_file_nested_beyond_reason_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path, f"a = {'[' * 100_000}") == "home.toml: not TOML: nested too deep"
    assert refused(tmp_path, "[" * 200_000, "home.json") == "home.json: not JSON: nested too deep"


def test_a_key_that_holds_a_line_break_stays_in_one_line(tmp_path: Path) -> None:
    line = refused_after_good(tmp_path, '"a\\nb\\u202e" = 1\n')
    assert line == "home.toml:9: resident[0].'a\\nb\\u202e': unknown field; nearest: name"


def test_a_huge_key_is_clipped(tmp_path: Path) -> None:
    assert len(refused_after_good(tmp_path, f"{'k' * 100_000} = 1\n")) < 200


def test_bytes_that_are_no_utf8_are_told_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "home.toml"
    path.write_bytes(GOOD.encode() + b'label = "\xff"\n')
    with pytest.raises(RecipeError, match=r"home\.toml:9: not UTF-8 text$"):
        load(str(path), {})


def test_a_file_that_is_not_there_or_no_file_or_far_too_long_is_told(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_bytes(b"#" * 2_000_000)
    (tmp_path / "folder.toml").mkdir()
    for name, said in {
        "none.toml": "No such file or directory",
        "folder.toml": "Is a directory",
        "long.toml": "longer than 1048576 bytes",
        "a\0b.toml": "no such file",
    }.items():
        with pytest.raises(RecipeError) as caught:
            load(f"{tmp_path}/{name}", {})
        assert str(caught.value).endswith(f": cannot be read: {said}")


def test_an_unknown_name_of_a_shipped_recipe_is_refused_with_the_nearest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RecipeError) as caught:
        load("dmo", {})
    assert str(caught.value).startswith("no recipe 'dmo': neither a file nor one that ships (")
    assert str(caught.value).endswith("; nearest: demo")
    with pytest.raises(RecipeError, match="no recipe ''"):
        load("", {})
    with pytest.raises(RecipeError, match="no recipe 'aaa"):
        load("a" * 300, {})  # longer than a file's name can be


@pytest.mark.parametrize("name", ["home.toml", "home.json"])
def test_an_empty_recipe_is_sent_to_init(tmp_path: Path, name: str) -> None:
    assert refused(tmp_path, " \n", name) == f"{name}: is empty: `cockpit init` writes a first recipe"


def test_a_missing_key_is_told_apart_from_the_recipe(tmp_path: Path) -> None:
    """`cockpit check` passes without a key; starting does not."""
    path = tmp_path / "home.toml"
    path.write_text(GOOD.replace('"offline"', '"anthropic"\napi_key_env = "HOME_KEY"') + SUBCONSCIOUS)
    recipe = load(str(path), {})
    for env in ({}, {"HOME_KEY": " "}):
        with pytest.raises(RecipeError) as caught:
            check_keys(recipe, env)
        said = 'the variable HOME_KEY is not set; provider "anthropic" needs it (provider "offline" needs none)'
        assert str(caught.value) == f"{path}:5: model.api_key_env: {said}"
    check_keys(recipe, {"HOME_KEY": "k"})


def test_an_agent_that_alone_needs_a_key_is_asked_for_it(tmp_path: Path) -> None:
    path = tmp_path / "home.toml"
    path.write_text(GOOD + SUBCONSCIOUS + 'provider = "anthropic"\n')
    with pytest.raises(RecipeError, match=r"home\.toml:3: model\.api_key_env: the variable ANTHROPIC_API_KEY"):
        check_keys(load(str(path), {}), {})
