"""What NetworkPolicies mean for pods, and what the kernel is told of it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from quintant.api.kubernetes.networking_v1 import NetworkPolicy
from realcluster.network_policy.nftables import REFUSED, table
from realcluster.network_policy.rules import Network, PodEndpoint, Ports, Traffic

WEB = PodEndpoint("a", "10.244.1.1", {"app": "web"}, {("TCP", "http"): 8080})
PEER = PodEndpoint("a", "10.244.1.2", {"app": "peer"})
STRANGER = PodEndpoint("b", "10.244.2.1", {"app": "web"}, {("TCP", "http"): 9090})
NETWORK = Network((WEB, PEER, STRANGER), {"a": {"team": "one"}, "b": {"team": "two"}})
ONLY_WEB = {"matchLabels": {"app": "web"}}


def policy(**spec: Any) -> NetworkPolicy:
    document = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "p", "namespace": "a"},
        "spec": {"podSelector": ONLY_WEB, **spec},
    }
    return msgspec.convert(document, NetworkPolicy)


def allowed(pod: PodEndpoint, *policies: NetworkPolicy) -> dict[str, set[Traffic]]:
    return {each.direction: set(each.allowed) for each in NETWORK.isolations(policies, [pod])}


def test_a_pod_that_no_policy_selects_may_do_everything() -> None:
    assert allowed(PEER, policy(ingress=[])) == {}
    assert allowed(STRANGER, policy(ingress=[])) == {}, "another namespace"


@pytest.mark.parametrize(
    ("spec", "directions"),
    [
        ({}, {"Ingress"}),
        ({"egress": [{}]}, {"Ingress", "Egress"}),
        ({"policyTypes": ["Egress"]}, {"Egress"}),
    ],
)
def test_a_policy_isolates_in_the_directions_that_it_names(
    spec: dict[str, Any], directions: set[str]
) -> None:
    assert allowed(WEB, policy(**spec)).keys() == directions


@pytest.mark.parametrize(
    ("peer", "addresses"),
    [
        ({"podSelector": {}}, ("10.244.1.1", "10.244.1.2")),
        ({"namespaceSelector": {}}, ("10.244.1.1", "10.244.1.2", "10.244.2.1")),
        ({"namespaceSelector": {"matchLabels": {"team": "two"}}}, ("10.244.2.1",)),
        ({"namespaceSelector": {}, "podSelector": ONLY_WEB}, ("10.244.1.1", "10.244.2.1")),
        ({"ipBlock": {"cidr": "192.0.2.0/24"}}, ("192.0.2.0/24",)),
    ],
)
def test_a_peer_is_who_its_selectors_take(peer: dict[str, Any], addresses: tuple[str, ...]) -> None:
    assert allowed(WEB, policy(ingress=[{"from": [peer]}])) == {"Ingress": {Traffic(addresses)}}


def test_who_selects_nobody_lets_nobody_in() -> None:
    nobody = {"podSelector": {"matchLabels": {"app": "none"}}}
    assert allowed(WEB, policy(ingress=[{"from": [nobody]}])) == {"Ingress": set()}
    assert allowed(WEB, policy(ingress=[{}])) == {"Ingress": {Traffic()}}, "everyone"


def test_a_named_port_is_that_of_the_pod_that_is_connected_to() -> None:
    named = [{"port": "http"}]
    incoming = allowed(WEB, policy(ingress=[{"ports": named}]))
    assert incoming == {"Ingress": {Traffic(ports=(Ports("TCP", 8080, 8080),))}}
    outgoing = allowed(WEB, policy(policyTypes=["Egress"], egress=[{"ports": named}]))
    assert outgoing == {
        "Egress": {
            Traffic(("10.244.1.1",), (), (Ports("TCP", 8080, 8080),)),
            Traffic(("10.244.2.1",), (), (Ports("TCP", 9090, 9090),)),
        }
    }
    assert allowed(WEB, policy(ingress=[{"ports": [{"port": "grpc"}]}])) == {"Ingress": set()}


def test_what_any_of_several_policies_allows_is_allowed() -> None:
    first = policy(ingress=[{"ports": [{"port": 1}]}])
    second = policy(ingress=[{"ports": [{"port": 2, "endPort": 4, "protocol": "UDP"}]}])
    assert allowed(WEB, first, second) == {
        "Ingress": {Traffic(ports=(Ports("TCP", 1, 1),)), Traffic(ports=(Ports("UDP", 2, 4),))}
    }


def test_a_table_returns_what_is_allowed_and_refuses_the_rest() -> None:
    block = {"cidr": "0.0.0.0/0", "except": ["192.0.2.0/24"]}
    made = policy(
        policyTypes=["Ingress", "Egress"],
        ingress=[{"ports": [{"port": "http"}], "from": [{"podSelector": {}}]}],
        egress=[{"to": [{"ipBlock": block}, {"ipBlock": {"cidr": "::/0"}}]}],
    )
    text = table(NETWORK.isolations([made], [WEB, PEER]))
    assert "ip saddr { 10.244.1.1, 10.244.1.2 } tcp dport 8080-8080 return" in text
    assert "ip daddr != { 192.0.2.0/24 } ip daddr { 0.0.0.0/0 } return" in text
    assert "ip saddr vmap { 10.244.1.1 : jump egress_10_244_1_1 }" in text
    assert "ip daddr vmap { 10.244.1.1 : jump ingress_10_244_1_1 }" in text
    assert text.count(REFUSED) == 2
    assert "::" not in text
