"""Endpoints follow the pods behind services, and go with the service."""

from __future__ import annotations

import pytest

from quintant.api.core import (
    ContainerPort,
    EndpointAddress,
    EndpointPort,
    Endpoints,
    EndpointSubset,
    Namespace,
    ServicePort,
)
from quintant.api.meta import ObjectMeta
from quintant.cluster.controllers.endpoints import endpoints
from quintant.cluster.controllers.endpoints.backends import service_pods
from quintant.cluster.controllers.endpoints.endpoints import CAPACITY_ANNOTATION, MOST
from quintant.core.object import replace
from quintant.runtime.manager.manager import Manager
from quintant.testing import InProcessCluster, named
from unit.cluster.controllers.service_samples import pod, seen, service, started


@pytest.fixture(autouse=True)
async def _controller(cluster: InProcessCluster) -> None:
    manager = Manager("kube-controller-manager")
    endpoints.declare(manager)
    await cluster.run(manager)


def shown(found: Endpoints) -> list[tuple[list[str], list[str], list[int]]]:
    """Of each subset: ready addresses, the others, ports."""
    return [
        (
            [each.ip for each in subset.addresses],
            [each.ip for each in subset.not_ready_addresses],
            [port.port for port in subset.ports],
        )
        for subset in found.subsets
    ]


async def test_ready_pods_and_others_are_told_apart(cluster: InProcessCluster) -> None:
    await cluster.create(service())
    await started(cluster, pod("a"))
    await started(cluster, pod("b", "10.0.0.2", ready=False))
    going = await started(cluster, pod("c", "10.0.0.3"))
    await cluster.client.delete(going)
    await cluster.advance(0.1)
    found = await cluster.get(Endpoints, "web")
    assert shown(found) == [(["10.0.0.1"], ["10.0.0.2"], [8080])]
    assert found.metadata.labels == {"endpoints.kubernetes.io/managed-by": "endpoint-controller"}


async def test_pods_are_grouped_by_their_ports(cluster: InProcessCluster) -> None:
    await cluster.create(service("web", ServicePort(port=80, target_port="http")))
    for at in (1, 2):
        ports = (ContainerPort(name="http", container_port=1000 * at),)
        await started(cluster, pod(f"p{at}", f"10.0.0.{at}", ports=ports))
    await started(cluster, pod("without", "10.0.0.9"))
    await cluster.advance(0.1)
    found = await cluster.get(Endpoints, "web")
    assert shown(found) == [(["10.0.0.1"], [], [1000]), (["10.0.0.2"], [], [2000])]


async def test_headless_service_needs_no_ports(cluster: InProcessCluster) -> None:
    made = replace(service(), spec=replace(service().spec, cluster_ip="None", ports=()))
    await cluster.create(made)
    await started(cluster, pod("a"))
    await cluster.advance(0.1)
    assert shown(await cluster.get(Endpoints, "web")) == [(["10.0.0.1"], [], [])]


async def test_empty_service_has_empty_endpoints(cluster: InProcessCluster) -> None:
    await cluster.create(service())
    await cluster.eventually(Endpoints, "web", until=lambda found: not found.subsets)


async def test_endpoints_go_with_their_service(cluster: InProcessCluster) -> None:
    made = await cluster.create(service())
    await cluster.eventually(Endpoints, "web")
    await cluster.client.delete(made)
    await cluster.wait_deleted(Endpoints, "web")


async def test_endpoints_that_lost_their_service_while_nobody_looked_go(
    cluster: InProcessCluster,
) -> None:
    labels = {"endpoints.kubernetes.io/managed-by": "endpoint-controller"}
    await cluster.create(Endpoints(metadata=named("left", labels=labels)))
    await cluster.wait_deleted(Endpoints, "left")


async def test_endpoints_of_others_stay(cluster: InProcessCluster) -> None:
    subset = EndpointSubset(
        addresses=(EndpointAddress(ip="192.0.2.1"),), ports=(EndpointPort(port=80),)
    )
    await cluster.create(Endpoints(metadata=named("alone"), subsets=(subset,)))
    await cluster.create(Endpoints(metadata=named("own"), subsets=(subset,)))
    await cluster.create(service("own", selector={}))
    await cluster.advance(1)
    for name in ("alone", "own"):
        assert shown(await cluster.get(Endpoints, name)) == [(["192.0.2.1"], [], [80])]


def test_endpoints_have_a_limit_and_say_so() -> None:
    svc = service()
    svc = replace(svc, spec=replace(svc.spec, ip_families=("IPv4",)))
    many = [pod(f"p{at:05}", f"10.0.{at // 200}.{at % 200}", ready=at > 0) for at in range(1001)]
    found = service_pods(svc, map(seen, many))
    made = endpoints.endpoints(svc, found)
    ((ready, others, _),) = shown(made)
    assert (len(ready), len(others)) == (MOST, 0)
    assert made.metadata.annotations == {CAPACITY_ANNOTATION: "truncated"}


async def test_namespace_that_is_about_to_go_needs_no_endpoints(cluster: InProcessCluster) -> None:
    room = await cluster.create(Namespace(metadata=ObjectMeta(name="room")))
    hold = service("hold")
    meta = replace(hold.metadata, namespace="room", finalizers=("example.com/hold",))
    await cluster.create(replace(hold, metadata=meta))
    await cluster.eventually(Endpoints, "hold", "room")
    await cluster.client.delete(room)
    left = await cluster.client.find(Endpoints, "hold", "room")
    if left is not None:
        await cluster.client.delete(left)
    await cluster.advance(5)
    assert await cluster.client.find(Endpoints, "hold", "room") is None
