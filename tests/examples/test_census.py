"""The example of a program for production does what it says, with two replicas and a crash."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from examples_support import load_example
from quintant import ObjectMeta
from quintant.api.container import Container
from quintant.api.core import ConfigMap, Namespace, Pod
from quintant.api.pod import PodSpec, PodStatus
from quintant.cluster.controllers import controllers
from quintant.testing import InProcessCluster, kind, named, writes

example = load_example("07_census")
SPEC = PodSpec(containers=(Container(name="main", image="image"),))


@pytest.fixture(autouse=True)
def fresh_gauge() -> Iterator[None]:
    yield
    example.pods.clear()


async def pod(cluster: InProcessCluster, name: str, phase: str) -> Pod:
    created = await cluster.create(Pod(metadata=named(name), spec=SPEC))
    return await cluster.client.set_status(created, PodStatus(phase=phase))


def counts(**phases: str) -> Callable[[ConfigMap], bool]:
    return lambda census: census.data == phases


async def test_every_namespace_says_how_many_pods_it_has(cluster: InProcessCluster) -> None:
    engine = await cluster.run(example.manager)
    await pod(cluster, "a", "Running")
    await pod(cluster, "b", "Running")
    gone = await pod(cluster, "c", "Failed")
    await cluster.eventually(ConfigMap, "census", until=counts(Running="2", Failed="1"))
    assert b'census_pods{namespace="default",phase="Running"} 2.0' in engine.metrics.render()

    await cluster.client.delete(gone)
    await cluster.eventually(ConfigMap, "census", until=counts(Running="2"))
    assert b'phase="Failed"' not in engine.metrics.render()
    assert (await cluster.get(ConfigMap, "census", "kube-system")).data == {}


async def test_a_namespace_that_is_gone_has_no_series(cluster: InProcessCluster) -> None:
    await cluster.run(controllers())
    engine = await cluster.run(example.manager)
    space = await cluster.create(Namespace(metadata=ObjectMeta(name="team")))
    await cluster.create(Pod(metadata=named("a", "team"), spec=SPEC))
    await cluster.eventually(ConfigMap, "census", "team")
    await cluster.advance(1)
    assert b'namespace="team"' in engine.metrics.render()

    await cluster.client.delete(space)
    await cluster.wait_deleted(Namespace, "team", "")
    await cluster.advance(1)
    assert b'namespace="team"' not in engine.metrics.render()


async def test_a_second_replica_takes_over_when_the_first_one_crashes(
    cluster: InProcessCluster,
) -> None:
    first = await cluster.run(example.manager)
    await cluster.advance(1)
    await cluster.run(example.manager)
    await cluster.advance(60)
    before = len(cluster.faults.seen(writes & kind(ConfigMap)))

    await cluster.crash(first)
    await pod(cluster, "a", "Running")
    await cluster.advance(10)
    assert len(cluster.faults.seen(writes & kind(ConfigMap))) == before
    await cluster.eventually(ConfigMap, "census", until=counts(Running="1"), within=10)
