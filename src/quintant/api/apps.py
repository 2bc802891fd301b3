"""Deployments, ReplicaSets, StatefulSets and DaemonSets, and the revisions of the latter two.

Their pod templates are opaque: a rollout carries every field, known to us or not. Make one with
`Opaque.of(PodTemplateSpec(...))`, and a claim template with
`Opaque.of(PersistentVolumeClaimTemplate(...))`.
"""

from __future__ import annotations

from quintant.api.meta import Condition, LabelSelector
from quintant.api.quantity import IntOrString
from quintant.core.object import Model, Object, Opaque
from quintant.core.resource import resource

NO_TEMPLATE = Opaque(b"{}")


class WorkloadCondition(Condition):
    """A condition with the time it was last confirmed."""

    last_update_time: str | None = None


class RollingUpdateDeployment(Model):
    """How fast a Deployment replaces its pods."""

    max_unavailable: IntOrString | None = None
    max_surge: IntOrString | None = None


class DeploymentStrategy(Model):
    """RollingUpdate or Recreate."""

    type: str = ""
    rolling_update: RollingUpdateDeployment | None = None


class DeploymentSpec(Model):
    """How many pods, made how, replaced how."""

    selector: LabelSelector = LabelSelector()
    template: Opaque = NO_TEMPLATE
    replicas: int | None = None
    strategy: DeploymentStrategy = DeploymentStrategy()
    min_ready_seconds: int = 0
    revision_history_limit: int | None = None
    progress_deadline_seconds: int | None = None
    paused: bool = False


class DeploymentStatus(Model):
    """How far a rollout has come."""

    observed_generation: int = 0
    replicas: int = 0
    updated_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    unavailable_replicas: int = 0
    terminating_replicas: int | None = None
    conditions: tuple[WorkloadCondition, ...] = ()
    collision_count: int | None = None


@resource(group="apps", version="v1", status=True)
class Deployment(Object):
    """Interchangeable pods, replaced gradually when the template changes."""

    spec: DeploymentSpec = DeploymentSpec()
    status: DeploymentStatus = DeploymentStatus()


class ReplicaSetSpec(Model):
    """How many pods of one template."""

    selector: LabelSelector = LabelSelector()
    template: Opaque = NO_TEMPLATE
    replicas: int | None = None
    min_ready_seconds: int = 0


class ReplicaSetStatus(Model):
    """How many of them exist, and are ready."""

    observed_generation: int = 0
    replicas: int = 0
    fully_labeled_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    terminating_replicas: int | None = None
    conditions: tuple[Condition, ...] = ()


@resource(group="apps", version="v1", status=True)
class ReplicaSet(Object):
    """A number of equal pods: one revision of a Deployment."""

    spec: ReplicaSetSpec = ReplicaSetSpec()
    status: ReplicaSetStatus = ReplicaSetStatus()


class RollingUpdateStatefulSetStrategy(Model):
    """How a StatefulSet replaces its pods: only ordinals from `partition` on."""

    partition: int | None = None
    max_unavailable: IntOrString | None = None


class StatefulSetUpdateStrategy(Model):
    """RollingUpdate or OnDelete."""

    type: str = ""
    rolling_update: RollingUpdateStatefulSetStrategy | None = None


class StatefulSetPersistentVolumeClaimRetentionPolicy(Model):
    """Whether claims are kept or deleted with the set, and with its surplus pods."""

    when_deleted: str = ""
    when_scaled: str = ""


class StatefulSetOrdinals(Model):
    """From where on pods are numbered."""

    start: int = 0


class StatefulSetSpec(Model):
    """How many numbered pods, each with claims of its own."""

    selector: LabelSelector = LabelSelector()
    template: Opaque = NO_TEMPLATE
    service_name: str = ""
    replicas: int | None = None
    volume_claim_templates: tuple[Opaque, ...] = ()
    pod_management_policy: str = ""
    update_strategy: StatefulSetUpdateStrategy = StatefulSetUpdateStrategy()
    persistent_volume_claim_retention_policy: (
        StatefulSetPersistentVolumeClaimRetentionPolicy | None
    ) = None
    min_ready_seconds: int = 0
    revision_history_limit: int | None = None
    ordinals: StatefulSetOrdinals | None = None


class StatefulSetStatus(Model):
    """How many of them exist, and of which revision."""

    observed_generation: int = 0
    replicas: int = 0
    ready_replicas: int = 0
    current_replicas: int = 0
    updated_replicas: int = 0
    available_replicas: int = 0
    current_revision: str = ""
    update_revision: str = ""
    collision_count: int | None = None
    conditions: tuple[Condition, ...] = ()


@resource(group="apps", version="v1", status=True)
class StatefulSet(Object):
    """Pods with stable names and storage."""

    spec: StatefulSetSpec = StatefulSetSpec()
    status: StatefulSetStatus = StatefulSetStatus()


class RollingUpdateDaemonSet(Model):
    """How fast a DaemonSet replaces its pods."""

    max_unavailable: IntOrString | None = None
    max_surge: IntOrString | None = None


class DaemonSetUpdateStrategy(Model):
    """RollingUpdate or OnDelete."""

    type: str = ""
    rolling_update: RollingUpdateDaemonSet | None = None


class DaemonSetSpec(Model):
    """A pod for every node that its template fits."""

    selector: LabelSelector = LabelSelector()
    template: Opaque = NO_TEMPLATE
    update_strategy: DaemonSetUpdateStrategy = DaemonSetUpdateStrategy()
    min_ready_seconds: int = 0
    revision_history_limit: int | None = None


class DaemonSetStatus(Model):
    """On how many nodes its pods are, should be, and should not be."""

    current_number_scheduled: int = 0
    number_misscheduled: int = 0
    desired_number_scheduled: int = 0
    number_ready: int = 0
    observed_generation: int = 0
    updated_number_scheduled: int = 0
    number_available: int = 0
    number_unavailable: int = 0
    collision_count: int | None = None
    conditions: tuple[Condition, ...] = ()


@resource(group="apps", version="v1", status=True)
class DaemonSet(Object):
    """One pod on every node, or on some."""

    spec: DaemonSetSpec = DaemonSetSpec()
    status: DaemonSetStatus = DaemonSetStatus()


@resource(group="apps", version="v1")
class ControllerRevision(Object):
    """What a StatefulSet or DaemonSet once was: a patch that makes it so again."""

    data: Opaque = NO_TEMPLATE
    revision: int = 0
