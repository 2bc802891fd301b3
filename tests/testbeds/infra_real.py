"""infra beside a real Infrastructure Manager, in real time; made clusters are real or modelled."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
import pytest_asyncio

import patience
from infrastructure_manager import InfrastructureManager
from quintant.api.core import Namespace
from quintant.core.object import ObjectMeta
from quintant.core.secret_hosts import url_host
from quintant.operators.infra.api import Cluster
from quintant.operators.infra.metrics import InfraMetrics
from quintant.operators.infra.options import Options
from quintant.operators.infra.remote import Remote, Targets
from quintant.operators.infra.remote.connections import ImProviders
from quintant.testing import InProcessCluster
from testbeds.infra import KINDS, KUBECONFIG, InfraTestbed
from testbeds.infrastructures import dummy_template, openstack_template
from testbeds.openstack import OpenStack
from testbeds.provider_proxy import ProviderProxy

REAL_OPTIONS = Options(
    dummy_clouds=True,
    poll_min=0.5,
    poll_max=3.0,
    observe_interval=5.0,
    global_secrets_namespace="infra-secrets",
)
TEXT = KUBECONFIG.replace("SERVER", "made.example.com")
LOOK_SECONDS = 0.05


def real_template(workers: int = 1) -> dict[str, Any]:
    """A template that IM understands, for its Dummy cloud."""
    found: dict[str, Any] = msgspec.json.decode(dummy_template(TEXT, workers))
    return found


@dataclass
class RealInfraTestbed(InfraTestbed):
    """The operator in a cluster of this process, with a real provider outside."""

    looks: Targets | None = None
    """How made clusters are looked at; modelled if nobody says."""
    providers: ImProviders = field(default_factory=lambda: ImProviders(InfraMetrics()))

    def remote(self) -> Remote:
        return Remote(self.providers, self.looks or self.targets)

    async def make(
        self, name: str = "one", workers: int = 1, *, tosca: Any = None, **spec: Any
    ) -> None:
        wanted = real_template(workers) if tosca is None else tosca
        await super().make(name, workers, tosca=wanted, **spec)

    async def scale(self, workers: int, name: str = "one") -> None:
        inputs = {"workers": {"default": workers}}
        await self.edit(name, tosca={"topology_template": {"inputs": inputs}})

    async def state(self, *states: str, name: str = "one", within: float = 40.0) -> Cluster:
        return await super().state(*states, name=name, within=patience.seconds(within))

    async def gone(self, name: str = "one", within: float = 60.0) -> None:
        await super().gone(name, within=patience.seconds(within))

    async def ready(self) -> None:
        """Create a provider, and a cloud of its own that has no machines."""
        await self.provider()
        await self.cloud()

    async def online(self, name: str = "one", workers: int = 1, **spec: Any) -> str:
        """A Cluster that is ONLINE, with all that it needs; its infrastructure."""
        await self.ready()
        await self.make(name, workers, **spec)
        await self.state("ONLINE", name=name, within=90)
        return await self.created(name)

    async def end(self, name: str = "one") -> None:
        """Delete a Cluster, and wait until it is gone."""
        await self.delete(name)
        await self.gone(name)

    async def at_openstack(self, cloud: OpenStack, password: str) -> None:
        """Create a provider, and a Cloud that is the small OpenStack."""
        await self.provider()
        self.hosts = (url_host(cloud.url),)
        await self.secret("os", username="user", password=password)
        auth = {
            "credentialsSecretRef": {"name": "os"},
            "userDomainName": "people",
            "project": {"name": "project", "domainID": "projects"},
        }
        stack = {"url": cloud.url, "auth": auth}
        spec = {"type": "openstack", "openstack": stack, "providerRef": {"name": "im"}}
        await self.create(
            {
                "apiVersion": "infra.quintant.dev/v1alpha1",
                "kind": "Cloud",
                "metadata": {"name": "0-os", "namespace": "default"},
                "spec": spec,
            }
        )

    async def condition(
        self, type: str, status: str, reason: str = "", *, name: str = "one", within: float = 60.0
    ) -> Cluster:
        found = patience.seconds(within)
        return await super().condition(type, status, reason, name=name, within=found)

    async def created(self, name: str = "one") -> str:
        """Wait until the provider has given an id."""
        found = await self.cluster.eventually(
            Cluster,
            name,
            until=lambda it: bool(it.status and it.status.cluster_id),
            within=patience.seconds(60),
        )
        assert found.status is not None
        return found.status.cluster_id


@asynccontextmanager
async def opened_at(
    url: str, *, looks: Targets | None = None, options: Options = REAL_OPTIONS, user: str = ""
) -> AsyncIterator[RealInfraTestbed]:
    """A testbed in which the operator is at work, with the provider at an address.

    To the provider it is a user of its own, so that it finds nothing of other tests.
    """
    cluster = InProcessCluster(rbac=True)
    await cluster.install(*KINDS)
    await cluster.create(Namespace(metadata=ObjectMeta(name="infra-secrets")))
    user = user or f"us-{uuid4().hex}"
    testbed = RealInfraTestbed(cluster, options, url=url, user=user, looks=looks)
    await testbed.start()
    try:
        yield testbed
    finally:
        await cluster.close()
        await testbed.providers.close()
        await asyncio.sleep(0)


def openstack_tosca(cloud: OpenStack, workers: int = 0) -> dict[str, Any]:
    """A template for the small OpenStack, whose front machine is a real cluster."""
    found: dict[str, Any] = msgspec.json.decode(openstack_template(cloud.seed.parts, workers))
    return found


@pytest_asyncio.fixture
async def provider_proxy(dummy_manager: InfrastructureManager) -> AsyncIterator[ProviderProxy]:
    """A proxy before the Infrastructure Manager, for one test."""
    async with ProviderProxy.before(dummy_manager.url) as proxy:
        yield proxy


@pytest_asyncio.fixture
async def real_infra(
    dummy_manager: InfrastructureManager, provider_proxy: ProviderProxy
) -> AsyncIterator[RealInfraTestbed]:
    """The operator behind the proxy; afterwards no machine is left that it had made."""
    async with opened_at(provider_proxy.url) as testbed:
        try:
            yield testbed
        finally:
            dummy_manager.set_faults()
        shown = await testbed.everything_shown()
    assert machines_of(dummy_manager, provider_proxy) == [], "machines are left"
    assert testbed.account is not None
    assert testbed.account.denied() == []
    # What is in a template everybody sees; what is in a Secret nobody.
    assert "file(/etc/passwd)" not in shown


def machines_of(manager: InfrastructureManager, proxy: ProviderProxy) -> list[str]:
    """The machines in the Dummy cloud that were asked for through a proxy."""
    made = set(proxy.created)
    return sorted(each for each in manager.ledger.machines if each.partition("/")[0] in made)


@pytest_asyncio.fixture
async def small_cloud(tmp_path: Path) -> AsyncIterator[OpenStack]:
    """A small OpenStack, whose front machines are real clusters."""
    async with OpenStack.serve(tmp_path, password="of;the='cloud\"") as cloud:
        yield cloud
