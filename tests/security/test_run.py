"""A program that is run listens to this machine only, unless it is told otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from quintant import Manager
from quintant.core.address import BindAddress

ROOT = Path(__file__).parents[2]
DEPLOYMENTS = sorted((ROOT / "deploy").rglob("operator/deployment.yaml"))


def test_metrics_probes_and_webhooks_are_on_loopback_by_default() -> None:
    settings = Manager("greeter").settings
    for address in (settings.metrics, settings.probes, settings.webhook):
        assert BindAddress.parse(address).host == "127.0.0.1"


@pytest.mark.parametrize("path", DEPLOYMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_deployment_says_that_its_pods_are_reached_from_elsewhere(path: Path) -> None:
    found = yaml.safe_load_all(path.read_text())
    (deployment,) = (each for each in found if each["kind"] == "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    given = dict(each.split("=", 1) for each in container["args"] if "=" in each)
    served = {"--metrics", "--probes"} | ({"--webhook"} if "--webhook" in str(given) else set())
    assert {given[name].rpartition(":")[0] for name in served} == {"[$(POD_IP)]"}
