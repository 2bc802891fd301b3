"""infra's own client and its docs before the real Infrastructure Manager."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from infrastructure_manager import InfrastructureManager
from quintant.keys.sensitive import Sensitive
from quintant.operators.infra.metrics import InfraMetrics
from quintant.operators.infra.observed.answers import CLOUD_UNREACHABLE, ErrorClass, ProviderError
from quintant.operators.infra.observed.session import ProviderSession
from quintant.operators.infra.remote.connections import ImProviders
from testbeds.infrastructures import Infrastructures, dummy_record

pytestmark = pytest.mark.realtime

DOCS = Path(__file__).parents[2] / "docs/infra.md"
NOWHERE = "http://127.0.0.1:1"
"""An address of this machine at which nothing answers."""


def documented_template() -> dict[str, Any]:
    """The template of the Cluster in docs/infra.md."""
    blocks = DOCS.read_text().split("```yaml\n")[1:]
    documents = [each for block in blocks for each in yaml.safe_load_all(block.partition("```")[0])]
    [found] = [each["spec"]["tosca"] for each in documents if each["kind"] == "Cluster"]
    template: dict[str, Any] = found
    return template


async def test_template_of_the_docs_becomes_a_cluster_with_a_kubeconfig(
    dummy_manager: InfrastructureManager,
) -> None:
    template = json.dumps(documented_template())
    async with Infrastructures.at(dummy_manager.url, dummy_record()) as infrastructures:
        planned = await infrastructures.dry_run(template)
        assert (planned.status, planned.text.count("cpuCores")) == (200, 1), planned
        id = await infrastructures.create(template)
        await infrastructures.until(id, "configured")
        kubeconfig = yaml.safe_load((await infrastructures.outputs(id))["kubeconfig"])
        await infrastructures.destroy(id)
    [cluster], [user] = kubeconfig["clusters"], kubeconfig["users"]
    assert cluster["cluster"]["server"] == "https://127.0.0.1:6443"
    assert user["user"]["token"]


async def test_cloud_that_im_does_not_reach_says_nothing_about_credentials(
    dummy_manager: InfrastructureManager,
) -> None:
    user = {"username": Sensitive("unreached"), "password": Sensitive("of infrastructures")}
    cloud = {
        "id": "c.here", "type": "OpenStack", "host": NOWHERE, "username": "a", "password": "b",
        "tenant": "t", "auth_version": "3.x_password", "domain": "Default",
        "tenant_domain_id": "default",
    }  # fmt: skip
    session = ProviderSession(dummy_manager.url, user, cloud, cloud_id="c.here")
    providers = ImProviders(InfraMetrics())
    try:
        with pytest.raises(ProviderError) as failed:
            await providers(session).check_cloud()
    finally:
        await providers.close()
    assert failed.value.failure.kind is ErrorClass.TRANSIENT
    assert failed.value.failure.reason == CLOUD_UNREACHABLE
