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


def p2p_port(crd: CosmosFullNode) -> int:
    """Where nodes listen for peers."""
    return listen_port(crd.spec.chain.config.p2p_listen_address, P2P_PORT)


def rpc_port(crd: CosmosFullNode) -> int:
    """Where nodes listen for RPC."""
    return listen_port(crd.spec.chain.config.rpc_listen_address, RPC_PORT)


def p2p_name(crd: CosmosFullNode, ordinal: int) -> str:
    """The Service through which peers reach an instance."""
    return to_dns_label(f"{app_name(crd)}-p2p-{ordinal}")


def build_services(crd: CosmosFullNode) -> tuple[Service, ...]:
    """All Services, in the order of their ordinals."""
    nodes = instances(crd)
    most = crd.spec.service.max_p2p_external_addresses
    external = min(1 if most is None else most, len(nodes))
    built = [_p2p(crd, each, external=each.index < external) for each in nodes]
    if is_sentry(crd):
        built += [_privval(crd, each, len(nodes) + each.index) for each in nodes]
    return (*built, _rpc(crd, len(built)))


def _p2p(crd: CosmosFullNode, instance: Instance, *, external: bool) -> Service:
    template = crd.spec.service.p2p_template
    ports = (_port(P2P, p2p_port(crd)),)
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
    marks = labels(crd, P2P, instance=instance.name)
    name = p2p_name(crd, instance.ordinal)
    return Service(metadata=metadata(crd, name, marks, instance.index, given), spec=spec)


def _privval(crd: CosmosFullNode, instance: Instance, at: int) -> Service:
    name = to_dns_label(f"{app_name(crd)}-privval-{instance.ordinal}")
    marks = labels(crd, PRIVVAL, instance=instance.name)
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
    template = crd.spec.service.p2p_template.metadata
    return Service(metadata=metadata(crd, name, marks, at, template), spec=spec)


def _rpc(crd: CosmosFullNode, at: int) -> Service:
    template = crd.spec.service.rpc_template
    ports = {
        "api": API_PORT, "rosetta": ROSETTA_PORT, "grpc": GRPC_PORT,
        "rpc": rpc_port(crd), "grpc-web": GRPC_WEB_PORT,
    }  # fmt: skip
    kind = template.type or _CLUSTER
    spec = ServiceSpec(
        type=kind,
        ports=(*(_port(name, number) for name, number in ports.items()), *template.ports),
        selector={NAME_LABEL: trim_middle(app_name(crd), LABEL_LENGTH)},
        cluster_ip=template.cluster_ip,
        external_traffic_policy=template.external_traffic_policy or ""
        if kind in (_BALANCED, _NODE_PORT)
        else "",
    )
    name = to_dns_label(f"{app_name(crd)}-rpc")
    return Service(metadata=metadata(crd, name, labels(crd, RPC), at, template.metadata), spec=spec)


def _port(name: str, number: int) -> ServicePort:
    return ServicePort(name=name, port=number, protocol="TCP", target_port=name)


def _selector(instance: Instance) -> dict[str, str]:
    return {INSTANCE_LABEL: trim_middle(instance.name, LABEL_LENGTH)}
