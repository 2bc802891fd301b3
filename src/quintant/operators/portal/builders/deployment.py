"""The Deployment that runs the tunnels of a PortalExpose: a pure function of what is declared.

The four labels of its selector are those of the contract, so that a Deployment made by its first
implementation is taken over as it is. Secrets are referred to and never read.
"""

from __future__ import annotations

from collections.abc import Mapping

from quintant.api.apps import (
    Deployment,
    DeploymentSpec,
    DeploymentStrategy,
    RollingUpdateDeployment,
)
from quintant.api.core import PodTemplateSpec, Service
from quintant.api.meta import LabelSelector
from quintant.core.object import ObjectMeta, Opaque
from quintant.core.owner import controller_of
from quintant.operators.portal.api import GROUP, PortalExpose, TunnelClass
from quintant.operators.portal.builders.pod import Tunnels, tunnel_pod
from quintant.runtime.apply.names import LABEL_LENGTH, child_name

EXPOSE_LABEL = f"{GROUP}/portalexpose"
EXPOSE_NAME = f"{GROUP}/portalexpose-name"
MANAGER = "portal-expose-controller"
"""Who manages the tunnels: a label of theirs, and the field manager."""
TUNNEL_LABELS = {"app.kubernetes.io/managed-by": MANAGER}
"""What all tunnel pods are found by."""
_SUFFIX = "-tunnel"
# A tunnel that has not started by then never will.
_DEADLINE_SECONDS = 120
_STRATEGY = DeploymentStrategy(
    type="RollingUpdate",
    rolling_update=RollingUpdateDeployment(max_surge="25%", max_unavailable="25%"),
)


def deployment_name(expose: str) -> str:
    """The name of the Deployment of a PortalExpose."""
    return child_name(expose, _SUFFIX)


def labels(expose: str) -> dict[str, str]:
    """What the Deployment and its pods are selected by."""
    return {
        "app.kubernetes.io/name": "portal-tunnel",
        "app.kubernetes.io/component": "tunnel",
        **TUNNEL_LABELS,
        EXPOSE_LABEL: child_name(expose, length=LABEL_LENGTH),
    }


def adoptable(existing: Deployment, wanted: Mapping[str, str]) -> bool:
    """Whether it has no controller, and its labels say that it is ours."""
    return controller_of(existing) is None and wanted.items() <= existing.metadata.labels.items()


def deployment(
    expose: PortalExpose, tunnel_class: TunnelClass, service: Service, tunnels: Tunnels
) -> Deployment:
    """The Deployment as it should be."""
    chosen = labels(expose.metadata.name)
    named = {EXPOSE_NAME: expose.metadata.name}
    template = PodTemplateSpec(
        metadata=ObjectMeta(labels={**chosen, "app": "portal-tunnel"}, annotations=named),
        spec=tunnel_pod(expose, tunnel_class, service, tunnels),
    )
    return Deployment(
        metadata=ObjectMeta(
            name=deployment_name(expose.metadata.name),
            namespace=expose.metadata.namespace,
            labels=chosen,
            annotations=named,
        ),
        spec=DeploymentSpec(
            replicas=tunnel_class.spec.replicas,
            selector=LabelSelector(match_labels=chosen),
            strategy=_STRATEGY,
            revision_history_limit=3,
            progress_deadline_seconds=_DEADLINE_SECONDS,
            template=Opaque.of(template),
        ),
    )
