"""How nodes are known to others."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from quintant.api.core import Service
from quintant.core import codec
from quintant.operators.cosmos.builders.node_key_builder import build_node_key
from quintant.operators.cosmos.builders.peer_builder import (
    build_peers,
    external_address,
    pending_services,
)
from unit.operators.cosmos.full_nodes import full_node

KEYS = {f"hub-{at}": build_node_key(at.to_bytes(32, "big")) for at in range(2)}


def service(name: str, type: str, *ingress: dict[str, str]) -> Service:
    plain: dict[str, Any] = {
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": "test"},
        "spec": {"type": type}, "status": {"loadBalancer": {"ingress": ingress}},
    }  # fmt: skip
    return codec.decode(Service, msgspec.json.encode(plain))


@pytest.mark.parametrize(
    ("ingress", "address"),
    [
        ({"ip": "203.0.113.7"}, "203.0.113.7:26656"),
        ({"hostname": "lb.example.com"}, "lb.example.com:26656"),
        ({"ip": "203.0.113.7", "hostname": "lb.example.com"}, "203.0.113.7:26656"),
        ({"ip": "2001:db8::1"}, "[2001:db8::1]:26656"),
        ({}, ""),
    ],
)
def test_a_load_balancer_is_reached_by_its_address_or_else_its_name(
    ingress: dict[str, str], address: str
) -> None:
    assert external_address(service("a", "LoadBalancer", ingress), 26656) == address


def test_only_a_load_balancer_has_an_address_outside_and_is_waited_for() -> None:
    ports, balanced = service("hub-p2p-0", "NodePort"), service("hub-p2p-1", "LoadBalancer")
    surplus = service("hub-p2p-2", "LoadBalancer")
    assert external_address(ports, 26656) == ""
    found = pending_services(full_node(replicas=2), (ports, balanced, surplus))
    assert found == ("hub-p2p-1",)


def test_an_address_that_the_user_gives_is_of_that_instance_alone() -> None:
    given = {"hub-1": {"externalAddress": "1.2.3.4:5"}}
    peers = build_peers(full_node(replicas=2, instanceOverrides=given), KEYS, ())
    assert (peers["hub-0"].external, peers["hub-1"].external) == ("", "1.2.3.4:5")
    assert peers["hub-0"].private == "hub-p2p-0.test.svc.cluster.local:26656"
