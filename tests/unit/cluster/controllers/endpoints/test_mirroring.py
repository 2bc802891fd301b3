"""Endpoints that a user wrote are in slices, too."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from quintant.api.core import (
    EndpointAddress,
    EndpointPort,
    Endpoints,
    EndpointSubset,
    Service,
    ServicePort,
    ServiceSpec,
)
from quintant.api.discovery import SERVICE_LABEL, EndpointSlice
from quintant.cluster.controllers import garbage
from quintant.cluster.controllers.endpoints import mirroring
from quintant.cluster.controllers.endpoints.slices import MANAGER_LABEL
from quintant.core.object import replace
from quintant.runtime.manager.manager import Manager
from quintant.testing import InProcessCluster, named


@pytest.fixture(autouse=True)
async def _controllers(cluster: InProcessCluster) -> None:
    manager = Manager("kube-controller-manager")
    mirroring.declare(manager)
    garbage.declare(manager)
    await cluster.run(manager)


async def service(cluster: InProcessCluster, **selector: str) -> None:
    spec = ServiceSpec(selector=selector, ports=(ServicePort(name="http", port=80),))
    await cluster.create(Service(metadata=named("web"), spec=spec))


def endpoints(
    *ips: str,
    waiting: tuple[str, ...] = (),
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
) -> Endpoints:
    subset = EndpointSubset(
        addresses=tuple(EndpointAddress(ip=ip) for ip in ips),
        not_ready_addresses=tuple(EndpointAddress(ip=ip) for ip in waiting),
        ports=(EndpointPort(name="http", port=8080),),
    )
    metadata = named("web", labels=labels or {}, annotations=annotations or {})
    return Endpoints(metadata=metadata, subsets=(subset,))


async def mirrors(cluster: InProcessCluster) -> Sequence[EndpointSlice]:
    await cluster.advance(1)
    found = await cluster.client.list(EndpointSlice, "default", labels={SERVICE_LABEL: "web"})
    return sorted(found, key=lambda each: each.address_type)


def addresses(each: EndpointSlice) -> dict[str, bool | None]:
    return {listed.addresses[0]: listed.conditions.ready for listed in each.endpoints or ()}


async def test_addresses_and_ports_are_mirrored_and_followed(cluster: InProcessCluster) -> None:
    await service(cluster)
    made = await cluster.create(endpoints("10.1.2.3", waiting=("10.1.2.4",)))
    (mirror,) = await mirrors(cluster)
    assert mirror.metadata.name.startswith("web-")
    assert mirror.metadata.labels[MANAGER_LABEL] == mirroring.MANAGER
    assert addresses(mirror) == {"10.1.2.3": True, "10.1.2.4": False}
    assert [(port.name, port.port) for port in mirror.ports or ()] == [("http", 8080)]

    subsets = endpoints("10.2.3.4").subsets
    await cluster.client.apply(replace(made, subsets=subsets), force=True)
    (changed,) = await mirrors(cluster)
    assert changed.metadata.name == mirror.metadata.name
    assert addresses(changed) == {"10.2.3.4": True}

    await cluster.client.delete(made)
    assert await mirrors(cluster) == []


async def test_each_family_has_a_slice_of_its_own(cluster: InProcessCluster) -> None:
    await service(cluster)
    await cluster.create(endpoints("10.1.2.3", "2001:db8::1"))
    families = [each.address_type for each in await mirrors(cluster)]
    assert families == ["IPv4", "IPv6"]


async def test_labels_and_annotations_come_along_except_those_of_the_writer(
    cluster: InProcessCluster,
) -> None:
    await service(cluster)
    applied = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "team": "net"}
    await cluster.create(endpoints("10.1.2.3", labels={"tier": "db"}, annotations=applied))
    (mirror,) = await mirrors(cluster)
    assert mirror.metadata.labels["tier"] == "db"
    assert mirror.metadata.annotations == {"team": "net"}


@pytest.mark.parametrize(
    "given",
    [
        endpoints("10.1.2.3", labels={mirroring.SKIP_LABEL: "true"}),
        endpoints("10.1.2.3", annotations={mirroring.LEADER_ANNOTATION: "{}"}),
    ],
)
async def test_endpoints_that_are_not_to_be_mirrored_are_not(
    cluster: InProcessCluster, given: Endpoints
) -> None:
    await service(cluster)
    await cluster.create(given)
    assert await mirrors(cluster) == []


async def test_service_that_gets_a_selector_loses_its_mirrors(cluster: InProcessCluster) -> None:
    await service(cluster)
    await cluster.create(endpoints("10.1.2.3"))
    assert len(await mirrors(cluster)) == 1
    selecting = Service(metadata=named("web"), spec=ServiceSpec(selector={"app": "web"}))
    await cluster.client.apply(selecting, force=True)
    assert await mirrors(cluster) == []


async def test_endpoints_without_a_service_are_not_mirrored(cluster: InProcessCluster) -> None:
    await cluster.create(endpoints("10.1.2.3"))
    assert await mirrors(cluster) == []


async def test_nothing_is_written_again_while_nothing_changes(cluster: InProcessCluster) -> None:
    await service(cluster)
    await cluster.create(endpoints("10.1.2.3"))
    (before,) = await mirrors(cluster)
    await cluster.advance(3600)
    (after,) = await mirrors(cluster)
    assert after.metadata.resource_version == before.metadata.resource_version
