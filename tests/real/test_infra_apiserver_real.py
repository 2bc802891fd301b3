"""infra on a real kube-apiserver: its definitions are accepted, its rules hold, and its role.

The operator works under the role that is installed, and the server's own RBAC decides. The provider
and the made cluster are modelled.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from envtest import RealCluster
from quintant import Client
from quintant.api.coordination import Lease
from quintant.api.core import Secret
from quintant.core.errors import Invalid
from quintant.core.object import Object
from quintant.operators.infra.api import (
    FINALIZER,
    Cloud,
    Cluster,
    GlobalCloud,
    GlobalInfrastructureProvider,
    InfrastructureProvider,
)
from quintant.testing.faults.match import kind
from testbeds.infra import OPTIONS, tear_away, template
from testbeds.infra_installation import PROGRAM, InfraInstallation, installed_on
from testbeds.infra_rights import UNUSED
from testbeds.rights import FORBIDDEN, rights_missing, rights_of, rights_used, without_streams

pytestmark = pytest.mark.realtime

NAMESPACE, BUSY = "made-clusters", "made-clusters-busy"
TARGET = "made.example.com"
EAGER = {"observer": {"interval": "1s", "failureThreshold": 1}}
Plain = dict[str, Any]


@pytest_asyncio.fixture
async def infra(real_cluster: RealCluster, client: Client) -> AsyncIterator[InfraInstallation]:
    async with installed_on(real_cluster, client, NAMESPACE) as installation:
        yield installation


async def provided(infra: InfraInstallation) -> None:
    """A provider, and a cloud behind it."""
    await infra.secret("im-cred", infra.namespace)
    im = {"url": "http://im:8800", "credentialsSecretRef": {"name": "im-cred"}}
    await infra.create(InfrastructureProvider, "im", {"type": "im", "im": im})
    await infra.create(Cloud, "here", {"type": "dummy", "providerRef": {"name": "im"}})


async def provided_globally(infra: InfraInstallation) -> None:
    """The same for all namespaces."""
    home = OPTIONS.global_secrets_namespace
    await infra.secret("im-cred", home)
    ref = {"name": "im-cred", "namespace": home}
    im = {"url": "http://im:8800", "credentialsSecretRef": ref}
    await infra.create(GlobalInfrastructureProvider, "im", {"type": "im", "im": im})
    behind = {"kind": "GlobalInfrastructureProvider", "name": "im"}
    await infra.create(GlobalCloud, "far", {"type": "dummy", "providerRef": behind})


async def test_one_life_under_the_installed_role(infra: InfraInstallation) -> None:
    async with infra.at_work():
        await provided(infra)
        await infra.create(Cluster, "one", {"tosca": template()})
        found = await infra.state("ONLINE")
        assert found.metadata.finalizers == (FINALIZER,)
        assert found.status is not None
        assert found.status.last_applied_tosca == found.spec.tosca
        change = {"topology_template": {"inputs": {"wn_num": {"default": 3}}}}
        await infra.merge(Cluster, "one", {"spec": {"tosca": change}})
        await infra.state("RECONCILING")
        await infra.state("ONLINE")
        assert infra.model.running == ["front", "wn", "wn", "wn"]
        await infra.delete(Cluster, "one")
        assert infra.model.running == []
        assert await infra.client.find(Secret, "one-kubeconfig", NAMESPACE, live=True) is None


async def test_every_right_is_used_or_accounted_for_and_none_is_missing(
    real_cluster: RealCluster, client: Client
) -> None:
    async with installed_on(real_cluster, client, BUSY) as infra:
        for before in await client.list(Lease, PROGRAM.namespace, live=True):
            await client.delete(before)
        async with infra.at_work():
            await busy_week(infra)
        lost = await client.get(Cluster, "one", BUSY, live=True)
        await tear_away(client, lost)
        # A server that cannot stream a first state is asked for it by pages.
        with infra.sent.answer(422, when=without_streams):
            async with infra.at_work():
                await last_day(infra, lost)
    sent, held = infra.sent.calls, rights_of("infra")
    assert [each.call for each in sent if each.outcome == FORBIDDEN] == []
    assert rights_missing(sent, held) == set()
    assert held - rights_used(sent) == set(UNUSED)


async def busy_week(infra: InfraInstallation) -> None:
    """Whatever can happen to Clusters: here and elsewhere, small and large, healthy and not."""
    await provided_globally(infra)
    await provided(infra)
    await infra.create(Cluster, "one", {"tosca": template(), "cloudRef": {"name": "here"}, **EAGER})
    await infra.state("ONLINE")
    large = template() | {"description": "x" * 300_000}
    # Somebody else writes first, once.
    infra.sent.answer(409, when=kind(Cluster, name="two", sub="status"), times=1)
    far = {"kind": "GlobalCloud", "name": "far"}
    await infra.create(Cluster, "two", {"tosca": large, "cloudRef": far})
    await infra.state("ONLINE", "two")
    for _ in range(2):  # what is told twice is counted
        infra.targets.down.add(TARGET)
        await infra.state("OFFLINE")
        infra.targets.down.clear()
        await infra.state("ONLINE")
    secret = await infra.client.get(Secret, "one-kubeconfig", infra.namespace, live=True)
    await infra.merge(Secret, "one-kubeconfig", {"stringData": {"value": "edited"}})
    await infra.until(Secret, "one-kubeconfig", lambda it: it.data == secret.data)


async def last_day(infra: InfraInstallation, lost: Cluster) -> None:
    """A Cluster was lost, and the next one takes over what it had; then everything goes."""
    assert lost.status is not None
    adopts = {"adoptInfrastructureID": lost.status.cluster_id, "cloudRef": {"name": "here"}}
    await infra.create(Cluster, "one", {"tosca": template(), **adopts})
    await infra.state("ONLINE")
    assert infra.model.creations() == 2
    kinds: tuple[tuple[type[Object], str], ...] = (
        (Cluster, "one"), (Cluster, "two"), (Cloud, "here"), (GlobalCloud, "far"),
        (InfrastructureProvider, "im"), (GlobalInfrastructureProvider, "im"),
    )  # fmt: skip
    for each, name in kinds:
        await infra.delete(each, name)
    assert infra.model.running == []


REFUSED: dict[str, tuple[type[Object], Plain, str]] = {
    "nothing": (Cluster, {}, "spec.tosca"),
    "no kubeconfig": (
        Cluster,
        {"tosca": {"tosca_definitions_version": "1", "topology_template": {"outputs": {}}}},
        "spec.tosca.topology_template.outputs.kubeconfig",
    ),
    "metrics": (Cluster, {"tosca": template(), "metrics": {"a": 1}}, "spec.metrics"),
    "no openstack": (
        Cloud, {"type": "openstack", "providerRef": {"name": "im"}}, "spec.openstack"
    ),
    "a user in the address": (
        InfrastructureProvider,
        {"type": "im", "im": {"url": "http://me:pw@im", "credentialsSecretRef": {"name": "x"}}},
        "spec.im.url",
    ),
    "a Secret elsewhere": (
        InfrastructureProvider,
        {"type": "im", "im": {"url": "http://im", "credentialsSecretRef": {
            "name": "x", "namespace": "kube-system"}}},
        "spec.im.credentialsSecretRef",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
async def test_api_server_refuses(infra: InfraInstallation, name: str) -> None:
    refused_kind, spec, field = REFUSED[name]
    with pytest.raises(Invalid) as refused:
        await infra.create(refused_kind, "refused", spec)
    assert field in {cause.field for cause in refused.value.causes}
