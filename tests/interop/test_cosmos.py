"""The Cosmos operator with what belongs to a real chain: a remote signer, copies, an upgrade.

Nodes are pods of the embedded cluster, and real ones: CometBFT with its kvstore, and simd, a chain
of the Cosmos SDK.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

import patience
from foreign import GoProgram, ProgramError
from foreign.catalogue import COMETBFT, PRIV_VAL_SERVER, SIMD
from foreign.process import Child
from interop.conftest import Aloud
from quintant.agents.cosmosnode.heights import stored_height
from quintant.api.batch import Job
from quintant.api.core import Pod, Service
from quintant.api.pod import ContainerStatus
from quintant.api.snapshot import VolumeSnapshot, VolumeSnapshotContent
from quintant.api.volume import PersistentVolumeClaim
from quintant.cluster.common.volume_paths import snapshot_directory, snapshot_handle
from quintant.core.clock import parse_timestamp
from quintant.operators.cosmos.api import PRIVVAL_PORT
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.runtime.manager.sample import example, manifests
from testbeds.comet_chains import Plain, Validator, answered, call, image_table, node_status
from testbeds.cosmos_real import (
    NAMESPACE,
    RealCosmosTestbed,
    example_node,
    opened,
    starts_of,
    upgrades_told,
)
from testbeds.real_cluster import GONE, history, revision
from testbeds.watched_history import watched_history

pytestmark = pytest.mark.realtime

COMET, SDK = "cometbft/cometbft", "ghcr.io/cosmos/ibc-go-simd"
PLAN = "quintant-v2"
FAR_BLOCKS = 120
"""From the proposal to its height: the time to vote, to be warned, and to name the version."""


@dataclass(frozen=True)
class Chain:
    """A validator that makes blocks, and a cluster to follow it in."""

    testbed: RealCosmosTestbed
    validator: Validator
    folder: Path


def provided(program: GoProgram, aloud: Aloud) -> Path:
    """A program, built where it is missing; without Go the test is skipped."""
    try:
        with aloud():
            return program.provide(os.environ)
    except ProgramError as error:
        pytest.skip(str(error))


@pytest_asyncio.fixture
async def kvstore(aloud: Aloud, tmp_path: Path) -> AsyncIterator[Chain]:
    program = provided(COMETBFT, aloud)
    with Validator.of_kvstore(program, tmp_path / "validator").running() as validator:
        async with opened(image_table(tmp_path, COMET, program)) as testbed:
            yield Chain(testbed, validator, tmp_path)


@pytest_asyncio.fixture
async def simd(aloud: Aloud, tmp_path: Path) -> AsyncIterator[Chain]:
    """A chain of the SDK; its image of tag v2 skips the upgrade at the height in a file."""
    program = provided(SIMD, aloud)
    handler = tmp_path / "simd"
    handler.write_text(
        f'#!/bin/sh\n[ "$1" = start ] || exec {program} "$@"\n'
        f'exec {program} "$@" --unsafe-skip-upgrades "$(cat {tmp_path}/height)"\n'
    )
    handler.chmod(0o755)
    second = {"image": f"{SDK}:v2", "command": "simd", "argv": [str(handler)]}
    with Validator.of_simd(program, tmp_path / "validator").running() as validator:
        async with opened(image_table(tmp_path, SDK, program, second)) as testbed:
            yield Chain(testbed, validator, tmp_path)


def node_state(pod: Pod) -> ContainerStatus:
    return next(each for each in pod.status.container_statuses if each.name == "node")


def ran_for(state: ContainerStatus) -> float:
    """Seconds that the program before this one ran."""
    ended = state.last_state.terminated
    assert ended is not None
    lived = parse_timestamp(ended.finished_at or "") - parse_timestamp(ended.started_at or "")
    return lived.total_seconds()


async def test_a_sentry_ends_without_its_signer_and_starts_with_it(
    aloud: Aloud, kvstore: Chain
) -> None:
    program = provided(PRIV_VAL_SERVER, aloud)
    testbed, name = kvstore.testbed, "sentry"
    kind = {"type": "Sentry", "replicas": 1, "chain": {"privvalSleepSeconds": 0}}
    await testbed.apply(example_node("kvstore", kvstore.validator, name, **kind, podTemplate={
        "image": f"{COMET}:v1", "containers": []}))  # fmt: skip

    pod = await testbed.until(Pod, "sentry-0", lambda it: bool(
        it.status.container_statuses and node_state(it).restart_count))  # fmt: skip
    assert not any(each.readiness_probe for each in pod.spec.containers)
    assert 2 <= ran_for(node_state(pod)) <= patience.seconds(10)
    said = await testbed.log("sentry-0", "node", previous=True)
    assert "can't get pubkey" in said

    keys = kvstore.folder / "signer"
    call(kvstore.validator.program, "init", "--home", keys)
    service = await testbed.client.get(Service, "sentry-privval-0", NAMESPACE, live=True)
    line = [
        *(str(program), "-addr", f"{service.spec.cluster_ip}:{PRIVVAL_PORT}"),
        *("-chain-id", kvstore.validator.chain),
        *("-priv-key", f"{keys}/config/priv_validator_key.json"),
        *("-priv-state", f"{keys}/data/priv_validator_state.json"),
    ]
    signer = Child(line, kvstore.folder / "signer.log")
    try:
        found = await testbed.settled(name, within=90)
    finally:
        signer.stop()
    assert found.status is not None
    assert found.status.sync["sentry-0"].in_sync


async def test_a_copy_of_a_stopped_node_becomes_a_fourth_node_and_a_job(kvstore: Chain) -> None:
    testbed, client, name = kvstore.testbed, kvstore.testbed.client, "kv"
    image = {"image": f"{COMET}:v1"}
    source = {"autoDataSource": {"volumeSnapshotSelector": {"cosmos.strange.love/source": "often"}}}
    await testbed.apply(
        example_node(
            "kvstore", kvstore.validator, name, podTemplate=image, volumeClaimTemplate=source
        )
    )
    await testbed.settled(name)
    before, since = await testbed.pods(name), await revision(client, Pod, NAMESPACE)
    await testbed.apply(schedule(name, "often"))
    copy = await first_copy(testbed)
    await testbed.apply(schedule(name, "often", suspend=True))
    await testbed.settled(name)

    candidate = copy.metadata.labels["app.kubernetes.io/instance"]
    assert (copy.spec.source.persistent_volume_claim_name) == f"pvc-{candidate}"
    born = int((await created(testbed, copy.metadata.name, since)).metadata.resource_version)
    assert candidate not in await present(testbed, before, since, born)
    height = await copied_height(testbed, copy)

    await testbed.change(name, {"replicas": 4})
    pod = await testbed.until(Pod, f"{name}-3", lambda it: bool(it.status.pod_ip))
    first = await answered(pod.status.pod_ip)
    assert first.height >= height > 0
    await testbed.settled(name)
    claim = await client.get(PersistentVolumeClaim, f"pvc-{name}-3", NAMESPACE, live=True)
    assert claim.spec.data_source is not None
    assert claim.spec.data_source.name == copy.metadata.name

    await testbed.apply(listing("list"))
    await testbed.until(Job, "list", lambda it: it.status.succeeded == 1)
    (ran,) = await client.list(Pod, NAMESPACE, labels={"job-name": "list"}, live=True)
    assert "blockstore.db" in await testbed.log(ran.metadata.name, "list")


def schedule(name: str, called: str, *, suspend: bool = False) -> Plain:
    """Copies as often as can be, with the pod away meanwhile."""
    return {
        "apiVersion": "cosmos.strange.love/v1alpha1",
        "kind": "ScheduledVolumeSnapshot",
        "metadata": {"name": called},
        "spec": {
            "fullNodeRef": {"name": name}, "schedule": "@every 5s", "deletePod": True,
            "volumeSnapshotClassName": "standard", "suspend": suspend,
        },
    }  # fmt: skip


def listing(name: str) -> Plain:
    """A StatefulJob that lists the data of a copy."""
    container = {
        "name": "list", "image": f"{COMET}:v1", "command": ["sh"],
        "args": ["-c", "ls /copied/data"],
        "volumeMounts": [{"name": "snapshot", "mountPath": "/copied"}],
    }  # fmt: skip
    return {
        "apiVersion": "cosmos.strange.love/v1alpha1",
        "kind": "StatefulJob",
        "metadata": {"name": name},
        "spec": {
            "selector": {"cosmos.strange.love/source": "often"},
            "podTemplate": {"spec": {"containers": [container]}},
            "volumeClaimTemplate": {"storageClassName": "standard"},
        },
    }


async def first_copy(testbed: RealCosmosTestbed) -> VolumeSnapshot:
    """The first copy that is ready."""
    async with patience.within(60):
        while True:
            for each in await testbed.client.list(VolumeSnapshot, NAMESPACE, live=True):
                if each.status is not None and each.status.ready_to_use:
                    return each
            await asyncio.sleep(0.2)


async def created(testbed: RealCosmosTestbed, name: str, since: str) -> VolumeSnapshot:
    """A copy as it was made."""
    told = await history(testbed.client, VolumeSnapshot, NAMESPACE, since)
    return next(each for _, each in told if each.metadata.name == name)


async def present(
    testbed: RealCosmosTestbed, before: Iterable[str], since: str, until: int
) -> set[str]:
    """The pods that were there at a revision, of those before and since another."""
    found = set(before)
    for what, pod in await history(testbed.client, Pod, NAMESPACE, since):
        if int(pod.metadata.resource_version) > until:
            break
        (found.discard if what == GONE else found.add)(pod.metadata.name)
    return found


async def copied_height(testbed: RealCosmosTestbed, copy: VolumeSnapshot) -> int:
    """The height of the data in a copy."""
    assert copy.status is not None
    bound = copy.status.bound_volume_snapshot_content_name or ""
    content = await testbed.client.get(VolumeSnapshotContent, bound, live=True)
    assert testbed.cluster.node is not None
    folder = snapshot_directory(testbed.cluster.node.storage, snapshot_handle(content))
    assert folder is not None
    return stored_height(folder / "data") or 0


async def test_an_upgrade_of_the_chain_and_a_node_that_joins_by_state_sync(simd: Chain) -> None:
    testbed, client, name = simd.testbed, simd.testbed.client, "app"
    async with (
        watched_history(client, CosmosFullNode, NAMESPACE) as nodes,
        watched_history(client, Pod, NAMESPACE) as pods,
    ):
        height = await upgrade(simd, name)
    wrote, began = upgrades_told(nodes, height), starts_of(pods, f"{SDK}:v2")
    assert sorted(began) == [f"{name}-{at}" for at in range(3)]
    assert [pod for pod, at in began.items() if at < wrote[pod]] == []
    for pod in (await testbed.pods(name)).values():
        assert (await node_status(pod.status.pod_ip)).height > height

    servers = [simd.validator.rpc, f"http://{name}-rpc:26657"]
    sync = {"stateSync": {"rpcServers": servers}}
    await testbed.change(name, {"replicas": 4, "chain": sync})
    await testbed.settled(name, within=150)
    joined = (await testbed.pods(name))[f"{name}-3"]
    assert (await node_status(joined.status.pod_ip)).earliest > 1


async def upgrade(simd: Chain, name: str) -> int:
    """Have the chain upgrade, as people do who are warned; at which height."""
    testbed = simd.testbed
    versions: list[Plain] = [{"height": 0, "image": f"{SDK}:v1"}]
    given = {"versions": versions, "watchUpgradePlans": False}
    await testbed.apply(example_node("simd", simd.validator, name, chain=given))
    await testbed.settled(name, within=90)
    before = await uids(testbed, name)

    height = await propose(simd.validator)
    decided = (await node_status(simd.validator.address)).height
    for pod in (await testbed.pods(name)).values():
        await answered(pod.status.pod_ip, decided)
    await testbed.change(name, {"chain": {"watchUpgradePlans": True}})
    missing = await testbed.until(CosmosFullNode, name, lambda it: warned(it) == "True")
    assert str(height) in told(missing)
    assert PLAN in told(missing)
    versions.append({"height": height, "image": f"{SDK}:v2"})
    await testbed.change(name, {"chain": {"versions": versions}})
    await testbed.until(CosmosFullNode, name, lambda it: warned(it) != "True")
    assert await uids(testbed, name) == before

    (simd.folder / "height").write_text(str(height))
    await testbed.until(
        CosmosFullNode, name, lambda it: bool(it.status and len(it.status.upgrade_info) == 3), 120
    )
    simd.validator.stop()
    simd.validator.arguments += ("--unsafe-skip-upgrades", str(height))
    simd.validator.start()
    await testbed.settled(name, within=120)
    return height


async def test_the_example_of_simd_is_a_chain_by_itself(aloud: Aloud, tmp_path: Path) -> None:
    program = provided(SIMD, aloud)
    async with opened(image_table(tmp_path, SDK, program)) as testbed:
        await testbed.apply(*manifests(example("cosmos/simd.yaml")))
        await testbed.settled("simd", within=90)
        for pod in (await testbed.pods("simd")).values():
            before = await answered(pod.status.pod_ip)
            assert before.network == "simd-1"
            await answered(pod.status.pod_ip, before.height + 1)


async def uids(testbed: RealCosmosTestbed, name: str) -> set[str]:
    return {pod.metadata.uid for pod in (await testbed.pods(name)).values()}


async def propose(validator: Validator) -> int:
    """Have the chain decide to upgrade; at which height."""
    height = (await answered(validator.address)).height + FAR_BLOCKS
    validator.send(
        *("upgrade", "software-upgrade", PLAN, "--upgrade-height", str(height), "--no-validate"),
        *("--title", "second", "--summary", "of two", "--deposit", "1stake"),
    )
    await answered(validator.address, height - FAR_BLOCKS + 3)
    validator.send("gov", "vote", "1", "yes")
    async with patience.within(60):
        while True:
            if PLAN in planned(validator):
                return height
            await asyncio.sleep(0.5)


def planned(validator: Validator) -> str:
    """What the chain has planned."""
    ways = "--node", f"tcp://{validator.address}:26657", "--home", validator.home
    return call(validator.program, "query", "upgrade", "plan", *ways)


def warned(full_node: CosmosFullNode) -> str:
    """Whether a planned upgrade is told that no version covers."""
    conditions = full_node.status.conditions if full_node.status else ()
    return next((each.status for each in conditions if each.type == "UpgradeMissing"), "")


def told(full_node: CosmosFullNode) -> str:
    assert full_node.status is not None
    return next(
        each.message for each in full_node.status.conditions if each.type == "UpgradeMissing"
    )
