"""The Deployment and the Service that take telemetry, under upstream's names. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from quintant.api.apps import Deployment, DeploymentSpec
from quintant.api.core import (
    Capabilities,
    Container,
    ContainerPort,
    EnvVar,
    PodSecurityContext,
    PodSpec,
    PodTemplateSpec,
    ResourceRequirements,
    SeccompProfile,
    SecurityContext,
    Service,
    ServicePort,
    ServiceSpec,
)
from quintant.api.meta import LabelSelector
from quintant.api.quantity import Quantity
from quintant.core.object import ObjectMeta, Opaque
from quintant.operators.shifu.api.names import DEVICES, OURS, TELEMETRY_NAMESPACE
from quintant.operators.shifu.builders.accounts import TELEMETRY_ACCOUNT
from quintant.operators.shifu.builders.names import AgentImage
from quintant.wire.shifu import TELEMETRY_BROKERS

NAME = "telemetryservice"
_PORT = 8080
_LABELS = {"app": NAME}


def deployment(agent: AgentImage, brokers: Sequence[str] = ()) -> Deployment:
    """The Deployment as it should be; it may dial these brokers."""
    pod = PodSpec(
        service_account_name=TELEMETRY_ACCOUNT,
        # Ours never speaks to the API server.
        automount_service_account_token=False if agent.command else None,
        security_context=PodSecurityContext(
            run_as_non_root=True, run_as_user=65532, run_as_group=65532,
            seccomp_profile=SeccompProfile(type="RuntimeDefault"),
        ),
        containers=(_container(agent, brokers),),
    )  # fmt: skip
    template = PodTemplateSpec(metadata=ObjectMeta(labels=_LABELS), spec=pod)
    return Deployment(
        metadata=_meta(),
        spec=DeploymentSpec(
            replicas=1,
            selector=LabelSelector(match_labels=_LABELS),
            template=Opaque.of(template),
        ),
    )


def service(kind: str) -> Service:
    """The Service as it should be."""
    port = ServicePort(name="http", port=80, target_port=_PORT, protocol="TCP")
    return Service(metadata=_meta(), spec=ServiceSpec(type=kind, selector=_LABELS, ports=(port,)))


def _container(agent: AgentImage, brokers: Sequence[str]) -> Container:
    command = (*agent.command[:-1], NAME) if agent.command else ()
    return Container(
        name="server",
        image=agent.image,
        command=command,
        ports=(ContainerPort(container_port=_PORT, name="http", protocol="TCP"),),
        env=(
            EnvVar(name="SERVER_LISTEN_PORT", value=f":{_PORT}"),
            EnvVar(name="EDGEDEVICE_NAMESPACE", value=DEVICES),
            EnvVar(name=TELEMETRY_BROKERS, value=",".join(brokers)),
        ),
        resources=ResourceRequirements(
            requests={"cpu": Quantity("10m"), "memory": Quantity("40Mi")},
            limits={"memory": Quantity("96Mi")},
        ),
        security_context=SecurityContext(
            allow_privilege_escalation=False,
            read_only_root_filesystem=True,
            capabilities=Capabilities(drop=("ALL",)),
        ),
    )


def _meta() -> ObjectMeta:
    return ObjectMeta(name=NAME, namespace=TELEMETRY_NAMESPACE, labels={**_LABELS, **OURS})
