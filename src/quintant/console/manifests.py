"""A console inside a cluster: its namespace, account, role, program and Service. Pure.

It listens on the address of its pod, where others reach it, so it lets in users of the cluster
alone, each to what they may list. There is no TLS: that is for an Ingress before it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from quintant.api.apps import Deployment, DeploymentSpec
from quintant.api.core import (
    Capabilities,
    Container,
    ContainerPort,
    EnvVar,
    EnvVarSource,
    HTTPGetAction,
    Namespace,
    ObjectFieldSelector,
    PodSpec,
    PodTemplateSpec,
    Probe,
    ResourceRequirements,
    SecurityContext,
    Service,
    ServicePort,
    ServiceSpec,
)
from quintant.api.meta import LabelSelector
from quintant.api.quantity import Quantity
from quintant.console.role import NAME, console_rbac
from quintant.core import codec
from quintant.core.object import ObjectMeta, Opaque
from quintant.runtime.manager.manifests import RESTRICTED, liveness_probe, startup_probe
from quintant.runtime.manager.pod_placement import CONFINED, NODE_AWAY
from quintant.runtime.manager.rbac import NAME_LABEL
from quintant.runtime.observe.system_panel import SystemPanel

NAMESPACE = "quintant-console"
PORT = 8090
MEMORY = "256Mi"
"""The limit: with 10,000 devices it holds 110 MB, and a snapshot on its way to each viewer."""
ADDRESS = ObjectFieldSelector(field_path="status.podIP")
Plain = dict[str, Any]


def console_manifests(panels: Iterable[SystemPanel], image: str) -> dict[str, list[Plain]]:
    """What is to be applied, by what it is about."""
    labels = {NAME_LABEL: NAME}
    home = Namespace(
        metadata=ObjectMeta(
            name=NAMESPACE, labels={"pod-security.kubernetes.io/enforce": RESTRICTED}
        )
    )
    port = ServicePort(port=80, target_port="http", name="http")
    service = Service(
        metadata=ObjectMeta(name=NAME, namespace=NAMESPACE, labels=labels),
        spec=ServiceSpec(selector=labels, ports=(port,)),
    )
    rbac = console_rbac(panels, NAMESPACE, reviews=True)
    return {
        "namespace": [codec.to_plain(home)],
        "rbac": [codec.to_plain(each) for each in rbac],
        "deployment": [codec.to_plain(_deployment(image, labels))],
        "service": [codec.to_plain(service)],
    }


def _deployment(image: str, labels: dict[str, str]) -> Deployment:
    pod = PodSpec(
        containers=(_container(image),),
        service_account_name=NAME,
        security_context=CONFINED,
        tolerations=NODE_AWAY,
    )
    template = PodTemplateSpec(metadata=ObjectMeta(labels=labels), spec=pod)
    return Deployment(
        metadata=ObjectMeta(name=NAME, namespace=NAMESPACE, labels=labels),
        spec=DeploymentSpec(
            replicas=1, selector=LabelSelector(match_labels=labels), template=Opaque.of(template)
        ),
    )


def _container(image: str) -> Container:
    alive = Probe(http_get=HTTPGetAction(path="/healthz", port="http"))
    return Container(
        name="console",
        image=image,
        args=("console", "--listen", f"[$(POD_IP)]:{PORT}", "--kubernetes-auth"),
        env=(EnvVar(name="POD_IP", value_from=EnvVarSource(field_ref=ADDRESS)),),
        ports=(ContainerPort(container_port=PORT, name="http"),),
        startup_probe=startup_probe("http"),
        readiness_probe=alive,
        liveness_probe=liveness_probe("http"),
        resources=ResourceRequirements(
            requests={"cpu": Quantity("10m"), "memory": Quantity("64Mi")},
            limits={"memory": Quantity(MEMORY)},
        ),
        security_context=SecurityContext(
            allow_privilege_escalation=False,
            read_only_root_filesystem=True,
            capabilities=Capabilities(drop=("ALL",)),
        ),
    )
