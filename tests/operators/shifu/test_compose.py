"""Compose and yield: what a device becomes, and what is left to the user (scenarios C)."""

from __future__ import annotations

from quintant.api.apps import Deployment
from testbeds.shifu import SHIFUS, ShifuTestbed


async def test_c1_a_device_gets_a_deployment_that_runs_on_one_node(testbed: ShifuTestbed) -> None:
    await testbed.nodes("n1")
    await testbed.device("edgedevice-thermometer")

    await testbed.placed("edgedevice-thermometer", "n1")

    (made,) = await testbed.deployments()
    assert made.metadata.name == "deviceshifu-thermometer"
    assert made.spec.strategy.type == "Recreate"
    terms = made.spec.template.value["spec"]["affinity"]["nodeAffinity"]
    (term,) = terms["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term == {
        "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]
    }
    assert await testbed.where() == {"edgedevice-thermometer": "n1"}
    assert (await testbed.get("edgedevice-thermometer")).status.phase in ("Pending", "Running")
    assert await testbed.client.find(Deployment, "deviceshifu-thermometer", SHIFUS)
