"""ReplicaSets on a server with their controller and nothing else."""

from __future__ import annotations

import asyncio

from quintant.api.apps import ReplicaSet, ReplicaSetSpec
from quintant.api.core import Pod
from quintant.api.meta import LabelSelector
from quintant.cluster.controllers import NAME, replicaset
from quintant.core.object import Opaque, replace
from quintant.runtime.manager.manager import Manager
from quintant.testing import InProcessCluster, named, watch
from quintant.testing.faults.match import kind, verb
from unit.cluster.api import PODS
from unit.cluster.controllers.running_controllers import controlled
from unit.cluster.controllers.stub_kubelet import APPS, attended, pods, settled, workload

SETS = f"{APPS}/replicasets"
CREATES = verb("create") & kind(Pod)


async def test_set_makes_its_pods_and_counts_them() -> None:
    async with controlled(replicaset.declare) as api, attended(api):
        await api.create(SETS, workload(replicas=3, minReadySeconds=10))
        found = await settled(api, "replicasets", seconds=5)
        assert found["status"]["readyReplicas"] == 3
        assert "availableReplicas" not in found["status"]
        found = await settled(api, "replicasets", seconds=10)
        assert found["status"] == {
            "observedGeneration": 1, "replicas": 3, "fullyLabeledReplicas": 3, "readyReplicas": 3,
            "availableReplicas": 3, "terminatingReplicas": 0,
        }  # fmt: skip


async def test_set_at_rest_writes_nothing() -> None:
    async with controlled(replicaset.declare) as api, attended(api):
        await api.create(SETS, workload(replicas=2))
        before = (await settled(api, "replicasets"))["metadata"]["resourceVersion"]
        name = (await pods(api))[0]["metadata"]["name"]
        await api.merge(f"{PODS}/{name}", {"metadata": {"labels": {"x": "y"}}})
        after = await settled(api, "replicasets")
        assert after["metadata"]["resourceVersion"] == before


async def test_no_pod_is_made_twice_however_late_the_watch_is(cluster: InProcessCluster) -> None:
    """Its own writes are enough: nothing has to come back before the next turn."""
    await run(cluster)
    with cluster.faults.lag(8.0, watch(Pod)):
        await cluster.create(replicas(20))
        for turn in range(20):
            await asyncio.sleep(0.2)
            found = await cluster.get(ReplicaSet, "a")
            meta = replace(found.metadata, annotations={"turn": str(turn)})
            await cluster.client.patch(replace(found, metadata=meta), since=found)
        assert len(cluster.faults.seen(CREATES)) == 20
    await asyncio.sleep(60)
    assert len(cluster.faults.seen(CREATES)) == 20
    assert len(await cluster.client.list(Pod)) == 20


async def test_refused_pods_are_told_and_tried_again_with_patience(
    cluster: InProcessCluster,
) -> None:
    await run(cluster)
    with cluster.faults.answer(403, message="no room", when=CREATES):
        await cluster.create(replicas(8))
        told = await cluster.eventually(
            ReplicaSet, "a", until=lambda it: bool(it.status.conditions)
        )
        (condition,) = told.status.conditions
        assert (condition.type, condition.status, condition.reason, condition.message) == (
            "ReplicaFailure", "True", "FailedCreate", "no room",
        )  # fmt: skip
        await asyncio.sleep(100)
        assert 5 <= len(cluster.faults.seen(CREATES)) <= 10
    healed = await cluster.eventually(
        ReplicaSet, "a", until=lambda it: it.status.replicas == 8, within=300
    )
    assert healed.status.conditions == ()


async def run(cluster: InProcessCluster) -> None:
    manager = Manager(NAME)
    replicaset.declare(manager)
    await cluster.run(manager)


def replicas(count: int) -> ReplicaSet:
    return ReplicaSet(
        metadata=named("a"),
        spec=ReplicaSetSpec(
            replicas=count,
            template=Opaque.of(workload()["spec"]["template"]),
            selector=LabelSelector(match_labels={"app": "a"}),
        ),
    )
