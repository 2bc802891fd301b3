"""Pods: where containers run, and what became of them.

Re-exported by `api.core`. A controller that caches many pods declares a narrower view with
`@projection(Pod)`; a template inside another kind is an Opaque made from `PodTemplateSpec`, so that
fields we do not model survive.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from quintant.api.container import Container, EphemeralContainer, SeccompProfile
from quintant.api.meta import Condition
from quintant.api.scheduling import Affinity, Toleration, TopologySpreadConstraint
from quintant.api.volume import Volume
from quintant.core.object import Model, Object, ObjectMeta, Opaque
from quintant.core.resource import resource


class LocalObjectReference(Model):
    """The name of an object in the same namespace."""

    name: str = ""
    """The name of the object, in the same namespace."""


class PodSecurityContext(Model):
    """How all containers of a pod are confined."""

    run_as_non_root: bool | None = None
    run_as_user: int | None = None
    run_as_group: int | None = None
    fs_group: int | None = None
    fs_group_change_policy: str | None = None
    supplemental_groups: tuple[int, ...] = ()
    seccomp_profile: SeccompProfile | None = None


class HostAlias(Model):
    """A line of the pod's hosts file."""

    ip: str
    hostnames: tuple[str, ...] = ()


class PodDNSConfigOption(Model):
    """An option of the resolver."""

    name: str = ""
    value: str | None = None


class PodDNSConfig(Model):
    """What is added to the pod's resolver."""

    nameservers: tuple[str, ...] = ()
    searches: tuple[str, ...] = ()
    options: tuple[PodDNSConfigOption, ...] = ()


class PodReadinessGate(Model):
    """A condition that must be True before the pod is Ready."""

    condition_type: str


class PodSpec(Model):
    """What a pod runs, where, and as whom."""

    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    ephemeral_containers: tuple[EphemeralContainer, ...] = ()
    volumes: tuple[Volume, ...] = ()
    restart_policy: str = ""
    node_name: str = ""
    node_selector: Mapping[str, str] = {}
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    scheduler_name: str = ""
    priority: int | None = None
    priority_class_name: str = ""
    preemption_policy: str | None = None
    runtime_class_name: str | None = None
    service_account_name: str = ""
    automount_service_account_token: bool | None = None
    image_pull_secrets: tuple[LocalObjectReference, ...] = ()
    security_context: PodSecurityContext | None = None
    termination_grace_period_seconds: int | None = None
    active_deadline_seconds: int | None = None
    readiness_gates: tuple[PodReadinessGate, ...] = ()
    hostname: str = ""
    subdomain: str = ""
    host_aliases: tuple[HostAlias, ...] = ()
    host_network: bool = False
    host_pid: bool = msgspec.field(default=False, name="hostPID")
    host_ipc: bool = msgspec.field(default=False, name="hostIPC")
    share_process_namespace: bool | None = None
    dns_policy: str = ""
    dns_config: PodDNSConfig | None = None
    enable_service_links: bool | None = None
    overhead: Opaque | None = None


class ContainerStateWaiting(Model):
    """A container that has not started, and why."""

    reason: str = ""
    message: str = ""


class ContainerStateRunning(Model):
    """A container that runs."""

    started_at: str | None = None


class ContainerStateTerminated(Model):
    """A container that ended."""

    exit_code: int
    signal: int = 0
    reason: str = ""
    message: str = ""
    started_at: str | None = None
    finished_at: str | None = None
    container_id: str = msgspec.field(default="", name="containerID")


class ContainerState(Model):
    """Exactly one of three, or none: waiting is then meant."""

    waiting: ContainerStateWaiting | None = None
    running: ContainerStateRunning | None = None
    terminated: ContainerStateTerminated | None = None


class ContainerStatus(Model):
    """What became of a container; `container_id` changes with every incarnation."""

    name: str
    ready: bool = False
    restart_count: int = 0
    started: bool | None = None
    image: str = ""
    image_id: str = msgspec.field(default="", name="imageID")
    container_id: str = msgspec.field(default="", name="containerID")
    state: ContainerState = ContainerState()
    last_state: ContainerState = ContainerState()


class Address(Model):
    """One of the addresses of a pod or its node."""

    ip: str = ""


class PodStatus(Model):
    """What became of a pod."""

    observed_generation: int | None = None
    phase: str = ""
    conditions: tuple[Condition, ...] = ()
    message: str = ""
    reason: str = ""
    nominated_node_name: str = ""
    host_ip: str = msgspec.field(default="", name="hostIP")
    host_ips: tuple[Address, ...] = msgspec.field(default=(), name="hostIPs")
    pod_ip: str = msgspec.field(default="", name="podIP")
    pod_ips: tuple[Address, ...] = msgspec.field(default=(), name="podIPs")
    start_time: str | None = None
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    ephemeral_container_statuses: tuple[ContainerStatus, ...] = ()
    qos_class: str = ""


@resource(group="", version="v1", status=True)
class Pod(Object):
    """Containers that run together on one node."""

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def ready(self) -> bool:
        """Whether its Ready condition is True."""
        return any(c.type == "Ready" and c.status == "True" for c in self.status.conditions)


class PodTemplateSpec(Model):
    """A pod to be made; wrap it with `Opaque.of` where a kind holds a template."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()
