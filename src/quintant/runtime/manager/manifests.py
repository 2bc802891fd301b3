"""Everything a cluster needs to run a manager: its kinds, its home, its permissions, its program.

    crds        the definitions of its kinds
    namespace   where it lives
    rbac        its service account, roles and bindings
    objects     what else comes with it
    deployment  its program, if there is an image of it
    disruption  that of several replicas one stays, whatever is drained
    webhooks    how the API server reaches its webhooks

The program makes the keys of its webhooks itself, keeps them in a Secret, and writes to the API
server whom to trust. Or they are given: then another program, such as cert-manager, does both, and
the Secret is mounted.

A pure function of the declarations. The program listens on its pod's own address: many pods can
share a machine that way, and nothing listens where no client looks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace as setting

from quintant.api.admission import ServiceReference
from quintant.api.apps import Deployment, DeploymentSpec, DeploymentStrategy
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
    SecretVolumeSource,
    SecurityContext,
    Service,
    ServicePort,
    ServiceSpec,
    Volume,
    VolumeMount,
)
from quintant.api.meta import LabelSelector
from quintant.api.policy import PodDisruptionBudget, PodDisruptionBudgetSpec
from quintant.api.quantity import Quantity
from quintant.core import codec
from quintant.core.address import BindAddress
from quintant.core.object import Object, ObjectMeta, Opaque, replace
from quintant.runtime.manager.manager import Manager
from quintant.runtime.manager.own_image import own_pod
from quintant.runtime.manager.pod_placement import CONFINED, NODE_AWAY, spread
from quintant.runtime.manager.rbac import (
    NAME_LABEL,
    manager_rbac,
    part_rbac,
    required_permissions,
    role_subject,
)
from quintant.runtime.webhook.definitions import converted_definitions

Plain = dict[str, Any]
# What an idle manager needs; what a busy one gets is the limit of its program.
_REQUESTS = {"cpu": Quantity("10m"), "memory": Quantity("64Mi")}
_HTTPS = 443
_KEYS = "webhook-cert"
START_TRIES = 150
"""Every two seconds: five minutes."""
ANSWER_SECONDS = 5
"""Instead of one, which a busy node may take."""
RESTRICTED = "restricted"
# What a namespace says of the pods that it takes.
_ENFORCE, _WARN, _AUDIT = (
    f"pod-security.kubernetes.io/{mode}" for mode in ("enforce", "warn", "audit")
)
# Where kubebuilder's manifests mount the keys of webhooks.
_MOUNTED = "/tmp/k8s-webhook-server/serving-certs"


@dataclass(frozen=True, slots=True)
class DeploymentOptions:
    """How a manager is started in a pod."""

    image: str
    arguments: tuple[str, ...]
    replicas: int = 1
    memory: str = "128Mi"
    """The limit: twice what an idle manager needs, unless it was measured to need more."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Settings of its own."""
    recreate: bool = False
    """Whether the old pod ends before the new one starts; for one replica that must be alone."""
    given_keys: bool = False
    """Whether another program makes the Secret with the keys of its webhooks."""
    namespaces: tuple[str, ...] = ()
    """Further namespaces that come, and go, with the program: those that its roles are in."""
    pod_security: str = ""
    """The Pod Security level of its own namespace, and of which others warn; empty asks nothing."""
    metrics_service: bool = False
    """Whether a Service leads to its metrics."""
    reads_image: bool = False
    """Whether it reads the image of its own pod, for the pods that it makes."""


def install_manifests(
    manager: Manager, namespace: str, program: DeploymentOptions | None = None
) -> dict[str, list[Plain]]:
    """The objects of a manager that lives in a namespace, by what they are about."""
    settings = manager.settings
    if program and manager.webhooks and not program.given_keys:
        settings = setting(settings, webhook_secret=_secret_name(manager))
    service = ServiceReference(name=settings.name, namespace=namespace)
    found: dict[str, tuple[Object, ...]] = {
        "namespace": _namespaces(namespace, program) if program else (),
        "rbac": manager_rbac(
            settings,
            manager.declarations,
            namespace,
            manager.webhooks.targets(),
            own_pod(namespace) if program and program.reads_image else frozenset(),
        ),
        "objects": tuple(manager.objects),
        "deployment": (_deployment(manager, namespace, program),) if program else (),
        "disruption": (_budget(manager, namespace),) if program and program.replicas > 1 else (),
        "webhooks": manager.webhooks.configurations(service, namespaces=settings.namespaces),
    }
    if program:
        found["deployment"] += tuple(_services(manager, namespace, program))
    plain = {part: [codec.to_plain(obj) for obj in objects] for part, objects in found.items()}
    crds = {"crds": converted_definitions(manager.kinds(), manager.webhooks, service)}
    return {part: objects for part, objects in (crds | plain).items() if objects}


def part_manifests(manager: Manager, namespace: str) -> dict[str, list[Plain]]:
    """The roles of the parts that are off, by part: to be applied before one is switched on."""
    subject = role_subject(manager.settings, namespace)
    whole = required_permissions(each for each in manager.declarations if not each.part)
    found = {
        part.name: part_rbac(subject, whole, part.name, required_permissions(part.declarations))
        for part in manager.parts.values()
        if not part.on
    }
    return {name: [codec.to_plain(obj) for obj in roles] for name, roles in found.items()}


def _namespaces(home: str, program: DeploymentOptions) -> tuple[Object, ...]:
    level, names = program.pod_security, dict.fromkeys((home, *program.namespaces))
    # Its own has nothing but its own pods; into the others users put pods, too.
    own = {_ENFORCE: level} if level else {}
    others = {_WARN: level, _AUDIT: level} if level else {}
    metas = (ObjectMeta(name=name, labels=own if name == home else others) for name in names)
    return tuple(Namespace(metadata=meta) for meta in metas)


def _deployment(manager: Manager, namespace: str, program: DeploymentOptions) -> Deployment:
    labels = {NAME_LABEL: manager.name}
    account = PodSpec(
        service_account_name=manager.name,
        security_context=CONFINED,
        tolerations=NODE_AWAY,
        topology_spread_constraints=(spread(labels),) if program.replicas > 1 else (),
        containers=(_container(manager, program),),
        volumes=(Volume(name=_KEYS, secret=SecretVolumeSource(secret_name=_secret_name(manager))),)
        if manager.webhooks and program.given_keys
        else (),
    )
    template = PodTemplateSpec(metadata=ObjectMeta(labels=labels), spec=account)
    spec = DeploymentSpec(
        replicas=program.replicas,
        selector=LabelSelector(match_labels=labels),
        template=Opaque.of(template),
    )
    if program.recreate:
        spec = replace(spec, strategy=DeploymentStrategy(type="Recreate"))
    return Deployment(metadata=_meta(manager, namespace), spec=spec)


def _budget(manager: Manager, namespace: str) -> PodDisruptionBudget:
    selector = LabelSelector(match_labels={NAME_LABEL: manager.name})
    return PodDisruptionBudget(
        metadata=_meta(manager, namespace),
        spec=PodDisruptionBudgetSpec(selector=selector, min_available=1),
    )


def _container(manager: Manager, program: DeploymentOptions) -> Container:
    ports = _ports(manager)
    own = tuple(EnvVar(name=name, value=value) for name, value in program.env.items())
    keys = VolumeMount(name=_KEYS, mount_path=_MOUNTED, read_only=True)
    return Container(
        name=manager.name,
        image=program.image,
        args=(*program.arguments, *_flags(manager, program)),
        env=(*_identity(program), *own),
        volume_mounts=(keys,) if manager.webhooks and program.given_keys else (),
        ports=tuple(ContainerPort(container_port=port, name=name) for name, port in ports.items()),
        startup_probe=startup_probe("probes"),
        liveness_probe=liveness_probe("probes"),
        readiness_probe=Probe(
            http_get=HTTPGetAction(path="/readyz", port="probes"), period_seconds=2
        ),
        resources=ResourceRequirements(
            requests=_REQUESTS, limits={"memory": Quantity(program.memory)}
        ),
        security_context=SecurityContext(
            allow_privilege_escalation=False,
            read_only_root_filesystem=True,
            capabilities=Capabilities(drop=("ALL",)),
        ),
    )


def startup_probe(port: str) -> Probe:
    """For a node that is busy: until it has started, no program is restarted for being slow."""
    return Probe(
        http_get=_health(port),
        period_seconds=2,
        timeout_seconds=ANSWER_SECONDS,
        failure_threshold=START_TRIES,
    )


def liveness_probe(port: str) -> Probe:
    """A program that does not answer three times in a row is restarted."""
    return Probe(http_get=_health(port), timeout_seconds=ANSWER_SECONDS)


def _health(port: str) -> HTTPGetAction:
    return HTTPGetAction(path="/healthz", port=port)


def _flags(manager: Manager, program: DeploymentOptions) -> Iterator[str]:
    """Where the program listens, and where its keys are."""
    for name, port in _ports(manager).items():
        yield f"--{name}=[$(POD_IP)]:{port}"
    if manager.webhooks and program.given_keys:
        yield f"--certificates={_MOUNTED}"
    elif manager.webhooks:
        yield f"--webhook-secret={_secret_name(manager)}"


def _secret_name(manager: Manager) -> str:
    return f"{manager.name}-webhook-cert"


def _services(manager: Manager, namespace: str, program: DeploymentOptions) -> Iterator[Service]:
    """How others reach the program: the API server its webhooks, Prometheus its metrics."""
    meta, ports = _meta(manager, namespace), _ports(manager)
    if manager.webhooks:
        yield _service(
            meta, manager, ServicePort(port=_HTTPS, target_port="webhook", name="webhook")
        )
    if program.metrics_service and "metrics" in ports:
        named = replace(meta, name=f"{manager.name}-metrics")
        port = ServicePort(port=ports["metrics"], target_port="metrics", name="metrics")
        yield _service(named, manager, port)


def _service(meta: ObjectMeta, manager: Manager, port: ServicePort) -> Service:
    spec = ServiceSpec(selector={NAME_LABEL: manager.name}, ports=(port,))
    return Service(metadata=meta, spec=spec)


def _ports(manager: Manager) -> dict[str, int]:
    settings = manager.settings
    named = {"metrics": settings.metrics, "probes": settings.probes}
    if manager.webhooks:
        named["webhook"] = settings.webhook
    return {name: BindAddress.parse(address).port for name, address in named.items() if address}


def _meta(manager: Manager, namespace: str) -> ObjectMeta:
    return ObjectMeta(name=manager.name, namespace=namespace, labels={NAME_LABEL: manager.name})


def _identity(program: DeploymentOptions) -> Iterator[EnvVar]:
    """Who the pod is: where it listens, where its lease is, and where its image is read."""
    paths = {"POD_IP": "status.podIP", "POD_NAMESPACE": "metadata.namespace"}
    if program.reads_image:
        paths["POD_NAME"] = "metadata.name"
    for name, path in paths.items():
        field_ref = ObjectFieldSelector(field_path=path)
        yield EnvVar(name=name, value_from=EnvVarSource(field_ref=field_ref))
