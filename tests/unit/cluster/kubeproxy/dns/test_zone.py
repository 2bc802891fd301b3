"""What the names of services and pods mean."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from quintant.agents.dns.message import CNAME, PTR, SRV, A, DnsQuestion, ResponseCode
from quintant.agents.dns.message import SrvData as Target
from quintant.api.core import Service, ServicePort
from quintant.api.discovery import Endpoint, EndpointConditions, EndpointSlice, SlicePort
from quintant.cluster.kubeproxy.dns.zone import Zone, service_records
from quintant.cluster.kubeproxy.routes import RealServer, VirtualServer
from quintant.core.object import Request
from unit.cluster.controllers.service_samples import service

BASE = "web.default.svc.cluster.local"
KEY = Request("web", "default")
PORT = ServicePort(name="http", port=80, target_port=8080)


def straight(virtual_server: VirtualServer) -> RealServer:
    return RealServer(virtual_server.address, virtual_server.port)


def mapped(virtual_server: VirtualServer) -> RealServer:
    return RealServer(virtual_server.address, virtual_server.port + 20000)


def zone(svc: Service, slices: Iterable[EndpointSlice] = (), *, places: object = straight) -> Zone:
    made = Zone()
    made.put(KEY, service_records(svc, slices, places))  # type: ignore[arg-type]
    return made


def member(ip: str, hostname: str = "", *, ready: bool = True) -> Endpoint:
    state = EndpointConditions(ready=ready)
    return Endpoint(addresses=(ip,), hostname=hostname or None, conditions=state)


def slice_of(*members: Endpoint) -> EndpointSlice:
    port = SlicePort(name="http", port=8080, protocol="TCP")
    return EndpointSlice(address_type="IPv4", endpoints=members, ports=(port,))


def told(made: Zone, name: str, kind: int = A) -> list[object]:
    answer = made.answer(DnsQuestion(name, kind))
    assert answer.code is ResponseCode.DONE
    return [record.data for record in answer.records]


def test_service_has_its_address_and_ports() -> None:
    made = zone(service("web", PORT, cluster_ip="127.96.0.20"))
    assert told(made, BASE) == ["127.96.0.20"]
    for label in ("http", "80"):
        answer = made.answer(DnsQuestion(f"_{label}._tcp.{BASE}", SRV))
        assert [record.data for record in answer.records] == [Target(0, 100, 80, BASE)]
        assert [record.data for record in answer.extra] == ["127.96.0.20"]


def test_mapped_port_is_told_where_it_is() -> None:
    made = zone(service("web", PORT, cluster_ip="127.96.0.20"), places=mapped)
    assert told(made, f"_80._tcp.{BASE}", SRV) == [Target(0, 100, 20080, BASE)]


def test_mapped_address_has_a_name_of_its_own() -> None:
    places = lambda virtual_server: RealServer("127.0.0.1", 5)  # noqa: E731
    made = zone(service("web", PORT, cluster_ip="127.96.0.20"), places=places)
    answer = made.answer(DnsQuestion(f"_80._tcp.{BASE}", SRV))
    assert [record.data for record in answer.extra] == ["127.0.0.1"]


def test_headless_service_has_the_addresses_of_its_ready_pods() -> None:
    slices = [slice_of(member("10.0.0.1", "web-0"), member("10.0.0.2", ready=False))]
    made = zone(service("web", PORT, cluster_ip="None"), slices)
    assert told(made, BASE) == ["10.0.0.1"]
    assert told(made, f"web-0.{BASE}") == ["10.0.0.1"]
    assert told(made, f"_http._tcp.{BASE}", SRV) == [Target(0, 100, 8080, f"web-0.{BASE}")]
    assert made.answer(DnsQuestion(f"web-1.{BASE}", A)).code is ResponseCode.NO_NAME


def test_addresses_of_services_and_of_pods_of_headless_ones_have_names() -> None:
    made = zone(service("web", PORT, cluster_ip="127.96.0.20"))
    assert told(made, "20.0.96.127.in-addr.arpa", PTR) == [BASE]
    headless = [slice_of(member("10.0.0.1", "web-0"), member("10.0.0.2"))]
    made.put(KEY, service_records(service("web", PORT, cluster_ip="None"), headless, straight))
    assert told(made, "1.0.0.10.in-addr.arpa", PTR) == [f"web-0.{BASE}"]
    assert told(made, "2.0.0.10.in-addr.arpa", PTR) == [f"10-0-0-2.{BASE}"]
    gone = made.answer(DnsQuestion("20.0.96.127.in-addr.arpa", PTR))
    assert gone.code is ResponseCode.REFUSED


def test_external_name_stands_for_another() -> None:
    made = zone(service("web", type="ExternalName", external_name="Example.com."))
    assert told(made, BASE, A) == ["example.com"]
    assert told(made, BASE, CNAME) == ["example.com"]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("example.com", ResponseCode.REFUSED),
        ("other.default.svc.cluster.local", ResponseCode.NO_NAME),
        ("default.svc.cluster.local", ResponseCode.DONE),
        ("cluster.local", ResponseCode.DONE),
        ("10-0-0-1.default.pod.cluster.local", ResponseCode.DONE),
        ("10-0-0.default.pod.cluster.local", ResponseCode.NO_NAME),
    ],
)
def test_names_exist_or_not_or_are_none_of_ours(name: str, code: ResponseCode) -> None:
    made = zone(service("web", PORT, cluster_ip="127.96.0.20"))
    assert made.answer(DnsQuestion(name, A)).code is code


def test_service_that_is_gone_leaves_no_name() -> None:
    made = zone(service("web", PORT, cluster_ip="127.96.0.20"))
    made.put(KEY, ())
    for name in (BASE, f"_80._tcp.{BASE}", "default.svc.cluster.local"):
        assert made.answer(DnsQuestion(name, A)).code is ResponseCode.NO_NAME
