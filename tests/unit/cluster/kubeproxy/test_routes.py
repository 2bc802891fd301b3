"""What is behind a service: ready pods, else those that still serve, else nobody."""

from __future__ import annotations

import pytest

from quintant.api.core import ClientIPConfig, ServicePort, SessionAffinityConfig
from quintant.api.discovery import Endpoint, EndpointConditions, EndpointSlice, SlicePort
from quintant.cluster.host.loopback import FIRST
from quintant.cluster.kubeproxy.routes import (
    AFFINITY_SECONDS,
    RealServer,
    VirtualServer,
    service_routes,
)
from unit.cluster.controllers.service_samples import service

READY = EndpointConditions(ready=True, serving=True, terminating=False)
UNREADY = EndpointConditions(ready=False, serving=False, terminating=False)
GOING = EndpointConditions(ready=False, serving=True, terminating=True)
HTTP = SlicePort(name="", port=8080, protocol="TCP")


def slice_of(*members: tuple[str, EndpointConditions], port: SlicePort = HTTP) -> EndpointSlice:
    endpoints = tuple(Endpoint(addresses=(ip,), conditions=state) for ip, state in members)
    return EndpointSlice(address_type="IPv4", endpoints=endpoints, ports=(port,))


def addresses(*members: tuple[str, EndpointConditions]) -> list[str]:
    (route,) = service_routes(service(cluster_ip="127.96.0.20"), [slice_of(*members)], FIRST)
    return [real_server.address for real_server in route.real_servers]


def test_connections_go_to_ready_backends() -> None:
    assert addresses(("10.0.0.1", READY), ("10.0.0.2", UNREADY), ("10.0.0.3", GOING)) == [
        "10.0.0.1"
    ]


def test_backend_that_is_going_away_is_better_than_none() -> None:
    assert addresses(("10.0.0.2", UNREADY), ("10.0.0.3", GOING)) == ["10.0.0.3"]


def test_unready_backends_get_nothing() -> None:
    assert addresses(("10.0.0.2", UNREADY)) == []


def test_condition_that_nobody_stated_counts_as_ready() -> None:
    assert addresses(("10.0.0.2", EndpointConditions())) == ["10.0.0.2"]


@pytest.mark.parametrize(
    "address", ["0.0.0.0", "127.0.0.1", "127.97.0.20", "8.8.8.8", "::", "127.96.0.20.", "localhost"]
)
def test_service_with_an_address_outside_the_share_has_no_routes(address: str) -> None:
    given = service("web", ServicePort(port=80, node_port=30080), cluster_ip=address)
    assert service_routes(given, [slice_of(("10.0.0.1", READY))], FIRST) == ()


@pytest.mark.parametrize("address", ["", "None"])
def test_service_without_an_address_has_no_routes(address: str) -> None:
    assert service_routes(service(cluster_ip=address), [slice_of(("10.0.0.1", READY))], FIRST) == ()


def test_each_port_has_its_own_backends_and_node_port() -> None:
    ports = (
        ServicePort(name="a", port=80, target_port=1, node_port=30080),
        ServicePort(name="b", port=81, target_port=2, protocol="UDP"),
    )
    one = slice_of(("10.0.0.1", READY), port=SlicePort(name="a", port=1, protocol="TCP"))
    two = slice_of(("10.0.0.1", READY), port=SlicePort(name="b", port=2, protocol="UDP"))
    found = service_routes(service("web", *ports, cluster_ip="127.96.0.20"), [one, two], FIRST)
    assert {route.virtual_server: route.real_servers for route in found} == {
        VirtualServer("TCP", "127.96.0.20", 80): (RealServer("10.0.0.1", 1),),
        VirtualServer("TCP", FIRST.host, 30080): (RealServer("10.0.0.1", 1),),
        VirtualServer("UDP", "127.96.0.20", 81): (RealServer("10.0.0.1", 2),),
    }


@pytest.mark.parametrize(
    ("config", "seconds"),
    [
        (None, AFFINITY_SECONDS),
        (SessionAffinityConfig(client_ip=ClientIPConfig(timeout_seconds=7)), 7),
    ],
)
def test_affinity_lasts_as_long_as_the_service_says(
    config: SessionAffinityConfig | None, seconds: float
) -> None:
    (route,) = service_routes(
        service(cluster_ip="127.96.0.20", session_affinity="ClientIP",
                session_affinity_config=config), [], FIRST
    )  # fmt: skip
    assert route.affinity == seconds
