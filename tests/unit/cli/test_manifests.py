from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from click.testing import CliRunner

from examples_support import EXAMPLES
from quintant.cli import main


def printed(example: str, *options: str) -> list[dict[str, Any]]:
    result = CliRunner().invoke(main, ["manifests", str(EXAMPLES / f"{example}.py"), *options])
    assert result.exit_code == 0, result.output
    return list(yaml.safe_load_all(result.stdout))


def test_everything_a_cluster_needs_is_printed_in_the_order_to_apply_it() -> None:
    assert [each["kind"] for each in printed("01_greeter")] == [
        "CustomResourceDefinition",
        "ServiceAccount",
        "ClusterRole",
        "ClusterRoleBinding",
    ]


def test_program_lives_in_the_namespace_that_is_asked_for() -> None:
    account, *_ = (e for e in printed("01_greeter", "-n", "ours") if e["kind"] == "ServiceAccount")
    assert account["metadata"]["namespace"] == "ours"


def test_webhooks_are_expected_behind_a_service_of_the_managers_name() -> None:
    found = [each for each in printed("06_webhooks", "-n", "ours") if "webhooks" in each]
    services = [w["clientConfig"]["service"] for each in found for w in each["webhooks"]]
    assert {(s["name"], s["namespace"]) for s in services} == {("topics", "ours")}


def test_file_without_a_manager_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "empty.py"
    path.write_text("")
    result = CliRunner().invoke(main, ["manifests", str(path)])
    assert result.exit_code == 1
    assert "declares no manager" in result.output
