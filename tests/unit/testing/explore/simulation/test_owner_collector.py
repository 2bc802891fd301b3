"""Children go with their owners, in explored worlds too."""

from __future__ import annotations

import asyncio

import pytest

from quintant import ObjectMeta, owned, replace
from quintant.api.core import ConfigMap
from quintant.core.object import Object
from quintant.testing import InProcessCluster, named
from quintant.testing.explore.simulation.owner_collector import OwnerCollector


async def family(cluster: InProcessCluster) -> ConfigMap:
    """An owner with a child and a grandchild."""
    owner = await cluster.create(ConfigMap(metadata=named("owner")))
    child = await cluster.create(owned(ConfigMap(metadata=named("child")), by=owner))
    await cluster.create(owned(ConfigMap(metadata=named("grandchild")), by=child))
    await cluster.create(ConfigMap(metadata=named("stranger")))
    return owner


async def names(cluster: InProcessCluster) -> set[str]:
    await cluster.advance(10)
    return {each.metadata.name for each in await cluster.client.list(ConfigMap, "default")}


async def collected(cluster: InProcessCluster, act: Object, **how: bool) -> set[str]:
    """Who is left after a deletion."""
    collector = OwnerCollector(cluster.server, cluster.admin)
    task = asyncio.ensure_future(collector.run())
    await cluster.client.delete(act, **how)
    left = await names(cluster)
    assert not collector.busy
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return left


@pytest.mark.parametrize("foreground", [False, True])
async def test_who_has_no_owner_left_goes(cluster: InProcessCluster, foreground: bool) -> None:
    owner = await family(cluster)
    assert await collected(cluster, owner, foreground=foreground) == {"stranger"}


async def test_who_has_another_owner_stays(cluster: InProcessCluster) -> None:
    one = await cluster.create(ConfigMap(metadata=named("one")))
    two = await cluster.create(ConfigMap(metadata=named("two")))
    child = owned(ConfigMap(metadata=named("child")), by=one)
    both = (*child.metadata.owner_references, *_owner(two).metadata.owner_references)
    meta = ObjectMeta(name="child", namespace="default", owner_references=both)
    await cluster.create(ConfigMap(metadata=meta))
    assert await collected(cluster, one) == {"two", "child"}


def _owner(of: ConfigMap) -> ConfigMap:
    made = owned(ConfigMap(metadata=named("child")), by=of)
    (reference,) = made.metadata.owner_references
    plain = replace(reference, controller=None)
    return replace(made, metadata=replace(made.metadata, owner_references=(plain,)))
