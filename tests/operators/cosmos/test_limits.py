"""A typo stops nothing: what is too large is refused, and what is large is done in turns."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from quintant.api.core import ConfigMap, Pod
from quintant.core.errors import Invalid
from quintant.operators.cosmos.api.full_node import (
    MOST_REPLICAS,
    CosmosFullNode,
)
from quintant.operators.cosmos.api.scheduled_volume_snapshot import ScheduledVolumeSnapshot
from quintant.operators.cosmos.api.stateful_job import StatefulJob
from quintant.operators.cosmos.options import Options
from quintant.testing import InProcessCluster
from testbeds.cosmos import NAMESPACE, CosmosTestbed, full_node
from testbeds.turn_meter import TurnMeter

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
LARGEST = 2**31 - 1
TURN_SECONDS = 1.0
"""Of CPU; a probe waits for no longer, even on a machine that has much else to do."""


async def without_limits(testbed: CosmosTestbed, plural: str) -> None:
    """Serve a kind as an older definition did: without any limits."""
    path = f"{DEFINITIONS}/{plural}.cosmos.strange.love"
    definition = msgspec.json.decode(await testbed.cluster.client.raw("GET", path))
    _unlimited(definition)
    await testbed.cluster.client.raw("PUT", path, body=msgspec.json.encode(definition))


def _unlimited(schema: Any) -> None:
    if isinstance(schema, dict):
        for word in ("maximum", "maxLength", "maxItems", "maxProperties"):
            if isinstance(schema.get(word), int):
                del schema[word]
        for value in schema.values():
            _unlimited(value)
    elif isinstance(schema, list):
        for value in schema:
            _unlimited(value)


@pytest.mark.parametrize("replicas", [MOST_REPLICAS + 1, 3000, LARGEST])
async def test_too_many_replicas_are_refused_by_the_server(
    testbed: CosmosTestbed, replicas: int
) -> None:
    with pytest.raises(Invalid, match=r"spec\.replicas"):
        await testbed.apply(full_node(replicas=replicas))


async def test_too_many_replicas_that_are_stored_are_a_condition(testbed: CosmosTestbed) -> None:
    await without_limits(testbed, "cosmosfullnodes")
    await testbed.apply(full_node(replicas=LARGEST))
    found = await testbed.phase("Error", within=1)
    assert found.status is not None
    assert "spec.replicas: 2147483647 is more than 1000" in (found.status.status or "")
    degraded = {each.type: each for each in found.status.conditions}["Degraded"]
    assert (degraded.status, degraded.reason) == ("True", "Error")
    await testbed.cluster.advance(60)
    assert await testbed.owned() == set()


async def test_a_typo_takes_no_running_node_away(testbed: CosmosTestbed) -> None:
    await testbed.run(replicas=2)
    before = await testbed.owned()
    await without_limits(testbed, "cosmosfullnodes")
    await testbed.change({"replicas": LARGEST})
    await testbed.phase("Error")
    await testbed.cluster.advance(120)
    assert await testbed.owned() == before
    assert testbed.deleted == []
    await testbed.change({"replicas": 2})
    await testbed.phase("Complete")


async def test_a_thousand_replicas_do_not_block_the_loop() -> None:
    meter = TurnMeter(asyncio.get_running_loop())
    cluster = InProcessCluster(rbac=True)
    await cluster.install(CosmosFullNode, ScheduledVolumeSnapshot, StatefulJob)
    testbed = CosmosTestbed(cluster, Options())
    await cluster.client.raw(
        "POST", "/api/v1/namespaces", body=msgspec.json.encode({"metadata": {"name": NAMESPACE}})
    )
    await testbed.start()
    await testbed.apply(full_node(replicas=MOST_REPLICAS))
    await testbed.until(lambda it: it.status is not None and it.status.replicas == MOST_REPLICAS)
    await cluster.advance(120)
    assert len(await cluster.client.list(Pod, NAMESPACE)) == MOST_REPLICAS
    configs = await cluster.client.list(ConfigMap, NAMESPACE)
    assert len(configs) == MOST_REPLICAS
    assert max(len(each.data["config-overlay.toml"]) for each in configs) < 65_536
    assert meter.longest < TURN_SECONDS
    await cluster.close()
