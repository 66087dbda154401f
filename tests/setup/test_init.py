"""`cockpit init`: whatever is answered, what is written is a recipe that `cockpit check` takes, or nothing is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from cockpit.recipe import McplServer, load
from cockpit.testing.command_line import Cockpit

ANSWERS = [
    "",
    "scout\noffline\ndemo\nyes\n",
    'vera: keeps the "build" green\nanthropic\nnone\nno\n',
    "a_b-9: Größe, \\n und 'so'\nanthropic:MY_KEY\nmcp-server-git --repository .\nYES\n",
    'scout\noffline\nchat: my-chat --nick "the scout"; npx -y @scope/server-files /tmp; uvx mcp-server-time\nn\n',
    "scout\noffline\nsame; same; chat:same\n",
    'scout: tests. """ and more!\n\n\n\n',
    "\n\n  demo  \n\n",
]


@pytest.mark.parametrize("given", ANSWERS)
def test_what_is_written_passes_check_whatever_was_answered(home: Path, cockpit: Cockpit, given: str) -> None:
    """Issue 6, First steps: and every section says what it does, and the last lines what to do now."""
    done = cockpit("init", "first.toml", given=given)
    assert (done.code, done.errors) == (0, ()), done
    assert done.output.endswith("next:\n  cockpit check first.toml\n  cockpit first.toml\n")
    checked = cockpit("check", "first.toml")
    assert checked.code == 0
    assert checked.output.startswith("first.toml: ok\n")
    text = (home / "first.toml").read_text(encoding="utf-8")
    lines = text.splitlines()
    for place, line in enumerate(lines):
        if line.startswith("[") and not line.startswith("[[mcp"):
            assert lines[place - 1].startswith("#"), line
    assert "`m` on a row" in text


def test_each_answer_is_in_the_recipe(home: Path, cockpit: Cockpit) -> None:
    given = "vera: keeps the build green\nanthropic:MY_KEY\nmcp-server-git --repository .; chat: my-chat -n 'a b'\nno\n"
    done = cockpit("init", "two.toml", given=given)
    assert "  export MY_KEY=…\n" in done.output
    recipe = load("two.toml", {})
    assert (recipe.name, recipe.primary.name, recipe.subconscious) == ("two", "vera", None)
    assert "What you are for: keeps the build green." in recipe.primary.system_prompt
    assert (recipe.primary.model.provider, recipe.primary.model.api_key_env) == ("anthropic", "MY_KEY")
    assert [(each.name, each.command, isinstance(each, McplServer)) for each in recipe.servers] == [
        ("git", ("mcp-server-git", "--repository", "."), False),
        ("my-chat", ("my-chat", "-n", "a b"), True),
    ]


def test_enter_means_the_defaults_and_so_does_yes(home: Path, cockpit: Cockpit) -> None:
    """The file is cockpit.toml, and its store is named for the folder, so that two projects never share one."""
    assert cockpit("init", "--yes").code == 0
    asked = (home / "cockpit.toml").read_text(encoding="utf-8")
    assert cockpit("init", "--force", given="\n\n\n\n").code == 0
    assert (home / "cockpit.toml").read_text(encoding="utf-8") == asked
    recipe = load("cockpit.toml", {})
    assert (recipe.name, [each.name for each in recipe.servers]) == ("work", ["tools", "disc"])
    assert recipe.subconscious is not None


def test_flags_answer_and_a_name_that_ships_gets_a_store_of_its_own(home: Path, cockpit: Cockpit) -> None:
    done = cockpit("init", "demo.toml", "--yes", "--agent", "herald", "--servers", "none", "--subconscious", "no")
    assert done.code == 0
    recipe = load(str(home / "demo.toml"), {})
    assert (recipe.name, recipe.primary.name, recipe.servers) == ("my-demo", "herald", ())


@pytest.mark.parametrize(
    ("arguments", "given", "said"),
    [
        ((), "no spaces here\n", "the answer on agent: 'no spaces here' is no name"),
        ((), "system\n", "a name that the host itself uses"),
        ((), "scout\ngpt\n", "the answer on model: a model is offline, anthropic, or anthropic:KEY_VARIABLE"),
        ((), "scout\nanthropic:sk-ant-1234\n", "never the key itself"),
        ((), "scout\noffline\ngit 'open\n", "a quote is not closed"),
        ((), "scout\noffline\nchat:\n", "after chat: stands the command"),
        ((), "scout\noffline\nnone\nmaybe\n", "the answer on subconscious: yes or no"),
        ((), "sc\x1bout\n", "control characters"),
        (("--model", "x"), "", "--model: a model is offline"),
        (("x.json",), "", "ends in .toml: cockpit init x.json.toml"),
        (("none/x.toml",), "", "there is no folder 'none'"),
        (("--from", "none.json"), "", "none.json: cannot be read"),
        (("--from", "none.json", "--servers", "none"), "", "say one"),
    ],
)
def test_a_wrong_answer_is_one_line_and_exit_2_and_writes_nothing(
    home: Path, cockpit: Cockpit, arguments: tuple[str, ...], given: str, said: str
) -> None:
    """R-5: the line says what would be right. R-7: it never repeats what may be a key."""
    done = cockpit("init", *arguments, given=given)
    assert (done.code, len(done.errors)) == (2, 1), done
    assert said in done.errors[0]
    assert "sk-ant" not in done.errors[0]
    assert list(home.iterdir()) == []


def test_a_file_that_is_there_is_not_overwritten_unless_forced(home: Path, cockpit: Cockpit) -> None:
    (home / "mine.toml").write_text("mine", encoding="utf-8")
    done = cockpit("init", "mine.toml", "--yes")
    assert (done.code, len(done.errors)) == (2, 1)
    assert "--force" in done.errors[0]
    assert (home / "mine.toml").read_text(encoding="utf-8") == "mine"
    assert cockpit("init", "mine.toml", "--yes", "--force").code == 0
    assert load("mine.toml", {}).name == "mine"


HOST = {
    "git": {
        "command": "mcp-server-git",
        "args": ["--repository", "${DATA:-/srv}/a b"],
        "env": {"TOKEN": "s3cret-1", "MODE": "${MODE:-fast}", "PLAIN": "s3cret-2"},
    },
    "web/x": {
        "url": "https://u:s3cret-3@example.org/mcp?key=s3cret-4",
        "headers": {"Authorization": "Bearer s3cret-5", "X-Key": "${XKEY}"},
    },
    "db": {
        "command": "docker",
        "args": ["run", "-e", "DB_PASSWORD=s3cret-6", "--api-key", "s3cret-7", "sk-s3cret-8", "img"],
        "env": {"TOKEN": "s3cret-9"},
    },
    "off": {"command": "never", "disabled": True},
}


def test_a_hosts_file_becomes_a_recipe_without_any_of_its_secrets(home: Path, cockpit: Cockpit) -> None:
    """R-7, F-14: values become variables, which are named; what the host has switched off stays off."""
    (home / ".mcp.json").write_text(json.dumps({"mcpServers": HOST}), encoding="utf-8")
    done = cockpit("init", "--from", ".mcp.json", "own.toml")
    assert done.code == 0
    assert "s3cret" not in (home / "own.toml").read_text(encoding="utf-8") + done.output + "".join(done.errors)
    needed = [line.strip() for line in done.output.splitlines() if "export" in line]
    variables = [line.removeprefix("export ").removesuffix("=…") for line in needed]
    assert set(variables) == {
        "GIT_TOKEN", "PLAIN", "WEB_X_USER", "WEB_X_QUERY", "WEB_X_AUTHORIZATION", "XKEY", "DB_TOKEN", "DB_DB_PASSWORD",
        "DB_API_KEY", "DB_ARGUMENT",
    }  # fmt: skip
    assert cockpit("check", "own.toml").code == 2  # it names the first that is not set
    recipe = load("own.toml", {name: f"value-of-{name}" for name in variables})
    assert [each.name for each in recipe.servers] == ["git", "web-x", "db"]
    git, web, db = recipe.mcp
    assert git.env["TOKEN"].get_secret_value() == "value-of-GIT_TOKEN"
    assert git.env["MODE"].get_secret_value() == "fast"
    assert web.headers["Authorization"].get_secret_value() == "Bearer value-of-WEB_X_AUTHORIZATION"
    assert web.headers["X-Key"].get_secret_value() == "value-of-XKEY"
    assert db.env["DB_API_KEY"].get_secret_value() == "value-of-DB_API_KEY"
    assert any("off" in line for line in done.errors)


def test_what_stood_in_its_arguments_reaches_the_program_through_the_shell(home: Path, cockpit: Cockpit) -> None:
    """A recipe's commands are never expanded: the words arrive whole, whatever the variables hold."""
    show = [sys.executable, "-c", "import sys; print(sys.argv[1:])"]
    args = ["${DATA:-/srv}/a b", "--token=s3cret", "it's", "$HOME `id`", "-k"]
    host = {"it": {"command": show[0], "args": [*show[1:], *args]}}
    (home / ".mcp.json").write_text(json.dumps({"mcpServers": host}), encoding="utf-8")
    assert cockpit("init", "--from", ".mcp.json").code == 0
    secret = '; echo "$HOME" \''
    [server] = load("cockpit.toml", {"IT_TOKEN": secret}).mcp
    env = {name: value.get_secret_value() for name, value in server.env.items()}
    ran = subprocess.run(server.command or (), env={**os.environ, **env}, capture_output=True, text=True, check=True)
    assert ran.stdout == f"{['/srv/a b', '--token=' + secret, *args[2:]]}\n"


def test_no_two_values_share_a_variable(home: Path, cockpit: Cockpit) -> None:
    """Each of the host's values can be given back, whatever its names: as a flag, a header, by two servers."""
    servers = {
        "a": {
            "command": "x",
            "args": ["--token", "one", "sk-two", "sk-three"],
            "env": {"A_TOKEN": "four", "K": "five"},
        },
        "a-b": {"command": "x", "env": {"A_TOKEN": "six", "K": "five", "GIVEN": "seven", "Z": "${GIVEN}"}},
    }
    (home / ".mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    done = cockpit("init", "--from", ".mcp.json")
    exported = [line for line in done.output.splitlines() if line.startswith("  export ")]
    assert len(exported) == len(set(exported)) == 8  # one to seven, K once, and GIVEN that its host sets


def test_another_json_file_is_sent_to_where_it_opens(home: Path, cockpit: Cockpit) -> None:
    (home / "their.json").write_text('{"agent": {"name": "x"}}', encoding="utf-8")
    done = cockpit("init", "--from", "their.json")
    assert (done.code, len(done.errors)) == (2, 1)


def test_on_a_terminal_it_asks_again_and_ctrl_c_writes_nothing(home: Path) -> None:
    """Exit 130, as cockpit.md says of an interrupt."""
    child = pexpect.spawn(sys.executable, ["-m", "cockpit", "init"], cwd=str(home), encoding="utf-8", timeout=20)
    child.expect("What is your agent called")
    child.sendline("not a name")
    child.expect("is no name")
    child.expect("What is your agent called")
    child.sendline("vera")
    child.expect("Which model")
    child.sendintr()
    child.expect(pexpect.EOF)
    child.close()
    assert (child.exitstatus, list(home.iterdir())) == (130, [])


def test_a_file_that_came_meanwhile_is_not_overwritten(home: Path) -> None:
    child = pexpect.spawn(sys.executable, ["-m", "cockpit", "init"], cwd=str(home), encoding="utf-8", timeout=20)
    child.expect("What is your agent called")
    (home / "cockpit.toml").write_text("theirs", encoding="utf-8")
    for _ in range(4):
        child.sendline("")
    child.expect("cannot be written: File exists")
    child.expect(pexpect.EOF)
    child.close()
    assert (child.exitstatus, (home / "cockpit.toml").read_text(encoding="utf-8")) == (2, "theirs")


def test_the_end_of_input_on_a_terminal_is_an_interrupt_too(home: Path) -> None:
    child = pexpect.spawn(sys.executable, ["-m", "cockpit", "init"], cwd=str(home), encoding="utf-8", timeout=20)
    child.expect("What is your agent called")
    child.expect("> ")
    child.sendeof()
    child.expect(pexpect.EOF)
    child.close()
    assert (child.exitstatus, list(home.iterdir())) == (130, [])


def test_on_a_terminal_four_times_enter_is_a_recipe(home: Path) -> None:
    child = pexpect.spawn(sys.executable, ["-m", "cockpit", "init"], cwd=str(home), encoding="utf-8", timeout=20)
    for asked in ("called", "model", "listen to", "subconscious"):
        child.expect(asked)
        child.expect("> ")
        child.sendline("")
    child.expect("wrote cockpit.toml")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert load(str(home / "cockpit.toml"), {}).primary.name == "scout"
