"""The volume claim of an instance: of which class, and filled from what. Pure.

What a new volume is filled from is no part of its
revision: it is decided once, when there is no volume yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from quintant.api.container import ResourceRequirements
from quintant.api.events import PlannedEvent
from quintant.api.quantity import Quantity, parse_quantity
from quintant.api.snapshot import GROUP as SNAPSHOTS
from quintant.api.snapshot import VolumeSnapshot
from quintant.api.volume import (
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    TypedLocalObjectReference,
)
from quintant.operators.cosmos.api import INSTANCE_LABEL, NAME_LABEL
from quintant.operators.cosmos.api.full_node import (
    AutoDataSource,
    CosmosFullNode,
    NodeVolumeClaimTemplate,
    VolumeClaimOverride,
)
from quintant.operators.cosmos.builders.claim_size import STORAGE, claim_size
from quintant.operators.cosmos.builders.instances import (
    LABEL_LENGTH,
    Instance,
    labels,
    metadata,
    override_of,
    trim_middle,
)

ALL = "All"


@dataclass(frozen=True, slots=True)
class VolumeSource:
    """What a new volume is filled from, how large that is, and the event of the choice."""

    data_source: TypedLocalObjectReference | None = None
    size: Quantity | None = None
    event: PlannedEvent | None = None


@dataclass(frozen=True, slots=True)
class SourceCandidates:
    """What there is to fill a volume from."""

    snapshots: Sequence[VolumeSnapshot] = ()
    claims: Mapping[str, PersistentVolumeClaim] = field(default_factory=dict)
    """By name: those that are asked for as a source."""


def claim_template(full_node: CosmosFullNode, instance: Instance) -> NodeVolumeClaimTemplate:
    """The template of an instance's volume: the common one, or its own instead.

    One of its own without class or size has the common ones, without anything it is none.
    """
    common, own = full_node.spec.volume_claim_template, override_of(full_node, instance.name)
    given = own.volume_claim_template
    if given is None or given == VolumeClaimOverride():
        return common
    named = given.storage_class_name
    return NodeVolumeClaimTemplate(
        storage_class_name=common.storage_class_name if named is None else named,
        resources=common.resources if given.resources is None else given.resources,
        metadata=given.metadata,
        access_modes=given.access_modes,
        volume_mode=given.volume_mode,
        data_source=given.data_source,
        auto_data_source=given.auto_data_source,
    )


def build_claim(
    full_node: CosmosFullNode,
    instance: Instance,
    existing: PersistentVolumeClaim | None,
    source: VolumeSource = VolumeSource(),
) -> PersistentVolumeClaim | None:
    """The claim of an instance; None if it is to have none."""
    if override_of(full_node, instance.name).disable == ALL:
        return None
    template = claim_template(full_node, instance)
    size = (
        claim_size(full_node, template, existing)
        if existing is not None
        else _first(template, source)
    )
    return PersistentVolumeClaim(
        metadata=metadata(
            full_node,
            instance.claim,
            labels(full_node, instance=instance.name),
            instance.ordinal,
            template.metadata,
        ),
        spec=PersistentVolumeClaimSpec(
            access_modes=template.access_modes or ("ReadWriteOnce",),
            resources=ResourceRequirements(
                requests={**template.resources.requests, STORAGE: size},
                limits=template.resources.limits,
            ),
            storage_class_name=template.storage_class_name,
            volume_mode=template.volume_mode or "Filesystem",
            data_source=source.data_source if existing is None else None,
        ),
    )


def choose_source(
    template: NodeVolumeClaimTemplate, instance: Instance, candidates: SourceCandidates
) -> VolumeSource:
    """What a new volume of an instance is filled from."""
    if template.data_source is not None:
        return _explicit(template.data_source, candidates)
    if template.auto_data_source is None:
        return VolumeSource()
    wanted = _wanted_labels(template.auto_data_source, instance)
    newest = newest_snapshot(candidates.snapshots, wanted)
    if newest is None:
        message = f"No VolumeSnapshot is ready for {instance.claim}; it begins empty"
        return VolumeSource(
            event=PlannedEvent("Warning", "AutoDataSourceFindSnapshot", message, instance.claim)
        )
    name = newest.metadata.name
    message = f"{instance.claim} is filled from VolumeSnapshot {name}"
    event = PlannedEvent("Normal", "AutoDataSource", message, instance.claim)
    return VolumeSource(_snapshot_source(name), _restore_size(newest), event)


def _wanted_labels(auto: AutoDataSource, instance: Instance) -> dict[str, str]:
    """The labels of copies that may fill a volume: never none, for then any would do."""
    wanted = dict(auto.volume_snapshot_selector)
    if auto.match_instance:
        wanted[INSTANCE_LABEL] = trim_middle(instance.name, LABEL_LENGTH)
    return wanted or {NAME_LABEL: trim_middle(instance.app, LABEL_LENGTH)}


def newest_snapshot(
    snapshots: Sequence[VolumeSnapshot], wanted: Mapping[str, str]
) -> VolumeSnapshot | None:
    """The newest snapshot that is ready, whose size is known, and that has these labels."""
    fit = [
        each
        for each in snapshots
        if wanted.items() <= each.metadata.labels.items()
        and each.status is not None
        and each.status.ready_to_use
        and _restore_size(each) is not None
        and not each.deleting
    ]
    return max(fit, key=lambda each: _created(each), default=None)


def _first(template: NodeVolumeClaimTemplate, source: VolumeSource) -> Quantity:
    """Of a new claim: what is asked for, and never less than what it is filled from."""
    requested = template.resources.requests.get(STORAGE, Quantity("0"))
    if source.size is not None and parse_quantity(source.size) > parse_quantity(requested):
        return source.size
    return requested


def _explicit(wanted: TypedLocalObjectReference, candidates: SourceCandidates) -> VolumeSource:
    if wanted.kind == "VolumeSnapshot" and wanted.api_group == SNAPSHOTS:
        named = (each for each in candidates.snapshots if each.metadata.name == wanted.name)
        snapshot = next(named, None)
        size = _restore_size(snapshot) if snapshot is not None else None
        if size is None:
            why = "does not exist" if snapshot is None else "tells no size"
            return _missing("DataSourceGetSnapshot", f"VolumeSnapshot {wanted.name} {why}")
        return VolumeSource(wanted, size)
    if wanted.kind == "PersistentVolumeClaim" and not wanted.api_group:
        claim = candidates.claims.get(wanted.name)
        capacity = claim.status.capacity.get(STORAGE) if claim is not None else None
        if capacity is None:
            why = "does not exist" if claim is None else "has no capacity yet"
            return _missing("DataSourceGetPVC", f"PersistentVolumeClaim {wanted.name} {why}")
        return VolumeSource(wanted, capacity)
    return _missing("DataSourceUnsupported", f"{wanted.kind} {wanted.name} is no data source")


def _missing(reason: str, why: str) -> VolumeSource:
    return VolumeSource(
        event=PlannedEvent("Warning", reason, f"{why}; the volume begins empty", reason)
    )


def _snapshot_source(name: str) -> TypedLocalObjectReference:
    return TypedLocalObjectReference(api_group=SNAPSHOTS, kind="VolumeSnapshot", name=name)


def _restore_size(snapshot: VolumeSnapshot) -> Quantity | None:
    return snapshot.status.restore_size if snapshot.status is not None else None


def _created(snapshot: VolumeSnapshot) -> str:
    since = snapshot.status.creation_time if snapshot.status else None
    return since or snapshot.metadata.creation_timestamp or ""
