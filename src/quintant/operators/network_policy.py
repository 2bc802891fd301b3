"""Who reaches an operator and its agents, and what they reach: no more than they need.

To an operator come those who scrape its metrics, the API server for its webhooks, and whoever it
serves itself; probes of the kubelet are let through by every network. It goes to DNS, to the API
server, whose address no policy can name, and to what its `OperatorProgram` says.

What users name may be anywhere, but at no link-local address: clouds have services there that
trust every caller.
"""

from __future__ import annotations

from collections.abc import Iterable

from quintant.api.kubernetes.networking_v1 import (
    IPBlock,
    NetworkPolicy,
    NetworkPolicyEgressRule,
    NetworkPolicyIngressRule,
    NetworkPolicyPeer,
    NetworkPolicyPort,
    NetworkPolicySpec,
)
from quintant.api.meta import LabelSelector, LabelSelectorRequirement
from quintant.core.object import ObjectMeta
from quintant.operators import AgentPods, EgressTarget, OperatorProgram
from quintant.runtime.manager.rbac import NAME_LABEL

DNS_PORT = 53
API_SERVER_PORTS = (443, 6443)
"""Of the Service, and of the servers behind it: networks differ in which of them they look at."""
PODS = NetworkPolicyPeer(namespace_selector=LabelSelector())
"""Every pod of the cluster."""
ANYWHERE = (
    # Some networks do not count pods as addresses.
    PODS,
    NetworkPolicyPeer(ip_block=IPBlock(cidr="0.0.0.0/0", except_=("169.254.0.0/16",))),
    NetworkPolicyPeer(ip_block=IPBlock(cidr="::/0", except_=("fe80::/10",))),
)
"""Every address that is not link-local."""


def operator_policy(
    program: OperatorProgram, namespace: str, *, webhooks: bool = False
) -> NetworkPolicy:
    """The policy of an operator that lives in a namespace."""
    labels = {NAME_LABEL: program.name}
    return NetworkPolicy(
        metadata=ObjectMeta(name=program.name, namespace=namespace, labels=labels),
        spec=NetworkPolicySpec(
            pod_selector=LabelSelector(match_labels=labels),
            policy_types=("Ingress", "Egress"),
            ingress=tuple(_ingress(program, webhooks)),
            egress=(dns_rule(), api_server_rule(), *map(_egress, program.egress)),
        ),
    )


def agent_policy(program: OperatorProgram, agents: AgentPods) -> NetworkPolicy:
    """The policy of the pods that an operator makes, in their namespace, if they have one."""
    ingress = []
    if agents.ports:
        ingress.append(NetworkPolicyIngressRule(ports=tuple(map(tcp_port, agents.ports))))
    if agents.reports:
        itself = LabelSelector(match_labels={NAME_LABEL: program.name})
        peer = NetworkPolicyPeer(namespace_selector=LabelSelector(), pod_selector=itself)
        reports = tuple(map(tcp_port, agents.reports))
        ingress.append(NetworkPolicyIngressRule(ports=reports, from_=(peer,)))
    return NetworkPolicy(
        metadata=ObjectMeta(name=agents.name, namespace=agents.namespace),
        spec=NetworkPolicySpec(
            pod_selector=_selector(agents),
            policy_types=("Ingress", "Egress"),
            ingress=tuple(ingress),
            egress=(dns_rule(), NetworkPolicyEgressRule(to=ANYWHERE)),
        ),
    )


def _selector(agents: AgentPods) -> LabelSelector:
    valued = {key: value for key, value in agents.labels.items() if value}
    terms = {key: "Exists" for key, value in agents.labels.items() if not value}
    terms |= {agents.without: "DoesNotExist"} if agents.without else {}
    expressions = (LabelSelectorRequirement(key=key, operator=terms[key]) for key in terms)
    return LabelSelector(match_labels=valued, match_expressions=tuple(expressions))


def _ingress(program: OperatorProgram, webhooks: bool) -> Iterable[NetworkPolicyIngressRule]:
    yield NetworkPolicyIngressRule(ports=(tcp_port("metrics"),), from_=(PODS,))
    if webhooks:
        # The API server is no pod.
        yield NetworkPolicyIngressRule(ports=(tcp_port("webhook"),))
    if program.serves:
        yield NetworkPolicyIngressRule(ports=tuple(map(tcp_port, program.serves)), from_=(PODS,))


def dns_rule() -> NetworkPolicyEgressRule:
    """Names are asked for wherever the cluster has its DNS."""
    both = (NetworkPolicyPort(protocol=each, port=DNS_PORT) for each in ("UDP", "TCP"))
    return NetworkPolicyEgressRule(ports=tuple(both))


def api_server_rule() -> NetworkPolicyEgressRule:
    """The API server by its ports: no policy can name its address."""
    return NetworkPolicyEgressRule(ports=tuple(map(tcp_port, API_SERVER_PORTS)))


def _egress(target: EgressTarget) -> NetworkPolicyEgressRule:
    port = tcp_port(target.port) if target.port else NetworkPolicyPort(protocol="TCP")
    return NetworkPolicyEgressRule(ports=(port,), to=(PODS,) if target.pods else ANYWHERE)


def tcp_port(port: int | str) -> NetworkPolicyPort:
    """A port by its number or its name."""
    return NetworkPolicyPort(protocol="TCP", port=port)
