"""Services are those of the original: names, ports, selectors, types."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.api.service import Service
from quintant.operators.cosmos.builders.service_builder import build_services
from unit.operators.cosmos.full_nodes import full_node


def built(**given: Any) -> dict[str, Service]:
    return {each.metadata.name: each for each in build_services(full_node(**given))}


def test_every_node_has_a_service_for_peers_and_all_have_one_for_rpc() -> None:
    found = built(replicas=2)
    assert list(found) == ["hub-p2p-0", "hub-p2p-1", "hub-rpc"]
    assert found["hub-p2p-0"].spec.selector == {"app.kubernetes.io/instance": "hub-0"}
    assert [(p.name, p.port, p.target_port) for p in found["hub-p2p-0"].spec.ports] == [
        ("p2p", 26656, "p2p")
    ]
    assert found["hub-rpc"].spec.selector == {"app.kubernetes.io/name": "hub"}
    ports = [(port.name, port.port, port.target_port) for port in found["hub-rpc"].spec.ports]
    assert ports == [
        ("api", 1317, "api"), ("rosetta", 8080, "rosetta"), ("grpc", 9090, "grpc"),
        ("rpc", 26657, "rpc"), ("grpc-web", 9091, "grpc-web"),
    ]  # fmt: skip
    components = [each.metadata.labels["app.kubernetes.io/component"] for each in found.values()]
    assert components == ["p2p", "p2p", "rpc"]
    ordinals = [each.metadata.annotations["app.kubernetes.io/ordinal"] for each in found.values()]
    assert ordinals == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("most", "types"),
    [(None, ["LoadBalancer", "ClusterIP", "ClusterIP"]), (0, ["ClusterIP"] * 3),
     (2, ["LoadBalancer", "LoadBalancer", "ClusterIP"]), (10, ["LoadBalancer"] * 3)],
)  # fmt: skip
def test_the_first_instances_are_reached_from_outside(most: int | None, types: list[str]) -> None:
    given = {} if most is None else {"maxP2PExternalAddresses": most}
    template = {"metadata": {"labels": {"out": "yes"}}}
    found = build_services(full_node(service={**given, "p2pTemplate": template}))[:3]
    assert [each.spec.type for each in found] == types
    outside = [each.spec.type == "LoadBalancer" for each in found]
    assert [each.spec.external_traffic_policy == "Local" for each in found] == outside
    assert ["out" in each.metadata.labels for each in found] == outside


def test_a_traffic_policy_is_only_for_services_that_have_one() -> None:
    inside = build_services(full_node(service={"p2pTemplate": {"type": "ClusterIP"}}))[0]
    assert inside.spec.external_traffic_policy == ""
    ports = build_services(full_node(service={"p2pTemplate": {"type": "NodePort"}}))[0]
    assert ports.spec.external_traffic_policy == "Local"


def test_a_sentry_has_a_service_for_its_signer_before_it_is_ready() -> None:
    found = built(replicas=2, type="Sentry")
    assert list(found) == [
        "hub-p2p-0", "hub-p2p-1", "hub-privval-0", "hub-privval-1", "hub-rpc",
    ]  # fmt: skip
    signer = found["hub-privval-1"]
    assert signer.spec.publish_not_ready_addresses
    assert [(p.name, p.port, p.target_port) for p in signer.spec.ports] == [
        ("sentry-privval", 1234, "privval")
    ]
    assert signer.metadata.labels["app.kubernetes.io/component"] == "cosmos-sentry"


def test_ports_follow_the_listen_addresses() -> None:
    config = {"rpcListenAddress": "tcp://0.0.0.0:27147", "p2pListenAddress": "tcp://0.0.0.0:27146"}
    found = built(replicas=1, chain={"config": config})
    assert found["hub-p2p-0"].spec.ports[0].port == 27146
    assert found["hub-rpc"].spec.ports[3].port == 27147


def test_no_instances_leave_the_service_for_rpc() -> None:
    assert list(built(replicas=0)) == ["hub-rpc"]


def test_ordinals_begin_where_the_user_says_and_the_first_is_outside() -> None:
    found = built(replicas=3, ordinals={"start": 2})
    assert list(found) == ["hub-p2p-2", "hub-p2p-3", "hub-p2p-4", "hub-rpc"]
    assert found["hub-p2p-2"].spec.type == "LoadBalancer"


def test_the_rpc_service_takes_what_its_template_says() -> None:
    template = {
        "type": "NodePort", "ports": [{"name": "evm", "port": 8545, "protocol": "TCP"}],
        "externalTrafficPolicy": "Cluster", "metadata": {"annotations": {"a": "b"}},
    }  # fmt: skip
    found = built(replicas=1, service={"rpcTemplate": template})["hub-rpc"]
    assert found.spec.type == "NodePort"
    assert found.spec.ports[-1].name == "evm"
    assert found.spec.external_traffic_policy == "Cluster"
    assert found.metadata.annotations["a"] == "b"
