"""The Deployment that runs the tunnels of a PortalExpose: a pure function of what is declared.

The four labels of its selector are those of the contract, so that a Deployment made by its first
implementation is taken over as it is. Secrets are referred to and never read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from quintant.api.apps import Deployment, DeploymentSpec, DeploymentStrategy, RollingUpdate
from quintant.api.core import (
    Capabilities,
    Container,
    ContainerPort,
    EnvVar,
    EnvVarSource,
    FieldSelector,
    HttpGet,
    KeySelector,
    PodSecurityContext,
    PodSpec,
    PodTemplate,
    Probe,
    Resources,
    SeccompProfile,
    SecurityContext,
    Service,
    Volume,
    VolumeMount,
)
from quintant.api.meta import LabelSelector
from quintant.api.quantity import Quantity
from quintant.core.object import ObjectMeta, Opaque
from quintant.core.owner import controller_of
from quintant.operators.portal.api import GROUP, TARGET_TLS, PortalExpose, Size, TunnelClass
from quintant.runtime.apply.names import LABEL_LENGTH, child_name

CONTAINER = "tunnel"
ADMIN_PORT = 9808
EXPOSE_LABEL = f"{GROUP}/portalexpose"
EXPOSE_NAME = f"{GROUP}/portalexpose-name"
MANAGER = "portal-expose-controller"
"""Who manages the tunnels: a label of theirs, and the field manager."""
TUNNEL_LABELS = {"app.kubernetes.io/managed-by": MANAGER}
"""What all tunnel pods are found by."""
_SUFFIX = "-tunnel"
# A tunnel that has not started by then never will.
_DEADLINE_SECONDS = 120
# Drain takes 8 s; what hangs longer is cut.
_GRACE_SECONDS = 15
_NOBODY = 65532
_TLS_PORTS = (443, 8443)
_CAS = "/etc/portal/ca"
_AUTHORITIES = VolumeMount(name="ca", mount_path=_CAS, read_only=True)
_STRATEGY = DeploymentStrategy(
    type="RollingUpdate", rolling_update=RollingUpdate(max_surge="25%", max_unavailable="25%")
)
_ALIVE = Probe(
    http_get=HttpGet(path="/healthz", port="admin"), period_seconds=10, failure_threshold=3
)
_READY = Probe(
    http_get=HttpGet(path="/readyz", port="admin"),
    period_seconds=2,
    timeout_seconds=1,
    failure_threshold=1,
    success_threshold=1,
)
_CONFINED = SecurityContext(
    allow_privilege_escalation=False,
    read_only_root_filesystem=True,
    capabilities=Capabilities(drop=("ALL",)),
)

_SIZES: dict[Size, tuple[str, str, str, str]] = {
    "small": ("100m", "500m", "128Mi", "512Mi"),
    "medium": ("250m", "1000m", "256Mi", "1Gi"),
    "large": ("500m", "2000m", "512Mi", "2Gi"),
}
"""CPU requested and allowed, memory requested and allowed."""


@dataclass(frozen=True, slots=True)
class Tunnels:
    """How the operator makes tunnels, whatever they are for."""

    image: str
    domain: str = "cluster.local"
    """Of the cluster's DNS."""
    command: tuple[str, ...] = ()
    """What starts the tunnel, where the image does not do it by itself."""


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


def adoptable(found: Deployment, wanted: Mapping[str, str]) -> bool:
    """Whether nobody controls it, and it says itself by these labels whose it is."""
    return controller_of(found) is None and wanted.items() <= found.metadata.labels.items()


def deployment(
    expose: PortalExpose, tunnel_class: TunnelClass, service: Service, tunnels: Tunnels
) -> Deployment:
    """The Deployment as it should be."""
    chosen = labels(expose.metadata.name)
    named = {EXPOSE_NAME: expose.metadata.name}
    template = PodTemplate(
        metadata=ObjectMeta(labels={**chosen, "app": "portal-tunnel"}, annotations=named),
        spec=_pod(expose, tunnel_class, service, tunnels),
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


def target_tls(expose: PortalExpose, service: Service) -> str:
    """How the Service is spoken to: off, insecure or verify."""
    given = expose.metadata.annotations.get(TARGET_TLS, "")
    if given in ("off", "insecure", "verify"):
        return given
    number = expose.spec.app.service.port
    port = next((each for each in service.spec.ports if each.port == number), None)
    named = port is not None and (port.name == "https" or port.name.startswith("https-"))
    spoken = port is not None and port.app_protocol == "https"
    return "insecure" if named or spoken or number in _TLS_PORTS else "off"


def _pod(
    expose: PortalExpose, tunnel_class: TunnelClass, service: Service, tunnels: Tunnels
) -> PodSpec:
    authorities = _authorities(expose)
    return PodSpec(
        containers=(_container(expose, tunnel_class, service, tunnels, bool(authorities)),),
        volumes=authorities,
        node_selector=tunnel_class.spec.node_selector,
        tolerations=tunnel_class.spec.tolerations,
        automount_service_account_token=False,
        termination_grace_period_seconds=_GRACE_SECONDS,
        security_context=PodSecurityContext(
            run_as_non_root=True,
            run_as_user=_NOBODY,
            seccomp_profile=SeccompProfile(type="RuntimeDefault"),
        ),
    )


def _container(
    expose: PortalExpose,
    tunnel_class: TunnelClass,
    service: Service,
    tunnels: Tunnels,
    trusting: bool,
) -> Container:
    return Container(
        name=CONTAINER,
        image=tunnels.image,
        command=tunnels.command,
        args=_arguments(expose, tunnels),
        env=(*_identity(), *_settings(expose, service, trusting), *_tokens(expose)),
        ports=(ContainerPort(container_port=ADMIN_PORT, name="admin", protocol="TCP"),),
        liveness_probe=_ALIVE,
        readiness_probe=_READY,
        resources=_resources(tunnel_class.spec.size),
        volume_mounts=(_AUTHORITIES,) if trusting else (),
        security_context=_CONFINED,
    )


def _arguments(expose: PortalExpose, tunnels: Tunnels) -> tuple[str, ...]:
    app, place = expose.spec.app, expose.metadata.namespace
    relays = [word for target in expose.spec.relay.targets for word in ("--relay", target.url)]
    host = f"{app.service.name}.{place}.svc.{tunnels.domain}"
    return (
        "expose",
        *("--name", app.name, "--host", host, "--port", str(app.service.port)),
        *relays,
    )


def _identity() -> tuple[EnvVar, ...]:
    paths = {
        "POD_NAME": "metadata.name",
        "POD_NAMESPACE": "metadata.namespace",
        "POD_UID": "metadata.uid",
        "POD_IP": "status.podIP",
    }
    return tuple(
        EnvVar(name=name, value_from=EnvVarSource(field_ref=FieldSelector(field_path=path)))
        for name, path in paths.items()
    )


def _settings(expose: PortalExpose, service: Service, trusting: bool) -> tuple[EnvVar, ...]:
    relays = [{"name": each.name, "url": each.url} for each in expose.spec.relay.targets]
    settings = {
        "PORTAL_GROUP": expose.metadata.uid,
        "PORTAL_RELAYS": msgspec.json.encode(relays).decode(),
        "PORTAL_TARGET_TLS": target_tls(expose, service),
        **({"PORTAL_CA_DIR": _CAS} if trusting else {}),
    }
    return tuple(EnvVar(name=name, value=value) for name, value in settings.items())


def _tokens(expose: PortalExpose) -> tuple[EnvVar, ...]:
    return tuple(
        EnvVar(
            name=f"PORTAL_TOKEN_{at}",
            value_from=EnvVarSource(
                secret_key_ref=KeySelector(name=ref.name, key=ref.key or "token", optional=False)
            ),
        )
        for at, target in enumerate(expose.spec.relay.targets)
        if (ref := target.auth_secret_ref)
    )


def _authorities(expose: PortalExpose) -> tuple[Volume, ...]:
    """A volume with the authority of each relay that names one, as `<number>.crt`."""
    sources = [
        {
            "configMap": {
                "name": ref.name,
                "items": [{"key": ref.key or "ca.crt", "path": f"{at}.crt"}],
            }
        }
        for at, target in enumerate(expose.spec.relay.targets)
        if (ref := target.ca_config_map_ref)
    ]
    if not sources:
        return ()
    return (Volume(name="ca", projected=Opaque.of({"sources": sources})),)


def _resources(size: Size) -> Resources:
    cpu, most_cpu, memory, most_memory = _SIZES.get(size, _SIZES["small"])
    return Resources(
        requests={"cpu": Quantity(cpu), "memory": Quantity(memory)},
        limits={"cpu": Quantity(most_cpu), "memory": Quantity(most_memory)},
    )
