from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from quintant.agents import AGENTS
from quintant.cli import COMMANDS, main, module_of
from quintant.version import KUBERNETES, QUINTANT

HELP = """
import json, sys
from quintant.cli import main
main(["--help"], standalone_mode=False)
print(json.dumps(sorted(sys.modules)))
"""


def test_help_names_every_command_and_loads_none() -> None:
    done = subprocess.run([sys.executable, "-c", HELP], capture_output=True, text=True, check=True)
    *text, modules = done.stdout.splitlines()
    for name, purpose in COMMANDS.items():
        assert any(name in line and purpose in line for line in text)
    loaded = set(json.loads(modules))
    assert not loaded & set(map(module_of, COMMANDS))
    assert not loaded & {"websockets", "yaml", "prometheus_client"}


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_of_a_command_what_the_command_says_of_itself(name: str) -> None:
    command: click.Command = import_module(module_of(name)).command
    assert command.name == name
    assert command.get_short_help_str(limit=100) == COMMANDS[name]


def test_version_names_both_versions() -> None:
    result = CliRunner().invoke(main, ["--version"])
    assert result.output == f"quintant {QUINTANT}, for Kubernetes {KUBERNETES}\n"


def test_unknown_command_is_a_usage_error() -> None:
    result = CliRunner().invoke(main, ["nothing"])
    assert result.exit_code == 2
    assert "No such command 'nothing'" in result.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_for_the_shell(shell: str) -> None:
    result = CliRunner().invoke(main, ["completion", shell])
    assert result.exit_code == 0
    assert f"_QUINTANT_COMPLETE={shell}_complete" in result.stdout


def test_completion_offers_the_commands() -> None:
    words = {"COMP_WORDS": "quintant c", "COMP_CWORD": "1", "_QUINTANT_COMPLETE": "bash_complete"}
    result = CliRunner().invoke(main, prog_name="quintant", env=words)
    assert result.stdout.split() == [
        "plain,check",
        "plain,clock",
        "plain,clusters",
        "plain,completion",
        "plain,console",
        "plain,cosmos",
        "plain,crd",
    ]


@pytest.mark.parametrize("name", sorted(AGENTS))
@pytest.mark.parametrize("asks", ["--help", "-h"])
def test_an_agents_help_is_help(name: str, asks: str) -> None:
    result = CliRunner().invoke(main, ["agent", name, asks])
    assert result.exit_code == 0
    assert result.stdout.startswith("usage: ")


@pytest.mark.parametrize("asks", ["--help", "-h"])
def test_help_about_agents_names_them_all(asks: str) -> None:
    result = CliRunner().invoke(main, ["agent", asks])
    assert result.exit_code == 0
    assert all(f"{name}: " in result.stdout for name in AGENTS)


def test_doctor_looks_at_the_cluster_of_the_kubeconfig_it_is_given(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text("apiVersion: v1\nkind: Config\ncurrent-context: nowhere\n")
    result = CliRunner().invoke(main, ["doctor", "--kubeconfig", str(path)])
    assert 'cannot use context "nowhere"' in result.output
    chosen = CliRunner().invoke(main, ["doctor", "--kubeconfig", str(path), "--context", "there"])
    assert 'cannot use context "there"' in chosen.output
