"""The objects of a console inside a cluster, with its NetworkPolicy."""

from __future__ import annotations

from manifests.kustomize import Parts
from quintant.api.kubernetes.networking_v1 import (
    NetworkPolicy,
    NetworkPolicyIngressRule,
    NetworkPolicySpec,
)
from quintant.api.meta import LabelSelector
from quintant.cli.look.console import operator_systems
from quintant.console.manifests import NAMESPACE, console_manifests
from quintant.console.role import NAME
from quintant.core import codec
from quintant.core.object import ObjectMeta
from quintant.operators.network_policy import api_server_rule, dns_rule, tcp_port
from quintant.runtime.manager.rbac import NAME_LABEL


def console_parts(image: str) -> Parts:
    """The objects of a console by what they are about."""
    panels = [each.panel for each in operator_systems()]
    policy = {"networkpolicy": [codec.to_plain(_policy())]}
    return console_manifests(panels, image) | policy


def _policy() -> NetworkPolicy:
    """Its page is for everybody who has a token; it goes to the API server alone."""
    labels = {NAME_LABEL: NAME}
    return NetworkPolicy(
        metadata=ObjectMeta(name=NAME, namespace=NAMESPACE, labels=labels),
        spec=NetworkPolicySpec(
            pod_selector=LabelSelector(match_labels=labels),
            policy_types=("Ingress", "Egress"),
            ingress=(NetworkPolicyIngressRule(ports=(tcp_port("http"),)),),
            egress=(dns_rule(), api_server_rule()),
        ),
    )
