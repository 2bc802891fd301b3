"""The Services of a CosmosFullNode: one for the peers of each node, one for RPC. Pure.

A sentry has a further one, through which its signer connects before the node is ready.
"""

from __future__ import annotations

from quintant.api.service import Service, ServicePort, ServiceSpec
from quintant.operators.cosmos.api import (
    API_PORT,
    GRPC_PORT,
    GRPC_WEB_PORT,
    INSTANCE_LABEL,
    NAME_LABEL,
    P2P,
    PRIVVAL,
    PRIVVAL_PORT,
    ROSETTA_PORT,
    RPC,
)
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.builders.instances import (
    LABEL_LENGTH,
    Instance,
    app_name,
    instances,
    is_sentry,
    labels,
    metadata,
    to_dns_label,
    trim_middle,
)
from quintant.wire.comet import P2P_PORT, RPC_PORT, listen_port

_CLUSTER, _BALANCED, _NODE_PORT = "ClusterIP", "LoadBalancer", "NodePort"


def p2p_port(full_node: CosmosFullNode) -> int:
    """Where nodes listen for peers."""
    return listen_port(full_node.spec.chain.config.p2p_listen_address, P2P_PORT)


def rpc_port(full_node: CosmosFullNode) -> int:
    """Where nodes listen for RPC."""
    return listen_port(full_node.spec.chain.config.rpc_listen_address, RPC_PORT)


def p2p_name(full_node: CosmosFullNode, ordinal: int) -> str:
    """The Service through which peers reach an instance."""
    return to_dns_label(f"{app_name(full_node)}-p2p-{ordinal}")


def build_services(full_node: CosmosFullNode) -> tuple[Service, ...]:
    """All Services, in the order of their ordinals."""
    nodes = instances(full_node)
    most = full_node.spec.service.max_p2p_external_addresses
    external = min(1 if most is None else most, len(nodes))
    built = [_p2p(full_node, each, external=each.index < external) for each in nodes]
    if is_sentry(full_node):
        built += [_privval(full_node, each, len(nodes) + each.index) for each in nodes]
    return (*built, _rpc(full_node, len(built)))


def _p2p(full_node: CosmosFullNode, instance: Instance, *, external: bool) -> Service:
    template = full_node.spec.service.p2p_template
    ports = (_port(P2P, p2p_port(full_node)),)
    if external:
        kind = template.type or _BALANCED
        outside = kind in (_BALANCED, _NODE_PORT)
        spec = ServiceSpec(
            type=kind,
            ports=ports,
            selector=_selector(instance),
            external_traffic_policy=(template.external_traffic_policy or "Local")
            if outside
            else "",
        )
        given = template.metadata
    else:
        spec = ServiceSpec(
            type=_CLUSTER, ports=ports, selector=_selector(instance), cluster_ip=template.cluster_ip
        )
        given = type(template.metadata)()
    marks = labels(full_node, P2P, instance=instance.name)
    name = p2p_name(full_node, instance.ordinal)
    return Service(metadata=metadata(full_node, name, marks, instance.index, given), spec=spec)


def _privval(full_node: CosmosFullNode, instance: Instance, at: int) -> Service:
    name = to_dns_label(f"{app_name(full_node)}-privval-{instance.ordinal}")
    marks = labels(full_node, PRIVVAL, instance=instance.name)
    spec = ServiceSpec(
        type=_CLUSTER,
        ports=(
            ServicePort(
                name="sentry-privval", port=PRIVVAL_PORT, protocol="TCP", target_port="privval"
            ),
        ),
        selector=_selector(instance),
        # A signer connects before its node is ready: without it the node never will be.
        publish_not_ready_addresses=True,
    )
    template = full_node.spec.service.p2p_template.metadata
    return Service(metadata=metadata(full_node, name, marks, at, template), spec=spec)


def _rpc(full_node: CosmosFullNode, at: int) -> Service:
    template = full_node.spec.service.rpc_template
    ports = {
        "api": API_PORT, "rosetta": ROSETTA_PORT, "grpc": GRPC_PORT,
        "rpc": rpc_port(full_node), "grpc-web": GRPC_WEB_PORT,
    }  # fmt: skip
    kind = template.type or _CLUSTER
    spec = ServiceSpec(
        type=kind,
        ports=(*(_port(name, number) for name, number in ports.items()), *template.ports),
        selector={NAME_LABEL: trim_middle(app_name(full_node), LABEL_LENGTH)},
        cluster_ip=template.cluster_ip,
        external_traffic_policy=template.external_traffic_policy or ""
        if kind in (_BALANCED, _NODE_PORT)
        else "",
    )
    name = to_dns_label(f"{app_name(full_node)}-rpc")
    return Service(
        metadata=metadata(full_node, name, labels(full_node, RPC), at, template.metadata), spec=spec
    )


def _port(name: str, number: int) -> ServicePort:
    return ServicePort(name=name, port=number, protocol="TCP", target_port=name)


def _selector(instance: Instance) -> dict[str, str]:
    return {INSTANCE_LABEL: trim_middle(instance.name, LABEL_LENGTH)}
