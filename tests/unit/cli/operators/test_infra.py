"""`quintant infra`: what is wrong is said before anybody is asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from quintant.cli import main

COMMANDS = ("describe", "kubeconfig", "plan")


def test_every_command_has_help() -> None:
    told = CliRunner().invoke(main, ["infra", "--help"]).output
    for name in COMMANDS:
        assert name in told
        assert CliRunner().invoke(main, ["infra", name, "--help"]).exit_code == 0


def test_file_without_a_cluster_is_named(tmp_path: Path) -> None:
    path = tmp_path / "cloud.yaml"
    path.write_text("kind: Cloud\nmetadata: {name: here}\n")
    result = CliRunner().invoke(main, ["infra", "plan", "-f", str(path)])
    assert result.exit_code == 1
    assert f"{path} has no Cluster" in result.output


@pytest.mark.parametrize("name", ["describe", "kubeconfig"])
def test_missing_cluster_is_told_in_three_lines(tmp_path: Path, name: str) -> None:
    missing = tmp_path / "kubeconfig"
    result = CliRunner().invoke(main, ["infra", name, "one", "--kubeconfig", str(missing)])
    assert result.exit_code == 1
    assert str(missing) in result.output
