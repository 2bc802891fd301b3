"""The memcached tutorial: pods as many as asked for, whatever goes wrong."""

from __future__ import annotations

from typing import Any

from examples_support import load_example
from quintant import Manager, replace
from quintant.api.apps import Deployment, DeploymentStatus
from quintant.api.meta import condition_of
from quintant.testing import (
    InProcessCluster,
    Scenario,
    ScenarioWorld,
    explore_scenario,
    kind,
    named,
    reconcile_once,
)

example = load_example("tutorials/memcached/memcached")
Memcached, MemcachedSpec = example.Memcached, example.MemcachedSpec


def asked(size: int) -> Any:
    return Memcached(metadata=named("a"), spec=MemcachedSpec(size=size))


def available(obj: Any) -> bool:
    status = obj.status
    found = condition_of(status.conditions, example.AVAILABLE) if status is not None else None
    return found is not None and found.status == "True"


def test_one_reconcile_applies_a_deployment_of_that_size() -> None:
    first, status = reconcile_once(example.make_manager(), asked(3)).writes
    assert first.body["spec"]["replicas"] == 3
    (container,) = first.body["spec"]["template"]["spec"]["containers"]
    assert container["command"] == ["memcached", "--port=11211", "--memory-limit=64"]
    assert status.body["status"]["ready"] == 0


async def serve(cluster: InProcessCluster, pods: int) -> None:
    """What the controllers of a cluster would say."""
    found = await cluster.get(Deployment, "a")
    await cluster.client.set_status(found, DeploymentStatus(replicas=pods, ready_replicas=pods))


async def test_it_is_available_when_all_pods_are_ready_and_not_before(
    cluster: InProcessCluster,
) -> None:
    await cluster.run(example.make_manager())
    await cluster.create(asked(2))
    await cluster.eventually(Deployment, "a")
    await serve(cluster, 1)
    await cluster.advance(1)
    assert not available(await cluster.get(Memcached, "a"))
    await serve(cluster, 2)
    await cluster.eventually(Memcached, "a", until=available)


async def test_a_crash_before_the_status_is_made_up_for(cluster: InProcessCluster) -> None:
    doomed = await cluster.run(example.make_manager())
    with cluster.faults.answer(503, when=kind(Memcached, sub="status")):
        await cluster.create(asked(1))
        await cluster.eventually(Deployment, "a")
        await cluster.crash(doomed)
    await serve(cluster, 1)
    await cluster.run(example.make_manager())
    await cluster.eventually(Memcached, "a", until=available)


async def test_who_scales_the_deployment_by_hand_is_set_right(cluster: InProcessCluster) -> None:
    await cluster.run(example.make_manager())
    await cluster.create(asked(2))
    found = await cluster.eventually(Deployment, "a")
    edited = replace(found, spec=replace(found.spec, replicas=5))
    await cluster.client.patch(edited, since=found)
    await cluster.eventually(Deployment, "a", until=lambda it: it.spec.replicas == 2)


class MemcachedLife(Scenario):
    """It is made, grows, and goes."""

    def managers(self, world: ScenarioWorld) -> list[Manager]:
        return [example.make_manager()]

    async def script(self, world: ScenarioWorld) -> None:
        await world.create(asked(1))
        await world.quiet()
        await world.edit(Memcached, "a", lambda it: replace(it, spec=MemcachedSpec(size=3)))
        await world.quiet()
        await world.delete(Memcached, "a")
        await world.quiet()

    def settled(self, world: ScenarioWorld) -> None:
        assert not world.all(Deployment), "a Deployment outlived its object"


def test_no_disturbance_of_a_life_can_be_seen_at_its_end() -> None:
    explore_scenario(MemcachedLife).check()
