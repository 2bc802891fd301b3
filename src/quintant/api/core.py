"""The core group: pods, services, configuration, storage, nodes, namespaces and their events.

Pods, containers and volumes live in modules of their own and are importable from here, which is
where users look. Secrets are the one kind with a repr of their own: it never shows a value.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping

from quintant.api.container import (
    Capabilities,
    Container,
    ContainerPort,
    EnvFromSource,
    EnvSource,
    EnvVar,
    EnvVarSource,
    EphemeralContainer,
    ExecAction,
    GRPCAction,
    HTTPGetAction,
    HTTPHeader,
    KeySelector,
    Lifecycle,
    LifecycleHandler,
    ObjectFieldSelector,
    Probe,
    ResourceFieldSelector,
    ResourceRequirements,
    SeccompProfile,
    SecurityContext,
    SleepAction,
    TCPSocketAction,
    VolumeDevice,
    VolumeMount,
)
from quintant.api.meta import (
    ObjectReference,
)
from quintant.api.node import (
    Namespace,
    NamespaceSpec,
    NamespaceStatus,
    Node,
    NodeAddress,
    NodeCondition,
    NodeSpec,
    NodeStatus,
    NodeSystemInfo,
    Taint,
)
from quintant.api.pod import (
    Address,
    ContainerState,
    ContainerStateRunning,
    ContainerStateTerminated,
    ContainerStateWaiting,
    ContainerStatus,
    HostAlias,
    LocalObjectReference,
    Pod,
    PodDNSConfig,
    PodDNSConfigOption,
    PodReadinessGate,
    PodSecurityContext,
    PodSpec,
    PodStatus,
    PodTemplateSpec,
)
from quintant.api.quantity import (
    IntOrString,
    Quantity,
)
from quintant.api.scheduling import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorTerm,
    PodAffinity,
    PodAffinityTerm,
    PreferredSchedulingTerm,
    Toleration,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from quintant.api.service import (
    ClientIPConfig,
    EndpointAddress,
    EndpointPort,
    Endpoints,
    EndpointSubset,
    LoadBalancerIngress,
    LoadBalancerStatus,
    Service,
    ServicePort,
    ServiceSpec,
    ServiceStatus,
    SessionAffinityConfig,
)
from quintant.api.volume import (
    ConfigMapVolumeSource,
    CSIPersistentVolumeSource,
    DownwardAPIVolumeFile,
    DownwardAPIVolumeSource,
    EmptyDirVolumeSource,
    HostPathVolumeSource,
    KeyToPath,
    LocalVolumeSource,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    PersistentVolumeClaimStatus,
    PersistentVolumeClaimTemplate,
    PersistentVolumeClaimVolumeSource,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
    SecretVolumeSource,
    TypedLocalObjectReference,
    TypedObjectReference,
    Volume,
)
from quintant.core.object import Model, Object
from quintant.core.resource import resource

__all__ = [
    "Address",
    "Affinity",
    "CSIPersistentVolumeSource",
    "Capabilities",
    "ClientIPConfig",
    "ConfigMap",
    "ConfigMapVolumeSource",
    "Container",
    "ContainerPort",
    "ContainerState",
    "ContainerStateRunning",
    "ContainerStateTerminated",
    "ContainerStateWaiting",
    "ContainerStatus",
    "DownwardAPIVolumeFile",
    "DownwardAPIVolumeSource",
    "EmptyDirVolumeSource",
    "EndpointAddress",
    "EndpointPort",
    "EndpointSubset",
    "Endpoints",
    "EnvFromSource",
    "EnvSource",
    "EnvVar",
    "EnvVarSource",
    "EphemeralContainer",
    "Event",
    "EventSeries",
    "EventSource",
    "ExecAction",
    "GRPCAction",
    "HTTPGetAction",
    "HTTPHeader",
    "HostAlias",
    "HostPathVolumeSource",
    "IntOrString",
    "KeySelector",
    "KeyToPath",
    "Lifecycle",
    "LifecycleHandler",
    "LoadBalancerIngress",
    "LoadBalancerStatus",
    "LocalObjectReference",
    "LocalVolumeSource",
    "Namespace",
    "NamespaceSpec",
    "NamespaceStatus",
    "Node",
    "NodeAddress",
    "NodeAffinity",
    "NodeCondition",
    "NodeSelector",
    "NodeSelectorTerm",
    "NodeSpec",
    "NodeStatus",
    "NodeSystemInfo",
    "ObjectFieldSelector",
    "ObjectReference",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "PersistentVolumeClaimSpec",
    "PersistentVolumeClaimStatus",
    "PersistentVolumeClaimTemplate",
    "PersistentVolumeClaimVolumeSource",
    "PersistentVolumeSpec",
    "PersistentVolumeStatus",
    "Pod",
    "PodAffinity",
    "PodAffinityTerm",
    "PodDNSConfig",
    "PodDNSConfigOption",
    "PodReadinessGate",
    "PodSecurityContext",
    "PodSpec",
    "PodStatus",
    "PodTemplateSpec",
    "PreferredSchedulingTerm",
    "Probe",
    "Quantity",
    "ResourceFieldSelector",
    "ResourceRequirements",
    "SeccompProfile",
    "Secret",
    "SecretVolumeSource",
    "SecurityContext",
    "Service",
    "ServiceAccount",
    "ServicePort",
    "ServiceSpec",
    "ServiceStatus",
    "SessionAffinityConfig",
    "SleepAction",
    "TCPSocketAction",
    "Taint",
    "Toleration",
    "TopologySpreadConstraint",
    "TypedLocalObjectReference",
    "TypedObjectReference",
    "Volume",
    "VolumeDevice",
    "VolumeMount",
    "WeightedPodAffinityTerm",
]


@resource(group="", version="v1")
class ConfigMap(Object):
    """Configuration as text; `binary_data` is base64."""

    data: Mapping[str, str] = {}
    binary_data: Mapping[str, str] = {}
    immutable: bool | None = None


@resource(group="", version="v1")
class Secret(Object):
    """Configuration that must not be shown; `data` is base64, `string_data` is written as text.

    Neither appears in its repr. Read a value with `reveal`.
    """

    data: Mapping[str, str] = {}
    string_data: Mapping[str, str] = {}
    type: str = ""
    immutable: bool | None = None

    def reveal(self, key: str) -> bytes:
        """The value of a key; KeyError when the secret has no such key."""
        if key in self.string_data:
            return self.string_data[key].encode()
        return base64.b64decode(self.data[key])

    def __repr__(self) -> str:
        return f"Secret({', '.join(f'{name}={value!r}' for name, value in self.__rich_repr__())})"

    def __rich_repr__(self) -> Iterator[tuple[str, object]]:
        yield "name", str(self.key)
        yield "keys", sorted({*self.data, *self.string_data})
        yield "type", self.type


@resource(group="", version="v1")
class ServiceAccount(Object):
    """Who a pod is when it talks to the API server."""

    secrets: tuple[ObjectReference, ...] = ()
    image_pull_secrets: tuple[LocalObjectReference, ...] = ()
    automount_service_account_token: bool | None = None


class EventSource(Model):
    """Who reported an event."""

    component: str = ""
    host: str = ""


class EventSeries(Model):
    """How often the same thing happened again."""

    count: int = 0
    last_observed_time: str | None = None


@resource(group="", version="v1")
class Event(Object):
    """Something that happened to an object, as kubectl and older clients read it."""

    involved_object: ObjectReference = ObjectReference()
    reason: str = ""
    message: str = ""
    type: str = ""
    source: EventSource = EventSource()
    count: int = 0
    first_timestamp: str | None = None
    last_timestamp: str | None = None
    event_time: str | None = None
    action: str = ""
    related: ObjectReference | None = None
    series: EventSeries | None = None
    reporting_component: str = ""
    reporting_instance: str = ""
