"""CosmosFullNode: as many nodes of a chain as asked for, each with its volume and its identity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from quintant.api.kubernetes.core_v1 import (
    Affinity,
    Container,
    PodSpec,
    ResourceRequirements,
    Toleration,
    Volume,
)
from quintant.api.pod import LocalObjectReference
from quintant.api.quantity import Quantity
from quintant.api.service import ServicePort
from quintant.api.volume import TypedLocalObjectReference
from quintant.core.object import Custom, Model, Opaque
from quintant.core.resource import Scale, resource
from quintant.core.schema.markers import shaped
from quintant.operators.cosmos.api import GROUP, VERSION
from quintant.operators.cosmos.api.chain import (
    MOST_HEIGHT,
    MOST_ITEMS,
    YEAR_SECONDS,
    ChainSpec,
    Count,
    Seconds,
    Text,
)
from quintant.operators.cosmos.api.status import FullNodeStatus

NodeType = Literal["FullNode", "Sentry"]
RetentionPolicy = Literal["Retain", "Delete"]
MOST_REPLICAS = 1000
"""Instances of one CosmosFullNode: each is a pod, a volume, a ConfigMap and a Service."""
MOST_ORDINAL = 2**31 - 1 - MOST_REPLICAS
Containers = Annotated[
    tuple[Annotated[Opaque, shaped(Container)], ...], Meta(max_length=MOST_ITEMS)
]
Volumes = Annotated[tuple[Annotated[Opaque, shaped(Volume)], ...], Meta(max_length=MOST_ITEMS)]
Tolerations = Annotated[
    tuple[Annotated[Opaque, shaped(Toleration)], ...], Meta(max_length=MOST_ITEMS)
]


class TemplateMetadata(Model):
    """Labels and annotations to add; keys that the operator sets are its own."""

    labels: Mapping[str, str] = {}
    """Labels to add."""
    annotations: Mapping[str, str] = {}
    """Annotations to add."""


class Probes(Model):
    """Which readiness probes pods have; without a word InSync, and None for sentries."""

    strategy: Literal["None", "Reachable", "InSync"] | None = None
    """None, Reachable (the node answers) or InSync (it has caught up)."""


class NodePodTemplate(Model):
    """What pods have beside what is generated; lists are merged by name, as kubectl patch does."""

    metadata: TemplateMetadata = TemplateMetadata()
    image: Text | None = None
    """The chain's image, where no versions are given."""
    image_pull_policy: str = ""
    """When images are pulled: Always, IfNotPresent or Never."""
    image_pull_secrets: Annotated[
        tuple[LocalObjectReference, ...], Meta(max_length=MOST_ITEMS)
    ] = ()
    """Secrets with which images are pulled."""
    node_selector: Mapping[str, str] = {}
    """Labels that a pod's node must have."""
    affinity: Annotated[Opaque, shaped(Affinity)] | None = None
    """Which nodes and neighbours pods want: see `kubectl explain pod.spec.affinity`."""
    tolerations: Tolerations = ()
    """Taints that pods bear: see `kubectl explain pod.spec.tolerations`."""
    priority_class_name: str = ""
    """The PriorityClass of pods."""
    priority: int | None = None
    """The priority of pods; the class sets it as a rule."""
    resources: Annotated[Opaque, shaped(ResourceRequirements)] | None = None
    """What the node's container asks for and may use."""
    termination_grace_period_seconds: int | None = None
    """How long a node may take to end."""
    probes: Probes = Probes()
    volumes: Volumes = ()
    """Further volumes: see `kubectl explain pod.spec.volumes`."""
    init_containers: Containers = ()
    """Further init containers, or changes to generated ones of the same name: see `kubectl explain
    pod.spec.initContainers`."""
    containers: Containers = ()
    """Further containers, or changes to generated ones of the same name: see `kubectl explain
    pod.spec.containers`."""


class RolloutStrategy(Model):
    """How pods are replaced."""

    max_unavailable: int | str | None = None
    """How many may be down by the operator's hand at once: 25% if not given, at least one."""
    restart_on_peer_change: bool = False
    """Replace pods when only the list of their siblings changed, as the original does."""
    partition: Count | None = None
    """Only pods of this ordinal and above are replaced."""
    progress_deadline_seconds: Seconds | None = None
    """A replaced pod that is not available by then stops the update at that pod."""


class AutoDataSource(Model):
    """New volumes are filled from the newest ready VolumeSnapshot that is meant here."""

    volume_snapshot_selector: Mapping[str, str] = {}
    """The labels of the VolumeSnapshots that may be used; without any, those of its own nodes."""
    match_instance: bool = False
    """Only from snapshots of the same instance."""


class StorageResources(Model):
    """How much storage is asked for."""

    requests: Mapping[str, Quantity] = {}
    """What is asked for, such as storage: 100Gi."""
    limits: Mapping[str, Quantity] = {}
    """What may be used at most."""


class VolumeClaimOverride(Model):
    """The volume of one instance, instead of that of the others; class and size may be left out."""

    metadata: TemplateMetadata = TemplateMetadata()
    storage_class_name: str | None = None
    """The StorageClass of the volume."""
    resources: StorageResources | None = None
    access_modes: Annotated[tuple[str, ...], Meta(max_length=8)] = ()
    """How the volume may be mounted."""
    volume_mode: str | None = None
    """Filesystem or Block."""
    data_source: TypedLocalObjectReference | None = None
    auto_data_source: AutoDataSource | None = None


class NodeVolumeClaimTemplate(Model):
    """The volume of each instance."""

    storage_class_name: str
    """The StorageClass of volumes."""
    resources: StorageResources
    metadata: TemplateMetadata = TemplateMetadata()
    access_modes: Annotated[tuple[str, ...], Meta(max_length=8)] = ()
    """ReadWriteOnce if none is given."""
    volume_mode: str | None = None
    """Filesystem if not given."""
    data_source: TypedLocalObjectReference | None = None
    auto_data_source: AutoDataSource | None = None


class ServiceTemplate(Model):
    """What Services have beside what is generated."""

    metadata: TemplateMetadata = TemplateMetadata()
    type: Literal["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"] | None = None
    """The type of the Service."""
    cluster_ip: str = msgspec.field(default="", name="clusterIP")
    """Its address; None for a headless Service."""
    ports: Annotated[tuple[ServicePort, ...], Meta(max_length=MOST_ITEMS)] = ()
    """Of the RPC Service: added to its own."""
    external_traffic_policy: Literal["Cluster", "Local"] | None = None
    """Whether traffic from outside goes to all nodes or to those with a pod."""


class ServiceOverrides(Model):
    """How nodes are reached."""

    max_p2p_external_addresses: Count | None = msgspec.field(
        default=None, name="maxP2PExternalAddresses"
    )
    """How many instances, from the first on, have an address outside; 1 if not given."""
    cluster_domain: str = ""
    """Empty means cluster.local."""
    p2p_template: ServiceTemplate = ServiceTemplate()
    rpc_template: ServiceTemplate = ServiceTemplate()
    prune_on_scale_down: bool = False
    """Delete the Services of removed instances that have no address outside."""


class InstanceOverride(Model):
    """What is otherwise for one instance, by its name: that of its pod."""

    disable: str | None = None
    """Pod: no pod, the volume stays. All: neither."""
    image: str = ""
    """The chain's image of this instance."""
    external_address: str = ""
    """How it is reached from outside, as host:port."""
    node_selector: Mapping[str, str] = {}
    """Labels that its node must have."""
    volume_claim_template: VolumeClaimOverride | None = None


class PvcAutoScale(Model):
    """Volumes grow as they fill."""

    used_space_percentage: Annotated[int, Meta(ge=1, le=100)]
    """How full a volume is, in percent, when it is grown."""
    increase_quantity: int | str
    """A percentage of the volume such as 20%, or an amount such as 100Gi."""
    max_size: Quantity | None = None
    """No volume grows beyond this."""


class HeightDriftMitigation(Model):
    """Nodes that claim to be in sync and lag behind their siblings are restarted."""

    threshold: Annotated[int, Meta(ge=1, le=MOST_HEIGHT)]
    """In blocks."""


class StallRestart(Model):
    """Nodes that stand still while others advance, are silent, or have no peers are restarted."""

    seconds: Annotated[int, Meta(ge=10, le=YEAR_SECONDS)]
    """For how long that has to be so."""


class CrashLoopRebuild(Model):
    """An instance whose node ends again and again begins anew, from the newest ready copy.

    One at a time, never while no other node is in sync, and never under Retain. It needs a source
    for new volumes: dataSource or autoDataSource.
    """

    restarts: Annotated[int, Meta(ge=1, le=2**31 - 1)]
    """How many restarts are too many."""
    window_seconds: Annotated[int, Meta(ge=60, le=YEAR_SECONDS)]
    """So many restarts within such a time."""


class SelfHeal(Model):
    """What is mended by itself; nothing unless it is asked for."""

    pvc_auto_scale: PvcAutoScale | None = None
    height_drift_mitigation: HeightDriftMitigation | None = None
    stall: StallRestart | None = None
    crash_loop: CrashLoopRebuild | None = None


class InstanceOrdinals(Model):
    """How instances are numbered."""

    start: Annotated[int, Meta(ge=0, le=MOST_ORDINAL)] | None = None
    """The number of the first; 0 if not given."""


class AdditionalVersionedPod(PodSpec):
    """A pod beside each instance: a name, and a PodSpec (see `kubectl explain pod.spec`)."""

    name: str
    """The pod's name, before the ordinal."""
    metadata: TemplateMetadata = TemplateMetadata()
    prefer_same_node: bool = False
    """Whether it should run on the node of its instance."""


class FullNodeSpec(Model):
    """How many nodes, of which chain, with what."""

    replicas: Annotated[int, Meta(ge=0, le=MOST_REPLICAS)]
    """How many nodes there are, each an instance with a volume of its own."""
    chain: ChainSpec
    pod_template: NodePodTemplate
    volume_claim_template: NodeVolumeClaimTemplate
    ordinals: InstanceOrdinals = InstanceOrdinals()
    type: NodeType | None = None
    """FullNode, or Sentry, which shields a remote signer; FullNode if not given."""
    strategy: RolloutStrategy = RolloutStrategy()
    volume_retention_policy: RetentionPolicy | None = None
    """Whether the volumes of removed instances are kept; they are deleted if not given."""
    service: ServiceOverrides = ServiceOverrides()
    instance_overrides: Annotated[
        Mapping[str, InstanceOverride], Meta(max_length=2 * MOST_REPLICAS)
    ] = {}
    """What is otherwise for single instances, by the name of their pod."""
    self_heal: SelfHeal | None = None
    service_account_name: str = ""
    """Of the pods; without one they get an account that may tell of their heights."""
    additional_versioned_pods: Annotated[
        tuple[Annotated[Opaque, shaped(AdditionalVersionedPod)], ...], Meta(max_length=16)
    ] = ()
    """Pods beside each instance, with the images of its version: name, metadata, preferSameNode,
    and a PodSpec."""


@resource(
    group=GROUP,
    version=VERSION,
    status=True,
    short=["cfn"],
    scale=Scale(selector=".status.selector"),
    columns={
        "Phase": ".status.phase",
        "Replicas": ".spec.replicas",
        "InSync": ".status.inSyncReplicas",
        "Ready": r'.status.conditions[?(@.type=="Ready")].status',
        "Age": ".metadata.creationTimestamp",
    },
)
class CosmosFullNode(Custom[FullNodeSpec, FullNodeStatus]):
    """Full nodes of a Cosmos chain: in sync, upgraded at the right block, restored from copies."""
