"""The pods of a PortalExpose's tunnels. Pure.

An image that reports nothing, such as Portal's own tunnel, is neither probed nor given what
only our tunnel understands, and gets its relays in one flag.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from quintant.api.core import (
    Capabilities,
    Container,
    ContainerPort,
    EnvVar,
    EnvVarSource,
    HTTPGetAction,
    KeySelector,
    ObjectFieldSelector,
    PodSecurityContext,
    PodSpec,
    Probe,
    ResourceRequirements,
    SeccompProfile,
    SecurityContext,
    Service,
    Volume,
    VolumeMount,
)
from quintant.api.quantity import Quantity
from quintant.core.object import Opaque, replace
from quintant.operators.portal.api import (
    TARGET_TLS,
    PortalExpose,
    RateLimit,
    RateLimits,
    Size,
    TunnelClass,
)
from quintant.operators.portal.builders.key import KEY, key_name
from quintant.wire import portal

CONTAINER = "tunnel"
ADMIN_PORT = 9808
# Drain takes 8 s; what hangs longer is cut.
_GRACE_SECONDS = 15
_NONROOT_UID = 65532
_TLS_PORTS = (443, 8443)
_CAS = "/etc/portal/ca"
_AUTHORITIES = VolumeMount(name="ca", mount_path=_CAS, read_only=True)
_ALIVE = Probe(
    http_get=HTTPGetAction(path="/healthz", port="admin"), period_seconds=10, failure_threshold=3
)
_READY = Probe(
    http_get=HTTPGetAction(path="/readyz", port="admin"),
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
    silent: bool = False
    """Whether the image reports nothing: its port is neither asked nor probed."""


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


def tunnel_pod(
    expose: PortalExpose, tunnel_class: TunnelClass, service: Service, tunnels: Tunnels
) -> PodSpec:
    authorities = () if tunnels.silent else _authorities(expose)
    return PodSpec(
        containers=(_container(expose, tunnel_class, service, tunnels, bool(authorities)),),
        volumes=authorities,
        node_selector=tunnel_class.spec.node_selector,
        tolerations=tunnel_class.spec.tolerations,
        automount_service_account_token=False,
        termination_grace_period_seconds=_GRACE_SECONDS,
        security_context=PodSecurityContext(
            run_as_non_root=True,
            run_as_user=_NONROOT_UID,
            run_as_group=_NONROOT_UID,
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
    plain = Container(
        name=CONTAINER,
        image=tunnels.image,
        command=tunnels.command,
        args=_arguments(expose, tunnels),
        resources=_resources(tunnel_class.spec.size),
        security_context=_CONFINED,
    )
    if tunnels.silent:
        return plain
    return replace(
        plain,
        env=(
            *_identity(),
            *_settings(expose, service, trusting),
            *_limits(tunnel_class.spec.rate_limits),
            *_secrets(expose),
        ),
        ports=(ContainerPort(container_port=ADMIN_PORT, name="admin", protocol="TCP"),),
        liveness_probe=_ALIVE,
        readiness_probe=_READY,
        volume_mounts=(_AUTHORITIES,) if trusting else (),
    )


def _arguments(expose: PortalExpose, tunnels: Tunnels) -> tuple[str, ...]:
    app, namespace = expose.spec.app, expose.metadata.namespace
    urls = [target.url for target in expose.spec.relay.targets]
    # Of several flags Portal's own tunnel takes the last one.
    urls = [",".join(urls)] if tunnels.silent else urls
    relays = [word for url in urls for word in ("--relay", url)]
    host = f"{app.service.name}.{namespace}.svc.{tunnels.domain}"
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
        EnvVar(name=name, value_from=EnvVarSource(field_ref=ObjectFieldSelector(field_path=path)))
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


def _limits(limits: RateLimits | None) -> tuple[EnvVar, ...]:
    if limits is None:
        return ()
    rates = portal.RequestRates(_limit(limits.per_visitor), _limit(limits.per_exposure))
    return (EnvVar(name="PORTAL_RATE_LIMITS", value=msgspec.json.encode(rates).decode()),)


def _limit(limit: RateLimit | None) -> portal.RequestRate | None:
    if limit is None:
        return None
    rate = limit.requests_per_second
    return portal.RequestRate(rate, rate if limit.burst is None else limit.burst)


def _secrets(expose: PortalExpose) -> tuple[EnvVar, ...]:
    tokens = {
        f"PORTAL_TOKEN_{at}": (ref.name, ref.key or "token")
        for at, target in enumerate(expose.spec.relay.targets)
        if (ref := target.auth_secret_ref)
    }
    return (
        _secret("PORTAL_KEY", key_name(expose.metadata.name), KEY),
        *(_secret(name, *reference) for name, reference in tokens.items()),
    )


def _secret(variable: str, name: str, key: str) -> EnvVar:
    selector = KeySelector(name=name, key=key, optional=False)
    return EnvVar(name=variable, value_from=EnvVarSource(secret_key_ref=selector))


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


def _resources(size: Size) -> ResourceRequirements:
    cpu, most_cpu, memory, most_memory = _SIZES.get(size, _SIZES["small"])
    return ResourceRequirements(
        requests={"cpu": Quantity(cpu), "memory": Quantity(memory)},
        limits={"cpu": Quantity(most_cpu), "memory": Quantity(most_memory)},
    )
