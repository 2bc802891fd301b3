"""Gauges of the caches are what there is, at the moment somebody asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from quintant import Context, Manager
from quintant.api.core import ConfigMap
from quintant.runtime.manager.cache_gauges import Cached, CacheGauge, CacheGauges
from quintant.testing import InProcessCluster, named


def by_mode(cached: Cached) -> Mapping[str, float]:
    return Counter(each.data.get("mode", "") for each in cached.all(ConfigMap))


def gauges() -> CacheGauges:
    return CacheGauges(CacheGauge("configs", "ConfigMaps by mode.", "mode", by_mode))


def numbers(served: CacheGauges) -> dict[str, float]:
    return {
        sample.labels["mode"]: sample.value
        for metric in served.collect()
        for sample in metric.samples
    }


def test_there_is_nothing_before_the_caches_are() -> None:
    assert numbers(gauges()) == {}
    assert [metric.name for metric in gauges().describe()] == ["configs"]


async def test_numbers_are_those_of_the_caches_and_go_with_what_they_count(
    cluster: InProcessCluster,
) -> None:
    async def reconcile(config: ConfigMap, ctx: Context[ConfigMap]) -> None: ...

    served, manager = gauges(), Manager("configs")
    manager.add_collectors(served)
    manager.add(served.bind)
    manager.controls(ConfigMap).reconcile(reconcile)
    engine = await cluster.run(manager)
    for name, mode in (("a", "calm"), ("b", "calm"), ("c", "wild")):
        await cluster.create(ConfigMap(metadata=named(name), data={"mode": mode}))
    await cluster.advance(1)
    assert numbers(served) == {"calm": 2, "wild": 1}
    assert b'configs{mode="calm"} 2' in engine.metrics.render()
    await cluster.client.delete(await cluster.get(ConfigMap, "c"))
    await cluster.advance(1)
    assert numbers(served) == {"calm": 2}


async def test_only_the_replica_that_leads_tells_of_the_world(cluster: InProcessCluster) -> None:
    async def reconcile(config: ConfigMap, ctx: Context[ConfigMap]) -> None: ...

    async def started() -> CacheGauges:
        served, manager = gauges(), Manager("configs", leader_elect=True)
        manager.add(served.bind, leader=True)
        manager.controls(ConfigMap).reconcile(reconcile)
        await cluster.run(manager)
        return served

    leading, standing_by = await started(), await started()
    await cluster.create(ConfigMap(metadata=named("a"), data={"mode": "calm"}))
    await cluster.advance(5)
    assert numbers(leading) == {"calm": 1}
    assert numbers(standing_by) == {}
