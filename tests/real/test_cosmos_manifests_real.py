"""The Cosmos operator on a real kube-apiserver: installed with kubectl, under the role that brings.

Manifests of every field give exactly the objects that they give on the embedded server. There is no
node: pods are made and never run. The server's own RBAC and validation decide. VolumeSnapshots are
not installed there, until a test does.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

import msgspec
import pytest
import pytest_asyncio
from msgspec import structs

import patience
from envtest import RealCluster, provide
from envtest.binaries import KUBECTL
from quintant import Client, Config
from quintant.api.apps import Deployment
from quintant.api.batch import Job
from quintant.api.core import Namespace, Service
from quintant.api.events import Event
from quintant.api.rbac import RoleBinding
from quintant.api.snapshot import VolumeSnapshot
from quintant.client.config.user import Impersonate
from quintant.client.http.transport import HttpTransport
from quintant.core.errors import BadRequest, NotFound
from quintant.core.object import K, Object, ObjectMeta, replace
from quintant.core.resource import resource_of
from quintant.operators import OPERATORS
from quintant.operators.cosmos import controllers
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.scheduled_volume_snapshot import ScheduledVolumeSnapshot
from quintant.operators.cosmos.api.stateful_job import StatefulJob
from quintant.runtime.cache.manifests import Applier
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.manager import Manager
from quintant.testing.faults.transport import FaultTransport
from testbeds.cosmos import full_node
from testbeds.cosmos_manifests import OWNED, PRIORITY, Plain, manifest, owned
from testbeds.cosmos_real import is_settled
from testbeds.cosmos_rights import UNUSED
from testbeds.cosmos_unmanaged import NodesInSync, attended, snapshots_installed
from testbeds.rights import (
    FORBIDDEN,
    rights_missing,
    rights_of,
    rights_used,
    without_streams,
)

pytestmark = pytest.mark.realtime

NAMESPACE = "every-field"
PROGRAM = OPERATORS["cosmos"]
DEPLOYED = Path(__file__).parents[2] / "deploy/cosmos"
BUSY, BINDING = "busy", "hub-vc-rb"
REVISION = "app.kubernetes.io/revision"
Kubectl = Callable[..., None]


@pytest.fixture(scope="module")
def kubectl(real_cluster: RealCluster) -> Iterator[Kubectl]:
    """kubectl with the operator installed by it."""
    program = provide(os.environ, (KUBECTL,)) / KUBECTL

    def run(*words: str, given: str = "", must: bool = True) -> None:
        line = (str(program), "--kubeconfig", str(real_cluster.kubeconfig), *words)
        ran = subprocess.run(line, check=False, capture_output=True, text=True, input=given)
        assert ran.returncode == 0 or not must, ran.stderr

    run("apply", "-k", str(DEPLOYED))
    yield run
    # No operator and no controller is left that would let go of what is deleted.
    free = ("--type=merge", "-p", '{"metadata": {"finalizers": null}}')
    run("patch", "scheduledvolumesnapshots", "hourly", "-n", NAMESPACE, *free, must=False)
    run("delete", "--wait=false", "-k", str(DEPLOYED))
    home = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": PROGRAM.namespace}}
    place = f"/api/v1/namespaces/{PROGRAM.namespace}/finalize"
    run("replace", "--raw", place, "-f", "-", given=json.dumps(home))
    kinds = (CosmosFullNode, ScheduledVolumeSnapshot, StatefulJob)
    crds = [f"crd/{resource_of(kind).full_name}" for kind in kinds]
    run("wait", "--for=delete", "--timeout=60s", *crds)


@pytest_asyncio.fixture
async def account(real_cluster: RealCluster, kubectl: Kubectl) -> AsyncIterator[HttpTransport]:
    """The way of the operator's service account, which has the installed roles and no others."""
    config = Config.load(real_cluster.kubeconfig)
    user = Impersonate(user=f"system:serviceaccount:{PROGRAM.namespace}:{PROGRAM.name}")
    transport = HttpTransport(
        structs.replace(config, user=structs.replace(config.user, impersonate=user))
    )
    yield transport
    await transport.close()


async def change(
    client: Client, name: str, spec: dict[str, object], namespace: str = NAMESPACE
) -> None:
    headers = {"Content-Type": "application/merge-patch+json"}
    place = resource_of(CosmosFullNode).path(namespace)
    body = msgspec.json.encode({"spec": spec})
    await client.raw("PATCH", f"{place}/{name}", body=body, headers=headers)


async def children(client: Client, name: str, wanted: set[str]) -> None:
    """Wait until a CosmosFullNode owns exactly these."""
    full_node, found = await client.get(CosmosFullNode, name, NAMESPACE, live=True), set[str]()
    try:
        async with patience.within(60):
            while True:
                found = await owned(client, full_node)
                if found == wanted:
                    return
                await asyncio.sleep(0.1)
    except TimeoutError:
        assert found == wanted


async def reasons(client: Client, wanted: set[str]) -> None:
    """Wait until somebody was told all of these."""
    async with patience.within(30):
        while True:
            told = await client.list(Event, NAMESPACE, live=True)
            if wanted <= {each.reason for each in told}:
                return
            await asyncio.sleep(0.1)


async def listed(client: Client) -> None:
    """Wait until the server lists every kind of the definitions that were just installed."""
    resources = [resource_of(kind) for kind in (ScheduledVolumeSnapshot, StatefulJob)]
    wanted, found = {each.kind for each in resources}, set[str]()
    async with patience.within(30):
        while not wanted <= found:
            await asyncio.sleep(0.1)
            with suppress(NotFound):
                reply = await client.raw("GET", f"/apis/{resources[0].api_version}")
                found = {each["kind"] for each in msgspec.json.decode(reply)["resources"]}


async def test_every_manifest_gives_exactly_its_objects_and_no_right_is_missing(
    account: HttpTransport, client: Client
) -> None:
    (installed,) = await client.list(Deployment, PROGRAM.namespace, live=True)
    assert installed.metadata.name == PROGRAM.name
    await client.apply(Namespace(metadata=ObjectMeta(name=NAMESPACE)))
    await listed(client)
    apply = Applier(client.rest, "user", NAMESPACE).apply
    manager = Manager(PROGRAM.name)
    controllers(manager)
    async with manager.running(Environment(account)):
        await apply([PRIORITY, manifest("schedule"), manifest("job"), *map(manifest, OWNED)])
        for name, wanted in OWNED.items():
            await children(client, manifest(name)["metadata"]["name"], wanted)
        await change(client, "gaia", {"replicas": 1})
        await children(client, "gaia", _shrunk(OWNED["full"]))
        await reasons(client, {"MissingCRDs", "Error"})
    told = await client.list(Event, NAMESPACE, live=True)
    assert [each.note for each in told if "forbidden" in each.note.lower()] == []


def _shrunk(before: set[str]) -> set[str]:
    """Without the instances gaia-2 and gaia-3; the keys of nodes stay, in their ConfigMaps.

    gaia-1 is on its way, as its manifest asks for it: nobody here lets its old pod go.
    """
    gone = {"Pod/gaia-1"} | {
        f"{child}-{at}"
        for at in (2, 3)
        for child in (
            "Pod/gaia", "Pod/indexer", "Service/gaia-p2p", "PersistentVolumeClaim/pvc-gaia",
        )
    }  # fmt: skip
    return before - gone


GIB = 2**30
NUMBERS = full_node(
    claim={
        "resources": {"requests": {"storage": 100 * GIB}},
        "autoDataSource": {"matchInstance": True},
    },
    pod={"resources": {"requests": {"cpu": 2}}},
    selfHeal={"pvcAutoScale": {"usedSpacePercentage": 80, "increaseQuantity": 5, "maxSize": GIB}},
)  # fmt: skip
"""Amounts as numbers, and a source without labels: all of it valid for the original."""
MISSPELLED = [
    full_node(pod={"containers": [{"name": "node", "imagePulPolicy": "Always"}]}),
    full_node(pod={"volumes": [{"name": "a", "emptyDirr": {}}]}),
    full_node(additionalVersionedPods=[{"name": "a", "containers": [], "hostNetwrk": True}]),
]


@pytest.mark.usefixtures("kubectl")
async def test_a_field_that_pods_do_not_have_is_refused_and_numbers_are_amounts(
    client: Client,
) -> None:
    await client.apply(Namespace(metadata=ObjectMeta(name="test")))
    strict = "fieldValidation=Strict&dryRun=All"
    path = f"/apis/cosmos.strange.love/v1/namespaces/test/cosmosfullnodes?{strict}"
    await client.raw("POST", path, body=msgspec.json.encode(NUMBERS))
    for misspelled in MISSPELLED:
        with pytest.raises(BadRequest, match="unknown field"):
            await client.raw("POST", path, body=msgspec.json.encode(misspelled))


async def test_every_right_is_used_or_accounted_for_and_none_is_missing(
    account: HttpTransport, client: Client
) -> None:
    await client.apply(Namespace(metadata=ObjectMeta(name=BUSY)))
    sent = FaultTransport(account)
    async with snapshots_installed(client), attended(client, BUSY):
        async with operator(sent):
            await busy_day(client)
        with sent.answer(400, when=without_streams):
            await bind_elsewhere(client)
            async with operator(sent):
                await bound_back(client)
    held = rights_of("cosmos")
    assert [each.call for each in sent.calls if each.outcome == FORBIDDEN] == []
    assert rights_missing(sent.calls, held) == set()
    assert held - rights_used(sent.calls) == set(UNUSED)


@asynccontextmanager
async def operator(sent: FaultTransport) -> AsyncIterator[None]:
    """The operator as it is installed, with a lease, beside nodes that are well."""
    manager = Manager(PROGRAM.name, leader_elect=True)
    controllers(manager, remote=NodesInSync("cosmoshub-4"))
    async with manager.running(Environment(sent, namespace=PROGRAM.namespace)):
        yield


async def busy_day(client: Client) -> None:
    """Everything that needs a right of its own."""
    apply = Applier(client.rest, "user", BUSY).apply
    meta, service = {"namespace": BUSY}, {"pruneOnScaleDown": True, "maxP2PExternalAddresses": 0}
    await apply([full_node(metadata=meta, service=service)])
    await until(client, CosmosFullNode, "hub", is_settled)
    copies = {"fullNodeRef": {"name": "hub"}, "limit": 1, "schedule": "@every 1s"}
    selected = {"selector": {"cosmos.strange.love/source": "hourly"}}
    await apply([changed("schedule", **copies), changed("job", **selected)])
    await until(client, Job, "report", lambda _: True)
    first = await client.list(VolumeSnapshot, BUSY, live=True)
    await gone(client, first[0])
    await apply([changed("schedule", **copies, suspend=True)])
    surplus = await client.get(Service, "hub-p2p-2", BUSY, live=True)
    await change(client, "hub", {"replicas": 2}, BUSY)
    await gone(client, surplus)
    for most, phase in (("abc", "Error"), (1, "Complete")) * 2:
        await change(client, "hub", {"strategy": {"maxUnavailable": most}}, BUSY)
        await until(client, CosmosFullNode, "hub", partial(has_phase, phase))
    schedule = await client.get(ScheduledVolumeSnapshot, "hourly", BUSY, live=True)
    await client.delete(schedule)
    await gone(client, schedule)


async def bind_elsewhere(client: Client) -> None:
    """Have somebody bind the account of the pods to another role, which cannot be changed back."""
    binding = await client.get(RoleBinding, BINDING, BUSY, live=True)
    await client.delete(binding)
    await gone(client, binding)
    marks = {name: value for name, value in binding.metadata.labels.items() if name != REVISION}
    meta = replace(binding.metadata, uid="", resource_version="", labels=marks)
    await client.create(
        replace(binding, metadata=meta, role_ref=replace(binding.role_ref, name="another"))
    )


async def bound_back(client: Client) -> None:
    await until(client, RoleBinding, BINDING, lambda it: it.role_ref.name != "another")


def has_phase(phase: str, full_node: CosmosFullNode) -> bool:
    status = full_node.status
    current = status is not None and status.observed_generation == full_node.metadata.generation
    return current and status is not None and status.phase == phase


def changed(name: str, **spec: object) -> Plain:
    given = manifest(name)
    return {**given, "spec": {**given["spec"], **spec}}


async def until(client: Client, kind: type[K], name: str, holds: Callable[[K], bool]) -> None:
    async with patience.within(60):
        await client.wait_for(
            kind, name, BUSY, timeout=float("inf"), until=lambda it: it is not None and holds(it)
        )


async def gone(client: Client, obj: Object) -> None:
    async with patience.within(60):
        await client.wait_for(
            type(obj), obj.metadata.name, BUSY, timeout=float("inf"),
            until=lambda it: it is None or it.metadata.uid != obj.metadata.uid,
        )  # fmt: skip
