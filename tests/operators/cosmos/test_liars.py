"""Nodes and sidecars lie for ten minutes: the operator lives, writes little, and takes nothing away
that is not its own. When they tell the truth again, so does the status, within a minute."""

from __future__ import annotations

import itertools
import os
import tracemalloc
from typing import Any

import msgspec
import pytest

from quintant.api.core import ConfigMap, Pod, Service
from quintant.api.volume import PersistentVolumeClaim
from quintant.cluster.apiserver.filters.audit import AuditRecord
from quintant.core.object import Object
from testbeds.cosmos import NAMESPACE, CosmosTestbed

LIES = 200
"""Told in ten minutes by two nodes: each question is answered by the next."""
RUNS = 1 if not os.environ.get("QUINTANT_SOAK") else 25
MINUTES = 10
MOST_WRITES = 40
"""Of the operator in a minute: a status that flickers, a restart within the budget; no loop."""
MOST_MEMORY = 32 * 1024 * 1024
PLANS = "/cosmos/upgrade/v1beta1/current_plan"
KINDS: tuple[type[Object], ...] = (Pod, ConfigMap, Service, PersistentVolumeClaim)
SPEC: dict[str, Any] = {
    "replicas": 2,
    "chain": {
        "watchUpgradePlans": True,
        "versions": [{"height": 0, "image": "gaia:v1"}, {"height": 10**9, "image": "gaia:v2"}],
    },
    "selfHeal": {
        "pvcAutoScale": {"usedSpacePercentage": 80, "increaseQuantity": "10%"},
        "heightDriftMitigation": {"threshold": 10},
        "stall": {"seconds": 60},
    },
}


async def foreign(testbed: CosmosTestbed) -> dict[str, str]:
    """Every object that no CosmosFullNode controls, with its version."""
    found = {}
    owned = await testbed.owned()
    for kind in KINDS:
        for each in await testbed.cluster.client.list(kind, NAMESPACE):
            name = f"{kind.__name__}/{each.metadata.name}"
            if name not in owned:
                found[name] = each.metadata.uid
    return found


async def strangers(testbed: CosmosTestbed) -> None:
    """Objects of others, some with names such as ours."""
    for name in ("hub-7", "pvc-hub-7", "theirs"):
        body = {"metadata": {"name": name, "labels": {"app.kubernetes.io/name": "hub"}}}
        path = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
        await testbed.cluster.client.raw("POST", path, body=msgspec.json.encode(body))


def writes(testbed: CosmosTestbed) -> list[AuditRecord]:
    assert testbed.account is not None
    reads = ("get", "list", "watch")
    return [each for each in testbed.account.requests() if each.verb not in reads]


@pytest.mark.parametrize("run", range(RUNS))
async def test_liars_harm_nothing_and_the_truth_comes_back(
    testbed: CosmosTestbed, run: int
) -> None:
    await testbed.run(image="", **SPEC)
    await strangers(testbed)
    before, seeds = await foreign(testbed), itertools.count(run * LIES)
    tracemalloc.start()
    base = tracemalloc.get_traced_memory()[0]
    testbed.lies = seeds
    for _ in range(MINUTES):
        written = len(writes(testbed))
        await testbed.cluster.advance(60)
        assert len(writes(testbed)) - written <= MOST_WRITES
        assert tracemalloc.get_traced_memory()[0] - base < MOST_MEMORY
    tracemalloc.stop()
    testbed.lies = None
    assert next(seeds) - run * LIES >= LIES
    assert {"/status", "/disk", "/net_info"} <= testbed.lied
    # Plans are asked for at a node that is in sync, and whether one is, the lies of a run decide.
    assert PLANS in testbed.lied or run
    assert await foreign(testbed) == before
    found = await testbed.settled(within=60)
    assert found.status is not None
    assert all(each.in_sync for each in found.status.sync.values())
    assert max(found.status.height.values()) <= testbed.height + 1
