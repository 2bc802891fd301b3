"""The Cosmos operator, disturbed at every point: a life of nodes, and a copy of a volume.

A modelled kubelet binds claims, starts pods and lets them go; modelled nodes are in sync as soon as
their pods run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress

import msgspec

from quintant.api.meta import Condition
from quintant.api.pod import ContainerState, ContainerStateRunning, ContainerStatus, Pod, PodStatus
from quintant.api.quantity import Quantity
from quintant.api.snapshot import VolumeSnapshot, VolumeSnapshotStatus
from quintant.api.volume import PersistentVolumeClaim, PersistentVolumeClaimStatus
from quintant.cluster.volumes.crds import first_objects
from quintant.core import codec
from quintant.core.errors import ApiError
from quintant.core.object import replace
from quintant.operators.cosmos import controllers
from quintant.operators.cosmos.api import ORDINAL
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.scheduled_volume_snapshot import (
    FullNodeRef,
    ScheduledVolumeSnapshot,
    SnapshotScheduleSpec,
)
from quintant.operators.cosmos.options import Options
from quintant.runtime.manager.manager import Manager
from quintant.runtime.shard.layout import Shards
from quintant.testing import InProcessCluster, Scenario, ScenarioWorld, SpecScenario, named
from quintant.testing.explore.injection.fault import CRASHES, MEMBER_MODES, FaultMode
from quintant.testing.explore.scenario import Document
from testbeds.cosmos import full_node

STEP_SECONDS = 1.0
READY = Condition(type="Ready", status="True", last_transition_time="2026-01-01T00:00:00Z")
STATUS = msgspec.json.encode(
    {
        "result": {
            "node_info": {"network": "cosmoshub-4"},
            "sync_info": {"latest_block_height": "7", "catching_up": False},
            "validator_info": {},
        }
    }
)


class QuietNodes:
    """Nodes that are always in sync, and always at the same height."""

    def connect(self, address: str, port: int) -> QuietNodes:
        return self

    def seed(self) -> bytes:
        return bytes(32)

    async def get(self, path: str, query: dict[str, str], seconds: float) -> tuple[int, bytes]:
        return 200, STATUS

    async def close(self) -> None:
        pass


async def kubelet(world: ScenarioWorld) -> None:
    """Bind claims, run pods, make copies ready."""
    while True:
        for claim in world.all(PersistentVolumeClaim):
            if claim.status.phase != "Bound":
                size = claim.spec.resources.requests.get("storage", Quantity("0"))
                status = PersistentVolumeClaimStatus(phase="Bound", capacity={"storage": size})
                with suppress(ApiError):
                    await world.set_status(claim, status)
        for pod in world.all(Pod):
            if not pod.status.pod_ip and not pod.deleting:
                with suppress(ApiError):
                    await world.set_status(pod, _running(pod))
        for copy in world.all(VolumeSnapshot):
            if copy.status is None:
                ready = VolumeSnapshotStatus(
                    ready_to_use=True, restore_size=Quantity("1Gi"),
                    creation_time="2026-01-01T00:00:00Z",
                )  # fmt: skip
                with suppress(ApiError):
                    await world.set_status(copy, ready)
        await asyncio.sleep(STEP_SECONDS)


def _running(pod: Pod) -> PodStatus:
    told = tuple(
        ContainerStatus(
            name=each.name, ready=True, state=ContainerState(running=ContainerStateRunning())
        )
        for each in pod.spec.containers
    )
    return PodStatus(
        phase="Running", pod_ip="10.0.0.1", conditions=(READY,), container_statuses=told
    )


class _Nodes(Scenario):
    """One operator, and two nodes."""

    calm = 20.0

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        manager = Manager("cosmos-operator")
        controllers(manager, Options(), QuietNodes())
        return [manager]

    async def prepare(self, cluster: InProcessCluster) -> None:
        for each in first_objects():
            await cluster.client.apply(each)
        await cluster.install(CosmosFullNode, ScheduledVolumeSnapshot)

    def always(self, world: ScenarioWorld) -> None:
        names = [pod.metadata.name for pod in world.all(Pod)]
        assert len(names) == len(set(names)), "a pod is there twice"

    def normalise(self, document: Document) -> Document | None:
        # An ordinal alone is no reason to write: the RPC Service keeps the one it was made with.
        if document["kind"] == "Service":
            document["metadata"].get("annotations", {}).pop(ORDINAL, None)
        # Copies are named by the minute, and a disturbed one is made in another.
        if document["kind"] == "VolumeSnapshot":
            return None
        if document["kind"] == "ScheduledVolumeSnapshot":
            status = document.get("status", {})
            for word in ("lastSnapshot", "lastSuccess", "nextScheduleTime", "createdAt"):
                status.pop(word, None)
        return document


def _full_node(**given: object) -> CosmosFullNode:
    # Nothing gives addresses here, and for how long that is waited for is a question of time.
    inside = {"maxP2PExternalAddresses": 0}
    plain = full_node(metadata={"namespace": "default"}, **{"service": inside, **given})  # type: ignore[arg-type]
    return codec.decode(CosmosFullNode, msgspec.json.encode(plain))


class NodesLive(_Nodes):
    """Made, scaled up, given another image, scaled down.

    Of a removed instance the Service and the node key stay, but not beyond their owner: one that is
    made anew has others.
    """

    modes = tuple(mode for mode in FaultMode if mode is not FaultMode.PARENT_DELETED)

    async def script(self, world: ScenarioWorld) -> None:
        world.spawn(kubelet(world))
        await world.create(_full_node(replicas=1))
        await world.quiet()
        await world.edit(
            CosmosFullNode, "hub", lambda it: replace(it, spec=_full_node(replicas=2).spec)
        )
        await world.quiet()
        await world.edit(
            CosmosFullNode,
            "hub",
            lambda it: replace(it, spec=_full_node(replicas=1, image="gaia:v2").spec),
        )
        await world.quiet()


class NodesOfThreeMembers(_Nodes):
    """Three members: all of a namespace is one's. A node is rolled, another one goes."""

    replicas = 3
    modes = (*MEMBER_MODES, *CRASHES, FaultMode.LOST)

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        manager = Manager("cosmos-operator", shards=Shards(ranges=8))
        controllers(manager, Options(), QuietNodes())
        return [manager]

    async def script(self, world: ScenarioWorld) -> None:
        await world.quiet()
        world.spawn(kubelet(world))
        await world.create(_full_node(replicas=2))
        await world.quiet()
        await world.edit(
            CosmosFullNode,
            "hub",
            lambda it: replace(it, spec=_full_node(replicas=1, image="gaia:v2").spec),
        )
        await world.quiet()


class VolumeCopied(_Nodes):
    """Three nodes; the volume of one is copied, with its pod away, and the schedule goes."""

    bound = 600.0

    async def script(self, world: ScenarioWorld) -> None:
        world.spawn(kubelet(world))
        await world.create(_full_node(replicas=3))
        await world.quiet()
        await world.create(_schedule())
        # The first quarter of an hour begins when the schedule is seen.
        await world.quiet()
        await world.advance(910)
        await world.quiet()
        await world.delete(ScheduledVolumeSnapshot, "nightly")
        await world.quiet()

    def settled(self, world: ScenarioWorld) -> None:
        assert len(world.all(Pod)) == 3, "a pod did not come back"
        assert world.all(VolumeSnapshot), "no copy was made"


def _schedule() -> ScheduledVolumeSnapshot:
    return ScheduledVolumeSnapshot(
        metadata=named("nightly"),
        spec=SnapshotScheduleSpec(
            full_node_ref=FullNodeRef(name="hub"),
            schedule="@every 15m",
            volume_snapshot_class_name="standard",
            delete_pod=True,
        ),
    )


class FullNodeSpecs(SpecScenario, _Nodes):
    """Everything that can be said of a CosmosFullNode."""

    # Services outlive what they were made for, unless the user says otherwise.
    subject = _full_node(
        replicas=1, service={"maxP2PExternalAddresses": 0, "pruneOnScaleDown": True}
    )
    # A claim that was made keeps what it was made with, and so does an account.
    fixed = (
        "ordinals",
        "serviceAccountName",
        "volumeClaimTemplate.accessModes",
        "volumeClaimTemplate.autoDataSource",
        "volumeClaimTemplate.dataSource",
        "volumeClaimTemplate.metadata",
        "volumeClaimTemplate.storageClassName",
        "volumeClaimTemplate.volumeMode",
    )
    without_effect: Mapping[str, str] = {
        "chain.privvalSleepSeconds": "of a Sentry",
        "chain.upgradeGraceSeconds": "no upgrade is under way",
        "chain.watchUpgradePlans": "the chain plans no upgrade",
        "selfHeal": "the node is well",
        "service.p2pTemplate": "of addresses outside",
        "service.clusterDomain": "there is one instance, which has no peers",
        "service.pruneOnScaleDown": "there is one instance",
        "service.rpcTemplate.externalTrafficPolicy": "of addresses outside",
        "strategy.maxUnavailable": "there is one instance, which is ready",
        "strategy.partition": "there is one instance, which is ready",
        "strategy.progressDeadlineSeconds": "there is one instance, which is ready",
        "volumeRetentionPolicy": "it is about the deletion",
    }

    def hopeless(self, document: Document) -> bool:
        """What is there stays as it is while the server refuses what is wanted."""
        conditions = document.get("status", {}).get("conditions", {})
        return any(
            conditions.get(each, {}).get("status") == wrong
            for each, wrong in (("Ready", "False"), ("Degraded", "True"))
        )

    def normalise(self, document: Document) -> Document | None:
        """Of removed instances the configuration and the node key stay."""
        number = document["metadata"]["name"].rpartition("-")[2]
        kept = document["kind"] in ("ConfigMap", "Secret") and number not in ("", "0")
        return None if kept else super().normalise(document)

    async def surroundings(self, world: ScenarioWorld) -> None:
        world.spawn(kubelet(world))


class ScheduleSpecs(SpecScenario, _Nodes):
    """Everything that can be said of a ScheduledVolumeSnapshot."""

    subject = replace(_schedule(), spec=replace(_schedule().spec, schedule="@every 24h"))
    # What is due in the midst of a step is another step.
    fixed = ("schedule",)
    without_effect: Mapping[str, str] = {
        "fullNodeRef": "of a copy, and none is due",
        "limit": "of copies, and none is due",
        "minAvailable": "of a copy, and none is due",
        "snapshotTimeoutSeconds": "of a copy, and none is due",
        "volumeSnapshotClassName": "of a copy, and none is due",
    }

    async def surroundings(self, world: ScenarioWorld) -> None:
        world.spawn(kubelet(world))
        await world.create(_full_node(replicas=2))
