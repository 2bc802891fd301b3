"""Containers: what a pod runs, and how it is configured, probed and confined.

Re-exported by `api.core`. A boolean or number that Kubernetes distinguishes from absent is None by
default; the others default to what absent means.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from quintant.api.quantity import IntOrString, Quantity
from quintant.core.object import Model


class KeySelector(Model):
    """A key of a ConfigMap or Secret in the pod's namespace."""

    key: str
    name: str = ""
    optional: bool | None = None


class ObjectFieldSelector(Model):
    """A field of the pod itself, such as `status.podIP`."""

    field_path: str
    api_version: str = ""


class ResourceFieldSelector(Model):
    """A limit or request of a container."""

    resource: str
    container_name: str = ""
    divisor: Quantity | None = None


class EnvVarSource(Model):
    """Where an environment variable takes its value from; exactly one is set."""

    config_map_key_ref: KeySelector | None = None
    secret_key_ref: KeySelector | None = None
    field_ref: ObjectFieldSelector | None = None
    resource_field_ref: ResourceFieldSelector | None = None


class EnvVar(Model):
    """An environment variable; `$(NAME)` in the value refers to an earlier one."""

    name: str
    value: str = ""
    value_from: EnvVarSource | None = None


class EnvSource(Model):
    """A ConfigMap or Secret whose every key becomes a variable."""

    name: str = ""
    optional: bool | None = None


class EnvFromSource(Model):
    """All keys of a ConfigMap or Secret, as variables."""

    prefix: str = ""
    config_map_ref: EnvSource | None = None
    secret_ref: EnvSource | None = None


class ContainerPort(Model):
    """A port the container listens on."""

    container_port: int
    name: str = ""
    protocol: str = ""
    host_port: int | None = None
    host_ip: str = msgspec.field(default="", name="hostIP")


class VolumeMount(Model):
    """Where a volume of the pod appears in the container."""

    name: str
    mount_path: str
    read_only: bool = False
    sub_path: str = ""
    sub_path_expr: str = ""
    mount_propagation: str | None = None


class VolumeDevice(Model):
    """Where a raw block volume appears in the container."""

    name: str
    device_path: str


class ResourceRequirements(Model):
    """What a container is promised (requests) and held to (limits)."""

    requests: Mapping[str, Quantity] = {}
    limits: Mapping[str, Quantity] = {}


class HTTPHeader(Model):
    """A header sent by a probe."""

    name: str
    value: str = ""


class HTTPGetAction(Model):
    """A GET that must answer 200..399."""

    port: IntOrString
    path: str = ""
    host: str = ""
    scheme: str = ""
    http_headers: tuple[HTTPHeader, ...] = ()


class TCPSocketAction(Model):
    """A port that must accept connections."""

    port: IntOrString
    host: str = ""


class GRPCAction(Model):
    """A gRPC health check that must answer SERVING."""

    port: int
    service: str | None = None


class ExecAction(Model):
    """A command that must end with 0."""

    command: tuple[str, ...] = ()


class SleepAction(Model):
    """A pause, in seconds."""

    seconds: int


class Probe(Model):
    """How to ask a container whether it is started, ready or alive; one action is set."""

    http_get: HTTPGetAction | None = None
    tcp_socket: TCPSocketAction | None = None
    grpc: GRPCAction | None = None
    exec: ExecAction | None = None
    initial_delay_seconds: int = 0
    period_seconds: int | None = None
    timeout_seconds: int | None = None
    success_threshold: int | None = None
    failure_threshold: int | None = None
    termination_grace_period_seconds: int | None = None


class LifecycleHandler(Model):
    """What to do when a container starts or is about to stop; one action is set."""

    exec: ExecAction | None = None
    http_get: HTTPGetAction | None = None
    tcp_socket: TCPSocketAction | None = None
    sleep: SleepAction | None = None


class Lifecycle(Model):
    """Hooks around a container's life."""

    post_start: LifecycleHandler | None = None
    pre_stop: LifecycleHandler | None = None


class Capabilities(Model):
    """Linux capabilities given or taken."""

    add: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()


class SeccompProfile(Model):
    """RuntimeDefault, Unconfined, or Localhost with a file."""

    type: str
    localhost_profile: str | None = None


class SecurityContext(Model):
    """How a container is confined; it wins over the pod's."""

    privileged: bool | None = None
    allow_privilege_escalation: bool | None = None
    read_only_root_filesystem: bool | None = None
    run_as_non_root: bool | None = None
    run_as_user: int | None = None
    run_as_group: int | None = None
    capabilities: Capabilities | None = None
    seccomp_profile: SeccompProfile | None = None


class Container(Model):
    """One program of a pod; `restart_policy` "Always" on an init container makes a sidecar."""

    name: str
    image: str = ""
    image_pull_policy: str = ""
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    working_dir: str = ""
    ports: tuple[ContainerPort, ...] = ()
    env: tuple[EnvVar, ...] = ()
    env_from: tuple[EnvFromSource, ...] = ()
    resources: ResourceRequirements = ResourceRequirements()
    restart_policy: str | None = None
    volume_mounts: tuple[VolumeMount, ...] = ()
    volume_devices: tuple[VolumeDevice, ...] = ()
    liveness_probe: Probe | None = None
    readiness_probe: Probe | None = None
    startup_probe: Probe | None = None
    lifecycle: Lifecycle | None = None
    security_context: SecurityContext | None = None
    termination_message_path: str = ""
    termination_message_policy: str = ""
    stdin: bool = False
    stdin_once: bool = False
    tty: bool = False


class EphemeralContainer(Container):
    """A container that was added to a pod that runs, for debugging it; it is never restarted."""

    target_container_name: str = ""
