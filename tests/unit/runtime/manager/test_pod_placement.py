"""Every operator's replicas, on a cluster of simulated nodes one of which dies."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from quintant.cluster.component.component import Component
from quintant.cluster.controllers import controllers
from quintant.core.yaml import load_all
from quintant.operators import OPERATORS
from unit.cluster.api import Api, JsonObject
from unit.cluster.simulated.simulated_cluster import NODES, condition, simulated

DEPLOY = Path(__file__).parents[4] / "deploy"
FAULT = "simulated.quintant.dev/fault"
SILENT_SECONDS = 50
"""Until a node that says nothing is taken for dead, as a rule."""
BORNE_SECONDS = 30
"""For which a pod stays on a node that is away: as docs/running.md promises."""
START_SECONDS = 20


async def install(api: Api, name: str) -> str:
    """Create the program of an operator; the path of its pods."""
    home = OPERATORS[name].namespace
    await api.create("/api/v1/namespaces", {"metadata": {"name": home}})
    account = {"metadata": {"name": OPERATORS[name].name}}
    await api.create(f"/api/v1/namespaces/{home}/serviceaccounts", account)
    (deployment, *_) = load_all((DEPLOY / name / "operator/deployment.yaml").read_bytes(), name)
    await api.create(f"/apis/apps/v1/namespaces/{home}/deployments", deployment)
    return f"/api/v1/namespaces/{home}/pods"


async def living(api: Api, pods: str) -> Sequence[JsonObject]:
    """The pods that are ready, and not about to go."""
    found = (await api.get(pods))["items"]
    return [
        pod
        for pod in found
        if condition(pod, "Ready") == "True" and "deletionTimestamp" not in pod["metadata"]
    ]


@pytest.mark.parametrize("name", sorted(OPERATORS))
async def test_a_node_that_dies_takes_one_replica_and_another_one_comes_soon(name: str) -> None:
    async with simulated(2, others=[Component(controllers())]) as api:
        await asyncio.sleep(1)
        pods = await install(api, name)
        await asyncio.sleep(START_SECONDS)
        nodes = {pod["spec"]["nodeName"] for pod in await living(api, pods)}
        assert nodes == {"sim-0001", "sim-0002"}

        dies = {"metadata": {"annotations": {FAULT: "dead"}}}
        await api.merge(f"{NODES}/sim-0001", dies)
        await asyncio.sleep(SILENT_SECONDS + BORNE_SECONDS + START_SECONDS)
        assert [pod["spec"]["nodeName"] for pod in await living(api, pods)] == ["sim-0002"] * 2
