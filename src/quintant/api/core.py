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
    Exec,
    FieldSelector,
    Grpc,
    Handler,
    HttpGet,
    HttpHeader,
    KeySelector,
    Lifecycle,
    Probe,
    ResourceFieldSelector,
    Resources,
    SeccompProfile,
    SecurityContext,
    Sleep,
    TcpSocket,
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
    ContainerStatus,
    DnsConfig,
    DnsOption,
    HostAlias,
    LocalReference,
    Pod,
    PodSecurityContext,
    PodSpec,
    PodStatus,
    PodTemplate,
    ReadinessGate,
    Running,
    Terminated,
    Waiting,
)
from quintant.api.quantity import (
    IntOrString,
    Quantity,
)
from quintant.api.scheduling import (
    Affinity,
    NodeAffinity,
    NodeTerm,
    NodeTerms,
    PodAffinity,
    PodTerm,
    PreferredNode,
    PreferredPod,
    Toleration,
    TopologySpread,
)
from quintant.api.service import (
    AffinityConfig,
    ClientAffinity,
    EndpointAddress,
    EndpointPort,
    Endpoints,
    EndpointSubset,
    Ingress,
    LoadBalancer,
    Service,
    ServicePort,
    ServiceSpec,
    ServiceStatus,
)
from quintant.api.volume import (
    ClaimSpec,
    ClaimStatus,
    ClaimTemplate,
    ClaimVolume,
    ConfigMapVolume,
    CsiVolume,
    DataSource,
    DataSourceRef,
    DownwardFile,
    DownwardVolume,
    EmptyDir,
    HostPath,
    KeyToPath,
    LocalVolume,
    PersistentVolume,
    PersistentVolumeClaim,
    SecretVolume,
    Volume,
    VolumeSpec,
    VolumeStatus,
)
from quintant.core.object import Model, Object
from quintant.core.resource import resource

__all__ = [
    "Address",
    "Affinity",
    "AffinityConfig",
    "Capabilities",
    "ClaimSpec",
    "ClaimStatus",
    "ClaimTemplate",
    "ClaimVolume",
    "ClientAffinity",
    "ConfigMap",
    "ConfigMapVolume",
    "Container",
    "ContainerPort",
    "ContainerState",
    "ContainerStatus",
    "CsiVolume",
    "DataSource",
    "DataSourceRef",
    "DnsConfig",
    "DnsOption",
    "DownwardFile",
    "DownwardVolume",
    "EmptyDir",
    "EndpointAddress",
    "EndpointPort",
    "EndpointSubset",
    "Endpoints",
    "EnvFromSource",
    "EnvSource",
    "EnvVar",
    "EnvVarSource",
    "Event",
    "EventSeries",
    "EventSource",
    "Exec",
    "FieldSelector",
    "Grpc",
    "Handler",
    "HostAlias",
    "HostPath",
    "HttpGet",
    "HttpHeader",
    "Ingress",
    "IntOrString",
    "KeySelector",
    "KeyToPath",
    "Lifecycle",
    "LoadBalancer",
    "LocalReference",
    "LocalVolume",
    "Namespace",
    "NamespaceSpec",
    "NamespaceStatus",
    "Node",
    "NodeAddress",
    "NodeAffinity",
    "NodeCondition",
    "NodeSpec",
    "NodeStatus",
    "NodeSystemInfo",
    "NodeTerm",
    "NodeTerms",
    "ObjectReference",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Pod",
    "PodAffinity",
    "PodSecurityContext",
    "PodSpec",
    "PodStatus",
    "PodTemplate",
    "PodTerm",
    "PreferredNode",
    "PreferredPod",
    "Probe",
    "Quantity",
    "ReadinessGate",
    "ResourceFieldSelector",
    "Resources",
    "Running",
    "SeccompProfile",
    "Secret",
    "SecretVolume",
    "SecurityContext",
    "Service",
    "ServiceAccount",
    "ServicePort",
    "ServiceSpec",
    "ServiceStatus",
    "Sleep",
    "Taint",
    "TcpSocket",
    "Terminated",
    "Toleration",
    "TopologySpread",
    "Volume",
    "VolumeDevice",
    "VolumeMount",
    "VolumeSpec",
    "VolumeStatus",
    "Waiting",
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
    image_pull_secrets: tuple[LocalReference, ...] = ()
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
