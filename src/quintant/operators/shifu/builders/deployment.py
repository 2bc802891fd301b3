"""The Deployment of a deviceShifu: one pod, on one node, that knows which device it serves. Pure.

One pod at a time (Recreate): many devices take one session only. Its node is an affinity and no
`nodeName`, so that the scheduler has its say. What is in a Secret is mounted and never read here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quintant.api.apps import Deployment, DeploymentSpec, DeploymentStrategy
from quintant.api.core import (
    Affinity,
    Capabilities,
    ConfigMapVolumeSource,
    Container,
    ContainerPort,
    HTTPGetAction,
    NodeAffinity,
    NodeSelector,
    NodeSelectorTerm,
    PodSecurityContext,
    PodSpec,
    PodTemplateSpec,
    Probe,
    SeccompProfile,
    SecretVolumeSource,
    SecurityContext,
    Toleration,
    Volume,
    VolumeMount,
)
from quintant.api.meta import LabelSelector, LabelSelectorRequirement
from quintant.core.object import ObjectMeta, Opaque
from quintant.operators.shifu.api.names import (
    CONFIG_HASH,
    DEVICE_UID_LABEL,
    MOVED_FOR,
    MOVES,
    PLACED_AT,
    PLACED_FOR,
    PLACED_NODE,
    PLACEMENT_KIND,
    PLACEMENT_REASON,
    PREVIOUS_NODE,
)
from quintant.operators.shifu.builders.environment import (
    MountedSecret,
    address_variables,
    agent_variables,
    driver_variables,
)
from quintant.operators.shifu.builders.names import (
    AgentImage,
    base_name,
    device_labels,
)
from quintant.operators.shifu.builders.ports import container_ports
from quintant.operators.shifu.builders.resources import agent_resources
from quintant.operators.shifu.rules.hints import Device, Hints
from quintant.operators.shifu.rules.tolerance import BORNE

AGENT_ACCOUNT = "edgedevice-sa"
_NONROOT_UID = 65532
_GRACE_SECONDS = 10
_CONFIG = "/etc/edgedevice/config"
_CERTIFICATE, _SECRET = "/etc/edgedevice/certificate", "/etc/edgedevice/secret"
_CERTIFICATES = "edgedevice-opcua-certificate"
_SECRETS = "deviceshifu-secret"
"""The volume with the device's own Secret."""
_CONFINED = SecurityContext(
    allow_privilege_escalation=False,
    read_only_root_filesystem=True,
    capabilities=Capabilities(drop=("ALL",)),
)
_HEALTH = HTTPGetAction(path="/health", port="http")
_READY = Probe(http_get=_HEALTH, period_seconds=3, timeout_seconds=2)
_ALIVE = Probe(http_get=_HEALTH, period_seconds=10, timeout_seconds=5, failure_threshold=6)


@dataclass(frozen=True, slots=True)
class PlacedDevice:
    """A device with everything that its deviceShifu is made from."""

    device: Device
    hints: Hints
    node: str
    kind: str
    placed_at: str
    placed_for: str
    previous: str
    config_map: str
    driver_image: str = ""
    """A driver of the user's own, that runs beside the agent."""
    secret: MountedSecret | None = None
    config_hash: str = ""
    tolerations: tuple[Toleration, ...] = ()
    reason: str = ""
    moves: int = 0
    moved_for: str = ""
    """What made it move, if it did."""
    release: float | None = None
    """Seconds after which the agent of an exclusive device lets go of it; None for all others."""


def deployment(placed: PlacedDevice, agent: AgentImage, namespace: str) -> Deployment:
    """The Deployment as it should be."""
    device, labels = placed.device, device_labels(placed.device)
    template = PodTemplateSpec(
        metadata=ObjectMeta(labels=labels, annotations=_rolls(placed)), spec=_pod(placed, agent)
    )
    return Deployment(
        metadata=ObjectMeta(
            name=base_name(device.key),
            namespace=namespace,
            labels=labels,
            annotations=_placement(placed),
        ),
        spec=DeploymentSpec(
            replicas=1,
            revision_history_limit=1,
            strategy=DeploymentStrategy(type="Recreate"),
            selector=LabelSelector(match_labels={DEVICE_UID_LABEL: device.metadata.uid}),
            template=Opaque.of(template),
        ),
    )


def _placement(placed: PlacedDevice) -> dict[str, str]:
    notes = {
        PLACED_NODE: placed.node,
        PLACED_AT: placed.placed_at,
        PLACED_FOR: placed.placed_for,
        PLACEMENT_KIND: placed.kind,
        PLACEMENT_REASON: placed.reason,
        PREVIOUS_NODE: placed.previous,
        MOVES: str(placed.moves or ""),
        MOVED_FOR: placed.moved_for,
    }
    return {key: value for key, value in notes.items() if value}


def _rolls(placed: PlacedDevice) -> dict[str, str]:
    """Our agent reads its ConfigMap again by itself; a program of the user's is restarted."""
    return {CONFIG_HASH: placed.config_hash} if placed.config_hash else {}


def _pod(placed: PlacedDevice, agent: AgentImage) -> PodSpec:
    return PodSpec(
        affinity=_only_on(placed.node),
        tolerations=(*BORNE, *placed.tolerations),
        service_account_name=AGENT_ACCOUNT,
        automount_service_account_token=True,
        termination_grace_period_seconds=_GRACE_SECONDS,
        security_context=PodSecurityContext(
            run_as_non_root=True,
            run_as_user=_NONROOT_UID,
            run_as_group=_NONROOT_UID,
            seccomp_profile=SeccompProfile(type="RuntimeDefault"),
        ),
        containers=(_agent(placed, agent), *_driver(placed)),
        volumes=tuple(volume for volume, _ in _volumes(placed)),
    )


def _only_on(node: str) -> Affinity:
    field = LabelSelectorRequirement(key="metadata.name", operator="In", values=(node,))
    term = NodeSelectorTerm(match_fields=(field,))
    return Affinity(node_affinity=NodeAffinity(required=NodeSelector(node_selector_terms=(term,))))


def _agent(placed: PlacedDevice, agent: AgentImage) -> Container:
    spec = placed.device.spec
    own = spec.device_shifu.image if spec.device_shifu is not None else ""
    return Container(
        name="deviceshifu",
        image=own or agent.image,
        command=() if own else agent.command,
        env=(
            *agent_variables(placed.device, placed.secret, placed.release),
            *address_variables(agent.special_addresses),
        ),
        ports=tuple(
            ContainerPort(name=each.name, container_port=each.number, protocol=each.protocol)
            for each in container_ports(placed.device)
        ),
        resources=agent_resources(placed.device, placed.hints),
        readiness_probe=_READY,
        liveness_probe=_ALIVE,
        volume_mounts=tuple(mount for _, mount in _volumes(placed)),
        security_context=_CONFINED,
    )


def _driver(placed: PlacedDevice) -> tuple[Container, ...]:
    if not placed.driver_image:
        return ()
    env = driver_variables(placed.device)
    # Its own files it may write, as drivers do; it runs as the pod's user, and gains no rights.
    confined = SecurityContext(
        allow_privilege_escalation=False, capabilities=Capabilities(drop=("ALL",))
    )
    return (
        Container(name="driver", image=placed.driver_image, env=env, security_context=confined),
    )


def _volumes(placed: PlacedDevice) -> Sequence[tuple[Volume, VolumeMount]]:
    config = Volume(
        name="deviceshifu-config",
        config_map=ConfigMapVolumeSource(name=placed.config_map, optional=True),
    )
    found = [(config, _mount("deviceshifu-config", _CONFIG))]
    if placed.device.spec.protocol == "OPCUA":
        settings = placed.device.spec.protocol_settings
        named = settings.opcua.configmap_name if settings and settings.opcua else ""
        keys = ConfigMapVolumeSource(name=named or _CERTIFICATES, optional=True)
        certificate = Volume(name="edgedevice-certificate", config_map=keys)
        found.append((certificate, _mount("edgedevice-certificate", _CERTIFICATE)))
    if placed.secret is not None:
        secret = SecretVolumeSource(secret_name=placed.secret.name, optional=True)
        found.append((Volume(name=_SECRETS, secret=secret), _mount(_SECRETS, _SECRET)))
    return found


def _mount(name: str, path: str) -> VolumeMount:
    return VolumeMount(name=name, mount_path=path, read_only=True)
