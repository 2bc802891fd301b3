"""How the nodes of a CosmosFullNode are known to each other and to others. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from quintant.api.service import Service
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.builders.instances import instances, override_of
from quintant.operators.cosmos.builders.node_key_builder import NodeKey
from quintant.operators.cosmos.builders.service_builder import p2p_name, p2p_port

_DOMAIN = "cluster.local"
_BALANCED = "LoadBalancer"


@dataclass(frozen=True, slots=True)
class PeerAddress:
    """How a node is known to others."""

    node_id: str
    private: str
    """host:port within the cluster."""
    external: str = ""
    """host:port from outside; empty if it has none."""


def build_peers(
    full_node: CosmosFullNode, keys: Mapping[str, NodeKey], services: Iterable[Service]
) -> dict[str, PeerAddress]:
    """The node of every instance, by the instance's name."""
    live = {each.metadata.name: each for each in services}
    domain = full_node.spec.service.cluster_domain or _DOMAIN
    found = {}
    for instance in instances(full_node):
        service, port = p2p_name(full_node, instance.ordinal), p2p_port(full_node)
        host = f"{service}.{full_node.metadata.namespace}.svc.{domain}"
        given = override_of(full_node, instance.name).external_address
        outside = given or external_address(live.get(service), port)
        found[instance.name] = PeerAddress(keys[instance.name].node_id, f"{host}:{port}", outside)
    return found


def external_address(service: Service | None, port: int) -> str:
    """Where a load balancer is reached; empty if there is none, or it has no address yet."""
    if service is None or service.spec.type != _BALANCED:
        return ""
    for ingress in service.status.load_balancer.ingress[:1]:
        host = ingress.ip or ingress.hostname
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}" if host else ""
    return ""


def pending_services(full_node: CosmosFullNode, services: Iterable[Service]) -> tuple[str, ...]:
    """The load balancers of present instances that have no address yet."""
    names = {p2p_name(full_node, each.ordinal) for each in instances(full_node)}
    return tuple(
        each.metadata.name
        for each in services
        if each.metadata.name in names
        and each.spec.type == _BALANCED
        and not external_address(each, p2p_port(full_node))
    )
