"""Services, endpoints and ingresses as kubectl shows them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from quintant.cluster.apiserver.response.printers import Printer
from quintant.cluster.apiserver.response.printers.network import (
    ENDPOINT_SLICE,
    ENDPOINTS,
    INGRESS,
    INGRESS_CLASS,
    NETWORK_POLICY,
    SERVICE,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def shown(printer: Printer, obj: dict[str, Any]) -> dict[str, Any]:
    names = (column.name for column in printer.columns)
    return dict(zip(names, printer.cells(obj, NOW), strict=True))


@pytest.mark.parametrize(
    ("spec", "status", "address"),
    [
        ({"type": "ClusterIP"}, {}, "<none>"),
        ({"type": "NodePort", "externalIPs": ["5.6.7.8"]}, {}, "5.6.7.8"),
        ({"type": "LoadBalancer"}, {}, "<pending>"),
        (
            {"type": "LoadBalancer"},
            {"loadBalancer": {"ingress": [{}, {"ip": "2.2.2.2"}]}},
            "2.2.2.2",
        ),
        (
            {"type": "LoadBalancer", "externalIPs": ["5.6.7.8"]},
            {"loadBalancer": {"ingress": [{"ip": "2.2.2.2"}, {"hostname": "1.example"}]}},
            "1.example,2.2.2.2,5.6.7.8",
        ),
        ({"type": "ExternalName", "externalName": "example.com"}, {}, "example.com"),
        ({}, {}, "<unknown>"),
    ],
)
def test_a_service_is_reached_from_outside_as_its_type_says(
    spec: dict[str, Any], status: dict[str, Any], address: str
) -> None:
    assert shown(SERVICE, {"spec": spec, "status": status})["External-IP"] == address


def test_a_service_tells_its_ports_and_whom_it_selects() -> None:
    ports = [{"port": 80, "nodePort": 30080, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}]
    spec = {"clusterIP": "10.0.0.1", "ports": ports, "selector": {"b": "2", "a": "1"}}
    row = shown(SERVICE, {"spec": spec})
    assert (row["Cluster-IP"], row["Port(s)"]) == ("10.0.0.1", "80:30080/TCP,53/UDP")
    assert row["Selector"] == "a=1,b=2"


def test_the_first_few_endpoints_are_named_and_the_others_counted() -> None:
    addresses = [{"ip": f"10.0.0.{number}"} for number in range(4)]
    subset = {"addresses": [*addresses, {"ip": "::1"}], "ports": [{"port": 80}]}
    row = shown(ENDPOINTS, {"subsets": [subset]})
    assert row["Endpoints"] == "10.0.0.0:80,10.0.0.1:80,10.0.0.2:80 + 2 more..."
    assert shown(ENDPOINTS, {})["Endpoints"] == "<none>"


def test_a_slice_without_ports_or_endpoints_has_them_unset() -> None:
    assert shown(ENDPOINT_SLICE, {"addressType": "IPv4"})["Ports"] == "<unset>"
    made = {"ports": [{"name": "web"}, {}], "endpoints": [{"addresses": ["10.0.0.1"]}]}
    row = shown(ENDPOINT_SLICE, made)
    assert (row["Ports"], row["Endpoints"]) == ("web,*", "10.0.0.1")


def test_an_ingress_tells_its_hosts_and_where_it_is_reached() -> None:
    rules = [{"host": f"{name}.example"} for name in "abcd"]
    balancers = {"ingress": [{"ip": "2.2.2.2"}, {"ip": "1.1.1.1"}]}
    row = shown(INGRESS, {"spec": {"rules": rules}, "status": {"loadBalancer": balancers}})
    assert row["Hosts"] == "a.example,b.example,c.example + 1 more..."
    assert (row["Address"], row["Ports"]) == ("1.1.1.1,2.2.2.2", "80")
    assert shown(INGRESS, {"spec": {"tls": [{}]}})["Ports"] == "80, 443"
    assert shown(INGRESS, {})["Hosts"] == "*"


def test_a_class_names_its_parameters_by_their_group() -> None:
    parameters = {"apiGroup": "e.com", "kind": "Foo", "name": "a"}
    assert shown(INGRESS_CLASS, {"spec": {"parameters": parameters}})["Parameters"] == "Foo.e.com/a"


def test_a_policy_tells_whom_it_selects() -> None:
    selector = {"matchLabels": {"a": "b"}}
    assert shown(NETWORK_POLICY, {"spec": {"podSelector": selector}})["Pod-Selector"] == "a=b"
    assert shown(NETWORK_POLICY, {"spec": {"podSelector": {}}})["Pod-Selector"] == "<none>"
