"""A kind that may not be installed: the program works without it, and with it once it is there."""

from __future__ import annotations

from quintant.api.core import ConfigMap
from quintant.api.snapshot import VolumeSnapshot, VolumeSnapshotSource, VolumeSnapshotSpec
from quintant.cluster.volumes.crds import first_objects
from quintant.core.object import ObjectMeta, Request
from quintant.runtime.manager.manager import Manager
from quintant.runtime.reconcile.context import Context
from quintant.testing import InProcessCluster

SPEC = VolumeSnapshotSpec(source=VolumeSnapshotSource(persistent_volume_claim_name="data"))


async def test_an_optional_kind_holds_no_start_back_and_is_followed_once_it_is_installed(
    cluster: InProcessCluster,
) -> None:
    seen: list[tuple[bool, int]] = []

    async def reconcile(_: ConfigMap, ctx: Context[ConfigMap]) -> None:
        served = ctx.client.is_served(VolumeSnapshot)
        seen.append((served, len(await ctx.client.list(VolumeSnapshot))))

    manager = Manager("patient")
    (
        manager.controls(ConfigMap)
        .watches(VolumeSnapshot, to=lambda it: (Request("a", "default"),), optional=True)
        .reconcile(reconcile)
    )
    await cluster.create(ConfigMap(metadata=ObjectMeta(name="a")))
    await cluster.run(manager)
    await cluster.advance(1)
    assert seen[-1] == (False, 0)
    for definition in first_objects():
        await cluster.client.apply(definition)
    await cluster.advance(60)
    await cluster.create(VolumeSnapshot(metadata=ObjectMeta(name="copy"), spec=SPEC))
    await cluster.advance(1)
    assert seen[-1] == (True, 1)
