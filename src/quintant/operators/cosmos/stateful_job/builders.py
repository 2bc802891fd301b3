"""The job of a StatefulJob, and its volume. Pure."""

from __future__ import annotations

from quintant.api.batch import Job, JobSpec
from quintant.api.container import ResourceRequirements
from quintant.api.quantity import Quantity
from quintant.api.snapshot import GROUP as SNAPSHOTS
from quintant.api.snapshot import VolumeSnapshot
from quintant.api.volume import (
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    TypedLocalObjectReference,
)
from quintant.core.object import ObjectMeta, Opaque
from quintant.operators.cosmos.api import COMPONENT_LABEL, OURS
from quintant.operators.cosmos.api.stateful_job import StatefulJob
from quintant.operators.cosmos.builders.claim_size import STORAGE
from quintant.operators.cosmos.builders.pod_security import restrict

COMPONENT = "StatefulJob"
LABELS = {**OURS, COMPONENT_LABEL: COMPONENT}
"""What jobs and their volumes are found by."""
VOLUME = "snapshot"
_DEADLINE_SECONDS, _BACKOFF, _TTL_SECONDS = 86_400, 5, 900


def build_claim(
    job: StatefulJob, snapshot: VolumeSnapshot, size: Quantity
) -> PersistentVolumeClaim:
    """The volume of the next job."""
    template = job.spec.volume_claim_template
    source = TypedLocalObjectReference(
        api_group=SNAPSHOTS, kind="VolumeSnapshot", name=snapshot.metadata.name
    )
    return PersistentVolumeClaim(
        metadata=_meta(job),
        spec=PersistentVolumeClaimSpec(
            access_modes=template.access_modes or ("ReadWriteOnce",),
            resources=ResourceRequirements(requests={STORAGE: size}),
            storage_class_name=template.storage_class_name,
            data_source=source,
        ),
    )


def build_job(job: StatefulJob) -> Job:
    """The next job."""
    given, template = job.spec.job_template, dict(job.spec.pod_template.value)
    spec = restrict(template.get("spec") or {})
    volume = {"name": VOLUME, "persistentVolumeClaim": {"claimName": job.metadata.name}}
    spec["volumes"] = [*(spec.get("volumes") or ()), volume]
    spec["restartPolicy"] = spec.get("restartPolicy") or "Never"

    def chosen(value: int | None, usual: int) -> int:
        return usual if value is None else value

    return Job(
        metadata=_meta(job),
        spec=JobSpec(
            active_deadline_seconds=chosen(given.active_deadline_seconds, _DEADLINE_SECONDS),
            backoff_limit=chosen(given.backoff_limit, _BACKOFF),
            ttl_seconds_after_finished=chosen(given.ttl_seconds_after_finished, _TTL_SECONDS),
            template=Opaque.of({**template, "spec": spec}),
        ),
    )


def _meta(job: StatefulJob) -> ObjectMeta:
    return ObjectMeta.like(job, labels=LABELS)
