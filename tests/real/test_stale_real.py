"""A cache that is behind makes a controller create the same child twice; on a real kube-apiserver.

Watch events of the children come five seconds late, while the parent changes all the time.
"""

from __future__ import annotations

import asyncio
from uuid import uuid4

import pytest

from envtest import RealCluster
from quintant import (
    Client,
    Context,
    Custom,
    Manager,
    Model,
    ObjectMeta,
    has_owner,
    owned,
    replace,
    resource,
)
from quintant.api.core import ConfigMap, Namespace
from quintant.client.http.transport import HttpTransport
from quintant.runtime.manager.install_crds import install_crds
from quintant.testing.faults.match import kind, verb, watch
from real.faulty_proxy import faulty_proxy

pytestmark = pytest.mark.realtime

NAMESPACE = "stale"
CHILDREN = 5
RECONCILES = 200
LATE_SECONDS = 5.0
# Long enough for late events to come in while the controller still works.
PAUSE_SECONDS = 3 * LATE_SECONDS / RECONCILES
PATIENCE_SECONDS = 60.0


class BroodSpec(Model):
    children: int


@resource(group="test.quintant.dev", version="v1")
class Brood(Custom[BroodSpec, Model]):
    """Has so many children, under names that nobody can guess."""


class Breeder:
    """Creates as many children as are missing in its cache."""

    def __init__(self) -> None:
        self.calls = 0
        self.enough = asyncio.Event()

    async def reconcile(self, obj: Brood, ctx: Context[Brood]) -> None:
        self.calls += 1
        for _ in range(obj.spec.children - len(await ctx.owned(ConfigMap))):
            meta = ObjectMeta.like(obj, name=f"{obj.metadata.name}-{ctx.random.id()}")
            await ctx.client.create(owned(ConfigMap(metadata=meta), by=obj))
        if self.calls >= RECONCILES:
            self.enough.set()

    def manager(self) -> Manager:
        manager = Manager("breeder", namespaces=[NAMESPACE])
        manager.controls(Brood).owns(ConfigMap).reconcile(self.reconcile)
        return manager


async def pester(client: Client, brood: Brood, enough: asyncio.Event) -> None:
    """Change the parent until the controller has looked often enough."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not enough.is_set():
            meta = replace(brood.metadata, annotations={"note": str(uuid4())})
            brood = await client.patch(replace(brood, metadata=meta), since=brood)
            await asyncio.sleep(PAUSE_SECONDS)


async def test_late_watch_creates_nothing_twice(
    real_cluster: RealCluster, transport: HttpTransport, client: Client
) -> None:
    await install_crds(transport, [Brood])
    await client.apply(Namespace(metadata=ObjectMeta(name=NAMESPACE)))
    breeder = Breeder()
    async with faulty_proxy(real_cluster) as faulty, breeder.manager().running(faulty.environment):
        with faulty.faults.lag(LATE_SECONDS, watch(ConfigMap)):
            meta = ObjectMeta(name="brood", namespace=NAMESPACE)
            brood = await client.create(Brood(metadata=meta, spec=BroodSpec(children=CHILDREN)))
            await pester(client, brood, breeder.enough)
    found = await client.list(ConfigMap, NAMESPACE)
    assert len([child for child in found if has_owner(child, brood)]) == CHILDREN
    created = faulty.faults.seen(verb("create") & kind(ConfigMap))
    assert [sent.outcome for sent in created] == [201] * CHILDREN
