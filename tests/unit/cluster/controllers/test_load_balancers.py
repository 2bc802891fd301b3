"""A service that wants to be reached from outside says where it is."""

from __future__ import annotations

import pytest

from quintant.api.core import Service
from quintant.cluster.common.labels import LOAD_BALANCER
from quintant.cluster.controllers import load_balancers
from quintant.core.object import replace
from quintant.runtime.manager.manager import Manager
from quintant.testing import InProcessCluster
from unit.cluster.controllers.service_samples import service


@pytest.fixture(autouse=True)
async def _controller(cluster: InProcessCluster) -> None:
    manager = Manager("kube-controller-manager")
    load_balancers.declare(manager)
    await cluster.run(manager)


def addresses(found: Service) -> list[str]:
    return [each.ip for each in found.status.load_balancer.ingress]


async def test_load_balancer_has_the_address_of_its_service(cluster: InProcessCluster) -> None:
    made = await cluster.create(service(type="LoadBalancer"))
    found = await cluster.eventually(Service, "web", until=lambda it: bool(addresses(it)))
    assert addresses(found) == [made.spec.cluster_ip]


async def test_address_goes_with_the_type(cluster: InProcessCluster) -> None:
    await cluster.create(service(type="LoadBalancer"))
    found = await cluster.eventually(Service, "web", until=lambda it: bool(addresses(it)))
    await cluster.client.patch(
        replace(found, spec=replace(found.spec, type="ClusterIP")), since=found
    )
    await cluster.eventually(Service, "web", until=lambda it: not addresses(it))


async def test_classes_of_others_are_left_to_them(cluster: InProcessCluster) -> None:
    await cluster.create(service(type="LoadBalancer", load_balancer_class="example.com/own"))
    await cluster.advance(5)
    assert addresses(await cluster.get(Service, "web")) == []


async def test_a_load_balancer_stays_pending_while_it_is_told_to(cluster: InProcessCluster) -> None:
    made = service(type="LoadBalancer")
    told = replace(made.metadata, annotations={LOAD_BALANCER: "pending"})
    found = await cluster.create(replace(made, metadata=told))
    await cluster.advance(60)
    assert addresses(await cluster.get(Service, "web")) == []
    well = replace(found, metadata=replace(found.metadata, annotations={}))
    await cluster.client.patch(well, since=found)
    found = await cluster.eventually(Service, "web", until=lambda it: bool(addresses(it)))
    await cluster.client.patch(replace(found, metadata=told), since=found)
    await cluster.eventually(Service, "web", until=lambda it: not addresses(it))
