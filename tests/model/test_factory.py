"""From a recipe's words to a model: one clear line where there is none, and no secret anywhere."""

from __future__ import annotations

import subprocess
import sys

import pytest

from cockpit.errors import RecipeError
from cockpit.model.anthropic import AnthropicModel
from cockpit.model.config import ModelConfig
from cockpit.model.factory import PROVIDERS, make_model
from cockpit.model.offline import OfflineModel


def test_each_provider_has_its_model() -> None:
    assert isinstance(make_model(ModelConfig("offline")), OfflineModel)
    assert isinstance(make_model(ModelConfig("anthropic", "claude-x", api_key="k")), AnthropicModel)
    assert PROVIDERS == ("anthropic", "offline")


@pytest.mark.parametrize(
    ("config", "line"),
    [
        (
            ModelConfig("antropic"),
            "unknown provider 'antropic'; did you mean 'anthropic'? known: anthropic, offline",
        ),
        (ModelConfig("ofline"), "unknown provider 'ofline'; did you mean 'offline'? known: anthropic, offline"),
        (ModelConfig("qqq"), "unknown provider 'qqq'; known: anthropic, offline"),
        (ModelConfig("anthropic", "x"), "the provider 'anthropic' needs a key: set the variable ANTHROPIC_API_KEY"),
        (
            ModelConfig("anthropic", "x", api_key=" \n", api_key_env="MY_KEY"),
            "the provider 'anthropic' needs a key: set the variable MY_KEY",
        ),
        (ModelConfig("anthropic", api_key="k"), "the provider 'anthropic' needs a model: set `id` in [model]"),
        (
            ModelConfig("anthropic", "x", api_key="k", base_url="localhost:1"),
            "the base URL of the provider 'anthropic' must begin with http:// or https://",
        ),
    ],
)
def test_what_cannot_be_made_is_one_line(config: ModelConfig, line: str) -> None:
    with pytest.raises(RecipeError) as caught:
        make_model(config)
    assert str(caught.value) == line


def test_a_configuration_prints_no_secret() -> None:
    config = ModelConfig(
        "anthropic", "x", api_key="sk-secret", base_url="http://u:sk-secret@h", parameters={"metadata": "sk-secret"}
    )
    assert "sk-secret" not in f"{config!r} {config} {make_model(config)!r}"


def test_importing_the_providers_and_making_a_model_loads_no_sdk() -> None:
    program = (
        "import sys; import cockpit.model.factory as f; from cockpit.model.config import ModelConfig as C;"
        "f.make_model(C('offline')); f.make_model(C('anthropic', 'x', api_key='k'));"
        "sys.exit(', '.join(sorted({m.partition('.')[0] for m in sys.modules} & {'anthropic', 'mcp', 'httpx2', "
        "'httpx', 'textual'})) or None)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=30)
    assert (done.returncode, done.stderr) == (0, "")
