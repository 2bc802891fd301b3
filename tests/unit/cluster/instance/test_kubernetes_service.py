"""The API server is a service of its own cluster, wherever it listens."""

from __future__ import annotations

import pytest

from quintant.api.core import Endpoints, Service
from quintant.api.discovery import EndpointSlice
from quintant.api.kubernetes.networking_v1 import ServiceCIDR
from quintant.cluster.host.loopback import FIRST
from quintant.cluster.instance.kubernetes_service import advertise
from quintant.core.address import BindAddress
from quintant.testing import InProcessCluster


@pytest.mark.parametrize(
    ("host", "address", "family"),
    [
        ("127.0.0.1", "127.0.0.1", "IPv4"),
        ("localhost", "127.0.0.1", "IPv4"),
        ("::1", "::1", "IPv6"),
    ],
)
async def test_server_says_where_it_is(
    cluster: InProcessCluster, host: str, address: str, family: str
) -> None:
    await advertise(cluster.server, BindAddress(host, 7443), FIRST.services)
    service = await cluster.get(Service, "kubernetes")
    assert (service.spec.cluster_ip, service.spec.ports[0].target_port) == (FIRST.api, 7443)
    (subset,) = (await cluster.get(Endpoints, "kubernetes")).subsets
    assert [each.ip for each in subset.addresses] == [address]
    found = await cluster.get(EndpointSlice, "kubernetes")
    assert found.address_type == family
    assert [endpoint.addresses for endpoint in found.endpoints or ()] == [(address,)]


async def test_server_that_comes_back_elsewhere_says_so(cluster: InProcessCluster) -> None:
    await advertise(cluster.server, BindAddress("127.0.0.1", 7443), FIRST.services)
    await advertise(cluster.server, BindAddress("127.0.0.1", 7444), FIRST.services)
    (subset,) = (await cluster.get(Endpoints, "kubernetes")).subsets
    assert [port.port for port in subset.ports] == [7444]
    assert (await cluster.get(Service, "kubernetes")).spec.ports[0].target_port == 7444


async def test_the_range_of_services_is_the_one_of_the_cluster(cluster: InProcessCluster) -> None:
    for port in (7443, 7444):
        await advertise(cluster.server, BindAddress("127.0.0.1", port), FIRST.services)
    found = await cluster.client.get(ServiceCIDR, "kubernetes")
    assert found.spec.cidrs == (str(FIRST.services),)
