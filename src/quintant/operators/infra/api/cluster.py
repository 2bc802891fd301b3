"""Cluster: a whole Kubernetes cluster, made from a TOSCA template or only looked at."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from quintant.core.object import Custom, Model, Opaque
from quintant.core.resource import Column, resource
from quintant.core.schema.markers import cel, default, duration
from quintant.operators.infra.api.cluster_status import ClusterStatus
from quintant.operators.infra.api.names import (
    CATEGORY,
    GROUP,
    VERSION,
    Name,
    Reserved,
    SecretKeyRef,
    reserved,
)

Span = Annotated[str | None, duration()]

_OBJECT = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_OUTPUTS = _OBJECT | {
    "description": "What the template gives back.",
    "required": ["kubeconfig"],
    "properties": {
        "kubeconfig": {
            "description": "How the made cluster is reached.",
            "x-kubernetes-preserve-unknown-fields": True,
        }
    },
}
TEMPLATE = Meta(
    description="A TOSCA template; its output `kubeconfig` is how the cluster is reached.",
    extra_json_schema={
        "required": ["tosca_definitions_version", "topology_template"],
        "properties": {
            "tosca_definitions_version": {
                "description": "The version of TOSCA, such as tosca_simple_yaml_1_0.",
                "type": "string",
                "minLength": 1,
            },
            "topology_template": _OBJECT | {
                "description": "The machines, what is installed on them, and the outputs.",
                "required": ["outputs"],
                "properties": {"outputs": _OUTPUTS},
            },
        },
    },
)  # fmt: skip


class CloudRef(Model):
    """A Cloud beside the Cluster, or a GlobalCloud."""

    kind: Annotated[Literal["Cloud", "GlobalCloud"] | None, default("Cloud")] = None
    """Cloud, in the same namespace, or GlobalCloud."""
    name: Name
    """Its name."""


class CloudConstraints(Model):
    """What a cloud must be like."""

    labels: Annotated[tuple[str, ...], Meta(max_length=64)] = ()
    """`location is DE`, `location is not DE`, `tier in (gold, silver)`, `tier not in (bronze)`."""
    metrics: Reserved = None
    """Reserved: refused if it is given."""


class Constraints(Model):
    """What the scheduler looks at."""

    cloud: CloudConstraints = CloudConstraints()


class Timeouts(Model):
    """When an operation counts as failed; it is looked at all the same, and 0 means never."""

    create: Annotated[Span, default("60m")] = None
    """Of making the infrastructure."""
    update: Annotated[Span, default("60m")] = None
    """Of changing it."""
    reconfigure: Annotated[Span, default("30m")] = None
    """Of configuring it anew."""
    delete: Annotated[Span, default("30m")] = None
    """Of deleting it."""
    launch_grace: Annotated[Span, default("10m")] = None
    """How long a provider may prepare without listing a machine. Until then nothing is deleted:
    it would forget the infrastructure and launch its machines all the same."""


class ReconfigureSpec(Model):
    """How often what failed is tried again."""

    max_attempts: Annotated[int | None, Meta(ge=1), default(5)] = None
    """How often, before it is FAILED."""
    backoff: Annotated[Span, default("30s")] = None
    """How long before the second try; doubled each time."""
    max_backoff: Annotated[Span, default("10m")] = None
    """How long at most."""


class ObserverSpec(Model):
    """How the made cluster is looked at."""

    interval: Annotated[Span, default("30s")] = None
    """How often."""
    timeout: Annotated[Span, default("10s")] = None
    """How long an answer may take."""
    failure_threshold: Annotated[int | None, Meta(ge=1), default(3)] = None
    """So many failures in a row are OFFLINE; fewer are DEGRADED."""
    require_nodes: bool = False
    """Whether a cluster without nodes is NOTREADY."""
    insecure_skip_tls_verify: bool = msgspec.field(default=False, name="insecureSkipTLSVerify")
    """Whether a kubeconfig that says so may do without checking the server's certificate."""


class ClusterSpec(Model):
    """What is wanted."""

    kubeconfig_secret_ref: SecretKeyRef | None = None
    """Of a cluster that exists already: it is looked at, and nothing is made."""
    tosca: Annotated[Opaque | None, TEMPLATE] = None
    cloud_ref: CloudRef | None = None
    """The very cloud to use; the scheduler is not asked."""
    constraints: Constraints | None = None
    inherit_labels: bool = False
    """Show the cloud's labels in the status."""
    inherit_metrics: Annotated[bool, reserved("!self")] = False
    """Reserved: refused if it is true."""
    metrics: Reserved = None
    """Reserved: refused if it is given."""
    custom_resources: tuple[str, ...] = ()
    """Kinds that the cluster serves, as plural.group: for programs that place applications."""
    paused: bool = False
    """Whether nothing is done about it."""
    deletion_policy: Annotated[Literal["Delete", "Orphan"] | None, default("Delete")] = None
    """Orphan leaves the infrastructure at the provider, to be adopted by another Cluster."""
    adopt_infrastructure_id: Annotated[str, Meta(pattern="^[A-Za-z0-9-]*$", max_length=128)] = (
        msgspec.field(default="", name="adoptInfrastructureID")
    )
    """An infrastructure that exists at the provider, to be taken over instead of creating one."""
    replace_failed_vms: bool = msgspec.field(default=False, name="replaceFailedVMs")
    """Delete machines that failed, and have others made in their place."""
    timeouts: Timeouts | None = None
    reconfigure: ReconfigureSpec | None = None
    observer: ObserverSpec | None = None


@resource(
    group=GROUP,
    version=VERSION,
    status=True,
    short=["kcl"],
    categories=[CATEGORY],
    columns={
        "State": ".status.state",
        "Cloud": ".status.runningOn.name",
        "Nodes": ".status.nodes.total",
        "ID": Column(".status.clusterID", priority=1),
        "Message": Column(".status.phaseMessage", priority=1),
        "Age": ".metadata.creationTimestamp",
    },
    rules=[
        cel(
            "has(self.spec.tosca) || has(self.spec.kubeconfigSecretRef)",
            "a Cluster needs tosca, to be made, or kubeconfigSecretRef, to be looked at",
            path=".spec.tosca",
        ),
        cel(
            "!has(oldSelf.spec.tosca) || has(self.spec.tosca)",
            "tosca cannot be taken away: delete the Cluster, or set deletionPolicy: Orphan first",
            path=".spec.tosca",
        ),
        cel(
            "!has(oldSelf.status) || !has(oldSelf.status.runningOn) || !has(self.spec.cloudRef)"
            " || self.spec.cloudRef.name == oldSelf.status.runningOn.name"
            " && self.spec.cloudRef.kind == oldSelf.status.runningOn.kind",
            "a Cluster that runs cannot be moved to another cloud",
            path=".spec.cloudRef",
        ),
    ],
)
class Cluster(Custom[ClusterSpec, ClusterStatus]):
    """A Kubernetes cluster on machines of a cloud."""
