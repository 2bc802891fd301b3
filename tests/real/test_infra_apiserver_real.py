"""infra on a real kube-apiserver: its definitions are accepted, its rules hold, and one life.

The operator works under its generated role, and the server's own RBAC decides. The provider and the
made cluster are modelled.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
import pytest_asyncio
from msgspec import structs

import patience
from envtest import RealCluster
from quintant import Client, Config
from quintant.api.core import Namespace, Secret
from quintant.client.config.user import Impersonate
from quintant.client.http.transport import HttpTransport
from quintant.core.errors import Invalid
from quintant.core.object import ObjectMeta
from quintant.operators.infra import controllers
from quintant.operators.infra.api import FINALIZER, Cluster
from quintant.operators.infra.remote import Remote
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.install_crds import install_crds
from quintant.runtime.manager.manager import Manager
from quintant.runtime.manager.rbac import manager_rbac
from testbeds.infra import KINDS, OPTIONS, PASSWORD, ModelledTargets, template
from testbeds.modelled_provider import ModelledProvider

pytestmark = pytest.mark.realtime

NAME, NAMESPACE = "infra-under-test", "made-clusters"
GROUP = "/apis/infra.quintant.dev/v1alpha1"
Plain = dict[str, Any]


@pytest_asyncio.fixture
async def account(real_cluster: RealCluster, client: Client) -> AsyncIterator[HttpTransport]:
    """The way of the operator's service account, which has the generated role and no other."""
    await install_crds(client.rest.transport, list(KINDS))
    await client.apply(Namespace(metadata=ObjectMeta(name=NAMESPACE)))
    manager = _manager(ModelledProvider())
    for obj in manager_rbac(manager.settings, manager.declarations, "default"):
        await client.apply(obj)
    config = Config.load(real_cluster.kubeconfig)
    user = Impersonate(user=f"system:serviceaccount:default:{NAME}")
    transport = HttpTransport(
        structs.replace(config, user=structs.replace(config.user, impersonate=user))
    )
    yield transport
    await transport.close()


def _manager(model: ModelledProvider) -> Manager:
    manager = Manager(NAME)
    options = structs.replace(OPTIONS, poll_min=0.3, observe_interval=3.0)
    controllers(manager, options, Remote(model.at, ModelledTargets(delay=0.1)))
    return manager


async def _create(client: Client, kind: str, name: str, spec: Plain) -> None:
    meta = {"name": name, "namespace": NAMESPACE}
    body = {"apiVersion": "infra.quintant.dev/v1alpha1", "kind": kind, "metadata": meta}
    await client.raw(
        "POST",
        f"{GROUP}/namespaces/{NAMESPACE}/{kind.lower()}s",
        body=msgspec.json.encode({**body, "spec": spec}),
        headers={"Content-Type": "application/json"},
    )


async def test_one_life_under_the_generated_role(account: HttpTransport, client: Client) -> None:
    model = ModelledProvider()
    labels = {"infra.quintant.dev/watch": "true"}
    meta = ObjectMeta(name="im-cred", namespace=NAMESPACE, labels=labels)
    await client.apply(Secret(metadata=meta, string_data={"username": "us", "password": PASSWORD}))
    async with _manager(model).running(Environment(account)):
        im = {"url": "http://im:8800", "credentialsSecretRef": {"name": "im-cred"}}
        await _create(client, "InfrastructureProvider", "im", {"type": "im", "im": im})
        await _create(client, "Cloud", "here", {"type": "dummy", "providerRef": {"name": "im"}})
        await _create(client, "Cluster", "one", {"tosca": template()})
        found = await _until(client, "ONLINE")
        assert found.metadata.finalizers == (FINALIZER,)
        assert found.status is not None
        assert found.status.last_applied_tosca == found.spec.tosca
        change = {"topology_template": {"inputs": {"wn_num": {"default": 3}}}}
        await client.raw(
            "PATCH",
            f"{GROUP}/namespaces/{NAMESPACE}/clusters/one",
            body=msgspec.json.encode({"spec": {"tosca": change}}),
            headers={"Content-Type": "application/merge-patch+json"},
        )
        await _until(client, "RECONCILING")
        await _until(client, "ONLINE")
        assert model.running == ["front", "wn", "wn", "wn"]
        await client.delete(await client.get(Cluster, "one", NAMESPACE))
        await client.wait_for(
            Cluster, "one", NAMESPACE, until=lambda it: it is None, timeout=patience.seconds(60)
        )
        assert model.running == []
        assert await client.find(Secret, "one-kubeconfig", NAMESPACE, live=True) is None


async def _until(client: Client, state: str) -> Cluster:
    found = await client.wait_for(
        Cluster,
        "one",
        NAMESPACE,
        until=lambda it: bool(it and it.status and it.status.state == state),
        timeout=patience.seconds(60),
    )
    assert found is not None
    return found


REFUSED: dict[str, tuple[str, Plain, str]] = {
    "nothing": ("Cluster", {}, "spec.tosca"),
    "no kubeconfig": (
        "Cluster",
        {"tosca": {"tosca_definitions_version": "1", "topology_template": {"outputs": {}}}},
        "spec.tosca.topology_template.outputs.kubeconfig",
    ),
    "metrics": ("Cluster", {"tosca": template(), "metrics": {"a": 1}}, "spec.metrics"),
    "no openstack": (
        "Cloud", {"type": "openstack", "providerRef": {"name": "im"}}, "spec.openstack"
    ),
    "a user in the address": (
        "InfrastructureProvider",
        {"type": "im", "im": {"url": "http://me:pw@im", "credentialsSecretRef": {"name": "x"}}},
        "spec.im.url",
    ),
    "a Secret elsewhere": (
        "InfrastructureProvider",
        {"type": "im", "im": {"url": "http://im", "credentialsSecretRef": {
            "name": "x", "namespace": "kube-system"}}},
        "spec.im.credentialsSecretRef",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
async def test_api_server_refuses(account: HttpTransport, client: Client, name: str) -> None:
    kind, spec, field = REFUSED[name]
    with pytest.raises(Invalid) as refused:
        await _create(client, kind, "refused", spec)
    assert field in {cause.field for cause in refused.value.causes}
