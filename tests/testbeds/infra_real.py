"""infra beside a real Infrastructure Manager, in real time; made clusters are real or modelled."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec

import patience
from quintant.api.core import Namespace
from quintant.core.object import ObjectMeta
from quintant.operators.infra.api import Cluster
from quintant.operators.infra.metrics import InfraMetrics
from quintant.operators.infra.options import Options
from quintant.operators.infra.remote import Remote, Targets
from quintant.operators.infra.remote.connections import ImProviders
from quintant.testing import InProcessCluster
from testbeds.infra import KINDS, KUBECONFIG, InfraTestbed
from testbeds.infrastructures import dummy_template

REAL_OPTIONS = Options(dummy_clouds=True, poll_min=0.5, poll_max=3.0, observe_interval=5.0)
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

    async def created(self, name: str = "one") -> str:
        """Wait until the provider has given an id."""
        found = await self.cluster.eventually(
            Cluster,
            name,
            until=lambda it: bool(it.status and it.status.cluster_id),
            within=patience.seconds(30),
        )
        assert found.status is not None
        return found.status.cluster_id


@asynccontextmanager
async def opened_at(
    url: str, *, looks: Targets | None = None, options: Options = REAL_OPTIONS
) -> AsyncIterator[RealInfraTestbed]:
    """A testbed in which the operator is at work, with the provider at an address."""
    cluster = InProcessCluster(rbac=True)
    await cluster.install(*KINDS)
    await cluster.create(Namespace(metadata=ObjectMeta(name="infra-secrets")))
    testbed = RealInfraTestbed(cluster, options, url=url, looks=looks)
    await testbed.start()
    try:
        yield testbed
    finally:
        await cluster.close()
        await testbed.providers.close()
        await asyncio.sleep(0)
